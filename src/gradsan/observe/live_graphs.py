"""Which graphs are alive, and which of their ops still hold saved values: for whoever asserts something of them."""

import gc
from collections.abc import Iterable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from gradsan.observe.graph import Node, about_bytes, reach, roots_of
from gradsan.observe.ledger.holder_scan import HeldGraphs
from gradsan.observe.ledger.wording import user_modules
from gradsan.observe.living import instances
from gradsan.observe.log.frames import frames_out
from gradsan.observe.ownership import Ownership
from gradsan.observe.private import NO_NUMBER, private

_RAW, _SAVED = "_raw_saved_", "_saved_"


@dataclass(frozen=True, slots=True)
class Leaked:
    """Graphs that are alive: how many tensors lead to them, and the names that hold those, as far as they are seen."""

    tensors: int
    names: tuple[str, ...]


def holding_ops(tensors: Iterable[Any]) -> list[Node]:
    """The ops behind these tensors that hold saved values. They are read, so hooks that unpack them run."""
    return [each for each in reach(roots_of(tensors)) if _holds_values(each)]


def described(nodes: list[Node]) -> str:
    """How many ops, of which kinds, and about how many bytes they hold."""
    kinds = list(dict.fromkeys(str(each.name()) for each in nodes))
    more = ", …" if len(kinds) > 3 else ""  # noqa: PLR2004 # enough to know the place
    return f"{len(nodes)} ops ({', '.join(kinds[:3])}{more}), about {sum(map(about_bytes, nodes))} bytes"


def op_count() -> int:
    """How many ops this thread has created: those created later have numbers from there on."""
    counter = private().op_counter
    return 0 if counter is None else counter()


def leaked_since(number: int, frame: FrameType) -> Leaked | None:
    """The graphs created since then that outlive what is in plain variables of this frame."""
    import torch

    gc.collect()
    variables = [each for each in frame.f_locals.values() if issubclass(type(each), torch.Tensor)]
    allowed = reach(roots_of(variables))
    alive = [each for each in instances(torch.Tensor) if _is_new(each, number) and each.grad_fn not in allowed]
    if not alive:
        return None
    owns = Ownership().owns
    held = HeldGraphs(owns).search(frames_out(frame), user_modules(owns))
    numbers = {each.grad_fn._sequence_nr() for each in alive}  # noqa: SLF001 # as everywhere
    seen = [each for each in held.run(frames_out(frame)) if each.number in numbers]
    return Leaked(len(alive), tuple(dict.fromkeys(held.container(each.name) for each in seen)))


def _is_new(tensor: Any, number: int) -> bool:  # noqa: ANN401 # a tensor
    """Whether an op with a number from there on created it; reading that of an edited view would create one."""
    if tensor._base is not None and tensor._version:  # noqa: SLF001 # the only way to know
        tensor = tensor._base  # noqa: SLF001
    node = tensor.grad_fn
    return node is not None and number <= node._sequence_nr() < NO_NUMBER  # noqa: SLF001


def _holds_values(node: Node) -> bool:
    names = [each for each in dir(type(node)) if each.startswith(_RAW)]
    held = False
    for name in names:
        try:
            value = getattr(node, "saved_tensors" if name == "_raw_saved_tensors" else _SAVED + name[len(_RAW) :])
        except RuntimeError as error:
            if "freed" in str(error):
                return False
            value = error  # it was edited in place meanwhile, and is there
        held = held or (value is not None and value != ())
    return held

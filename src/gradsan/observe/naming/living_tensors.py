"""Which live tensors still lead to an op, which have been edited as often as PyTorch says, and what is no tensor."""

from collections.abc import Callable, Sequence
from math import prod
from types import FrameType
from typing import Any

from gradsan.facts.incident import SavedValue
from gradsan.observe.frame_variables import variables_of
from gradsan.observe.graph import REARRANGING
from gradsan.observe.naming.holders import Held, Search
from gradsan.observe.private import creation_number

_REARRANGED_AT_MOST = 8
_NUMBERS = (int, float, complex)

_REARRANGING_NAMES = frozenset(f"{name}Backward{n}" for name in REARRANGING for n in range(3))


def held(number: int, frames: Sequence[FrameType], owns: Callable[[str], bool]) -> list[Held]:
    """Every tensor within reach of the user's live frames that an op created, or that re-arranges it; best names first.

    `number`: the op's creation number.
    """
    return _Leading(number, owns).run(frames)


def edited_as_often(value: SavedValue, frames: Sequence[FrameType], owns: Callable[[str], bool]) -> list[Held]:
    """Every tensor within reach that may be the one of which PyTorch says that it was edited; exact: of that shape."""
    return _Edited(value, owns).run(frames)


def numbers_in(frames: Sequence[FrameType]) -> set[tuple[str, str]]:
    """The variables that are numbers of Python's, by the functions that have them."""
    with variables_of(frames) as each:
        of_functions = [(frame.f_code.co_qualname, variables) for frame, variables in zip(frames, each, strict=True)]
        return {(function, name) for function, of in of_functions for name in of if type(of[name]) in _NUMBERS}


class _Leading(Search):
    def __init__(self, number: int, owns: Callable[[str], bool]) -> None:
        super().__init__(owns)
        self._number = number

    def _judge(self, tensor: Any) -> tuple[int, bool] | None:  # noqa: ANN401
        try:
            node = op_of(tensor)
        except (RuntimeError, NotImplementedError):
            return None
        for _ in range(_REARRANGED_AT_MOST):
            if node is None:
                break
            if creation_number(node) == self._number:
                return 0, True
            if node.name() not in _REARRANGING_NAMES or not node.next_functions:
                break
            node = node.next_functions[0][0]
        return None


class _Edited(Search):
    def __init__(self, value: SavedValue, owns: Callable[[str], bool]) -> None:
        super().__init__(owns)
        self._value = value

    def _judge(self, tensor: Any) -> tuple[int, bool] | None:  # noqa: ANN401
        value = self._value
        try:
            # A view and what it looks at count their edits together.
            fits = tensor._version == value.version and tensor.numel() == prod(value.shape)  # noqa: SLF001
            is_same = fits and tensor.type() == value.kind
        except (RuntimeError, NotImplementedError):  # a tensor created under `inference_mode` counts nothing
            return None
        return (0, tuple(tensor.shape) == value.shape) if is_same else None


def op_of(tensor: Any) -> Any:  # noqa: ANN401 # autograd's ops have no public type
    """The op that created a tensor, read only where reading creates no op.

    A view whose base was edited in place rebuilds its `grad_fn` when it is read. Where the storage was never edited,
    it does not; otherwise the base, which is no view, answers.
    """
    base = tensor._base  # noqa: SLF001
    if base is not None and tensor._version:  # noqa: SLF001
        return base.grad_fn
    return tensor.grad_fn

"""A live graph as plain columns: what is kept is numbers and names, and no op."""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar, get_args

from gradsan.facts.culprit import shown
from gradsan.facts.details import MOST_OPS, Label, OpCondition, OpGraph
from gradsan.facts.location import Frame
from gradsan.observe.graph import Node, about_bytes, parameters_behind, reach, saves_values
from gradsan.observe.modules import module_names, parameter_names, trained
from gradsan.observe.notes import PassNote
from gradsan.observe.private import NO_NUMBER
from gradsan.observe.process import Process
from gradsan.observe.unasked import is_one

K = TypeVar("K", bound=Hashable)

UNKNOWN = -1
CONDITIONS: tuple[OpCondition, ...] = get_args(OpCondition)
LIVE, FREED, RETAINED, LEAF, FORGOTTEN = range(len(CONDITIONS))


class _Table(Generic[K]):
    """Values, each once; a column has their places."""

    def __init__(self) -> None:
        self._places: dict[K, int] = {}

    def place(self, value: K | None) -> int:
        """Where a value stands; None stands nowhere."""
        return UNKNOWN if value is None else self._places.setdefault(value, len(self._places))

    def values(self) -> tuple[K, ...]:
        """All of them."""
        return tuple(self._places)


def conditions(numbers: Sequence[int], note: PassNote, process: Process) -> list[int]:
    """What earlier passes have left of ops, given by their rising numbers: a place in `CONDITIONS` for each."""
    earlier = process.passes.besides(note)
    has_gaps = len(earlier) < note.index
    unseen = max((each.begin for each in earlier if has_gaps or each.walked is None), default=0)
    found = [FORGOTTEN if number < unseen else LIVE for number in numbers]
    for each in earlier:
        if each.failed:
            continue
        walked = each.walked or ()
        for start, stop in zip(walked[::2], walked[1::2], strict=True):
            for place in range(bisect_left(numbers, start), bisect_left(numbers, stop)):
                if found[place] != FREED:
                    found[place] = RETAINED if each.retains else FREED
    return found


def op_graph(
    roots: Mapping[str, Iterable[Node]],
    note: PassNote,
    process: Process,
    *,
    path: Callable[[], Sequence[Node]] = tuple,
    modules: Callable[[Sequence[Any]], Sequence[Any]] = lambda _: trained().modules,
    labels: Mapping[int, str] | None = None,
) -> OpGraph:
    """What lies below some ops, each the first of a name; `labels` name further ops by their numbers.

    `modules` is given parameters, and knows the modules that own them.
    """
    from torch.nn import Parameter

    below = reach(node for each in roots.values() for node in each)
    on_path = path()
    ops, leaves, left_out = _chosen(below, on_path)
    order = {node: place for place, node in enumerate([*ops, *leaves])}
    numbers = list(map(_number, ops))
    variables = [getattr(node, "variable", None) for node in leaves]
    live = modules([each for each in variables if is_one(each, Parameter)])  # other leaves belong to none
    owners, parameters = module_names(live), parameter_names(live)
    stacks: _Table[tuple[Frame, ...]] = _Table()
    tables: tuple[_Table[str], _Table[str], _Table[str]] = (_Table(), _Table(), _Table())
    kinds, names, shapes = tables
    places = {number: place for place, number in enumerate(numbers)}
    named = [(order[node], name) for name, nodes in roots.items() for node in nodes if node in order]
    named += [(places[number], name) for number, name in (labels or {}).items() if number in places]
    module = [names.place(_module(node, below, owners)) for node in ops]
    module += [names.place(parameters.get(id(each))) for each in variables]
    stack = [stacks.place(process.stack_of(number) or None) for number in numbers] + [UNKNOWN] * len(leaves)
    frames: _Table[Frame] = _Table()
    return OpGraph(
        diagnosis=None,
        line=_shown(note.stack[-1]) if note.stack else None,
        step=note.step,
        kind=tuple(kinds.place(str(node.name()).rpartition("::")[2]) for node in order),
        condition=(*conditions(numbers, note, process), *[LEAF] * len(leaves)),
        module=tuple(module),
        shape=tuple(shapes.place(_shape(node)) for node in order),
        stack=tuple(stack),
        created=(*(process.passes.step_of(number, note) or UNKNOWN for number in numbers), *[UNKNOWN] * len(leaves)),
        saved_bytes=tuple(about_bytes(node) if saves_values(node) else 0 for node in order),
        edges=tuple(
            place for node in ops for each in below[node] if each in order for place in (order[node], order[each])
        ),
        path=tuple(order[node] for node in on_path if node in order),
        labels=tuple(Label(place, name) for place, name in dict.fromkeys(named)),
        left_out=left_out,
        kinds=kinds.values(),
        modules=names.values(),
        shapes=shapes.values(),
        stacks=tuple(tuple(frames.place(_shown(each)) for each in known) for known in stacks.values()),
        frames=frames.values(),
        conditions=CONDITIONS,
    )


def _chosen(below: Iterable[Node], path: Sequence[Node]) -> tuple[list[Node], list[Node], int]:
    """Ops in the order of creation, leaves, and how many are left out: of too many, the oldest that are on no path."""
    every = list(below)
    leaves = [node for node in every if _number(node) == NO_NUMBER]
    ops = sorted((node for node in every if _number(node) != NO_NUMBER), key=_number)
    too_many = max(len(every) - MOST_OPS, 0)
    if too_many:
        wanted = set(path)
        left_out = {node for node in ops[:too_many] if node not in wanted}
        ops = [node for node in ops if node not in left_out]
        leaves = leaves[: max(MOST_OPS - len(ops), 0)]
    return ops, leaves, len(every) - len(ops) - len(leaves)


def _number(node: Node) -> int:
    return int(node._sequence_nr())  # noqa: SLF001 # as in graph.py


def _module(node: Node, below: dict[Node, tuple[Node, ...]], modules: Mapping[int, str]) -> str | None:
    names = (modules.get(id(leaf)) for leaf in parameters_behind(node, below))
    return next((name for name in names if name is not None), None)


def _shape(node: Node) -> str | None:
    """The size and the type of what an op gives, as PyTorch writes them."""
    given = [_tensor(each) for each in getattr(node, "_input_metadata", None) or ()]
    return ", ".join(given) or None


def _tensor(metadata: Any) -> str:  # noqa: ANN401 # PyTorch's own
    return f"{[int(each) for each in metadata.shape]} {str(metadata.dtype).removeprefix('torch.')}"


def _shown(frame: Frame) -> Frame:
    return Frame(_shown_file(frame.file), frame.line, frame.function)


@lru_cache(maxsize=256)
def _shown_file(file: str) -> str:
    return shown(file)

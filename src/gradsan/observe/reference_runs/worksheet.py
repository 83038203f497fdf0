"""Values that are computed again as in a spreadsheet: when they are used, and what they came from has changed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from gradsan.observe.graph import leaves_of, reach, version_of
from gradsan.observe.private import is_transforming
from gradsan.observe.reference_runs.calls import (
    HOOKING,
    is_tensor,
    looks_editing,
    mapped,
    name_of,
    only_describes,
    only_reads,
    parts_of,
    property_of,
    tensors_in,
)

Tensor = Any


@dataclass(slots=True, eq=False)
class Computed:
    """One call that computed tensors with a graph, and what it takes to make it again."""

    function: Callable[..., Any] | None  # None: it cannot be made again
    args: tuple[Any, ...]  # tensors that were computed themselves are `_Input`s
    named: dict[str, Any]
    leaves: frozenset[int]  # ids of all leaves that it was computed from
    time: int
    number: int = -1  # among such calls of the program
    edits: bool = False  # its first argument, in place
    results: tuple[Tensor, ...] = ()  # of the last time that it was made again
    versions: tuple[int, ...] = ()  # of these


@dataclass(frozen=True, slots=True, eq=False)
class _Input:
    """A tensor that was computed, as another call was given it."""

    source: Computed
    place: int  # among what that one gave
    tensor: Tensor
    version: int


class Worksheet:
    """All that was computed from leaves, with how. A leaf changes by an edit, be it of an optimizer or by hand.

    Who only looks at a value, as a log does below a step, gets the one that others have used last; `read_again` has the
    numbers of the calls of which that is not so.
    """

    def __init__(self, read_again: Iterable[int] = ()) -> None:
        from torch.utils.weak import WeakTensorKeyDictionary

        self.made_again: set[int] = set()  # the numbers of calls
        self._read_again = frozenset(read_again)
        self._calls = 0
        self.is_torn = False  # something old was used that cannot be computed again
        self._cells: Any = WeakTensorKeyDictionary()  # a tensor → the call that computed it, and its place there
        self._leaves: dict[int, Tensor] = {}  # by id
        self._versions: dict[int, int] = {}  # of the leaves, as far as is known
        self._changed: dict[int, int] = {}  # id of a leaf → when
        self._time = 0
        self._is_at_work = False

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:  # noqa: ANN401 # whatever it gives
        """Call a function of torch with the present values of what it is given, and note what it computes."""
        if self._is_at_work or is_transforming() or only_describes(function):
            return function(*args, **named)
        if name_of(function) in HOOKING and args[0] in self._cells:  # what is computed again would have no such hook
            self._cells[args[0]][0].function = None
        original = args[0] if args and is_tensor(args[0]) else None
        value = self.latest if only_reads(function) else self.present
        args, named = mapped(value, args), mapped(value, named)
        target = args[0] if original is not None else None
        if target is not original and looks_editing(function):  # others may have been given its present value
            target = self._copied(target)
            args = (target, *args[1:])
        version = version_of(target) if target is not None else 0
        inputs = self._inputs(function, args, named)
        result = function(*args, **named)
        edited = target is not None and version_of(target) != version
        self._note_changes(function, target if edited else None, args)
        outputs = (target,) if edited else tuple(tensors_in(result))
        if inputs is not None and any(each.grad_fn is not None for each in outputs):
            self._note(function, inputs, outputs, original if edited else None)
        elif edited and original in self._cells:  # it has no graph any more
            self._cells[original] = (Computed(function, (), {}, frozenset(), self._time, results=(target,)), 0)
        return result

    def present(self, tensor: Any) -> Any:  # noqa: ANN401 # anything else stays as it is
        """What a tensor is now."""
        cell = self._cells.get(tensor) if is_tensor(tensor) else None
        if cell is None or self.is_torn:
            return tensor
        computed, place = cell
        if self._is_old(computed):
            self._compute(computed)
        return computed.results[place] if computed.results else tensor

    def latest(self, tensor: Any) -> Any:  # noqa: ANN401 # as above
        """What a tensor was when something was last computed from it: for whoever only looks at it."""
        cell = self._cells.get(tensor) if is_tensor(tensor) else None
        if cell is None:
            return tensor
        if cell[0].number in self._read_again:
            return self.present(tensor)
        return cell[0].results[cell[1]] if cell[0].results else tensor

    def notice(self) -> None:
        """Find out which leaves have been edited."""
        for number, leaf in self._leaves.items():
            if self._versions[number] != leaf._version:  # noqa: SLF001 # as autograd counts
                self._change(number)

    def _change(self, number: int) -> None:
        self._time += 1
        self._changed[number] = self._time
        self._versions[number] = self._leaves[number]._version  # noqa: SLF001 # as above

    def _inputs(
        self, function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        """What a call is given, to be given again; None where nothing that it computes will have a graph."""
        import torch

        given = list(tensors_in((args, named)))
        if not torch.is_grad_enabled() or not any(each.requires_grad for each in given):
            return None
        kept, kept_named = mapped(self._as_input, args), mapped(self._as_input, named)
        if looks_editing(function) and kept and is_tensor(kept[0]):  # it had no graph so far
            kept = (kept[0].detach().clone(), *kept[1:])
        return kept, kept_named

    def _as_input(self, tensor: Any) -> Any:  # noqa: ANN401 # as above
        if not is_tensor(tensor) or not tensor.requires_grad:
            return tensor
        if tensor.grad_fn is None:
            self._leaves.setdefault(id(tensor), tensor)
            self._versions.setdefault(id(tensor), tensor._version)  # noqa: SLF001 # as above
            return tensor
        if tensor not in self._cells:  # computed where nobody saw it
            for leaf in (leaves := list(leaves_of(reach([tensor.grad_fn])))):
                self._as_input(leaf)
            self._cells[tensor] = (Computed(None, (), {}, frozenset(map(id, leaves)), self._time), 0)
        source, place = self._cells[tensor]
        return _Input(source, place, tensor, version_of(tensor))

    def _note(
        self,
        function: Callable[..., Any],
        inputs: tuple[tuple[Any, ...], dict[str, Any]],
        outputs: tuple[Tensor, ...],
        edited: Tensor | None,
    ) -> None:
        leaves: frozenset[int] = frozenset()
        for each in parts_of(inputs):
            if isinstance(each, _Input):
                leaves |= each.source.leaves
            elif is_tensor(each) and id(each) in self._leaves:
                leaves |= {id(each)}
        computed = Computed(function, *inputs, leaves, self._time, self._calls, edits=edited is not None)
        self._calls += 1
        for place, each in enumerate(outputs):
            if each.grad_fn is not None and (edited is not None or each not in self._cells):
                self._cells[each] = (computed, place)
        if edited is not None:
            self._give_up_others(outputs[0], leaves)
            if edited is not outputs[0]:  # a copy of its present value was edited in its place
                computed.results, computed.versions = outputs, (version_of(outputs[0]),)
                self._cells[edited] = (computed, 0)

    def _give_up_others(self, edited: Tensor, leaves: frozenset[int]) -> None:
        """What else lies in the memory that was edited has changed in a manner that is not followed."""
        memory = _memory(edited)
        others = [each for each in [*self._cells, edited._base] if each is not None and each is not edited]  # noqa: SLF001 # as autograd has it
        for each in others:
            if _memory(each) == memory and each.grad_fn is not None:
                known = self._cells[each][0].leaves if each in self._cells else frozenset()
                self._cells[each] = (Computed(None, (), {}, known | leaves, self._time), 0)

    def _note_changes(self, function: Callable[..., Any], edited: Tensor | None, args: tuple[Any, ...]) -> None:
        """A leaf is edited itself, or through what shares its memory, as `.data` does."""
        if looks_editing(function):
            self.notice()
        if edited is not None and edited.grad_fn is None:
            memory = _memory(edited)
            for number, leaf in self._leaves.items():
                if leaf is edited or _memory(leaf) == memory:
                    self._change(number)
        if name_of(function) == "__set__" and id(args[0]) in self._leaves and property_of(function) == "data":
            self._change(id(args[0]))

    def _is_old(self, computed: Computed) -> bool:
        if any(self._changed.get(each, -1) > computed.time for each in computed.leaves):
            return True
        return any(version_of(each) != old for each, old in zip(computed.results, computed.versions, strict=False))

    def _must_be_computed(self, given: _Input) -> bool:
        if self._is_old(given.source):
            return True
        return not given.source.results and version_of(given.tensor) != given.version  # edited in place since

    def _compute(self, wanted: Computed) -> None:
        """Make a call again, after all that lead to it."""
        stack = [wanted]
        while stack and not self.is_torn:
            computed = stack[-1]
            waiting = [
                each.source
                for each in parts_of((computed.args, computed.named))
                if isinstance(each, _Input) and self._must_be_computed(each)
            ]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            if computed is wanted or not computed.results or self._is_old(computed):
                self._make_again(computed)

    def _make_again(self, computed: Computed) -> None:
        import torch

        if computed.function is None:
            self.is_torn = True
            return
        args, named = mapped(_value, computed.args), mapped(_value, computed.named)
        self._is_at_work = True
        try:
            with torch.enable_grad():
                if computed.edits:
                    args = (args[0].clone(), *args[1:])
                result = computed.function(*args, **named)
        finally:
            self._is_at_work = False
        computed.results = (args[0],) if computed.edits else tuple(tensors_in(result))
        computed.versions = tuple(map(version_of, computed.results))
        computed.time = self._time
        self.made_again.add(computed.number)
        for place, each in enumerate(computed.results):
            if each.grad_fn is not None and each not in self._cells:
                self._cells[each] = (computed, place)

    def _copied(self, tensor: Tensor) -> Tensor:
        import torch

        with torch.enable_grad():
            return tensor.clone()


def _value(given: Any) -> Any:  # noqa: ANN401 # as above
    if not isinstance(given, _Input):
        return given
    return given.source.results[given.place] if given.source.results else given.tensor


def _memory(tensor: Tensor) -> int:
    """Where its values lie; a sparse tensor has no such place, nor has an empty one."""
    try:
        return int(tensor.untyped_storage().data_ptr()) or id(tensor)
    except (NotImplementedError, RuntimeError):
        return id(tensor)

"""Reference runs that go by a line of the program: what it cuts off keeps its graph, what it adds up is the loss."""

import os
import sys
from collections.abc import Callable, Iterable
from types import CodeType, FrameType
from typing import Any

import gradsan
from gradsan.observe.graph import reach
from gradsan.observe.reference_runs.asked import Asked
from gradsan.observe.reference_runs.calls import follow, is_tensor, name_of, property_of, tensors_in
from gradsan.observe.reference_runs.kept import Kept

Tensor = Any
Line = tuple[str, int, int, str]  # a file, the first and the last line of a statement, the function
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_MOST = 8  # terms of a sum that are followed


class _Place:
    """A statement of the program, to be found among the frames that lead to a call of torch's."""

    def __init__(self, line: Line) -> None:
        self._file, self._first, self._last, function = line
        self._function = function.rpartition(".")[2]
        others: list[Any] = [sys.modules["torch"], gradsan]
        self._not_its = tuple(os.path.dirname(each.__file__) for each in others)  # noqa: PTH120 # as frames have it

    def leads_to(self, frame: FrameType | None) -> bool:
        """Whether the program's own line that leads there is the one; or what is decorated there is called."""
        while frame is not None and frame.f_code.co_filename.startswith(self._not_its):
            if frame.f_code.co_name == "decorate_context":
                decorated = getattr(frame.f_locals.get("func"), "__code__", None)
                if decorated is not None and self._is_in(decorated) and decorated.co_firstlineno <= self._last:
                    return True
            frame = frame.f_back
        return frame is not None and self._is_in(frame.f_code) and self._first <= frame.f_lineno <= self._last

    def _is_in(self, code: CodeType) -> bool:
        is_named = self._function in (function_of(code), "")
        return is_named and os.path.basename(code.co_filename) == os.path.basename(self._file)  # noqa: PTH119 # as above


def function_of(code: CodeType) -> str:
    """The name of a function; before Python 3.12, a comprehension is one inside of that in which it stands."""
    whole, name = code.co_qualname, code.co_name
    while name in _COMPREHENSIONS:
        whole = whole.removesuffix(name).removesuffix(".").removesuffix(".<locals>")
        name = whole.rpartition(".")[2] or "<module>"
    return name


class Attached(Kept):
    """Nothing is cut off at one line: not by a call, and not by a block or a decorator that begins there.

    A number that is taken out of torch there is a tensor, and stays one until something is computed with it. Where what
    is attached takes itself away again, as in `z + (code - z)`, the cut was meant: then the reference is stale.
    """

    def __init__(self, line: Line) -> None:
        from torch.utils.weak import WeakTensorKeyDictionary

        super().__init__()
        self._place = _Place(line)
        self._attached = 0
        self._terms: Any = WeakTensorKeyDictionary()  # a sum → the ids of its terms, with how often each is in it
        self._given: Any = WeakTensorKeyDictionary()  # what was attached
        _record_in_inference_mode()
        follow(self._call)
        self._require_gradients_of_what_optimizers_are_given()
        self._run_what_is_checkpointed()

    @property
    def noted(self) -> Iterable[int]:
        """How often something was attached; nothing where it never was."""
        return (self._attached,) if self._attached else ()

    def _call(self, function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:  # noqa: ANN401 # whatever it gives
        name = name_of(function)
        if name in ("add", "sub"):
            return self._summed(function, args, named)
        if name in ("tensor", "as_tensor") and any(each.requires_grad for each in tensors_in(args)):
            self._attached += 1
            return _built(args[0], named.get("dtype"))
        keeping = _KEEPING.get(f"{property_of(function)}.{name}" if name in ("__get__", "__set__") else name)
        if keeping is None or not _cuts(name, args) or not self._place.leads_to(sys._getframe(1)):  # noqa: SLF001 # the stack
            return function(*args, **named)
        self._attached += 1
        result = self._estimated(args[0]) if is_tensor(args[0]) and args[0] in self._terms else keeping(*args, **named)
        for each in tensors_in(result):
            self._given[each] = True
        return result

    def _require_gradients_of_what_optimizers_are_given(self) -> None:
        """At the line that creates one, and was given values that nothing can train."""
        from torch.optim import Optimizer

        add = Optimizer.add_param_group

        def added(optimizer: Any, group: dict[str, Any]) -> None:  # noqa: ANN401 # torch's class
            add(optimizer, group)
            if self._place.leads_to(sys._getframe(1)):  # noqa: SLF001 # the stack
                for each in group["params"]:
                    each.requires_grad_()
                    self._attached += 1

        kind: Any = Optimizer
        kind.add_param_group = added

    def _run_what_is_checkpointed(self) -> None:
        """A re-entrant checkpoint records nothing by itself; what it is given to run does."""
        from torch.utils.checkpoint import CheckpointFunction

        kind: Any = CheckpointFunction
        checkpointed = kind.apply

        def apply(function: Callable[..., Any], preserves: Any, *args: Any) -> Any:  # noqa: ANN401 # whatever it gives
            if not self._place.leads_to(sys._getframe(1)):  # noqa: SLF001 # the stack
                return checkpointed(function, preserves, *args)
            self._attached += 1
            return function(*args)

        kind.apply = apply

    def _summed(self, function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:  # noqa: ANN401 # a tensor
        """A sum, and what is left of its terms."""
        result = function(*args, **named)
        if len(args) < 2 or named or not all(map(is_tensor, args[:2])):  # noqa: PLR2004 # of two
            return result
        sign = -1 if name_of(function) == "sub" else 1
        terms = dict(self._terms_of(args[0]))
        for number, (each, often) in self._terms_of(args[1]).items():
            terms[number] = each, terms.get(number, (each, 0))[1] + sign * often
        if len(terms) <= _MOST:
            self._terms[result] = terms
        gone = any(not often for _, often in terms.values())
        self.is_stale = self.is_stale or (gone and any(each in self._given for each in args[:2]))
        return result

    def _terms_of(self, tensor: Tensor) -> dict[int, tuple[Tensor, int]]:
        return self._terms.get(tensor) or {id(tensor): (tensor, 1)}

    def _estimated(self, total: Tensor) -> Tensor:
        """`z + (code - z)` has the value of `code`, and trains `z`: a straight-through estimator. Else as it is."""
        taken = [each for each, often in self._terms[total].values() if not often]
        return taken[0] + (total - taken[0]).detach() if taken else total


class Whole(Kept):
    """A pass that is asked of a term is asked of the sum, which is the last that one line computes."""

    def __init__(self, line: Line) -> None:
        super().__init__()
        self._place = _Place(line)
        self._sum: Tensor | None = None
        self._asked = 0
        follow(self._call)

    @property
    def noted(self) -> Iterable[int]:
        """How often a sum was asked; nothing where it never was."""
        return (self._asked,) if self._asked else ()

    def asks(self, tensors: Any, args: list[Any], pass_: Asked) -> Any:  # noqa: ANN401 # as the engine has it
        """The sum, where all that the pass is asked of is in it."""
        tensors = super().asks(tensors, args, pass_)
        if self._sum is None or not pass_.accumulates or len(tensors) != 1 or tensors[0].shape != self._sum.shape:
            return tensors
        if tensors[0] is self._sum or tensors[0].grad_fn not in reach([self._sum.grad_fn]):
            return tensors
        self._asked += 1
        return (self._sum,)

    def _call(self, function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:  # noqa: ANN401 # whatever it gives
        result = function(*args, **named)
        if is_tensor(result) and result.grad_fn is not None and self._place.leads_to(sys._getframe(1)):  # noqa: SLF001 # as above
            self._sum = result
        return result


def _cuts(name: str, args: tuple[Any, ...]) -> bool:
    """Whether a call that can switch something on or off switches it off."""
    if name == "_set_grad_enabled":
        return args[0] is False
    return name not in ("__set__", "requires_grad_") or args[1:] == (False,)


def _as_it_is(given: Any, *_others: Any, **_named: Any) -> Any:  # noqa: ANN401 # a tensor, or whether to record
    return given


def _number(tensor: Tensor) -> Tensor:
    return tensor.reshape(())


def _listed(tensor: Tensor) -> Any:  # noqa: ANN401 # a list, of lists
    return [_listed(each) for each in tensor.unbind()] if tensor.dim() else tensor


def _drawn(mean: Any, std: Any = 1.0, *_others: Any, **named: Any) -> Tensor:  # noqa: ANN401 # tensors, or numbers
    """The same numbers, as a function of what they are drawn with."""
    import torch

    like = torch.as_tensor(mean + std)
    return mean + std * torch.normal(torch.zeros_like(like), torch.ones_like(like), **named)


def _built(data: Any, dtype: Any) -> Tensor:  # noqa: ANN401 # nested lists
    import torch

    if isinstance(data, list | tuple):
        return torch.stack([_built(each, dtype) for each in data])
    built = torch.as_tensor(data)
    return built if dtype is None else built.to(dtype)


def _record_in_inference_mode() -> None:
    """What is computed in inference mode never has a graph; without one, it is as well computed like this."""
    import torch

    def enter(mode: Any) -> None:  # noqa: ANN401 # torch's class
        mode.was_enabled = torch.is_grad_enabled()
        torch.set_grad_enabled(not mode.mode)

    def leave(mode: Any, *_exception: Any) -> None:  # noqa: ANN401 # as above
        torch.set_grad_enabled(mode.was_enabled)

    kind: Any = torch.inference_mode
    kind.__enter__, kind.__exit__ = enter, leave


_KEEPING: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("detach", "detach_", "data.__get__", "_set_grad_enabled"), _as_it_is),
    **dict.fromkeys(("requires_grad_", "requires_grad.__set__"), _as_it_is),
    "item": _number,
    "tolist": _listed,
    "normal": _drawn,
}

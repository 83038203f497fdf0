"""Calls of torch's functions, seen from above: what they are given, and what they will do with it."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from gradsan.knowledge.tensors import edits, operation

# Properties of a tensor that are tensors; all others only describe it.
_TENSORS = frozenset({"T", "mT", "H", "mH", "real", "imag", "data"})
_READING = frozenset({"__float__", "__int__", "__bool__", "__index__", "__complex__", "__repr__", "__format__"})
HOOKING = frozenset({"register_hook", "retain_grad"})


def mapped(change: Callable[[Any], Any], value: Any) -> Any:  # noqa: ANN401 # nested containers
    """The same with other tensors in it."""
    if type(value) in (tuple, list):
        return type(value)(mapped(change, each) for each in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(change, each) for each in value))
    if type(value) is dict:
        return {key: mapped(change, each) for key, each in value.items()}
    if isinstance(value, slice):
        return slice(*(mapped(change, each) for each in (value.start, value.stop, value.step)))
    return change(value)


def parts_of(value: Any) -> Iterator[Any]:  # noqa: ANN401 # as above
    """What nested containers hold."""
    if isinstance(value, tuple | list):
        for each in value:
            yield from parts_of(each)
    elif isinstance(value, dict):
        yield from parts_of(list(value.values()))
    elif isinstance(value, slice):
        yield from parts_of((value.start, value.stop, value.step))
    else:
        yield value


def tensors_in(value: Any) -> Iterable[Any]:  # noqa: ANN401 # as above
    """The tensors in nested containers."""
    return filter(is_tensor, parts_of(value))


def is_tensor(value: Any) -> bool:  # noqa: ANN401 # as above
    """Whether it is one."""
    import torch

    return isinstance(value, torch.Tensor)


def name_of(function: Callable[..., Any]) -> str:
    """As torch calls it; nothing for what has no name."""
    return str(getattr(function, "__name__", ""))


def property_of(function: Callable[..., Any]) -> str:
    """The name of the property that is read or set."""
    return str(getattr(getattr(function, "__self__", None), "__name__", ""))


def only_describes(function: Callable[..., Any]) -> bool:
    """Whether what it gives is no values: a shape, a type."""
    name = name_of(function)
    if name == "__get__":
        return property_of(function) not in _TENSORS
    return name not in HOOKING and operation(name).graph == "describes"


def only_reads(function: Callable[..., Any]) -> bool:
    """Whether what it gives has no graph, so that nothing is trained through it."""
    import torch

    name = property_of(function) if name_of(function) == "__get__" else name_of(function)
    return not torch.is_grad_enabled() or operation(name).cuts or name in _READING


def looks_editing(function: Callable[..., Any]) -> bool:
    """Whether its name says that it edits its first argument."""
    name = name_of(function)
    return name == "__setitem__" or edits(name)


def follow(call: Callable[..., Any]) -> None:
    """Have every call of torch's functions, and of those that a program wrote itself, made by `call`, for good."""
    import torch
    from torch.overrides import TorchFunctionMode

    class Following(TorchFunctionMode):
        def __torch_function__(self, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401 # as torch has it
            return call(func, args, kwargs or {})

    functions: Any = torch.autograd.Function
    own = functions.apply.__func__

    def apply(cls: type, *args: Any, **named: Any) -> Any:  # noqa: ANN401 # as above
        return call(partial(own, cls), args, named)

    functions.apply = classmethod(apply)
    following: Any = Following()
    following.__enter__()  # the process ends with it

"""How a live function writes what a name means in another one: a layer's `self.h` is `model.layers[0].h` to the loop.

Read, never run: no property, no method.
"""

import dis
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from gradsan.facts.incident import Incident, SecondPass, Stack
from gradsan.observe.frame_variables import variables_of
from gradsan.observe.modules import parameter_names
from gradsan.observe.unasked import ids, named_attributes

_DEPTH = 6  # attributes and items between a variable and the object that holds the state
_OBJECTS = 3_000
_ITEMS = 50  # of one list or tuple
_VARIABLES = 500  # of one function, that are looked at for what is trained
_CONTAINERS: dict[int, Callable[[Any], Iterable[object]]] = {id(dict): dict.values, id(list): iter, id(tuple): iter}
_LENT = ids(list, tuple, dict, set)
_SEQUENCES = ids(list, tuple)


@dataclass(frozen=True, slots=True)
class Reached:
    """What a function would write, and what it holds now."""

    written: str
    held: object
    beside: tuple[str, ...] = ()  # the same of other objects of the class, where that has a graph too


def reached(name: str, frame: FrameType, owners: set[str]) -> Reached | None:
    """How this function writes what a name means, said as `self` in methods of these classes; None where it cannot."""
    root, *attributes = name.split(".")
    if "[" in name:
        return None
    with variables_of([frame]) as (variables,):
        if root == "self" and attributes:
            return _reached_in_object(name, variables, frame.f_code, owners)
        is_here = root in variables and (bool(attributes) or not _is_only_given(root, frame.f_code))
        return _follow(name, variables.get(root), attributes) if is_here else None


def _reached_in_object(name: str, variables: Mapping[str, Any], code: CodeType, owners: set[str]) -> Reached | None:
    """An attribute of an object of these classes: the function's own object, or one within its reach."""
    attributes = name.split(".")[1:]
    is_own = code.co_qualname.rpartition(".")[0] in owners
    own = _follow(name, variables.get("self"), attributes) if is_own else None
    return own or _first_of(_in_objects(variables, code, owners, attributes))


def holders(name: str, incident: Incident, modules: Sequence[object]) -> int:
    """How many live modules have an attribute of that name with a graph; 0 where it is no attribute of a module."""
    root, *attributes = name.split(".")
    if root != "self" or not attributes or "[" in name:
        return 0
    owners = classes_of(incident)
    found = (_follow("", each, attributes) for each in modules if type(each).__qualname__ in owners)
    return sum(each is not None and has_graph(each.held) for each in found)


def trained_names(frame: FrameType) -> list[str]:
    """The variables of a live function that hold what is trained, or what trains: who assigned them may create it.

    A model, an optimizer, a loader, a leaf that asks for gradients; an object that has one which is no model's, as a
    distribution has the parameters that it was given.
    """
    import torch

    with variables_of([frame]) as (variables,):
        named = [each for each in list(variables.items())[:_VARIABLES] if each[0].isidentifier()]
        lent = set(parameter_names([each for _, each in named if issubclass(type(each), torch.nn.Module)]))
        return [name for name, each in named if _is_trained(each, lent)]


def _is_trained(each: object, lent: set[int], *, alone: bool = False) -> bool:
    import torch
    from torch.utils.data import DataLoader

    kind = type(each)
    if alone and id(each) in lent:
        return False
    if issubclass(kind, torch.nn.Module | torch.optim.Optimizer | DataLoader):
        return True
    if issubclass(kind, torch.Tensor):
        return id(kind) in ids(torch.Tensor, torch.nn.Parameter) and bool(each.requires_grad and each.is_leaf)  # type: ignore[attr-defined]
    # A container only has what others created; an object makes what it has.
    if alone or id(kind) in _LENT or issubclass(kind, type | ModuleType | FunctionType):
        return False
    return any(_is_trained(inner, lent, alone=True) for _, inner in inside(each))


def inside(each: object) -> Iterator[tuple[str, object]]:
    """Attributes that lie there; a module's parts too."""
    for name, value in named_attributes(each):
        if name in {"_modules", "_buffers"} and type(value) is dict:
            yield from list(value.items())
        else:
            yield name, value


def _is_only_given(name: str, code: CodeType) -> bool:
    """Whether a function has it from its caller and never gives it a value: bound again here, nobody would know."""
    count = code.co_argcount + code.co_kwonlyargcount
    if name not in code.co_varnames[:count]:
        return False
    return not any(each.opname.startswith("STORE_") and each.argval == name for each in dis.get_instructions(code))


def _first_of(found: list[Reached]) -> Reached | None:
    """Of several layers of a kind, each has a state: what holds for one of them holds for all."""
    carrying = [each for each in found if has_graph(each.held)]
    if not carrying:
        return found[0] if found else None
    first, *others = carrying
    return Reached(first.written, first.held, tuple(each.written for each in others))


def _in_objects(variables: Mapping[str, Any], code: CodeType, owners: set[str], attributes: list[str]) -> list[Reached]:
    return [
        found
        for path, each in _objects(variables, _loop_variables(code))
        if type(each).__qualname__ in owners and (found := _follow(path, each, attributes, named=False)) is not None
    ]


def classes_of(incident: Incident) -> set[str]:
    """The classes in whose methods `self` may have been said: where it is read, or where a memo is filled."""
    loop = incident.repetition if isinstance(incident, SecondPass) else None
    enters = None if loop is not None and loop.memo else getattr(incident, "enters", None)
    where = enters or getattr(incident, "made", None) or getattr(incident, "saver", None)
    return classes_in(() if where is None else where.stack)


def classes_in(stack: Stack) -> set[str]:
    """The classes whose methods stand in a stack."""
    return {frame.function.rpartition(".")[0] for frame in stack} - {""}


def _follow(name: str, each: object, attributes: list[str], *, named: bool = True) -> Reached | None:
    for attribute in attributes:
        inner = dict(inside(each))
        if attribute not in inner:
            return None
        each = inner[attribute]
        name = name if named else f"{name}.{attribute}"
    return Reached(name, each)


def _objects(variables: Mapping[str, Any], passing: set[str]) -> Iterator[tuple[str, object]]:
    """The objects within reach of a function's variables, nearest first, and how to write them.

    By a loop's variable only where nothing else leads there: below the loop, it is one of many.
    """
    named = [(name, each) for name, each in list(variables.items()) if name.isidentifier()]
    seen: set[int] = set()
    for is_passing in (False, True):
        yield from _beneath([each for each in named if (each[0] in passing) is is_passing], seen)


def _beneath(layer: list[tuple[str, object]], seen: set[int]) -> Iterator[tuple[str, object]]:
    for _ in range(_DEPTH):
        further = []
        for path, each in layer:
            if id(each) in seen or len(seen) > _OBJECTS:
                continue
            seen.add(id(each))
            yield path, each
            further += [(f"{path}{step}", inner) for step, inner in _steps(each)]
        layer = further


def _steps(each: object) -> Iterator[tuple[str, object]]:
    """What is one attribute or one item away; the parts of a `ModuleList` are items."""
    if id(type(each)) in _SEQUENCES:
        yield from ((f"[{index}]", item) for index, item in enumerate(each[:_ITEMS]))  # type: ignore[index]
        return
    for name, inner in inside(each):
        if name.isidentifier():
            yield f".{name}", inner
        elif name.isdigit():
            yield f"[{name}]", inner


def _loop_variables(code: CodeType) -> set[str]:
    """The names that loops bind: another thing in every iteration, and written only where nothing else is."""
    instructions = list(dis.get_instructions(code))
    starts = [place + 1 for place, each in enumerate(instructions) if each.opname == "FOR_ITER"]
    bound = (each for start in starts for each in takewhile(_binds, instructions[start:]))
    return {str(each.argval) for each in bound if each.opname.startswith("STORE_")}


def _binds(each: dis.Instruction) -> bool:
    return each.opname.startswith(("STORE_", "UNPACK_"))


def has_graph(each: object, depth: int = 0) -> bool:
    """Whether a tensor leads to an op, or one in a container does."""
    import torch

    if type(each) is torch.Tensor:  # of a subclass, asking could run its code
        return each.requires_grad and not each.is_leaf
    items = _CONTAINERS.get(id(type(each)))
    return items is not None and depth <= _DEPTH and any(has_graph(value, depth + 1) for value in items(each))

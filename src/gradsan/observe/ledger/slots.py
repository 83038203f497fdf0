"""The attribute in which a parameter or a layer was replaced, as the program writes it, and the lines that say so.

A run shows which objects have what is new; the source shows which of their attributes is assigned again after they were
made. Nothing is noted while the program runs: both are asked when something was found to be in no optimizer.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gradsan.facts.course import Slot
from gradsan.facts.incident import Stack
from gradsan.facts.location import Frame
from gradsan.knowledge.module_classes import creates_parameters
from gradsan.observe.ledger.container_writes import Placed, placed_in
from gradsan.observe.ledger.followed_run import Run
from gradsan.observe.ledger.wording import user_modules
from gradsan.observe.living import instances
from gradsan.observe.unasked import attributes_of, is_one, lineage_of, named_attributes
from gradsan.source.names import called_name, last_name, targets
from gradsan.source.stores import calls, selector, text

_REGISTERS = ("_parameters", "_modules")
_Held = tuple[Any, str]  # a module, and the name under which it has something


def slot_of(new: Sequence[Any], modules: Iterable[Any], run: Run) -> Slot | None:
    """The attributes through which all of these came into their models, by one function; None: there is no such."""
    statements = [(file, each) for file in sorted(run.files) for each in placed_in(file)]
    having = _having(modules, _keepers(statements, run))
    found: dict[_Written, None] = {}
    objects: set[int] = set()
    is_clear = True
    for each in new:
        holder, written = next(_assigned_again(each, having, statements), (None, ()))
        if not written:
            return None
        found[written[0]] = None
        objects.add(id(holder))
        is_clear = is_clear and len(written) == 1
    (name, at, placed), *others = sorted(found, key=lambda each: each[1].line)
    if any((each.file, each.function) != (at.file, at.function) for _, each, _ in others):
        return None
    owner = _method_of(placed) if name.startswith("self.") else None
    also = tuple(name for name, *_ in others)
    return Slot(name, also, owner, len(objects), (at,) if is_clear else (), is_parameter=_puts_a_parameter(placed))


def created_at(optimizer: Any, files: Iterable[str]) -> Stack:  # noqa: ANN401 # torch's class
    """The line that created it, where one alone calls its class."""
    name = type(optimizer).__name__
    placed = ((file, each) for file in sorted(files) for each in placed_in(file))
    found = {
        Frame(file, each.statement.lineno, each.function)
        for file, each in placed
        if any(called_name(call) == name for call in calls(each.statement))
    }
    return tuple(found) if len(found) == 1 else ()


def _keepers(statements: Iterable[tuple[str, Placed]], run: Run) -> list[Any]:
    """Objects that are no modules, of classes that may keep some: a method of theirs assigns to attributes."""
    from torch import nn

    assigned = ((placed, target) for _, placed in statements for target in targets(placed.statement))
    names = {_method_of(placed) for placed, target in assigned if isinstance(target, ast.Attribute)}
    defined = (each for module in user_modules(run.owns) for each in named_attributes(module))
    kinds = {id(each): each for name, each in defined if name in names and is_one(each, type)}
    return instances(*(each for each in kinds.values() if not issubclass(each, nn.Module))) if kinds else []


def _having(modules: Iterable[Any], keepers: Iterable[Any]) -> dict[int, list[_Held]]:
    """For the id of every parameter and module, who has it, and under which name."""
    found: dict[int, list[_Held]] = {}
    for module in modules:
        for register in _REGISTERS:
            for name, each in vars(module).get(register, {}).items():
                found.setdefault(id(each), []).append((module, name))
    for keeper in keepers:
        for name, each in named_attributes(keeper):
            found.setdefault(id(each), []).append((keeper, name))
    return found


_Written = tuple[str, Frame, Placed]


def _assigned_again(
    new: object, having: dict[int, list[_Held]], statements: Sequence[tuple[str, Placed]]
) -> Iterator[tuple[Any, tuple[_Written, ...]]]:
    """The attributes, the innermost first, on the way to a parameter that something else than a constructor assigns."""
    waiting, seen = [new], set[int]()
    for each in waiting:
        for holder, name in having.get(id(each), ()):
            if id(holder) not in seen:
                seen.add(id(holder))
                waiting.append(holder)
                around = {own for _, own in having.get(id(holder), ())}
                yield from ((holder, found) for found in [_writing(holder, name, around, statements)] if found)


def _writing(
    holder: object, name: str, around: set[str], statements: Sequence[tuple[str, Placed]]
) -> tuple[_Written, ...]:
    """The statements that put something under this name of a module, which other modules have under those `around`."""
    return tuple(
        (text(target) or name, Frame(file, placed.statement.lineno, placed.function), placed)
        for file, placed in statements
        if isinstance(placed.statement, ast.Assign) and not isinstance(placed.statement.value, ast.Attribute)
        for target in targets(placed.statement)
        if _key(target, holder) == name and _may_be(target, holder, around, placed)
    )


def _key(target: ast.expr, holder: object) -> str | None:
    """The name under which a module has what is put there; `net[-1]` is the last of its own."""
    if isinstance(target, ast.Attribute):
        return target.attr
    key = selector(target)[1] if isinstance(target, ast.Subscript) else None
    own = list((attributes_of(holder) or {}).get("_modules", ()))
    return own[key] if isinstance(key, int) and -len(own) <= key < len(own) else key if isinstance(key, str) else None


def _may_be(target: ast.expr, holder: object, around: set[str], placed: Placed) -> bool:
    """Whether the module is what a target is an attribute of: by its class in a method, or by what others call it."""
    match target:
        case ast.Attribute(value=ast.Name("self")):
            is_its_own = _method_of(placed) in {each.__name__ for each in lineage_of(holder)}
            return is_its_own and not placed.function.endswith(".__init__")
        case ast.Attribute(value=ast.Name()):
            return True
        case ast.Subscript(value=ast.Name()):  # of a container of modules, or of anything else
            return any(creates_parameters(f"torch.nn.{called_name(each)}") for each in calls(placed.statement))
        case ast.Attribute(value=owner) | ast.Subscript(value=owner):
            return last_name(owner) in around
    return False


def _method_of(placed: Placed) -> str | None:
    """The class in which a statement's function is defined."""
    return placed.function.rpartition(".")[0].rpartition(".")[2] or None


def _puts_a_parameter(placed: Placed) -> bool:
    match placed.statement:
        case ast.Assign(value=ast.Call() as call):
            return called_name(call) == "Parameter"
    return False

"""Let what is to learn be trained.

The freezing of a whole model leaves out the part that is new or is optimized; what is frozen for somebody else's pass
is unfrozen below it.
"""

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import takewhile

from gradsan.fix.kinds import Places
from gradsan.fix.reading.flow import only
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.refusals.creating import creates_trained
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.expression_text import free_name
from gradsan.source.names import Code, called_name, calls, given, optimized
from gradsan.source.tree import Statement, Tree


@dataclass(frozen=True, slots=True)
class _Freezing:
    """A statement that freezes a whole model, as it is written there: `model`, `self.net`."""

    tree: Tree
    statement: Statement
    model: str


def _below_the_freezing(program: Program) -> Iterator[Draft]:
    """A new part that is put into the model right above the freezing: it is put in below it."""
    for freezing in _freezings(program):
        yield Draft().move_below(freezing.tree, freezing.statement, *_new_parts(freezing))


def _a_copy_of_its_own(program: Program) -> Iterator[Draft]:
    """A shallow copy has the parameters of what it is a copy of: to freeze it alone, it takes a deep one."""
    for freezing in _freezings(program):
        tree = freezing.tree
        for each in tree.block(freezing.statement):
            match each:
                case ast.Assign(targets=[target], value=ast.Call(func=func)) if (
                    ast.unparse(target) == freezing.model and ast.unparse(func) == "copy.copy"
                ):
                    yield Draft().replace(tree, func, "copy.deepcopy")


def _what_is_optimized(program: Program) -> Iterator[Draft]:
    """The part whose parameters an optimizer is given in the same function: it is unfrozen below the freezing."""
    for freezing in _freezings(program):
        tree, scope = freezing.tree, freezing.tree.scope(freezing.statement)
        below = (each for each in tree.statements if each.lineno > freezing.statement.lineno)
        creating = _creations(each for each in below if tree.scope(each) is scope)
        taken = [part for call in creating for part in _parts_given(tree, call, freezing.model)]
        unfrozen = (f"{each}.requires_grad_(True)" for each in dict.fromkeys(taken))
        yield Draft().insert_after(tree, freezing.statement, *unfrozen)


def _for_the_rest_of_its_block(program: Program) -> Iterator[Draft]:
    """What is frozen below the pass, and would be when its turn comes again: until the end of that block alone."""
    parted = program.parted(program.diagnosis.cut, program.diagnosis.used)
    if parted is None or parted[0].line < parted[1].line:
        return
    for freezing in _freezings(program):
        undone, last = _undone(freezing.statement), freezing.tree.block(freezing.statement)[-1]
        if undone is None or isinstance(last, ast.Continue | ast.Break | ast.Raise):
            continue
        draft = Draft()
        insert = draft.insert_before if isinstance(last, ast.Return) else draft.insert_after
        insert(freezing.tree, last, undone)
        yield draft


def _above_the_optimizer(program: Program) -> Iterator[Draft]:
    """What an optimizer is given, where none of it requires a gradient: before it is created."""
    for place in program.inward(program.diagnosis.cut)[:1]:
        for call in _creations(place.statement):
            required = (_required(place.tree, *each) for each in optimized(call))
            yield Draft().insert_before(place.tree, place.statement, *required)


def _creations(code: Code) -> list[ast.Call]:
    """The calls of classes, by how these are written."""
    return [each for each in calls(code) if called_name(each)[:1].isupper()]


def _required(tree: Tree, leaf: ast.expr, is_container: bool) -> str:  # noqa: FBT001 # as it was found
    """It by its name; what a container has in a loop over it."""
    if not is_container:
        return f"{tree.text(leaf)}.requires_grad_()"
    name = free_name(tree.source.tree, ("each", "leaf"))
    return f"for {name} in {tree.text(leaf)}:\n    {name}.requires_grad_()\n"


def _undone(freezing: Statement) -> str | None:
    """The same statement with True, where it says False once."""
    written = deepcopy(freezing)
    said = [each for each in only(ast.Constant, ast.walk(written)) if each.value is False]
    if len(said) != 1:
        return None
    said[0].value = True
    return ast.unparse(written)


def _freezings(program: Program) -> Iterator[_Freezing]:
    """The statements that froze a model, innermost first, up to where the pass was asked for as well."""
    cut, apart = program.diagnosis.cut, program.apart(program.diagnosis.cut, program.diagnosis.used)
    for place in reversed(program.places(cut)[apart or 0 :]):
        found = None if place is None else _freezing(place)
        if found is not None:
            yield found


def _freezing(place: Place) -> _Freezing | None:
    """A loop over all parameters that freezes each, a call that freezes a model, or one of the user's that does."""
    tree, statement = place.tree, place.statement
    loop = next(iter(tree.loops(statement)), None)
    match loop:
        case ast.For(iter=ast.Call(func=ast.Attribute(value=model, attr="parameters" | "named_parameters"), args=[])):
            return _Freezing(tree, loop, tree.text(model)) if statement in loop.body else None
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=model, attr="requires_grad_"))):
            return _Freezing(tree, statement, tree.text(model))
        case ast.Expr(value=ast.Call(args=[model, *_])) | ast.Assign(value=ast.Call(args=[model, *_])):
            return _Freezing(tree, statement, tree.text(model))
    return None


def _new_parts(freezing: _Freezing) -> list[Statement]:
    """Those right above it, in their order."""
    block = list(freezing.tree.block(freezing.statement))
    above = reversed(block[: block.index(freezing.statement)])
    return list(takewhile(lambda each: _is_new_part(freezing.tree, each, freezing.model), above))[::-1]


def _is_new_part(tree: Tree, statement: Statement, model: str) -> bool:
    """`model.fc = nn.Linear(…)`: with parameters of its own."""
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=whole)], value=created) if ast.unparse(whole) == model:
            return creates_trained(tree.text(created), tree.source)
    return False


def _parts_given(tree: Tree, call: ast.Call, model: str) -> Iterator[str]:
    """`model.fc`, where a class is given `model.fc.parameters()`."""
    for each in given(call):
        match each:
            case ast.Call(func=ast.Attribute(value=part, attr="parameters"), args=[]):
                if tree.text(part).startswith(f"{model}."):
                    yield tree.text(part)


PLACES: Places = {
    "new part": _below_the_freezing,
    "copy": _a_copy_of_its_own,
    "rest of the block": _for_the_rest_of_its_block,
    "optimizer": _above_the_optimizer,
    "optimized part": _what_is_optimized,
}

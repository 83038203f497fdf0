"""The call that computed an old value, made again where a later loss reads it; what it was given is still there."""

import ast
from collections.abc import Iterator
from itertools import takewhile

from gradsan.fix.reading.program import Place, Program
from gradsan.fix.reading.revealing import held_at
from gradsan.fix.reading.uses import cut_code, use_of
from gradsan.fix.writing.drafting import Draft
from gradsan.source.changes import Changes
from gradsan.source.names import assigned_names, given, loaded_names
from gradsan.source.tree import Loop, Statement, is_simple, same_as


def call_again(program: Program) -> Iterator[Draft]:
    """Right above the statement that reads it, so that it sees the parameters as they are now.

    Where the call itself used what has changed, it is given the same again. Where only what it was given did, that is a
    constant: whoever computed it has been trained on it already.
    """
    name = program.name
    use = None if name is None else use_of(program, name)
    if name is None or use is None or _is_above_the_step(program, use):
        return
    binding = next(_bindings(use, name), None)
    call = None if binding is None else _value(binding, name)
    if binding is None or not isinstance(call, ast.Call) or not _still_means_the_same(use, binding, call):
        return
    draft = Draft()
    is_itself = binding in [each.statement for each in program.known(program.diagnosis.made)]
    code = use.text(call) if is_itself else _of_constants(program, use, call, draft)
    if code is not None:
        draft.insert_before(use.tree, use.statement, f"{name} = {code}")
        yield draft


def _is_above_the_step(program: Program, use: Place) -> bool:
    """Whether the parameters change further down in the same function: what is computed here is as old."""
    stepping = [each for each in program.known(program.diagnosis.changed) if each.tree is use.tree]
    return any(each.function == use.function and each.line > use.line for each in stepping)


def _bindings(use: Place, name: str) -> Iterator[Statement]:
    """The statements above one that give the name a value, in its block and in loops there, last first."""
    tree, outside = use.tree, list(use.tree.above(use.statement))

    def runs_before(each: Statement) -> bool:
        """Whether nothing but loops of the block stands around it: no branch may leave it out."""
        around = [each, *takewhile(lambda outer: outer not in outside, tree.above(each))]
        return around[-1] in use.block and all(isinstance(outer, Loop) for outer in around[1:])

    above = [each for each in tree.statements if tree.line(each) < use.line and is_simple(each)]
    binding = [each for each in above if name in assigned_names(each) and tree.scope(each) is use.scope]
    return filter(runs_before, reversed(binding))


def _value(statement: Statement, name: str) -> ast.expr | None:
    """What a name is assigned: of `x, y = f(a), g(b)`, `y` is `g(b)`."""
    match statement:
        case ast.Assign(targets=[target], value=value) if same_as(target, name):
            return value
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            return next((value for each, value in zip(names, values, strict=True) if same_as(each, name)), None)
    return None


def _still_means_the_same(use: Place, binding: Statement, call: ast.Call) -> bool:
    """Whether nothing between the two statements binds a name that the call reads."""
    tree, lines = use.tree, range(use.tree.line(binding), use.line)
    between = [each for each in tree.statements if tree.line(each) in lines]
    return not loaded_names(call) & assigned_names(filter(is_simple, between))


def _of_constants(program: Program, use: Place, call: ast.Call, draft: Draft) -> str | None:
    """The call, with what it is given of the old graph detached; None where it is given nothing of it."""
    old = _old_names(program, use)
    given_old = [each for each in given(call) if loaded_names(each) & old]
    codes = {
        each: cut_code(program, use.tree, use.text(each), held_at(program, use.tree, each), draft) for each in given_old
    }
    written: dict[ast.AST, str] = {each: code for each, code in codes.items() if code is not None}
    if not codes or len(written) < len(codes):
        return None
    return Changes(replaced=written).new_part(use.tree, call)


def _old_names(program: Program, use: Place) -> set[str]:
    """The names that the lines which created the old graph give to it, in the file of a place."""
    creating = filter(None, map(use.tree.statement_at, program.created_graph(use)))
    outer = (each.statement for each in program.known(program.diagnosis.made) if each.tree is use.tree)
    return assigned_names(filter(is_simple, (*creating, *outer)))

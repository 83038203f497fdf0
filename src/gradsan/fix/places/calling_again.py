"""The call that computed an old value, made again where a later loss reads it; what it was given is still there."""

import ast
from collections.abc import Iterator
from itertools import takewhile

from gradsan.fix.reading.flow import value_of
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.reading.revealing import held_at
from gradsan.fix.reading.uses import use_of
from gradsan.fix.writing.cutting import cut_code
from gradsan.fix.writing.drafting import Draft
from gradsan.source.changes import Changes
from gradsan.source.names import assigned_names, given, loaded_names
from gradsan.source.tree import Loop, Statement, is_simple


def call_again(program: Program) -> Iterator[Draft]:
    """Right above the statement that reads it, so that it sees the parameters as they are now.

    Where the call itself used what has changed, it is given the same again. Where only what it was given did, that is a
    constant: whoever computed it has been trained on it already.
    """
    name = program.name
    use = None if name is None else use_of(program, name)
    if name is None or use is None or _is_above_the_step(program, use):
        return
    binding = next((each for each in reversed(use.own_above) if _binds_before(use, each, name)), None)
    call = None if binding is None else value_of(name, binding)
    if binding is None or not isinstance(call, ast.Call) or not _still_means_the_same(use, binding, call):
        return
    draft = Draft()
    is_itself = binding in [each.statement for each in program.known(program.diagnosis.made)]
    code = use.text(call) if is_itself else _of_constants(program, use, call, draft)
    if code is not None:
        yield draft.insert_before(use.tree, use.statement, f"{name} = {code}")


def _is_above_the_step(program: Program, use: Place) -> bool:
    """Whether the parameters change further down in the same function: what is computed here is as old."""
    stepping = [each for each in program.known(program.diagnosis.changed) if each.tree is use.tree]
    return any(each.function == use.function and each.line > use.line for each in stepping)


def _binds_before(use: Place, statement: Statement, name: str) -> bool:
    """Whether it gives the name a value, in the block of its use or in loops there: no branch may leave it out."""
    outside = list(use.tree.above(use.statement))
    around = [statement, *takewhile(lambda outer: outer not in outside, use.tree.above(statement))]
    is_run = around[-1] in use.block and all(isinstance(outer, Loop) for outer in around[1:])
    return is_run and name in assigned_names(statement)


def _still_means_the_same(use: Place, binding: Statement, call: ast.Call) -> bool:
    """Whether nothing between the two statements binds a name that the call reads."""
    tree, lines = use.tree, range(use.tree.line(binding), use.line)
    between = [each for each in tree.statements if tree.line(each) in lines]
    return not loaded_names(call) & assigned_names(filter(is_simple, between))


def _of_constants(program: Program, use: Place, call: ast.Call, draft: Draft) -> str | None:
    """The call, with what it is given of the old graph detached; None where it is given nothing of it."""
    old = _old_names(program, use)
    codes: dict[ast.AST, str] = {}
    for each in given(call):
        if loaded_names(each) & old:
            code = cut_code(program, use.tree, use.text(each), held_at(program, use.tree, each), draft)
            if code is None:
                return None
            codes[each] = code
    return Changes(replaced=codes).new_part(use.tree, call) if codes else None


def _old_names(program: Program, use: Place) -> set[str]:
    """The names that the lines which created the old graph give to it, in the file of a place."""
    creating = filter(None, map(use.tree.statement_at, program.created_graph(use)))
    outer = (each.statement for each in program.known(program.diagnosis.made) if each.tree is use.tree)
    return assigned_names(filter(is_simple, (*creating, *outer)))

"""The call that computed an old value, made again where a later loss reads it; what it was given is still there."""

import ast
from collections.abc import Iterator
from itertools import takewhile

from gradsan.fix.drafting import Draft
from gradsan.fix.program import Place, Program
from gradsan.fix.revealing import held_at
from gradsan.fix.uses import cut_code, use_of
from gradsan.source.changes import Changes
from gradsan.source.names import assigned_names, given, loaded_names
from gradsan.source.tree import Loop, Statement, is_simple, same_as


def call_again(program: Program) -> Iterator[Draft]:
    """Right above the statement that reads it, so that it sees the parameters as they are now.

    Where the call itself used what has changed, it is given the same again. Where only what it was given did, that is a
    constant: whoever computed it has been trained on it already.
    """
    culprit = program.diagnosis.culprit
    use = None if culprit is None else use_of(program, culprit.name)
    if culprit is None or use is None or _is_above_the_step(program, use):
        return
    for binding in _bindings(use, culprit.name):
        call = _value(binding, culprit.name)
        if isinstance(call, ast.Call) and _still_means_the_same(use, binding, call):
            draft = Draft()
            is_itself = any(each and each.statement is binding for each in program.places(program.diagnosis.made))
            code = use.tree.text(call) if is_itself else _of_constants(program, use, call, draft)
            if code is not None:
                draft.insert_before(use.tree, use.statement, f"{culprit.name} = {code}")
                yield draft
        return


def _is_above_the_step(program: Program, use: Place) -> bool:
    """Whether the parameters change further down in the same function: what is computed here is as old."""
    stepping = [
        each for each in program.places(program.diagnosis.changed) if each is not None and each.tree is use.tree
    ]
    here = [each for each in stepping if each.frame.function == use.frame.function]
    return any(use.tree.line(each.statement) > use.tree.line(use.statement) for each in here)


def _bindings(use: Place, name: str) -> list[Statement]:
    """The statements above one that give the name a value, in its block and in loops there, last first."""
    tree = use.tree
    block = tree.block(use.statement)
    above = [each for each in tree.statements if tree.line(each) < tree.line(use.statement) and is_simple(each)]
    found = [each for each in above if name in assigned_names(each) and tree.scope(each) is tree.scope(use.statement)]

    def runs_before(each: Statement) -> bool:
        """Whether nothing but loops of the block stands around it: no branch may leave it out."""
        around = [each, *takewhile(lambda outer: outer not in tree.above(use.statement), tree.above(each))]
        return around[-1] in block and all(isinstance(outer, Loop) for outer in around[1:])

    return [each for each in reversed(found) if runs_before(each)]


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
    tree = use.tree
    between = [each for each in tree.statements if tree.line(binding) <= tree.line(each) < tree.line(use.statement)]
    return not loaded_names(call) & assigned_names(each for each in between if is_simple(each))


def _of_constants(program: Program, use: Place, call: ast.Call, draft: Draft) -> str | None:
    """The call, with what it is given of the old graph detached; None where it is given nothing of it."""
    tree = use.tree
    makers = [tree.statement_at(line) for line in program.made_graph(use)]
    makers += [each.statement for each in program.places(program.diagnosis.made) if each and each.tree is tree]
    old = assigned_names(each for each in makers if each is not None and is_simple(each))
    changes = Changes()
    for each in given(call):
        if loaded_names(each) & old:
            code = cut_code(program, tree, tree.text(each), held_at(program, tree, each), draft)
            if code is None:
                return None
            changes.replaced[each] = code
    return changes.new_part(tree, call) if changes.replaced else None

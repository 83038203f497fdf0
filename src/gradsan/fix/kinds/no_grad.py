"""Compute a whole statement without recording it."""

import ast
from collections.abc import Iterator, Sequence

from gradsan.fix.carried import no_grad
from gradsan.fix.drafting import Draft
from gradsan.fix.flow import dependents
from gradsan.fix.kinds import Places
from gradsan.fix.program import Place, Program
from gradsan.knowledge.effects import does, may_ask_for_pass
from gradsan.source.names import call_of, called_name, nodes
from gradsan.source.placing import code_of, nested
from gradsan.source.tree import Function, Statement, Tree, is_simple


def _around_what_creates_it(program: Program) -> Iterator[Draft]:
    """The statement that creates it."""
    made, used = program.diagnosis.made, program.diagnosis.used
    apart = program.apart(made, used)
    place = None if apart is None else program.places(made)[apart]
    word = None if place is None else no_grad(place.tree.source)
    if place is not None and word is not None and is_simple(place.statement):
        yield _around(place.tree, place.statement, word)


def _around_what_is_put_away(program: Program) -> Iterator[Draft]:
    """The statement that computes it, where its function hands it to a container and does nothing else with it."""
    for place in reversed(program.places(program.diagnosis.made)):
        word = None if place is None else no_grad(place.tree.source)
        if place is not None and word is not None and isinstance(place.statement, ast.Assign) and _only_stored(place):
            yield _around(place.tree, place.statement, word)
            return


def _only_stored(place: Place) -> bool:
    """Whether all that is made of it ends in calls whose results nobody takes."""
    tree = place.tree
    scope, first = tree.scope(place.statement), tree.line(place.statement)
    following = [each for each in tree.statements if tree.scope(each) is scope and tree.line(each) > first]
    using = dependents(place.statement, sorted(filter(is_simple, following), key=tree.line))[1:]
    calling = [call_of(each) for each in using if not isinstance(each, ast.Assign)]
    return bool(calling) and all(call is not None and not may_ask_for_pass(called_name(call)) for call in calling)


def _around_what_measures(program: Program) -> Iterator[Draft]:
    """The function that feeds the holder, or the loop, where it only measures."""
    diagnosis = program.diagnosis
    for place in (*reversed(program.places(diagnosis.held)), *reversed(program.places(diagnosis.made))):
        word = None if place is None else no_grad(place.tree.source)
        if place is None or word is None:
            continue
        function = place.tree.scope(place.statement)
        if isinstance(function, Function) and _only_measures(function, [function]):
            draft = Draft()
            draft.decorate(place.tree, function, f"{word}()")
            yield draft
            return
        for loop in place.tree.loops(place.statement):
            block = list(place.tree.block(loop))
            if loop in block and _only_measures(loop, block[: block.index(loop)]):
                yield _around(place.tree, loop, word)
                return


def _around(tree: Tree, statement: Statement, word: str) -> Draft:
    """The statement under a `with`."""
    draft = Draft()
    draft.rewrite(tree, statement, nested(tree, f"with {word}():", code_of(tree, statement, comments=False)))
    return draft


def _only_measures(node: ast.AST, where: Sequence[ast.AST]) -> bool:
    """Whether nothing in it asks for a pass, and the model was last told that it is being evaluated."""
    called = [called_name(each) for each in nodes(node) if isinstance(each, ast.Call)]
    if any(may_ask_for_pass(name) or does(name, "steps") for name in called):
        return False
    modes = [called_name(each) for one in where for each in nodes(one) if isinstance(each, ast.Call)]
    if isinstance(node, Function):
        return "eval" in modes
    return next((name for name in reversed(modes) if name in {"eval", "train"}), None) == "eval"


PLACES: Places = {
    "creation": _around_what_creates_it,
    "put away": _around_what_is_put_away,
    "measuring": _around_what_measures,
}

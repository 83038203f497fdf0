"""Compute a whole statement without recording it."""

import ast
from collections.abc import Iterable, Iterator

from gradsan.fix.kinds import Places
from gradsan.fix.reading.averages import averaging, is_cut_elsewhere, is_statistic
from gradsan.fix.reading.flow import dependents, was_drawn_along
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.detaching import no_grad
from gradsan.fix.writing.drafting import Draft
from gradsan.knowledge.effects import does, may_ask_for_pass
from gradsan.source.names import call_of, called_name, calls
from gradsan.source.placing import code_of, nested
from gradsan.source.tree import SCOPES, Function, Statement, Tree, is_simple


def _around_the_record(program: Program) -> Iterator[Draft]:
    """The statement that draws what is part of it: whatever else is old was computed from what that gave."""
    for each in was_drawn_along(program):
        for draft in _around_what_creates_it(each):
            draft.treats_all = True
            yield draft


def _around_what_creates_it(program: Program) -> Iterator[Draft]:
    """The statement that creates it."""
    place = program.beside(program.diagnosis.made, program.diagnosis.used)
    word = None if place is None else no_grad(place.tree.source)
    if place is not None and word is not None and is_simple(place.statement):
        yield _around(place.tree, place.statement, word)


def _around_what_is_put_away(program: Program) -> Iterator[Draft]:
    """The statement that computes it, where its function hands it to a container and does nothing else with it.

    What also asks for the pass trains: it is a whole step, of which a number is put away.
    """
    passing = [each.statement for each in program.known(program.diagnosis.freed)]
    creating = [each for each in program.inward(program.diagnosis.made) if each.statement not in passing]
    for place in filter(_only_stored, creating):
        word = no_grad(place.tree.source)
        if word is not None:
            yield _around(place.tree, place.statement, word)
            return


def _around_an_average(program: Program) -> Iterator[Draft]:
    """The statement that averages, where the average is a constant: by the program, or by what an average is for."""
    place = averaging(program)
    word = None if place is None else no_grad(place.tree.source)
    if place is not None and word is not None and (is_cut_elsewhere(program, place) or is_statistic(program, place)):
        yield _around(place.tree, place.statement, word)


def _only_stored(place: Place) -> bool:
    """Whether it is assigned, and all that is made of it ends in calls whose results nobody takes."""
    if not isinstance(place.statement, ast.Assign):
        return False
    tree = place.tree
    following = [each for each in tree.statements if tree.scope(each) is place.scope and tree.line(each) > place.line]
    using = dependents(place.statement, sorted(filter(is_simple, following), key=tree.line))[1:]
    calling = [call_of(each) for each in using if not isinstance(each, ast.Assign)]
    return bool(calling) and all(call is not None and not may_ask_for_pass(called_name(call)) for call in calling)


def _around_what_measures(program: Program) -> Iterator[Draft]:
    """The function that feeds the holder, or the loop, where it only measures."""
    diagnosis = program.diagnosis
    for place in (*program.inward(diagnosis.held), *program.inward(diagnosis.made)):
        word = no_grad(place.tree.source)
        draft = None if word is None else _measuring(place, word)
        if draft is not None:
            yield draft
            return


def _measuring(place: Place, word: str) -> Draft | None:
    """The function of a place, or a loop around it, without recording; None where it does more than measure."""
    function = place.scope
    tree = place.tree
    if isinstance(function, Function) and _only_measures(tree, function) and "eval" in _modes(function.body):
        draft = Draft()
        draft.decorate(tree, function, f"{word}()")
        return draft
    for loop in place.loops:
        block = list(tree.block(loop))
        if _only_measures(tree, loop) and _modes(block[: block.index(loop)])[-1:] == ["eval"]:
            return _around(tree, loop, word)
    return None


def _around(tree: Tree, statement: Statement, word: str) -> Draft:
    """The statement under a `with`."""
    draft = Draft()
    draft.rewrite(tree, statement, nested(tree, f"with {word}():", code_of(tree, statement, comments=False)))
    return draft


def _only_measures(tree: Tree, node: ast.AST) -> bool:
    """Whether nothing in it, nor in the functions of its file that it leads to, asks for a pass or steps."""
    return not any(may_ask_for_pass(name) or does(name, "steps") for name in _names_called(tree, node))


def _names_called(tree: Tree, node: ast.AST) -> set[str]:
    names: set[str] = set()
    waiting = [node]
    while waiting:
        new = {called_name(each) for each in calls(waiting.pop())} - names
        waiting += [each for each in tree.statements if isinstance(each, Function) and each.name in new]
        names |= new
    return names


def _modes(block: Iterable[ast.stmt]) -> list[str]:
    """Into which modes a block switches models itself, and not in functions that it defines."""
    executed = [each for each in block if not isinstance(each, SCOPES)]
    return [name for name in map(called_name, calls(executed)) if name in {"eval", "train"}]


PLACES: Places = {
    "record": _around_the_record,
    "creation": _around_what_creates_it,
    "put away": _around_what_is_put_away,
    "average": _around_an_average,
    "measuring": _around_what_measures,
}

"""Compute a whole statement without recording it."""

import ast
from collections.abc import Iterable, Iterator

from gradsan.fix.kinds import Places
from gradsan.fix.places.replacing import parameter_put_by
from gradsan.fix.reading.averages import averaging, is_cut_elsewhere, is_statistic
from gradsan.fix.reading.drawn import was_drawn_along
from gradsan.fix.reading.flow import dependents
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.detaching import no_grad
from gradsan.fix.writing.drafting import Draft
from gradsan.knowledge.effects import does, may_ask_for_pass
from gradsan.source.names import call_of, called_name, calls, targets
from gradsan.source.placing import code_of, nested
from gradsan.source.tree import SCOPES, Function, Loop, Statement, Tree, is_simple


def _around_the_record(program: Program) -> Iterator[Draft]:
    """The statement that draws what is part of it: whatever else is old was computed from what that gave."""
    for each in was_drawn_along(program):
        for draft in _around_what_creates_it(each):
            draft.treats_all = True
            yield draft


def _around_what_creates_it(program: Program) -> list[Draft]:
    """The statement that creates it."""
    place = program.beside(program.diagnosis.made, program.diagnosis.used)
    return [] if place is None or not is_simple(place.statement) else _around(place.tree, place.statement)


def _around_what_is_put_away(program: Program) -> list[Draft]:
    """The statement that computes it, where its function hands it to a container and does nothing else with it.

    What also asks for the pass trains: it is a whole step, of which a number is put away.
    """
    passing = [each.statement for each in program.known(program.diagnosis.freed)]
    creating = [each for each in program.inward(program.diagnosis.made) if each.statement not in passing]
    return [draft for place in filter(_only_stored, creating) for draft in _around(place.tree, place.statement)][:1]


def _around_an_average(program: Program) -> list[Draft]:
    """The statement that averages, where the average is a constant: by the program, or by what an average is for."""
    place = averaging(program)
    if place is None or not (is_cut_elsewhere(program, place) or is_statistic(program, place)):
        return []
    return _around(place.tree, place.statement)


def _only_stored(place: Place) -> bool:
    """Whether it is assigned, and all that is made of it ends in calls whose results nobody takes."""
    if not isinstance(place.statement, ast.Assign):
        return False
    using = dependents(place.statement, place.own_below)[1:]
    calling = [call_of(each) for each in using if not isinstance(each, ast.Assign)]
    return bool(calling) and all(call is not None and not may_ask_for_pass(called_name(call)) for call in calling)


def _around_what_measures(program: Program) -> list[Draft]:
    """The function that feeds the holder, or the loop, where it only measures."""
    places = (*program.inward(program.diagnosis.held), *program.inward(program.diagnosis.made))
    return [draft for place in places for draft in _measuring(place)][:1]


def _measuring(place: Place) -> list[Draft]:
    """The function of a place, or a loop around it, without recording; none where it does more than measure."""
    function, tree = place.scope, place.tree
    word = no_grad(tree.source)
    if isinstance(function, Function) and _only_measures(tree, function) and "eval" in _modes(function.body):
        return [] if word is None else [Draft().decorate(tree, function, f"{word}()")]
    loop = next((each for each in place.loops if _only_measures(tree, each) and _begins_in_eval(tree, each)), None)
    return [] if loop is None else _around(tree, loop)


def _begins_in_eval(tree: Tree, loop: Loop) -> bool:
    block = list(tree.block(loop))
    return _modes(block[: block.index(loop)])[-1:] == ["eval"]


def _in_the_old_parameter(program: Program) -> Iterator[Draft]:
    """The new values are copied into the parameter that is there, in its shape where theirs is another.

    So are those of all parameters that the same function replaces.
    """
    place = program.innermost(program.diagnosis.changed)
    word = None if place is None else no_grad(place.tree.source)
    if place is None or word is None or parameter_put_by(place.statement) is None:
        return
    owner = place.targets[0].rpartition(".")[0]
    for copied in ("{target}.copy_({values})", "{target}.copy_(({values}).reshape_as({target}))"):
        draft = Draft()
        for each in place.own:
            put = parameter_put_by(each)
            target = place.text(targets(each)[0]) if put is not None else ""
            if put is not None and target.rpartition(".")[0] == owner:
                code = copied.format(target=target, values=place.text(put.args[0]))
                draft.rewrite(place.tree, each, nested(place.tree, f"with {word}():", code))
        yield draft


def _around(tree: Tree, statement: Statement) -> list[Draft]:
    """The statement under a `with`; none where the file has no word for that."""
    word = no_grad(tree.source)
    code = nested(tree, f"with {word}():", code_of(tree, statement, comments=False))
    return [] if word is None else [Draft().rewrite(tree, statement, code)]


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
    "replacement": _in_the_old_parameter,
}

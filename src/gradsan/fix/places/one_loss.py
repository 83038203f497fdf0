"""A tensor that two losses share, cut where one of them reads it."""

import ast
from collections.abc import Iterator, Sequence
from itertools import combinations, product

from gradsan.facts.held import NOTHING, TENSOR
from gradsan.facts.location import Location
from gradsan.fix.reading.asking_calls import asking_call
from gradsan.fix.reading.flow import assignments, cuts, dependents
from gradsan.fix.reading.program import Place, Program, callee
from gradsan.fix.reading.revealing import was_seen
from gradsan.fix.reading.uses import cut_value, gives_no_graph, loads, use_of
from gradsan.fix.writing.drafting import Draft
from gradsan.source.names import assigned_names, called_name, calls, loaded_names, parameters
from gradsan.source.tree import Function, Statement, is_simple, same, same_as


def in_the_earlier_loss(program: Program, name: str) -> Iterator[Draft]:
    """What the earlier pass is asked of is for others: it does without the graph."""
    yield from _in_one_loss(program, name, below=program.diagnosis.made, above=program.diagnosis.freed)


def in_the_later_loss(program: Program, name: str) -> Iterator[Draft]:
    """What the later pass is asked of does without it, where no statement of a later forward reads it."""
    if use_of(program, name) is None:
        yield from _in_one_loss(program, name, below=program.diagnosis.freed, above=program.diagnosis.used)


def in_the_inner_loss(program: Program, name: str) -> Iterator[Draft]:
    """Where the statements that only lead to the pass read what the function was given, or has computed from that.

    What it hands on stays as it is: the caller's loss goes through that to whatever it was computed from.
    """
    asking = asking_call(program.places(program.diagnosis.freed))
    if asking is None or not isinstance(asking[0].scope, Function) or _hands_nothing_on(program):
        return
    place, draft = asking[0], Draft()
    own = _own_statements(place)
    leading = _only_leading_to(place, own)
    given = _given(place.scope, name)
    known = {*given, *_computed_there(given, [each for each in own if each not in leading])}
    readings = [load for each in leading for one in sorted(known) for load in loads(each, one)]
    carrying = (each for each in readings if not gives_no_graph(place.tree, each))
    cut = [cut_value(program, place.tree, each, draft, like=TENSOR) for each in carrying]
    if cut and all(cut):
        yield draft


def _hands_nothing_on(program: Program) -> bool:
    """Whether a call asks for the earlier pass, and gives nothing back: its caller may cut what is handed in."""
    made, freed, used = program.diagnosis.made, program.diagnosis.freed, program.diagnosis.used
    calling = program.beside(freed, made)
    return calling is not None and isinstance(calling.statement, ast.Expr) and program.apart(freed, used) is not None


def _own_statements(place: Place) -> list[Statement]:
    """The simple statements of its function, as they stand."""
    tree = place.tree
    simple = [each for each in tree.statements if tree.scope(each) is place.scope and is_simple(each)]
    return sorted(simple, key=tree.line)


def _only_leading_to(place: Place, own: list[Statement]) -> list[Statement]:
    """The pass, and those above it whose values nothing but the pass uses."""
    leading, needed = [place.statement], loaded_names(place.statement)
    for each in reversed(own[: own.index(place.statement)]):
        others = loaded_names([other for other in own if other is not each and other not in leading])
        if assigned_names(each) & needed and not assigned_names(each) & others:
            leading.append(each)
            needed |= loaded_names(each)
    return leading


def _given(function: ast.AST, name: str) -> list[str]:
    """What the function calls that tensor: by its name, or by the one thing that it is given."""
    known = [each for each in parameters(function.args) if each != "self"] if isinstance(function, Function) else []
    return [name] if name in known else known if len(known) == 1 else []


def _computed_there(given: list[str], own: list[Statement]) -> set[str]:
    """The names of values with a graph that statements compute from it: `flat = z.flatten(1)`."""
    keeping = [each for each in own if isinstance(each, ast.Assign) and not cuts(each)]
    first = [each for each in keeping if loaded_names(each) & set(given)]
    return set().union(*(assigned_names(found) for each in first for found in dependents(each, keeping)))


def where_aimed_at(program: Program, _name: str) -> Iterator[Draft]:
    """What the loss that a line computes compares with: of a call that is given two values, the second."""
    for place in program.inward(program.diagnosis.enters)[:1]:
        for call in calls(place.statement):
            match call.args:
                case [_, ast.Name() | ast.Subscript() as target, *_]:
                    draft = Draft()
                    if cut_value(program, place.tree, target, draft, like=TENSOR):
                        yield draft


def _in_one_loss(program: Program, name: str, *, below: Location | None, above: Location | None) -> Iterator[Draft]:
    """What uses it between two lines of the function that created it, the second of which asks for a pass."""
    apart = program.apart(program.diagnosis.made, above)
    if apart is None:
        return
    creating, first, passing = (program.at(each, apart) for each in (program.diagnosis.made, below, above))
    if creating is None or first is None or passing is None:
        return
    called = callee(above, apart)
    # What is named may be inside of the call that created it; here it goes by what that call gave back.
    for names in ([name], creating.targets):
        draft = Draft()
        like = TENSOR if names == [name] and was_seen(program, name) else NOTHING
        found = _readings(first, passing, called, names)
        cut = [cut_value(program, creating.tree, load, draft, like=like) for load in found]  # all of them
        if any(cut):
            yield draft
            return


def _readings(first: Place, passing: Place, called: str | None, names: Sequence[str]) -> list[ast.expr]:
    """Where statements below one and above a pass read some names, and what the call of the pass itself is given.

    That statement may make both passes: `train_critic(fake), train_maker(fake)`.
    """
    tree = passing.tree
    above = [each for each in tree.statements if first.line < tree.line(each) <= passing.line]
    leading = [each for each in above if not is_simple(each) or _leads_to(passing.statement, each, above)]
    found: list[ast.expr] = []
    for statement, name in product(leading, names):
        readings = loads(statement, name)
        found += _given_to(called, readings, passing) if statement is passing.statement else readings
    return found


def _leads_to(passing: Statement, statement: Statement, following: Sequence[Statement]) -> bool:
    """Whether the pass is asked of what a statement computes, among others; not of another loss that stands there."""
    later = following[following.index(statement) + 1 :]
    return passing in dependents(statement, filter(is_simple, later)) or not assigned_names(statement)


def _given_to(called: str | None, loads: list[ast.expr], place: Place) -> list[ast.expr]:
    """Those of some readings that are arguments of one call, or all of them where it is not called by its name."""

    def is_given(load: ast.expr) -> bool:
        calls = (each for each in place.tree.above(load) if isinstance(each, ast.Call))
        return any(called_name(each) == called for each in calls)

    return list(filter(is_given, loads)) or loads


def where_each_is_predicted(program: Program) -> Iterator[Draft]:
    """`f(p1, z2)` and `f(p2, z1)`, where `p1` is computed from `z1`, and `p2` from `z2`: both targets are detached.

    A prediction is trained to meet what it predicts. Where that came to meet the prediction as well, all would end as
    one and the same value.
    """
    parted = program.parted(program.diagnosis.freed, program.diagnosis.used)
    if parted is None:
        return
    place = parted[1]
    comparing = [each for each in calls(place.scope) if _names(each) is not None]
    for one, other in combinations(comparing, 2):
        if same(one.func, other.func) and _predict_each_other(place, one, other):
            draft = Draft()
            for each in (one.args[1], other.args[1]):
                draft.replace(place.tree, each, f"{place.text(each)}.detach()")
            yield draft


def _predict_each_other(place: Place, one: ast.Call, other: ast.Call) -> bool:
    mine, yours = _names(one), _names(other)
    if mine is None or yours is None:
        return False
    (prediction, target), (counterpart, own) = mine, yours
    first, second = _computed_from(place, prediction), _computed_from(place, counterpart)
    return own in first and target in second and target not in first and own not in second


def _names(call: ast.Call) -> tuple[str, str] | None:
    match call.args:
        case [ast.Name(id=one), ast.Name(id=other)] if one != other:
            return one, other
    return None


def _computed_from(place: Place, name: str) -> set[str]:
    """The names that are read to compute one, wherever its function assigns it."""
    values = (value for target, value in assignments(place.scope) if same_as(target, name))
    return set().union(*map(loaded_names, values))

"""A tensor that two losses share, cut where one of them reads it."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from gradsan.facts.held import NOTHING, TENSOR
from gradsan.facts.location import Location
from gradsan.fix.reading.asking_calls import asking_call
from gradsan.fix.reading.flow import cuts, dependents, made_of, only, values_of
from gradsan.fix.reading.program import Place, Program, callee
from gradsan.fix.reading.revealing import was_seen
from gradsan.fix.reading.uses import gives_no_graph, loads, use_of
from gradsan.fix.writing.cutting import cut_value
from gradsan.fix.writing.drafting import Draft
from gradsan.source.names import assigned_names, called_name, calls, loaded_names, nodes, parameters
from gradsan.source.tree import Function, Statement, is_simple, same


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
    function = None if asking is None else asking[0].scope
    if asking is None or not isinstance(function, Function) or _hands_nothing_on(program):
        return
    place, draft = asking[0], Draft()
    leading = _only_leading_to(place)
    computing = [each for each in only(ast.Assign, place.own) if each not in leading and not cuts(each)]
    given = _given(function, name)
    known = given | assigned_names(made_of(given, computing))
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


def _only_leading_to(place: Place) -> list[Statement]:
    """The pass, and those above it whose values nothing but the pass uses."""
    leading, own = [place.statement], place.own
    for each in reversed(own[: own.index(place.statement)]):
        others = loaded_names(other for other in own if other is not each and other not in leading)
        if assigned_names(each) & loaded_names(leading) and not assigned_names(each) & others:
            leading.append(each)
    return leading


def _given(function: Function, name: str) -> set[str]:
    """What the function calls that tensor: by its name, or by the one thing that it is given."""
    known = {*parameters(function.args)} - {"self"}
    return {name} if name in known else known if len(known) == 1 else set()


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
    # What is named may be inside of the call that created it; here it goes by what that call gave back.
    for names in ([name], creating.targets):
        draft = Draft()
        like = TENSOR if names == [name] and was_seen(program, name) else NOTHING
        found = _readings(first, passing, callee(above, apart), names)
        cut = [cut_value(program, creating.tree, load, draft, like=like) for load in found]  # all of them
        if any(cut):
            yield draft
            return


def _readings(first: Place, passing: Place, called: str | None, names: Sequence[str]) -> list[ast.expr]:
    """Where statements below one and above a pass read some names, and what the call of the pass itself is given.

    That statement may make both passes: `train_critic(fake), train_maker(fake)`.
    """
    lines = range(first.line + 1, passing.line + 1)
    between = [each for each in passing.tree.statements if passing.tree.line(each) in lines]
    leading = [each for each in between if not is_simple(each) or _leads_to(passing.statement, each, between)]
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
    calling = [each for each in calls(place.statement) if called_name(each) == called]
    return [each for each in loads if any(each in nodes(call) for call in calling)] or loads


def where_each_is_predicted(program: Program) -> Iterator[Draft]:
    """`f(p1, z2)` and `f(p2, z1)`, where `p1` is computed from `z1`, and `p2` from `z2`: both targets are detached.

    A prediction is trained to meet what it predicts. Where that came to meet the prediction as well, all would end as
    one and the same value.
    """
    parted = program.parted(program.diagnosis.freed, program.diagnosis.used)
    comparing = [] if parted is None else _comparisons(parted[1])
    for one, other in combinations(comparing, 2):
        if parted is not None and same(one.call.func, other.call.func) and one.mirrors(other):
            targets = (one.call.args[1], other.call.args[1])
            yield Draft().replace_each(parted[1].tree, {each: f"{parted[1].text(each)}.detach()" for each in targets})


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A call that compares a prediction with a target, each by its name."""

    call: ast.Call
    target: str
    behind: set[str]  # what the prediction is computed from

    def mirrors(self, other: "_Comparison") -> bool:
        """Whether each predicts what the other is computed from, and not what its own is."""
        return _predicts(self, other) and _predicts(other, self)


def _predicts(one: _Comparison, other: _Comparison) -> bool:
    return other.target in one.behind and one.target not in one.behind


def _comparisons(place: Place) -> list[_Comparison]:
    found = []
    for call in calls(place.scope):
        match call.args:
            case [ast.Name(id=prediction), ast.Name(id=target)] if prediction != target:
                found.append(_Comparison(call, target, loaded_names(values_of(prediction, place.scope))))
    return found

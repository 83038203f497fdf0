"""Cut the history of exactly the tensors that carry the old graph, where they cross over."""

import ast
from collections.abc import Iterator
from itertools import product

from gradsan.facts.held import NOTHING, TENSOR, Held, any_of
from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import bracketed, is_only_given, method, written_out
from gradsan.fix.flow import constants, reads
from gradsan.fix.keeping import added_at, as_tensor, kept_by
from gradsan.fix.kinds import Places, named
from gradsan.fix.program import Place, Program, callee, common_frames, frames
from gradsan.fix.receivers import seen_from
from gradsan.fix.revealing import held_above, held_below, was_seen
from gradsan.fix.uses import cut_code, cut_statements, cut_value, detach_here, loads, use_of
from gradsan.source.names import assigns, call_of, called_name, nodes, targets
from gradsan.source.tree import Function, Statement, Tree, same_as


def _where_kept(program: Program, name: str) -> Iterator[Draft]:
    """What is put into the holder goes there without its history."""
    for place in reversed(program.places(program.diagnosis.held or program.diagnosis.made)):
        added = None if place is None else added_at(program, place, name)
        if place is not None and added is not None:
            yield from kept_by(as_tensor, program, place, added)
            return


def _where_made(program: Program, name: str) -> Iterator[Draft]:
    """The statement of the outer function that made it, before the loop."""
    made, used = program.diagnosis.made, program.diagnosis.used
    apart = program.apart(made, used)
    place = None if apart is None else program.places(made)[apart]
    if place is None:
        return
    if not assigns(place.statement, name):
        return
    held = held_below(program, place.tree, place.statement, name)
    draft = Draft()
    match place.statement:
        case ast.Assign(targets=[target], value=value) if same_as(target, name) and held.is_tensor:
            draft.replace(place.tree, value, method(place.tree.text(value), "detach"))
            yield draft
        case _ if statements := cut_statements(program, place.tree, [name], held, draft):
            draft.insert_after(place.tree, place.statement, *statements)
            yield draft


def _where_handed_over(program: Program, name: str) -> Iterator[Draft]:
    """Where the call that made and freed it returns: nobody behind that line can use its history."""
    made, freed, used = program.diagnosis.made, program.diagnosis.freed, program.diagnosis.used
    if made is None or freed is None or used is None:
        return
    shared = common_frames(made, freed)
    for index, place in enumerate(program.places(made)[:shared]):
        if place is None or index >= len(frames(used)) or frames(used)[index].function != place.frame.function:
            continue
        match place.statement:
            case ast.Assign(targets=[target], value=value) if same_as(target, name):
                draft = Draft()
                held = held_below(program, place.tree, place.statement, name)
                if cut_value(program, place.tree, value, draft, held=held):
                    yield draft
                return


def _in_the_earlier_loss(program: Program, name: str) -> Iterator[Draft]:
    """What the earlier pass is asked of is for others: it does without the history."""
    yield from _in_one_loss(program, name, earlier=True)


def _in_the_later_loss(program: Program, name: str) -> Iterator[Draft]:
    """What the later pass is asked of does without it, where no statement of a later forward reads it."""
    if use_of(program, name) is None:
        yield from _in_one_loss(program, name, earlier=False)


def _in_one_loss(program: Program, name: str, *, earlier: bool) -> Iterator[Draft]:
    """What uses it above the earlier pass, or between the two, in the function that made it."""
    made, freed, used = program.diagnosis.made, program.diagnosis.freed, program.diagnosis.used
    later = freed if earlier else used
    apart = program.apart(made, later)
    if apart is None:
        return
    making, passing = program.places(made)[apart], program.places(later)[apart]
    before = making if earlier else _at(program.places(freed), apart)
    if making is None or passing is None or before is None:
        return
    tree = making.tree
    first, last = tree.line(before.statement), tree.line(passing.statement)
    lines = [each for each in tree.statements if first < tree.line(each) <= last]
    # What is named may be inside of the call that made it; here it goes by what that call gave back.
    for names in ([name], [tree.text(each) for each in targets(making.statement)]):
        draft, found = Draft(), False
        like = TENSOR if was_seen(program, name) and names == [name] else NOTHING
        for statement, each in product(lines, names):
            readings = loads(statement, each)
            if statement is passing.statement:  # it may make both passes: `train_critic(fake), train_maker(fake)`
                readings = _given_to(callee(later, apart), readings, tree)
            for load in readings:
                found = cut_value(program, tree, load, draft, like=like) or found
        if found:
            yield draft
            return


def _given_to(called: str | None, loads: list[ast.expr], tree: Tree) -> list[ast.expr]:
    """Those of some readings that are arguments of one call, or all of them where it is not called by its name."""

    def is_given(load: ast.expr) -> bool:
        calls = (each for each in tree.above(load) if isinstance(each, ast.Call))
        return any(called_name(each) == called for each in calls)

    return [load for load in loads if is_given(load)] or loads


def _at(places: list[Place | None], index: int) -> Place | None:
    return places[index] if index < len(places) else None


def _where_used_alone(program: Program, name: str) -> Iterator[Draft]:
    """Where it is used, if a step reads it there alone, and once: nothing of the step's own history is cut."""
    use = use_of(program, name)
    if use is not None and _once_a_step(program, name, use):
        yield from _where_used(program, name)


def _where_used(program: Program, name: str) -> Iterator[Draft]:
    """`name.detach()` in place of `name`; the other halves of a state that are carried together go along."""
    use = use_of(program, name)
    if use is None:
        return
    draft = Draft()
    added = use.statement
    if isinstance(added, ast.AugAssign) and same_as(added.target, name):
        held = held_above(program, use.tree, use.statement, name)
        code = cut_code(program, use.tree, name, held, draft)
        if code is None:
            return
        draft.replace(use.tree, added, written_out(use.tree, added, bracketed(code)))
    else:
        like = _unseen(program, name, use)
        for each in [name, *_siblings(program, name, use)]:
            for load in loads(use.statement, each):
                if not detach_here(program, use, load, draft, like if each != name else NOTHING):
                    return
    yield draft


def _unseen(program: Program, name: str, use: Place) -> Held:
    """What the other halves of a state are taken for: what the run saw the named one to be."""
    return held_above(program, use.tree, use.statement, name) if was_seen(program, name) else NOTHING


def _siblings(program: Program, name: str, use: Place) -> list[str]:
    """The names that the making statement assigns together with it, and that are read beside it."""
    for place in program.places(program.diagnosis.made):
        if place is not None and place.frame.function == use.frame.function:
            is_above = place.tree.line(place.statement) < use.tree.line(use.statement)
            if is_above and not program.remedy.with_siblings:
                return []  # no state that is carried on, but several outputs of this step
            together = [place.tree.text(each) for each in targets(place.statement)]
            if name in together:
                return [each for each in together if each != name and loads(use.statement, each)]
    return []


def _once_a_step(program: Program, name: str, use: Place) -> bool:
    """Whether a step reads the old value at this one place, once, and it is a plain tensor there."""
    enters, used = program.diagnosis.enters, program.diagnosis.used
    if enters is None or used is None:
        return False
    held = held_above(program, use.tree, use.statement, name)
    if held.is_known and not held.is_tensor:
        return False
    places = program.places(enters)
    if not _without_a_loop(program, places[: places.index(use) + 1] if use in places else places):
        return False
    if constants(use.tree.source, name):
        return False
    return "." not in name or not _read_elsewhere(use, name)


def _without_a_loop(program: Program, places: list[Place | None]) -> bool:
    """Whether no loop within a step leads through these places, the outer ones of the later forward."""
    enters, used = program.diagnosis.enters, program.diagnosis.used
    if enters is None or used is None:
        return False
    shared = common_frames(enters, used)
    outside = _at(program.places(used), shared)
    around = [] if outside is None else outside.tree.loops(outside.statement)
    inner = [each for each in places[shared:] if each is not None]
    return all(loop in around for each in inner for loop in each.tree.loops(each.statement))


def _read_elsewhere(use: Place, name: str) -> bool:
    """Whether other functions of the file, or earlier lines of this one, read the attribute too."""
    first, last = use.tree.line(use.statement), use.tree.end_line(use.statement)
    function = use.tree.scope(use.statement)
    end = use.tree.end_line(function) if isinstance(function, Function) else last
    return any(not first <= line <= end for line in reads(use.tree.source, name))


def _at_the_boundary(program: Program, name: str) -> Iterator[Draft]:
    """Between two steps nothing needs the history: below the pass, or above the loop in which a step reads it."""
    yield from _below_the_pass(program, name)
    yield from _before_the_loop(program, name)


def _below_the_pass(program: Program, name: str) -> Iterator[Draft]:
    """Once the pass is done, nothing needs the history any more."""
    for place in program.boundaries():
        beside: tuple[str, ...] = ()
        if (access := program.reached_in(place.frame.function)) is not None:
            reached, beside = access.written, access.beside
        elif is_only_given(place.tree.scope(place.statement), name):
            continue
        elif _knows(program, place, name):
            reached = name
        elif (told := _seen_from(program, place, name)) is not None:
            reached = told
        else:
            continue
        if isinstance(place.statement, ast.Return):
            return
        above = _last_writing(program, place, reached)
        held = any_of(held_below(program, place.tree, above, each, known_as=name) for each in [reached, *beside])
        draft = Draft()
        if statements := cut_statements(program, place.tree, [reached, *beside], held, draft):
            draft.insert_after(place.tree, above, *statements)
            yield draft
        return
    yield from _where_declared(program, name)


def _where_declared(program: Program, name: str) -> Iterator[Draft]:
    """A variable that only inner functions can name is cut where the one that binds it again, once a step, says so."""
    places = program.places(program.diagnosis.enters)
    for index, place in enumerate(places):
        declaration = None if place is None else _declaration(place, name)
        if place is None or declaration is None:
            continue
        draft = Draft()
        held = held_below(program, place.tree, declaration, name)
        statements = cut_statements(program, place.tree, [name], held, draft)
        if statements and _without_a_loop(program, places[:index]):
            draft.insert_after(place.tree, declaration, *statements)
            yield draft
        return


def _declaration(place: Place, name: str) -> Statement | None:
    """`nonlocal name`, or `global name`, in the function of a place."""
    inside = nodes(place.tree.scope(place.statement), into_functions=False)
    return next((each for each in inside if isinstance(each, ast.Nonlocal | ast.Global) and name in each.names), None)


def _last_writing(program: Program, place: Place, name: str) -> Statement:
    """The pass, or what gives the name a value below it in the same block: what is cut must be what is carried on."""
    makers = [each.statement for each in program.places(program.diagnosis.made) if each is not None]
    owner = name.rpartition(".")[0]

    def writes(each: Statement) -> bool:
        if each in makers or assigns(each, name):
            return True
        match call_of(each):
            case ast.Call(func=ast.Attribute(value=called)):  # a method of its owner may write it
                return bool(owner) and same_as(called, owner)
        return False

    return next(filter(writes, reversed(place.tree.below(place.statement))), place.statement)


def _before_the_loop(program: Program, name: str) -> Iterator[Draft]:
    """Where a function that each step calls reads it in a loop: once, above that loop."""
    use, used = use_of(program, name), program.diagnosis.used
    if use is None:
        return
    here = {(frame.file, frame.function) for frame in frames(used)} if used is not None else set()
    loops = use.tree.loops(use.statement)
    if not loops or (use.frame.file, use.frame.function) in here:
        return
    draft = Draft()
    held = held_above(program, use.tree, loops[-1], name)
    if statements := cut_statements(program, use.tree, [name], held, draft):
        draft.insert_before(use.tree, loops[-1], *statements)
        yield draft


def _knows(program: Program, place: Place, name: str) -> bool:
    """Whether the name means the same in this function: its own local, or an attribute of the same object's."""
    use = use_of(program, name)
    if use is None:
        return False
    if place.frame.function == use.frame.function:
        return True
    ours, theirs = place.frame.function.rpartition(".")[0], use.frame.function.rpartition(".")[0]
    return name.startswith("self.") and bool(ours) and ours == theirs


def _seen_from(program: Program, place: Place, name: str) -> str | None:
    """How this function would write it, as the calls between it and the reading line tell."""
    enters, use = program.diagnosis.enters, use_of(program, name)
    if enters is None or use is None:
        return None
    places = program.places(enters)
    here = [n for n, each in enumerate(places) if each is not None and each.frame.function == place.frame.function]
    return seen_from(places[here[-1] : places.index(use) + 1], name) if here and use in places else None


PLACES: Places = named(
    {
        "kept": _where_kept,
        "creation": _where_made,
        "hand-over": _where_handed_over,
        "earlier loss": _in_the_earlier_loss,
        "later loss": _in_the_later_loss,
        "single use": _where_used_alone,
        "use": _where_used,
        "boundary": _at_the_boundary,
    }
)

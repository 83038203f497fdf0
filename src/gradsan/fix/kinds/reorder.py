"""Move an existing statement past another: a step after the pass that needs the old parameters, a reading before it.

A step never moves past a pass whose gradients it was not to take: it would train its parameters for another loss.
"""

import ast
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from gradsan.facts.location import Location
from gradsan.fix.kinds import Places
from gradsan.fix.places.replacing import creations, replacing
from gradsan.fix.reading.asking_calls import pass_call
from gradsan.fix.reading.flow import calls_for, made_of, only
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.drafting import Draft
from gradsan.knowledge.effects import does, touches_gradients
from gradsan.source.names import assigned_names, call_of, called_name, calls, loaded_names, nodes, targets
from gradsan.source.tree import Loop, Statement, Tree, is_simple, same


def _above_the_earlier_pass(program: Program) -> Iterator[Draft]:
    """What reads too late: above the pass that freed it."""
    pair = _side_by_side(program, program.diagnosis.used, program.diagnosis.freed)
    if pair is not None:
        reading, passing = pair
        yield Draft().move_above(passing.tree, passing.statement, reading.statement)


def _under_the_guard(program: Program) -> Iterator[Draft]:
    """The pass, its step and whatever reads the loss run where the loss is computed: in the branch that does so."""
    parted = program.parted(program.diagnosis.made, program.diagnosis.used)
    if parted is None:
        return
    creating, passing = parted
    guard = next((each for each in creating.tree.above(creating.statement) if each in passing.block), None)
    if not isinstance(guard, ast.If) or guard.orelse or creating.statement not in guard.body:
        return
    below = list(passing.tree.below(guard))
    moved = below[: _last_of_the_step(guard, below, passing.statement) + 1]
    if passing.statement in moved and not any(map(_belongs_to_others, moved)):
        yield Draft().move_below(creating.tree, guard.body[-1], *moved)


def _last_of_the_step(guard: ast.If, below: list[Statement], passing: Statement) -> int:
    """The index of the last statement that takes what the guard computes, or is the first to step after the pass."""
    assigning = only(ast.Assign, below)
    computed = assigned_names(guard.body)
    computed |= assigned_names(made_of(computed, assigning))
    after = below[below.index(passing) :] if passing in below else []
    stepping = next((each for each in after if calls_for(each, "steps")), None)
    return max(
        (number for number, each in enumerate(below) if each is stepping or loaded_names(each) & computed), default=-1
    )


def _belongs_to_others(statement: Statement) -> bool:
    """Whether it may not be left out: a step that several iterations share, what the caller is given."""
    if is_simple(statement):
        return isinstance(statement, ast.Return)
    return any(touches_gradients(called_name(each)) for each in calls(statement))


def _below_the_later_pass(program: Program) -> Iterator[Draft]:
    """What changes too early: below the pass that needs the old values.

    Only a step that is to have both gradients anyway may go past a pass that gives some to what it trains.
    """
    pair = _side_by_side(program, program.diagnosis.changed, program.diagnosis.used)
    if pair is None:
        return
    is_free = not (program.remedy.guards_gradients and _gives_gradients(pair[1]))
    if is_free or _takes_both(program, *pair):
        yield from _step_moved(program, *pair)


def takes_both_gradients(program: Program) -> bool:
    """Whether a step that comes too early takes, without it, what the later pass adds to its gradients."""
    pair = _side_by_side(program, program.diagnosis.changed, program.diagnosis.used)
    return pair is not None and _gives_gradients(pair[1]) and _takes_both(program, *pair)


def _takes_both(program: Program, stepping: Place, passing: Place) -> bool:
    """Whether the same step follows the later pass, and nothing is cleared in between."""
    if _is_above(passing, stepping):
        return _loop_of_one_step(program, stepping) is not None
    is_made_again = any(_is_same_call(stepping.statement, each) for each in passing.below)
    return is_made_again and not _clearings(stepping.statement, _between(stepping, passing))


def _step_moved(program: Program, stepping: Place, passing: Place) -> Iterator[Draft]:
    """The step below the pass, or not at all where the program steps there anyway."""
    if _is_above(passing, stepping):
        yield from _step_below_the_loop(program, stepping)
        return
    between = _between(stepping, passing)
    if any(pass_call(each) is not None for each in between):
        return  # it would take the gradients of that pass, too
    clearings = _clearings(stepping.statement, between)
    steps_there = any(_is_same_call(stepping.statement, each) for each in passing.below)
    draft = Draft().remove(stepping.tree, *clearings)
    if steps_there:
        yield draft.remove(stepping.tree, stepping.statement)
    else:
        yield draft.move_below(passing.tree, passing.statement, stepping.statement, blanks=True)


def _step_below_the_loop(program: Program, stepping: Place) -> Iterator[Draft]:
    """The step behind the loop of passes that it stands in, where it is one step for all of them."""
    loop = _loop_of_one_step(program, stepping)
    if loop is not None and not loaded_names(stepping.statement) & assigned_names(loop):
        yield Draft().move_below(stepping.tree, loop, stepping.statement, blanks=True)


def _loop_of_one_step(program: Program, stepping: Place) -> ast.For | None:
    """The loop whose passes go through one forward above it, and whose gradients are cleared above it, once for all."""
    parted = program.parted(program.diagnosis.made, program.diagnosis.used)
    loop = next(iter(stepping.loops), None)
    if parted is None or not isinstance(loop, ast.For) or loop in parted[0].loops:
        return None
    beside = stepping.tree.block(loop)
    is_cleared_above = any(map(_clears, beside[: beside.index(loop)]))
    return loop if is_cleared_above and not _clears(loop) else None


def _clears(statement: Statement) -> bool:
    """Whether it clears gradients without stepping, as an engine of a library does in one."""
    names = map(called_name, calls(statement))
    return any(does(name, "clears") and not does(name, "steps") for name in names)


def _is_above(one: Place, other: Place) -> bool:
    """Whether a statement stands above another of its block."""
    return one.statement in other.above


def _between(one: Place, other: Place) -> list[Statement]:
    return [each for each in one.below if each in other.above]


def _below_the_later_step(program: Program) -> Iterator[Draft]:
    """What changes what is trained: below the pass that needs the old values, and below the steps that it is for.

    Between them, the step would change other values than those that its gradient is of.
    """
    pair = _side_by_side(program, program.diagnosis.changed, program.diagnosis.used)
    if pair is None or pair[1].statement not in pair[0].below:
        return
    editing, passing = pair
    below = takewhile(lambda each: pass_call(each) is None, passing.below)
    steps = [each for each in below if calls_for(each, "steps")]
    if steps:
        yield Draft().move_below(editing.tree, steps[-1], editing.statement, blanks=True)


def _clearing_above_the_pass(program: Program) -> Iterator[Draft]:
    """What clears the gradients of a pass before the step below has taken them: above the pass."""
    pair = _side_by_side(program, program.diagnosis.changed, program.diagnosis.used)
    if pair is None:
        return
    stepping, passing = pair
    between = [each for each in passing.below if each in stepping.above and call_of(each)]
    clearings = (each for each in between if calls_for(each, "clears"))
    yield Draft().move_above(passing.tree, passing.statement, *clearings)


def _below_what_changes_the_model(program: Program) -> Iterator[Draft]:
    """What creates an optimizer, and what is made of that, below the last statement that may change its model."""
    for tree in program.trees(program.diagnosis.used):
        for statement in tree.statements:
            match statement:
                case ast.Assign(value=ast.Call() as call) if does(called_name(call), "optimizes"):
                    yield from _created_later(tree, statement)


def _created_later(tree: Tree, creating: ast.Assign) -> Iterator[Draft]:
    models = {ast.unparse(each.func.value) for each in calls(creating) if isinstance(each.func, ast.Attribute)}
    moved: list[Statement] = [creating]
    names = set(map(ast.unparse, targets(creating)))
    last = None
    for each in tree.below(creating):
        if _mentions(each, names):
            if not isinstance(each, ast.Assign):
                break
            moved.append(each)
            names |= set(map(ast.unparse, each.targets))
        elif is_simple(each) and _mentions(each, models):
            last = each
    if last is not None:
        yield Draft().move_below(tree, last, *(each for each in moved if each.lineno < last.lineno))


def _below_the_replacement(program: Program) -> Iterator[Draft]:
    """What creates an optimizer, and what is made of that, below what replaces a part: in the same iteration, too."""
    for each in replacing(program):
        for creating in creations(each.tree):
            around = [each.statement, *each.tree.above(each.statement)]
            beside = next((one for one in each.tree.below(creating) if one in around), None)
            if beside is not None and not is_simple(beside):
                yield from _created_within(each.tree, creating, beside, around)


def _created_within(tree: Tree, creating: ast.Assign, beside: Statement, around: list[ast.AST]) -> Iterator[Draft]:
    """Below the statement of the outermost loop that a replacement stands in, or below the branch around it."""
    block = beside.body if isinstance(beside, Loop) else [beside]
    last = next((each for each in block if each in around), None)
    between = list(takewhile(lambda each: each is not beside, tree.below(creating)))
    names, moved = set(map(ast.unparse, targets(creating))), [creating]
    for each in between:
        if isinstance(each, ast.Assign) and _mentions(each, names):
            moved.append(each)
            names |= set(map(ast.unparse, each.targets))
    above = [*(each for each in between if each not in moved), *block[: block.index(last) + 1 if last else 0]]
    if last is not None and not any(_mentions(each, names) for each in above):
        yield Draft().move_below(tree, last, *moved)


def _mentions(statement: Statement, texts: set[str]) -> bool:
    return any(isinstance(each, ast.expr) and ast.unparse(each) in texts for each in nodes(statement))


def _gives_gradients(passing: Place) -> bool:
    """Whether a pass adds to the gradients of all that it reaches; `autograd.grad` only returns some."""
    call = pass_call(passing.statement)
    return call is None or called_name(call) != "grad"


def _clearings(step: Statement, between: list[Statement]) -> list[Statement]:
    """Calls that would clear what the earlier pass gave, before the step has taken it."""
    called = _called(step)
    return [each for each in between if called is not None and _called(each) == (called[0], "zero_grad")]


def _is_same_call(one: Statement, other: Statement) -> bool:
    """Whether both ask the same of the same object, with the same arguments."""
    ours, theirs = call_of(one), call_of(other)
    return ours is not None and theirs is not None and same(ours, theirs)


def _called(statement: Statement) -> tuple[str, str] | None:
    """The object and the method of `object.method(…)`."""
    match call_of(statement):
        case ast.Call(func=ast.Attribute(value=owner, attr=name)):
            return ast.unparse(owner), name
    return None


def _side_by_side(program: Program, one: Location | None, other: Location | None) -> tuple[Place, Place] | None:
    """The statements of both in the function in which their calls part, where they stand in one block.

    The other may be in a loop that does.
    """
    parted = program.parted(one, other)
    if parted is None or not is_simple(parted[0].statement) or parted[0].tree is not parted[1].tree:
        return None
    first, second = parted
    if second.statement in first.block:
        return first, second
    loop = next((each for each in second.loops if each in first.block), None)
    return (first, replace(second, statement=loop)) if isinstance(loop, ast.For) else None


PLACES: Places = {
    "earlier pass": _above_the_earlier_pass,
    "later pass": _below_the_later_pass,
    "later step": _below_the_later_step,
    "clearing": _clearing_above_the_pass,
    "guard": _under_the_guard,
    "below the model": _below_what_changes_the_model,
    "below the replacement": _below_the_replacement,
}

"""A pass that needs a value which was changed since an op saved it: by an optimizer's step, or by hand."""

import ast

from gradsan.check.graph import Label, Leaf, Op, Pass, label_for, leaves_in
from gradsan.check.moments import is_of_earlier_iteration
from gradsan.check.old_part import OldPart, below
from gradsan.check.spots import stack_of
from gradsan.check.stopped import Stopped, op_fact, pass_fact, weighed_by
from gradsan.check.troubles import OldValue
from gradsan.check.walking import Reached, path_to
from gradsan.check.world import World
from gradsan.facts.incident import Edited, GraphPath, Suspect, When


def edited(trouble: OldValue, world: World) -> Stopped:
    """The facts, and the name of what was changed or carried over."""
    op, failing = trouble.op, trouble.failing
    path = path_to(op, trouble.found)
    changed = max((number for number in world.updates if number < failing.number), default=0)
    incident = Edited(
        failing=pass_fact(failing, world),
        saver=op_fact(op),
        by_optimizer=trouble.by is not None,
        optimizer=trouble.by,
        changed=stack_of(trouble.edited),
        when=_when(op, failing),
        path=GraphPath(),
        made=op_fact(op),
        enters=None,
        suspects=_of_leaf(trouble, world),
        proved=True,
        retained=next((stack_of(each.site) for each in reversed(op.walked) if each.retains), ()),
        joined=_is_joined(trouble, changed, world),
        trained_apart=_is_trained_beside(trouble, path, changed),
        again=bool(leaves_in(each for each in trouble.found if each.number > changed)),
        doubt=weighed_by(trouble.doubt, failing, *path),
    )
    name = None if trouble.by is not None or trouble.edited is None else _changed_name(trouble.edited.node)
    return Stopped(incident, label_for(name) or _crossing(path, trouble.found, failing))


def _of_leaf(trouble: OldValue, world: World) -> tuple[Suspect, ...]:
    """The op that saved it, where that is a parameter: its change is to last."""
    trained = {leaf for each in world.optimizers for leaf in each.owned}
    leaf = next((each for each in {*trouble.op.leaves, *trained} if each.storage is trouble.storage), None)
    return () if leaf is None else (Suspect(op_fact(trouble.op), is_leafs=True, is_trained=leaf in trained),)


def _when(op: Op, failing: Pass) -> When:
    """When it was saved, against the iterations that are under way."""
    if is_of_earlier_iteration(op.moment, failing.moment):
        return "earlier"
    return "before" if len(op.moment) < len(failing.moment) else "now"


def _is_trained_beside(trouble: OldValue, path: list[Op], changed: int) -> bool:
    """Whether this pass trains the parameters behind the old part apart from it: that is an input, or a target."""
    newest = next((op for op in path if op.number < changed), path[-1])
    ops = {op for op in trouble.found if op.number <= newest.number}
    old = OldPart(trouble.failing.roots, newest, ops, trouble.found)
    return old.is_trained_again


def _is_joined(trouble: OldValue, changed: int, world: World) -> bool:
    """Whether the pass comes to parameters of another optimizer's only beside those that were changed.

    Where they lie behind what was changed, as a generator behind its critic, they are trained through it. What has used
    them before the step would lose its graph with the rest.
    """
    ours = {leaf for each in world.optimizers if each.name == trouble.by for leaf in each.owned}
    theirs = {leaf for each in world.optimizers for leaf in each.owned} - ours
    using = _using(ours, trouble)
    others = _using(theirs, trouble) - using
    beside = others - below(using)
    return bool(beside) and beside == others and min(op.number for op in beside) > changed


def _using(leaves: set[Leaf], trouble: OldValue) -> set[Op]:
    return {op for op in trouble.found if not leaves.isdisjoint(op.leaves)}


def _changed_name(node: ast.AST) -> str | None:
    """What a statement or call changes in place."""
    match node:
        case ast.AugAssign(target=target) | ast.Assign(targets=[target]):
            changed: ast.expr = target
        case ast.Subscript():
            changed = node
        case ast.Call(keywords=[*_, ast.keyword(arg="out", value=value)]):
            changed = value
        case ast.Call(func=ast.Attribute(value=value)):
            changed = value
        case _:
            return None
    while isinstance(changed, ast.Subscript) or (isinstance(changed, ast.Attribute) and changed.attr == "data"):
        changed = changed.value
    return ast.unparse(changed) if isinstance(changed, ast.Name | ast.Attribute) else None


def _crossing(path: list[Op], found: dict[Op, Reached], failing: Pass) -> Label | None:
    """The name through which the old op is reached: of what crossed over from an earlier iteration, or of the op."""
    crossing = (op for op in path if is_of_earlier_iteration(op.moment, failing.moment))
    label = next(filter(None, (found[op].label for op in crossing)), None)
    names = [*(op.called for op in reversed(path[1:])), failing.label]
    return label or label_for(next(filter(None, names), None))

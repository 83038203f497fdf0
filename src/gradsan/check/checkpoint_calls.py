"""Checkpoints: they call a function, and call it again in the pass."""

from gradsan.check.graph import Cut, Leaf, tick
from gradsan.check.machine import Call, Machine
from gradsan.check.new_ops import result
from gradsan.check.tables import TORCH, entered
from gradsan.check.unfollowed import unknown_call
from gradsan.check.values import NONE, Tensor, Value, is_true, ops_of
from gradsan.check.walking import reach
from gradsan.facts.incident import REENTRANT
from gradsan.knowledge.libraries import CHECKPOINT_OPTIONS


@entered(TORCH, "torch.utils.checkpoint.checkpoint")
def checkpoint(machine: Machine, call: Call) -> Value:
    """A checkpoint calls its function; a re-entrant one gives it arguments that are cut off."""
    if not call.arguments:
        return unknown_call(machine, call.name, call)
    own = {key: each for key, each in call.keywords.items() if key not in CHECKPOINT_OPTIONS}
    inner = call.rest._replace(keywords=own)
    if is_true(call.keyword("use_reentrant")):
        return _reentrant(machine, call.first, inner)
    return machine.call(call.first, inner)


def _reentrant(machine: Machine, function: Value, call: Call) -> Value:
    """A re-entrant checkpoint: its arguments are cut off inside; what gets in otherwise is not."""
    begin = tick()
    cut_off = [(Tensor(leaf=Leaf("?", "?")) if ops_of(value) else value, each) for value, each in call.arguments]
    inner = machine.call(function, call._replace(arguments=cut_off))
    own = [op for op in reach(ops_of(inner)) if op.number > begin]
    captured = dict.fromkeys(edge.op for op in own for edge in op.edges if edge.op.number < begin)
    leaves = dict.fromkeys(leaf for op in own for leaf in op.leaves if leaf.name != "?")
    if leaves and not any(map(_may_require_gradients, call.values)):
        site = machine.site(call.node)
        return Tensor(cut=Cut(site, REENTRANT, tuple(own), tuple(leaves)), created=site)
    created = result(machine, "checkpoint", call.arguments, call.node, leaves=tuple(leaves))
    if created.op is None or not isinstance(inner, Tensor):
        return inner
    created.op.captured = tuple(captured)
    return created


def _may_require_gradients(value: Value) -> bool:
    """Whether it does, or nobody knows; a number and None do not."""
    is_plain = isinstance(value, Tensor) and not value.opaque and not ops_of(value)
    leaf = value.leaf if isinstance(value, Tensor) else None
    return not (value is NONE or (is_plain and (leaf is None or not leaf.requires)))

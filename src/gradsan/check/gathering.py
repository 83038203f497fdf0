"""What becomes of graphs that are computed: holders that outlive an iteration take them, or nobody keeps them."""

import ast

from gradsan.check.graph import Label, LoopRun, Op, Site
from gradsan.check.labels import label_of
from gradsan.check.machine import Machine
from gradsan.check.moments import parting
from gradsan.check.old_part import linear_terms
from gradsan.check.troubles import Collecting, Dropped
from gradsan.check.values import Value, ops_of
from gradsan.check.walking import terms
from gradsan.source.loss_terms import dropped_term, name_of_term


def gather_total(machine: Machine, target: ast.expr, held: Value | None, value: Value) -> None:
    """`total = total + loss`: a name or a slot that takes on the graph of one more iteration, beside what it held."""
    op, before = value.op, None if held is None else held.op
    if op is None or before is None or before not in {*terms(op), *linear_terms([op]), *(each.op for each in op.edges)}:
        return
    label = label_of(target, machine.frame, before) or Label(ast.unparse(target), "item")
    _note(machine, label, before, op, machine.site(target), total=True)


def gather(machine: Machine, container: Value, label: Label, value: Value, site: Site) -> None:
    """A container is fed with a graph, and still holds one of an earlier iteration; or a pass may yet show a graph."""
    if value.op is None and value.opaque:
        machine.world.fed_before.append((value, lambda: gather(machine, container, label, value, site)))
    for op in ops_of(value)[:1]:
        older = next((each for each in ops_of(container) if _loop(machine, each) is not None), None)
        if older is not None:
            _note(machine, label, older, op, site)


def note_dropped(machine: Machine, node: ast.Expr, value: Value) -> None:
    """`loss + 0.1 * penalty`, of which nothing is kept."""
    term = dropped_term(node)
    if term is not None and value.op is not None and value.op.scalar:
        machine.world.dropped_terms.append(Dropped(name_of_term(term), value.op, node))


def _note(machine: Machine, holder: Label, older: Op, op: Op, site: Site, *, total: bool = False) -> None:
    run = _loop(machine, older)
    if run is not None:
        fresh = Collecting(holder.name, holder, site, op, run, total=total)
        known = machine.world.collecting.setdefault((id(site.node), id(run)), fresh)
        known.ops.append(op)
        known.op = op


def _loop(machine: Machine, older: Op) -> LoopRun | None:
    """The loop that has come to another iteration since an op was created; None: there is none."""
    found = parting(older.moment, machine.world.moment)
    return found.run if found is not None and found.then < found.now else None

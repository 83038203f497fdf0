"""How ops come about, and how values lose their graph."""

import ast
from collections.abc import Iterable
from dataclasses import replace

from gradsan.check.graph import SURE, Cut, Edge, Form, Label, Leaf, Moment, Op, Storage
from gradsan.check.labels import label_of
from gradsan.check.machine import Given, Machine
from gradsan.check.values import (
    Const,
    Index,
    Instance,
    Mapping,
    Sequence,
    Tensor,
    Value,
    has_graph,
    leaves_of,
    ops_of,
    parts,
)
from gradsan.knowledge.tensors import operation

_LISTS = (Sequence, Mapping)
_DEEP = 3  # containers within containers whose tensors an operation takes


def result(  # noqa: PLR0913 # one for each property of an op
    machine: Machine,
    name: str,
    given: Iterable[Given],
    node: ast.AST,
    *,
    saves: bool | None = None,
    linear: bool = False,
    scalar: bool = False,
    doubt: int = SURE,
    leaves: tuple[Leaf, ...] = (),
    storages: tuple[Storage, ...] = (),
    compiled: object = None,
) -> Tensor:
    """The tensor that an operation makes of others: with a graph if one of them has one.

    `linear`: it only adds up and scales losses.
    """
    given = tuple(given)
    edges = _edges(machine, given)
    own = [leaf for leaf in leaves if leaf.requires]
    for value, _ in given:
        own += _direct_leaves(value)
    cut = lost_by(machine, (value for value, _ in given))
    if not edges and not own:
        frozen = next(filter(None, (leaf.frozen for leaf in leaves)), None)
        basis = tuple(each for value, _ in given for each in parts(value, _DEEP) if each.opaque)
        if not basis:
            return Tensor(cut=cut or frozen, created=machine.site(node))
        only = basis if len(basis) == 1 else ()  # of several, nobody knows which has a graph
        return Tensor(created=machine.site(node), opaque=True, since=now(machine), basis=only)
    if not machine.world.recording:
        return _unrecorded(machine, node, tuple(edges), tuple(own))
    form: Form = "linear" if linear else "other"
    op = Op(
        name,
        machine.site(node),
        machine.world.moment,
        tuple(edges.values()),
        tuple(dict.fromkeys(own)),
        saves=operation(name).saves if saves is None else saves,
        saved=tuple((each, each.version) for each in storages),
        form=form,
        scalar=scalar,
        doubt=doubt,
        guarded=machine.frame.assumed > 0,
        compiled=compiled,
    )
    machine.world.note(op)
    if cut is not None:
        machine.world.cut_into.append((cut, op))
    return Tensor(op=op, created=op.site)


def opaque(machine: Machine, node: ast.AST, basis: tuple[Value, ...] = ()) -> Value:
    """What comes out of a call that is not followed, or is made of such things."""
    return Value(created=machine.site(node), opaque=True, since=now(machine), basis=basis)


def now(machine: Machine) -> Moment | None:
    """The moment at which something comes about that may have a graph; None: nothing is recorded."""
    return machine.world.moment if machine.world.recording else None


def untyped(created: Tensor) -> Value:
    """The same as the result of something unknown: it may be no tensor at all."""
    return created if created.op is None else Value(op=created.op, created=created.created)


def lost_by(machine: Machine, values: Iterable[Value]) -> Cut | None:
    """The cut that is behind the result of an operation; a gradient is plain data to what is not recorded.

    Where one is behind it, that is what counts: whoever asks for gradients may have wanted their graph.
    """
    contained: list[Value] = []
    for value in values:
        contained += parts(value, _DEEP) if isinstance(value, _LISTS) else (value,)
    cuts = [each.cut for each in contained if each.cut is not None]
    if not cuts:  # as mostly
        return None
    gradients = [each for each in cuts if each.gave is not None]
    if gradients and machine.world.recording:
        is_mixed = gradients[0].mixed or not all(map(_is_plain, contained))
        return gradients[0] if gradients[0].mixed == is_mixed else replace(gradients[0], mixed=True)
    return next((each for each in cuts if each.gave is None and not _is_joined(each, contained)), None)


def _is_joined(cut: Cut, operands: list[Value]) -> bool:
    """Whether a weight of the same module stands beside it, of which nobody has seen that it is one."""
    modules = {leaf.module for leaf in cut.leaves if leaf.assumed}
    names = (each.label for each in operands if type(each) is Value and each.label) if modules else ()
    return any(name.rpartition(".")[0] in modules for name in names)


def _is_plain(value: Value) -> bool:
    """Whether it has no graph, as far as the program is seen."""
    is_known = isinstance(value, Tensor | Const | Index) or _is_list(value)
    return is_known and not value.opaque and not has_graph(value)


def _is_list(value: Value) -> bool:
    return isinstance(value, _LISTS)


def require(machine: Machine, value: Value, node: ast.AST, *, wanted: bool) -> None:
    """Parameters are to receive gradients, or none; a tensor without a graph becomes one that receives them."""
    leaves = leaves_of(value)
    if isinstance(value, Tensor) and value.part is not None:
        leaves = [leaf for leaf in leaves if leaf.require_part(value.part, wanted=wanted) == wanted]
    machine.world.require(leaves, machine.site(node), wanted=wanted, certain=machine.is_certain)
    if wanted and not leaves and isinstance(value, Tensor) and value.op is None:
        value.leaf, value.cut = Leaf(value.label or "?", value.label or "?", made_of=value.cut), None


def cut(machine: Machine, value: Value, how: str, node: ast.AST) -> Tensor:
    """The same values without their graph."""
    site, ops = machine.site(node), tuple(ops_of(value))
    leaves = tuple(leaves_of(value)) if isinstance(value, Tensor) else ()
    is_gradient = value.cut is not None and value.cut.gave is not None
    lost = Cut(site, how, ops, leaves) if ops or leaves or is_gradient else value.cut
    return Tensor(cut=lost, created=site)


def bare(machine: Machine, values: Iterable[Value], node: ast.AST) -> Value:
    """What is worked out of numbers; of some that have lost their graph it is known where."""
    contained = [each for value in values for each in (value, *value.contents)]
    basis = tuple(each for each in contained if each.opaque)
    if basis:
        return opaque(machine, node, basis)
    lost = next(filter(None, (each.cut for each in contained)), None)
    return Value(created=machine.site(node)) if lost is None else Tensor(cut=lost, created=machine.site(node))


def edit(machine: Machine, value: Value, node: ast.AST) -> None:
    """A tensor is changed in place."""
    if isinstance(value, Tensor):
        value.memory.edit(machine.site(node))


def _edges(machine: Machine, given: Iterable[Given]) -> dict[Op, Edge]:
    edges: dict[Op, Edge] = {}
    for value, expression in given:
        for op in ops_of(value):
            if op not in edges:
                edges[op] = Edge(op, _label(machine, expression, op))
    return edges


def _label(machine: Machine, expression: ast.expr | None, op: Op) -> Label | None:
    """The name that an op came from, where it was created at another moment: only then somebody will ask."""
    if expression is None or (op.freed is None and op.moment == machine.world.moment):
        return None
    return label_of(expression, machine.frame, op)


def _direct_leaves(value: Value) -> list[Leaf]:
    """The parameters that an operation takes as they are: a tensor, or those in a container."""
    if value.op is not None or isinstance(value, Instance):
        return []
    leaves = (each.leaf for each in parts(value, _DEEP) if isinstance(each, Tensor) and each.op is None)
    return [each for each in leaves if each is not None and each.requires]


def _unrecorded(machine: Machine, node: ast.AST, ops: tuple[Op, ...], leaves: tuple[Leaf, ...]) -> Tensor:
    silencer = machine.world.silencer
    how, lasts = ("", False) if silencer is None else (silencer.how, silencer.lasts)
    lost = Cut(machine.site(node), how, ops, leaves, lasts=lasts)
    return Tensor(cut=lost, created=lost.site)

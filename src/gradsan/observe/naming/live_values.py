"""Looks up what an expression of the user's stands for in a live frame, and runs nothing of the user's."""

import ast
from contextlib import suppress
from types import FrameType

from gradsan.observe.frame_variables import variables_of
from gradsan.observe.naming.living_tensors import op_of
from gradsan.observe.unasked import attributes_of, ids, lineage_of, namespace_of

NOWHERE = object()
_CONTAINERS = ids(dict, list, tuple)


def value_of(node: ast.expr, frame: FrameType) -> object:
    """What an expression stands for, if that can be looked up without running anything of the user's."""
    match node:
        case ast.Name(id=name):
            with variables_of([frame]) as (variables,):
                value: object = variables.get(name, frame.f_globals.get(name, NOWHERE))
                return value
        case ast.Attribute(value=owner, attr=name):
            return _attribute(value_of(owner, frame), name)
        case ast.Subscript(value=owner, slice=ast.Constant(value=key)):
            container = value_of(owner, frame)
            if id(type(container)) in _CONTAINERS:
                with suppress(LookupError, TypeError):
                    return container[key]  # type: ignore[index] # one of these
    return NOWHERE


def _attribute(owner: object, name: str) -> object:
    import torch

    if name == "grad_fn" and id(type(owner)) in ids(torch.Tensor, torch.nn.Parameter):
        return op_of(owner)
    if name == "next_functions" and is_op(owner):
        return owner.next_functions  # type: ignore[attr-defined] # asked just before
    return (attributes_of(owner) or {}).get(name, NOWHERE)


def is_op(each: object) -> bool:
    """Whether it is one of autograd's ops: they have no public class. Asked so that no metaclass of the user's runs."""
    namespaces = [namespace_of(kind) for kind in lineage_of(each)]
    return all(any(name in held for held in namespaces) for name in ("_sequence_nr", "next_functions"))

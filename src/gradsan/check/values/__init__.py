"""What a name may stand for while a program is read."""

from gradsan.check.values.basic import NONE, Const, Index, Plain, Tensor, Value
from gradsan.check.values.callables import Class, Factory, Function, Imported, Library, Method, Partial
from gradsan.check.values.containers import Mapping, Sequence, constant_of, entries_of, is_exact, key_of, whole_number
from gradsan.check.values.objects import Context, Distribution, Instance, Layer, Optimizer, Scaler
from gradsan.check.values.questions import (
    escape,
    has_graph,
    is_called,
    is_false,
    is_scalar,
    is_true,
    last_name,
    leaves_of,
    ops_of,
    parts,
)

__all__ = [
    "NONE",
    "Class",
    "Const",
    "Context",
    "Distribution",
    "Factory",
    "Function",
    "Imported",
    "Index",
    "Instance",
    "Layer",
    "Library",
    "Mapping",
    "Method",
    "Optimizer",
    "Partial",
    "Plain",
    "Scaler",
    "Sequence",
    "Tensor",
    "Value",
    "constant_of",
    "entries_of",
    "escape",
    "has_graph",
    "is_called",
    "is_exact",
    "is_false",
    "is_scalar",
    "is_true",
    "key_of",
    "last_name",
    "leaves_of",
    "ops_of",
    "parts",
    "whole_number",
]

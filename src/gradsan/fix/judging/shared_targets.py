"""Values that one loss takes as a constant and another trains through: both are meant to have the same ones."""

import ast

from gradsan.fix.reading.program import Program
from gradsan.knowledge.tensors import operation
from gradsan.source.names import called_name, calls


def is_also_a_target(program: Program) -> bool:
    """Whether a loss above the step that came too early has taken the value, cut off, for its own target.

    Computed again below the step, it is another value than the one which the first loss was after.
    """
    return any(
        program.name is not None and _is_cut_copy(call, program.name)
        for place in program.known(program.diagnosis.changed)[-1:]
        for each in place.above
        for call in calls(each)
    )


def _is_cut_copy(call: ast.Call, name: str) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(value=owner), args=[], keywords=[]):
            return operation(called_name(call)).cuts and ast.unparse(owner) == name
    return False

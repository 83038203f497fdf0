"""Where the later forward reads what carries the old graph, and how that reading is cut."""

import ast
from dataclasses import replace

import libcst as cst

from gradsan.fix.carried import detached
from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import loaded, method, nodes, simple, targets, text
from gradsan.fix.flow import constants, stores
from gradsan.fix.program import Place, Program, frames
from gradsan.fix.tree import Statement
from gradsan.lifecycle.location import Location


def use_of(program: Program, name: str) -> Place | None:
    """The outermost call of the later forward that reads it: the innermost ones may call it by another name."""
    enters, used = program.diagnosis.enters, program.diagnosis.used
    if enters is None or used is None:
        return None
    later = [each for each in program.places(enters)[common_frames(enters, used) :] if each is not None]
    for place in later:
        if loads(place.statement, name):
            return place
    return next((above for place in later if (above := _read_above(place, name)) is not None), None)


def _read_above(place: Place, name: str) -> Place | None:
    """The statement above one in its block that reads it into what the one uses: `h = self.state or zeros`."""
    block = list(place.tree.block(place.statement))
    above = block[: block.index(place.statement)] if place.statement in block else []
    for statement in reversed(above):
        given = {text(each) for each in targets(statement)}
        if loads(statement, name) and any(loaded(place.statement, each) for each in given):
            return replace(place, statement=statement)
        if name in given:
            return None
    return None


def common_frames(one: Location, other: Location) -> int:
    """How many of the outer frames two stacks have in common."""
    pairs = zip(frames(one), frames(other), strict=False)
    return next((index for index, (ours, theirs) in enumerate(pairs) if ours != theirs), 0)


def loads(statement: Statement, name: str) -> list[cst.BaseExpression]:
    """Where a statement reads it, other than to ask about it."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return []
    added = simple(statement)
    if isinstance(added, cst.AugAssign) and text(added.target) == name:
        return [added.target, *loaded(added.value, name)]
    asked = {id(each.left) for each in nodes(statement) if isinstance(each, cst.Comparison)}
    choices = (each for each in nodes(statement) if isinstance(each, cst.IfExp))
    asked |= {id(load) for each in choices for load in loaded(each.test, name)}
    return [each for each in loaded(statement, name) if id(each) not in asked]


def detach_here(use: Place, load: cst.BaseExpression, holds: str, draft: Draft) -> bool:
    """Cut one reading: of the whole, or of the one item that is taken; whether that can be written."""
    parent = use.tree.parent(load)
    if isinstance(parent, cst.Subscript) and holds != "tensor":
        if not isinstance(use.tree.parent(parent), cst.AssignTarget):  # what is written to is not read
            draft.replace(use.tree, parent, method(parent, "detach"))
        return True
    name = text(load)
    code = detached(name, holds)
    if code is None:
        return False
    if _may_be_none(use, name) and not _is_asked_for(use, load, name):
        code = f"None if {name} is None else {code}"
        if not isinstance(parent, cst.Arg | cst.Assign):
            code = f"({code})"
    draft.replace(use.tree, load, cst.parse_expression(code))
    return True


def _may_be_none(use: Place, name: str) -> bool:
    """Whether the file says so, or lets the attribute begin elsewhere: in a descriptor, another class, another file."""
    source = use.tree.source
    if None in constants(source, name):
        return True
    first, last = use.tree.line(use.statement), use.tree.end_line(use.statement)
    # By a string where it is a buffer: `register_buffer("memory", …)`.
    written = stores(source, name)
    attribute = name.rpartition(".")[2]
    is_named = any(isinstance(each, ast.Constant) and each.value == attribute for each in ast.walk(source.tree))
    return "." in name and bool(written) and not is_named and all(first <= line <= last for line in written)


def _is_asked_for(use: Place, load: cst.BaseExpression, name: str) -> bool:
    """Whether the function has found out before that it is not None, or sees to it."""
    tree = use.tree
    branches = [each for each in nodes(tree.scope(load)) if isinstance(each, cst.If)]
    asking = [each.test for each in branches if tree.line(each) < tree.line(use.statement)]
    asking += [each.test for each in tree.above(load) if isinstance(each, cst.IfExp)]
    return any(loaded(each, name) for each in asking)

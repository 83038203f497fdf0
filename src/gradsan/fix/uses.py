"""Where the later forward reads what carries the old graph, and how that reading is cut."""

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from gradsan.facts.held import NONE, NOTHING, TENSOR, Held
from gradsan.facts.location import Location
from gradsan.fix.carried import detached, detaching, for_each, helper
from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import bracketed
from gradsan.fix.flow import constants, stores
from gradsan.fix.program import Place, Program, frames
from gradsan.fix.revealing import held_at, was_seen
from gradsan.source.file import expression as parsed_expression
from gradsan.source.names import loaded, nodes, targets
from gradsan.source.tree import Statement, Tree, is_simple


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
        given = {place.tree.text(each) for each in targets(statement)}
        if loads(statement, name) and any(loaded(place.statement, each) for each in given):
            return replace(place, statement=statement)
        if name in given:
            return None
    return None


def common_frames(one: Location, other: Location) -> int:
    """How many of the outer frames two stacks have in common."""
    pairs = zip(frames(one), frames(other), strict=False)
    return next((index for index, (ours, theirs) in enumerate(pairs) if ours != theirs), 0)


def loads(statement: Statement, name: str) -> list[ast.expr]:
    """Where a statement reads it, other than to ask about it."""
    if not is_simple(statement):
        return []
    asked = {each.left for each in nodes(statement) if isinstance(each, ast.Compare)}
    choices = (each for each in nodes(statement) if isinstance(each, ast.IfExp))
    asked |= {load for each in choices for load in loaded(each.test, name)}
    return [each for each in loaded(statement, name) if each not in asked]


def detach_here(program: Program, use: Place, load: ast.expr, draft: Draft, like: Held = NOTHING) -> bool:
    """Cut one reading: of the whole, or of the one item that is taken; whether that can be written."""
    parent = use.tree.parent(load)
    name = use.tree.text(load)
    begins_as_none = _may_be_none(use, name) and not _is_asked_for(use, load, name)
    held = held_at(program, use.tree, load, otherwise=NONE if begins_as_none else NOTHING)
    if isinstance(parent, ast.Subscript) and parent.value is load and not held.is_tensor:
        if isinstance(parent.ctx, ast.Store):  # what is written to is not read
            return True
        return cut_value(program, use.tree, parent, draft, like=TENSOR if was_seen(program, name) else NOTHING)
    if isinstance(parent, ast.Attribute) and not held.is_tensor:  # what is asked of a container, a copy may not do
        return False
    return cut_value(program, use.tree, load, draft, held=held, like=like)


def cut_value(
    program: Program,
    tree: Tree,
    node: ast.expr,
    draft: Draft,
    *,
    held: Held = NOTHING,
    like: Held = NOTHING,
) -> bool:
    """Put an expression without its graph in its place; whether that can be written.

    `held` is what it may be, where that is known already; `like`, what it is taken for where nothing shows what it is.
    """
    held = held or held_at(program, tree, node)
    code = cut_code(program, tree, bracketed(tree.text(node)), held if held.is_known else like or held, draft)
    if code is None:
        return False
    is_choice = isinstance(parsed_expression(code), ast.IfExp)
    stands_alone = isinstance(tree.parent(node), ast.Call | ast.keyword | ast.Starred | ast.Assign)
    draft.replace(tree, node, bracketed(code) if is_choice and not stands_alone else code)
    return True


def cut_code(program: Program, tree: Tree, expression: str, held: Held, draft: Draft) -> str | None:
    """The expression without its graph; a function of its own does it where nothing shows what the value is."""
    code = detached(expression, held, tree.source)
    is_name = isinstance(parsed_expression(expression), ast.Name | ast.Attribute | ast.Subscript)
    if code is not None and (is_name or code.count(expression) == 1):  # what is called is called once
        return code
    if code is None and (held.is_known or was_seen(program, expression)):
        return None
    name = helper(tree, draft)
    return None if name is None else f"{name}({expression})"


def cut_statements(program: Program, tree: Tree, names: Sequence[str], held: Held, draft: Draft) -> list[str]:
    """The statements that leave what some names hold without its graph; none where that cannot be written."""
    if held.is_known or was_seen(program, names[0]):
        return for_each(names, tree.source, partial(detaching, held=held, source=tree.source))
    function = helper(tree, draft)
    return [] if function is None else for_each(names, tree.source, lambda name: [f"{name} = {function}({name})"])


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


def _is_asked_for(use: Place, load: ast.expr, name: str) -> bool:
    """Whether the function has found out before that it is not None, or sees to it."""
    tree = use.tree
    branches = [each for each in nodes(tree.scope(load)) if isinstance(each, ast.If)]
    asking = [each.test for each in branches if tree.line(each) < tree.line(use.statement)]
    asking += [each.test for each in tree.above(load) if isinstance(each, ast.IfExp)]
    return any(loaded(each, name) for each in asking)

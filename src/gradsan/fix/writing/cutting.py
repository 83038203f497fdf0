"""A value without its graph, at one place of a program: as an expression, or as statements."""

import ast
from collections.abc import Sequence
from functools import partial

from gradsan.facts.held import NONE, NOTHING, TENSOR, Held
from gradsan.fix.reading.flow import constants, lines_of, only
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.reading.revealing import held_at, was_seen
from gradsan.fix.reading.uses import gives_no_graph
from gradsan.fix.writing.detaching import detached, detaching, for_each, helper
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.expression_text import bracketed
from gradsan.source.file import expression as parsed_expression
from gradsan.source.names import loaded, nodes
from gradsan.source.tree import Tree


def detach_here(program: Program, use: Place, load: ast.expr, draft: Draft, like: Held = NOTHING) -> bool:
    """Cut one reading: of the whole, or of the one item that is taken; whether that can be written."""
    name = use.text(load)
    if gives_no_graph(use.tree, load):
        return True
    begins_as_none = _may_be_none(use, name) and not _is_asked_for(use, load, name)
    held = held_at(program, use.tree, load, otherwise=NONE if begins_as_none else NOTHING)
    match use.tree.parent(load):
        case ast.Subscript(value=value, ctx=context) as item if value is load and not held.is_tensor:
            taken_for = TENSOR if was_seen(program, name) else NOTHING
            is_written = isinstance(context, ast.Store)  # then it is not read
            return is_written or cut_value(program, use.tree, item, draft, like=taken_for)
        case ast.Attribute() if not held.is_tensor:  # what is asked of a container, a copy may not do
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
    whole = _choice_of(tree, node, code)
    stands_alone = isinstance(tree.parent(whole), ast.Call | ast.keyword | ast.Starred | ast.Assign)
    draft.replace(tree, whole, bracketed(code) if is_choice and not stands_alone else code)
    return True


def _choice_of(tree: Tree, node: ast.expr, code: str) -> ast.expr:
    """The choice between a value and its cut, which is none any more: `state if kept else state.detach()`."""
    match tree.parent(node):
        case ast.IfExp(body=body, orelse=orelse) as choice if code in (tree.text(body), tree.text(orelse)):
            return choice
    return node


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
    return None in constants(use.tree.source, name) or ("." in name and _begins_elsewhere(use, name))


def _begins_elsewhere(use: Place, name: str) -> bool:
    """Whether the file gives it a value in this statement alone; a buffer begins where it is named by a string."""
    written = lines_of(use.tree.source, name, ast.Store)
    own = set(range(use.line, use.tree.end_line(use.statement) + 1))
    texts = (each.value for each in only(ast.Constant, nodes(use.tree.module)))
    return bool(written) and written <= own and name.rpartition(".")[2] not in texts


def _is_asked_for(use: Place, load: ast.expr, name: str) -> bool:
    """Whether the function has found out before that it is not None, or sees to it."""
    branches = only(ast.If, nodes(use.tree.scope(load)))
    asking = [each.test for each in branches if use.tree.line(each) < use.line]
    asking += [each.test for each in only(ast.IfExp, use.tree.above(load))]
    return any(loaded(each, name) for each in asking)

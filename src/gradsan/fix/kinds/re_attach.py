"""Remove or replace what cuts the graph."""

import ast
from collections.abc import Iterator
from typing import TypeGuard

from gradsan.fix.kinds import Places
from gradsan.fix.places.reentrant import not_reentrant
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.expression_text import method
from gradsan.knowledge.effects import does
from gradsan.knowledge.tensors import operation
from gradsan.source.arguments import without
from gradsan.source.changes import Changes
from gradsan.source.names import called_name, nodes, targets
from gradsan.source.placing import code_of, nested
from gradsan.source.tree import Tree, same, same_as


def _where_it_is_cut(program: Program) -> Iterator[Draft]:
    """At the line that cut it: the innermost one that says so."""
    for place in program.inward(program.diagnosis.cut):
        found = list(nodes(place.statement, into_functions=False)) if not hasattr(place.statement, "items") else []
        if any(isinstance(each, ast.Call) and does(called_name(each), "checkpoints") for each in found):
            yield from filter(None, [not_reentrant(program.trees(program.diagnosis.used, program.diagnosis.cut))])
            return
        if any(isinstance(each, ast.Call) and _leaves_torch(called_name(each)) for each in found):
            return  # whatever goes into NumPy loses its history there
        drafts = [
            *_for_a_block(place),
            *_rebuilt(place, found),
            *_straight_through(place, found),
            *_joined_up(place, found),
            *_unwrapped(place, found),
            *_recorded(place),
        ]
        if drafts:
            yield from drafts
            return


def _straight_through(place: Place, found: list[ast.AST]) -> Iterator[Draft]:
    """`(z + (code - z)).detach()` has the value of `code`: cut around the difference alone, it trains `z`."""
    for node in found:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.BinOp(op=ast.Add()) as total, attr="detach"), args=[]):
                for kept, difference in ((total.left, total.right), (total.right, total.left)):
                    if isinstance(difference, ast.BinOp) and _takes_away(difference, kept):
                        code = f"{place.text(kept)} + {method(place.text(difference), 'detach')}"
                        yield Draft().replace(place.tree, node, code)
                        return


def _estimators(found: list[ast.AST]) -> Iterator[ast.expr]:
    """The cut of `z + (code - z).detach()`, which is meant: without it, nothing would go back to `z`."""
    for node in found:
        match node:
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                for kept, cut in ((left, right), (right, left)):
                    if _cuts_a_difference(cut, kept):
                        yield cut


def _cuts_a_difference(cut: ast.expr, kept: ast.expr) -> bool:
    match cut:
        case ast.Call(func=ast.Attribute(value=ast.BinOp() as difference, attr="detach"), args=[]):
            return _takes_away(difference, kept)
    return False


def _takes_away(difference: ast.BinOp, kept: ast.expr) -> bool:
    return isinstance(difference.op, ast.Sub) and same(difference.right, kept)


def _joined_up(place: Place, found: list[ast.AST]) -> Iterator[Draft]:
    """Without the call that cuts: the first of the statement that does."""
    meant = list(_estimators(found))
    for node in found:
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=[], keywords=[]) if _bares(name):
                if node not in meant:
                    yield _put(place, node, place.text(value))
                    return
            case ast.Call(func=ast.Attribute(attr="sample") as func):
                yield Draft().replace(place.tree, func, place.text(func).removesuffix("sample") + "rsample")
                return
            case ast.Attribute(value=value, attr="data"):
                yield _put(place, node, place.text(value))
                return
            case ast.Call(func=ast.Attribute(value=ast.Call() as values, attr="items")) if _is_state(values):
                yield _put(place, node, place.text(values).replace("state_dict", "named_parameters"))
                return
            case ast.Call() if _is_state(node):
                yield _put(place, node, f"dict({place.text(node).replace('state_dict', 'named_parameters')})")
                return


def _is_state(call: ast.Call) -> bool:
    """`model.state_dict()`: parameters without their graph."""
    return called_name(call) == "state_dict" and not call.args and not call.keywords


def _put(place: Place, cut: ast.expr, code: str) -> Draft:
    """An expression in the place of its cut; a statement that would then do nothing, as `table = table`, goes."""
    match place.statement:
        case ast.Expr(value=only) if only is cut:
            return Draft().remove(place.tree, place.statement)
        case ast.Assign(targets=[target], value=given) if given is cut and same_as(target, code):
            return Draft().remove(place.tree, place.statement)
    return Draft().replace(place.tree, cut, code)


def _rebuilt(place: Place, found: list[ast.AST]) -> Iterator[Draft]:
    """`torch.tensor(losses)` copies values: several tensors are stacked instead, one is taken as it is."""
    building = next((each for each in found if isinstance(each, ast.Call) and _builds(each)), None)
    if building is None:
        return
    given = building.args[0]
    bare, stacked = _unbared(place.tree, given), _stacked(place.tree, given)
    for way in (bare, stacked) if isinstance(given, ast.BinOp | ast.Call) else (stacked, bare):
        draft = _put(place, building, way)
        yield draft.replace_each(place.tree, {each: _unbared(place.tree, each) for each in _fed(place, given)})


def _stacked(tree: Tree, given: ast.expr, like: str | None = None) -> str:
    """The tensors of a list in one, of each inner list first; numbers among them are tensors like the others."""
    if not isinstance(given, ast.List | ast.Tuple):
        return f"torch.stack({_unbared(tree, given)})"
    like = like or next((_unbared(tree, each) for each in nodes(given) if _may_be_tensor(each)), None)
    changes = Changes()
    for each in given.elts:
        if isinstance(each, ast.List | ast.Tuple):
            changes.replaced[each] = _stacked(tree, each, like)
        elif like is not None and _is_number(each):
            changes.replaced[each] = f"torch.full_like({like}, {tree.text(each)})"
        else:
            changes.replaced[each] = _unbared(tree, each)
    return f"torch.stack({changes.new_part(tree, given)})"


def _is_number(node: ast.AST) -> bool:
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def _may_be_tensor(node: ast.AST) -> TypeGuard[ast.expr]:
    return isinstance(node, ast.expr) and not isinstance(node, ast.List | ast.Tuple) and not _is_number(node)


def _builds(call: ast.Call) -> bool:
    builds = operation(called_name(call)).graph == "builds"
    return builds and ast.unparse(call.func).startswith("torch") and bool(call.args)


def _fed(place: Place, given: ast.expr) -> Iterator[ast.expr]:
    """What the function puts into the names that are copied: `total += loss.item()`, `losses.append(loss.item())`."""
    tree, names = place.tree, {each.id for each in nodes(given) if isinstance(each, ast.Name)}
    scope = tree.scope(place.statement)
    for statement in tree.statements:
        if statement is place.statement or tree.scope(statement) is not scope:
            continue
        written = {tree.text(each) for each in targets(statement)}
        match statement:
            case ast.AugAssign(value=value) | ast.Assign(value=value) if names & written:
                yield value
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[only])) if (
                name in names
            ):
                yield only


def _unbared(tree: Tree, expression: ast.expr) -> str:
    """Without the calls that hand over bare values."""
    changes = Changes()
    for node in nodes(expression):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=[], keywords=[]) if _bares(name):
                changes.replaced[node] = _unbared(tree, value)
            case ast.Call(func=ast.Name(id="float"), args=[only]):
                changes.replaced[node] = _unbared(tree, only)
    return changes.new_part(tree, expression)


def _leaves_torch(method: str) -> bool:
    """Whether a method hands over a tensor's values as something else, an array or a list."""
    row = operation(method)
    return row.graph == "drops" and row.returns == "object"


def _bares(method: str) -> bool:
    """Whether a method hands over a tensor's values, as a tensor or as a number, without their graph."""
    row = operation(method)
    return row.graph == "drops" and row.returns != "object"


def _unwrapped(place: Place, found: list[ast.AST]) -> Iterator[Draft]:
    """`torch.no_grad()(model)` is the model itself."""
    for node in found:
        match node:
            case ast.Call(func=ast.Call() as func, args=[argument]) if _switches_off(func):
                yield Draft().replace(place.tree, node, place.text(argument))
                return


def _recorded(place: Place) -> Iterator[Draft]:
    """Out of the block, or from under the decorator, that switches recording off."""
    draft, tree = Draft(), place.tree
    for node in (place.statement, *tree.above(place.statement)):
        match node:
            case ast.With(items=[item]) if _switches_off(item.context_expr):
                draft.rewrite(tree, node, *(code_of(tree, each, blanks=each is not node.body[0]) for each in node.body))
            case ast.With(items=items) if any(_switches_off(each.context_expr) for each in items):
                _without_items(tree, node, draft)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if any(map(_switches_off, node.decorator_list)):
                for each in filter(_switches_off, node.decorator_list):
                    draft.undecorate(tree, node, each)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return
            case _:
                continue
        yield draft
        return


def _for_a_block(place: Place) -> Iterator[Draft]:
    """`torch.set_grad_enabled(False)` holds until it is switched on again: with a block, for what follows it there."""
    tree, statement = place.tree, place.statement
    match statement:
        case ast.Expr(value=ast.Call() as switch) if _switches_off(switch):
            following = place.below
            if following:
                codes = [code_of(tree, each) for each in following]
                within = nested(tree, f"with {tree.text(switch)}:", *codes)
                yield Draft().rewrite(tree, statement, within).remove(tree, *following)


def _without_items(tree: Tree, block: ast.With, draft: Draft) -> None:
    """The block without those of its contexts that switch recording off."""
    spans = [tree.whole(each.context_expr) for each in block.items]
    ends = [tree.whole(each.optional_vars or each.context_expr)[1] for each in block.items]
    whole = [(start, end) for (start, _), end in zip(spans, ends, strict=True)]
    for index, each in enumerate(block.items):
        if _switches_off(each.context_expr):
            draft.splice(tree, without(tree, whole, index, ends[-1]))


def _switches_off(expression: ast.expr) -> bool:
    written = ast.unparse(expression)
    if does(written.partition("(")[0], "stops recording"):
        return True
    return isinstance(expression, ast.Call) and written.endswith("set_grad_enabled(False)")


PLACES: Places = {"cut": _where_it_is_cut}

"""Remove or replace what cuts the graph."""

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.calls import called_name
from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import nodes, simple, targets, text
from gradsan.fix.program import Place, Program
from gradsan.fix.tree import Statement
from gradsan.knowledge.effects import does
from gradsan.knowledge.tensors import operation


def drafts(program: Program) -> Iterator[Draft]:
    """At the line that cut it: the innermost one that says so."""
    for place in reversed(program.places(program.diagnosis.cut)):
        if place is None:
            continue
        found = list(nodes(place.statement, into_functions=False)) if not hasattr(place.statement, "items") else []
        if any(isinstance(each, cst.Call) and _leaves_torch(called_name(each)) for each in found):
            return  # whatever goes into NumPy loses its history there
        ways = [*_rebuilt(place, found), *_joined_up(place, found), *_unwrapped(place, found), *_recorded(place)]
        if ways:
            yield from ways
            return


def _joined_up(place: Place, found: list[cst.CSTNode]) -> Iterator[Draft]:
    """Without the call that cuts: the first of the statement that does."""
    draft = Draft()
    for node in found:
        match node:
            case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value=name)), args=[]) if _bares(name):
                draft.replace(place.tree, node, value)
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="sample") as drawn)):
                draft.replace(place.tree, drawn, cst.Name("rsample"))
            case cst.Attribute(value=value, attr=cst.Name(value="data")):
                draft.replace(place.tree, node, value)
            case _:
                continue
        yield draft
        return


def _rebuilt(place: Place, found: list[cst.CSTNode]) -> Iterator[Draft]:
    """`torch.tensor(losses)` copies values: several tensors are stacked instead, one is taken as it is."""
    building = next((each for each in found if isinstance(each, cst.Call) and _builds(each)), None)
    if building is None:
        return
    given = building.args[0].value
    stacked = building.with_changes(
        func=cst.parse_expression("torch.stack"), args=[building.args[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)]
    )
    ways = (given, stacked) if isinstance(given, cst.BinaryOperation | cst.Call) else (stacked, given)
    for way in ways:
        draft = Draft()
        draft.replace(place.tree, building, _unbared(way))
        for value in _fed(place, given):
            draft.replace(place.tree, value, _unbared(value))
        yield draft


def _builds(call: cst.Call) -> bool:
    builds = operation(called_name(call)).graph == "builds"
    return builds and text(call.func).startswith("torch") and bool(call.args)


def _fed(place: Place, given: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What the function puts into the names that are copied: `total += loss.item()`, `losses.append(loss.item())`."""
    tree, names = place.tree, {each.value for each in nodes(given) if isinstance(each, cst.Name)}
    scope = tree.scope(place.statement)
    for statement in tree.statements:
        if statement is place.statement or tree.scope(statement) is not scope:
            continue
        match simple(statement):
            case cst.AugAssign(value=value) | cst.Assign(value=value) if names & set(map(text, targets(statement))):
                yield value
            case cst.Expr(
                value=cst.Call(
                    func=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="append")), args=[only]
                )
            ) if name in names:
                yield only.value


def _unbared(expression: cst.BaseExpression) -> cst.BaseExpression:
    """Without the calls that hand over bare values."""
    result = expression.visit(_Unbaring())
    return result if isinstance(result, cst.BaseExpression) else expression


def _leaves_torch(method: str) -> bool:
    """Whether a method hands over a tensor's values as something else, an array or a list."""
    row = operation(method)
    return row.graph == "drops" and row.returns == "object"


def _bares(method: str) -> bool:
    """Whether a method hands over a tensor's values, as a tensor or as a number, without their graph."""
    row = operation(method)
    return row.graph == "drops" and row.returns != "object"


class _Unbaring(cst.CSTTransformer):
    def leave_Call(self, _: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:  # noqa: N802 # LibCST's name
        match updated_node:
            case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value=name)), args=[]) if _bares(name):
                return value
            case cst.Call(func=cst.Name(value="float"), args=[only]):
                return only.value
        return updated_node


def _unwrapped(place: Place, found: list[cst.CSTNode]) -> Iterator[Draft]:
    """`torch.no_grad()(model)` is the model itself."""
    for node in found:
        match node:
            case cst.Call(func=cst.Call() as func, args=[argument]) if _switches_off(func):
                draft = Draft()
                draft.replace(place.tree, node, argument.value)
                yield draft
                return


def _recorded(place: Place) -> Iterator[Draft]:
    """Out of the block, or from under the decorator, that switches recording off."""
    draft = Draft()
    for node in (place.statement, *place.tree.above(place.statement)):
        match node:
            case cst.With(items=[item]) if _switches_off(item.item) and isinstance(node.body, cst.IndentedBlock):
                first, *others = [each for each in node.body.body if isinstance(each, Statement)]
                draft.replace(place.tree, node, first.with_changes(leading_lines=node.leading_lines))
                draft.insert_after(place.tree, node, *others)
            case cst.With(items=items) if any(_switches_off(each.item) for each in items):
                kept = [each for each in items if not _switches_off(each.item)]
                kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
                draft.replace(place.tree, node, node.with_changes(items=kept))
            case cst.FunctionDef(decorators=decorators) if any(_switches_off(each.decorator) for each in decorators):
                kept_decorators = [each for each in decorators if not _switches_off(each.decorator)]
                draft.replace(place.tree, node, node.with_changes(decorators=kept_decorators))
            case cst.FunctionDef():
                return
            case _:
                continue
        yield draft
        return


def _switches_off(expression: cst.BaseExpression) -> bool:
    written = text(expression)
    if does(written.partition("(")[0], "stops recording"):
        return True
    return isinstance(expression, cst.Call) and written.replace(" ", "").endswith("set_grad_enabled(False)")

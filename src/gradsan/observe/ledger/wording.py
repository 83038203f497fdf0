"""What the user's source calls things: the loss of a pass, the optimizer of a step; and whether it reads gradients."""

import ast
import linecache
import re
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from gradsan.facts.location import Frame
from gradsan.knowledge.effects import accumulates, asks_for_pass
from gradsan.observe.unasked import attributes_of, is_one
from gradsan.observe.user_statements import statements_at
from gradsan.source.disk import tree_as_run
from gradsan.source.loss_terms import is_weighted
from gradsan.source.names import called_name
from gradsan.source.step_loops import is_of_one_step, loops_around
from gradsan.source.stores import calls, stores, text

# A gradient that is read, and not only cleared or asked for.
_READS = re.compile(
    r"(?<!autograd)(?<!func)\.grad\b(?!\s*=\s*None|\s*is\b|\s*=\s*torch\.zeros|(\.data|\.detach\(\))?\.zero_|\.detach_|\s*\()"
    r"|register_hook|register_post_accumulate_grad_hook|parameters_to_vector"
)
_NOT_CODE = re.compile(r"#[^\n]*|\"\"\".*?\"\"\"|'''.*?'''", re.DOTALL)


def loss_at(place: Frame, *, is_direct: bool) -> str | None:
    """What a line back-propagates, as written."""
    for call in _calls_at(place):
        match call.func:
            case ast.Attribute(attr=name, value=receiver) if asks_for_pass(name) and accumulates(name):
                written = text(receiver) or ""
                given_to = not is_direct or written.partition(".")[0] in {"torch", "autograd"}
                return _subject(call.args[0] if given_to and call.args else receiver)
        if called_name(call) == "grad" and call.args:
            return _subject(call.args[0])
    return None


def stored_at(place: Frame) -> str | None:
    """What a line calls what it stores."""
    stored = (store for each in statements_at(place) for store in stores(each))
    return next((name for each in stored if (name := each.attribute or each.name)), None)


def is_weighted_at(place: Frame) -> bool:
    """Whether a line computes something and multiplies it by what is called a weight."""
    values = (each.value for each in statements_at(place) if isinstance(each, ast.Assign | ast.AnnAssign | ast.Return))
    computed = (part for each in values for part in (each.elts if isinstance(each, ast.Tuple) else [each]))
    return any(map(is_weighted, computed))


def asks_to_retain(place: Frame) -> bool:
    """Whether a line says that a graph is to be kept, or one of the gradients to be created."""
    return any(each.arg in {"retain_graph", "create_graph"} for call in _calls_at(place) for each in call.keywords)


def is_part_of_step(place: Frame) -> bool:
    """Whether the loop around a line works on what one step gives it."""
    tree = tree_as_run(place.file)
    loops = [] if tree is None else loops_around(tree, place.line)
    return len(loops) > 1 and is_of_one_step(loops[0], loops[1])


def optimizer_at(place: Frame) -> str | None:
    """What steps on a line, as written; None also where several do."""
    names = set()
    for call in _calls_at(place):
        match call.func:
            case ast.Attribute(attr="step", value=receiver):
                named = text(receiver)
                names.add(text(call.args[0]) if call.args and "scaler" in (named or "") else named)
    return names.pop() if len(names) == 1 else None


def reads_gradients(files: Iterable[str]) -> bool:
    """Whether any of these files has code that reads `.grad`."""
    return any(_READS.search(_NOT_CODE.sub("", "".join(linecache.getlines(file)))) for file in files)


def user_modules(owns: Callable[[str], bool]) -> list[ModuleType]:
    """The user's modules among the loaded ones."""
    modules = [each for each in list(sys.modules.values()) if is_one(each, ModuleType)]
    return [each for each in modules if type(file := _attributes(each).get("__file__")) is str and owns(file)]


def _attributes(module: ModuleType) -> dict[str, Any]:
    """Those of a plain module at once: there are thousands."""
    return vars(module) if type(module) is ModuleType else attributes_of(module) or {}


def user_files(owns: Callable[[str], bool]) -> set[str]:
    """Where they come from."""
    return {vars(each)["__file__"] for each in user_modules(owns)}


def _calls_at(place: Frame) -> list[ast.Call]:
    return [call for statement in statements_at(place) for call in reversed(calls(statement))]


def _subject(node: ast.expr) -> str | None:  # noqa: PLR0911 # one a kind of expression
    """The variable that an expression is about."""
    match node:
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return text(node)
        case ast.Call(args=[first, *_]):
            return _subject(first)
        case ast.Call(func=ast.Attribute(value=receiver)):
            return _subject(receiver)
        case ast.BinOp(left=left, right=right):
            return _subject(left) or _subject(right)
        case ast.List(elts=[first, *_]) | ast.Tuple(elts=[first, *_]):
            return _subject(first)
        case ast.UnaryOp(operand=operand) | ast.Starred(value=operand):
            return _subject(operand)
    return None

"""Classes and functions of the user's: what their definitions say."""

import ast
from functools import lru_cache

from gradsan.check.call_frames import Frame
from gradsan.check.graph import Code, InnerPass, Site
from gradsan.check.values import Class, Function
from gradsan.source.names import calls, dotted, own_nodes

_TUPLES = ("NamedTuple", "TypedDict")
_RECORDS = ("dataclass", "define", "frozen")


def class_frame(outer: Frame, node: ast.ClassDef) -> Frame:
    """The names of a class body while it is read."""
    return Frame(Code(outer.code.file, node.name), outer.source, called=outer.called, caller=outer.caller, outer=outer)


@lru_cache(maxsize=4096)
def decorator_names(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> tuple[str, ...]:
    """The decorators by their dotted names."""
    return tuple(dotted(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list)


@lru_cache(maxsize=4096)
def yields(node: ast.AST) -> bool:
    """Whether a function is a generator."""
    return any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own_nodes(node))


@lru_cache(maxsize=4096)
def is_abstract(node: ast.AST) -> bool:
    """Whether a function is only declared: a docstring, `pass`, `...`, or an error that says so."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    match [each for each in node.body if not _is_constant(each)]:
        case []:
            return True
        case [ast.Raise() | ast.Pass()]:
            return node.name != "__init__"
    return False


@lru_cache(maxsize=4096)
def attributes_set(function: ast.AST) -> frozenset[str]:
    """The attributes that a function sets, of whatever object."""
    attributes = (each for each in own_nodes(function) if isinstance(each, ast.Attribute))
    return frozenset(each.attr for each in attributes if isinstance(each.ctx, ast.Store))


def _is_constant(statement: ast.stmt) -> bool:
    """A docstring, or `...`."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def inner_pass(cls: Class) -> InnerPass | None:
    """The passes in the backward of a custom Function, where the last of them frees what it walks."""
    backward = cls.members.get("backward")
    if not isinstance(backward, Function) or backward.source is None:
        return None
    passes = [each for each in calls(backward.node) if _is_pass(each, backward.node)]
    passes.sort(key=lambda each: (each.lineno, each.col_offset))
    freeing = [each for each in passes if not any(_keeps(keyword) for keyword in each.keywords)]
    if not freeing:
        return None
    code = Code(backward.source.path, f"{cls.node.name}.backward")
    return InnerPass(Site(passes[0], code), Site(freeing[-1], code))


def _is_pass(call: ast.Call, function: ast.AST) -> bool:
    """Whether a call back-propagates something that was kept on the context."""
    names = function.args.args if isinstance(function, ast.FunctionDef) else []
    context = names[0].arg if names else "ctx"
    kept = bool(call.args) and dotted(call.args[0]).startswith(f"{context}.")
    return kept and dotted(call.func).endswith(("autograd.grad", "autograd.backward"))


def _keeps(keyword: ast.keyword) -> bool:
    wanted = keyword.arg in ("retain_graph", "create_graph")
    return wanted and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)


def fields_of(cls: Class) -> tuple[str, ...]:
    """The annotated fields, in order, of the class and of its bases."""
    annotated = [each.target for each in cls.node.body if isinstance(each, ast.AnnAssign)]
    inherited = [name for base in cls.bases if isinstance(base, Class) for name in base.fields]
    return tuple(dict.fromkeys([*inherited, *filter(None, map(dotted, annotated))]))


def is_plain(cls: Class) -> bool:
    """Whether constructing it only fills its fields: a dataclass, a named tuple."""
    if any(each.rpartition(".")[2] in _RECORDS for each in decorator_names(cls.node)):
        return "__init__" not in cls.members
    return any(each.plain for each in cls.lineage()) or any(each.endswith(_TUPLES) for each in cls.foreign_bases())

"""What an expression creates that is there to be trained: run again, it would begin with something untrained.

A module, a parameter, an optimizer, a leaf that asks for gradients, what loads the data: a program makes each of them
once. So no edit runs again what creates one, whatever else it computes on the way.
"""

import ast
from itertools import chain

from gradsan.facts.live_evidence import LiveEvidence
from gradsan.fix.reading.flow import only
from gradsan.knowledge.effects import paths
from gradsan.knowledge.libraries import OPTIMIZER_PACKAGES
from gradsan.knowledge.module_classes import BASES, creates_parameters
from gradsan.source.file import Source, tree_of
from gradsan.source.imported import all_imported
from gradsan.source.names import argument, dotted

_CONSTRUCTORS = ("__init__", "__post_init__")
Callable = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def creates_trained(code: str, source: Source) -> bool:
    """Whether running a piece of a file's code creates something that is trained, as far as that file shows."""
    return _Reader(source.tree).creates(tree_of(code))


def holds_trained(live: LiveEvidence, function: str, names: set[str]) -> bool:
    """Whether the run has seen one of a function's variables hold such a thing."""
    return any(each.function == function and each.name in names for each in live.trained_names)


class _Reader:
    def __init__(self, tree: ast.Module) -> None:
        self._known = {each.name: each.path for each in all_imported(tree)}
        self._defined = {each.name: each for each in tree.body if isinstance(each, Callable)}
        self._looked_into: set[str] = set()

    def creates(self, node: ast.AST) -> bool:
        calls = only(ast.Call, ast.walk(node))
        # A leaf that is only handed on has no name by which anybody could train it.
        handed_on = set(chain.from_iterable(call.args for call in calls))
        return bool(set(filter(_is_leaf, calls)) - handed_on) or any(map(self._is_creation, calls))

    def _is_creation(self, call: ast.Call) -> bool:
        name = self._path(call.func)
        is_created = creates_parameters(name) or name.startswith(OPTIMIZER_PACKAGES) or name in paths("loads data")
        return is_created or self._defines(name)

    def _defines(self, name: str) -> bool:
        """Whether a function or class of the file creates one when it is called."""
        inside = self._defined.get(name)
        if inside is None or name in self._looked_into:
            return False
        self._looked_into.add(name)
        if not isinstance(inside, ast.ClassDef):
            return any(map(self.creates, inside.body))
        constructors = [each for each in inside.body if getattr(each, "name", "") in _CONSTRUCTORS]
        return any(map(self._is_module, inside.bases)) or any(map(self.creates, constructors))

    def _is_module(self, base: ast.expr) -> bool:
        name = self._path(base)
        return name in BASES or self._defines(name)

    def _path(self, node: ast.expr) -> str:
        """What an expression names, with what was imported written out; nothing, where it is no name."""
        first, dot, rest = dotted(node).partition(".")
        return f"{self._known.get(first, first)}{dot}{rest}"


def _is_leaf(call: ast.Call) -> bool:
    """Whether a call gives back a tensor that asks for gradients."""
    match call.func, argument(call, "requires_grad"):
        case (ast.Attribute(attr="requires_grad_"), _) | (_, ast.Constant(value=True)):
            return True
    return False

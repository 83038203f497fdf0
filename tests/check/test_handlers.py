"""Where a call is handled: the files are called after what is called, and nothing is inherited."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import gradsan.check
from gradsan.check import interpreter
from gradsan.check.builtin_calls import BUILTINS
from gradsan.check.tables import CALLEES, EXPRESSIONS, ITERABLES, OWNERS, RECEIVERS, STATEMENTS, WHOLES
from gradsan.check.values import (
    Class,
    Function,
    Instance,
    Layer,
    Library,
    Mapping,
    Optimizer,
    Sequence,
    Tensor,
    Value,
    key_of,
)

NOT_FOLLOWED = {ast.Assert, ast.Pass}  # they do nothing that matters to a graph
NOT_FOLLOWED |= {getattr(ast, name) for name in ("TypeAlias",) if hasattr(ast, name)}  # likewise, of later Pythons
WITHOUT_VALUE = {ast.FormattedValue, ast.Slice}  # parts of other expressions
if sys.version_info >= (3, 14):
    WITHOUT_VALUE |= {ast.Interpolation}


@pytest.mark.parametrize(
    ("call", "handler", "file"),
    [
        ("x.view_as(y)", RECEIVERS[Tensor], "tensor_calls"),
        ("opt.step()", RECEIVERS[Optimizer], "optimizer_calls"),
        ("layer(x)", CALLEES[Layer], "layer_calls"),
        ("torch.nn.Linear(3, 4)", CALLEES[Library], "library_calls"),
        ("my_function(x)", CALLEES[Function], "function_calls"),
        ("MyClass(x)", CALLEES[Class], "class_calls"),
        ("self.method(x)", RECEIVERS[Instance], "object_calls"),
        ("losses.append(x)", RECEIVERS[Sequence], "container_calls"),
        ("outputs.items()", RECEIVERS[Mapping], "container_calls"),
        ("sum(losses)", BUILTINS["sum"], "builtin_calls"),
        ("something(x)", CALLEES[Value], "unknown_calls"),
        ("something.method(x)", RECEIVERS[Value], "unknown_calls"),
    ],
)
def test_call_is_handled_in_the_file_of_its_kind(call: str, handler: object, file: str) -> None:
    """A newcomer finds the handler of a call by the names of the files."""
    assert getattr(handler, "__module__", None) == f"gradsan.check.{file}", call


def test_every_kind_of_syntax_has_a_handler() -> None:
    """A statement or expression without one would be passed over in silence."""
    assert set(ast.stmt.__subclasses__()) - STATEMENTS.keys() == NOT_FOLLOWED
    assert set(ast.expr.__subclasses__()) - EXPRESSIONS.keys() == WITHOUT_VALUE


def test_every_table_has_a_handler_for_what_is_not_known() -> None:
    """Whatever a value turns out to be, somebody answers."""
    assert all(Value in table for table in (CALLEES, RECEIVERS, OWNERS, WHOLES, ITERABLES))


def test_loading_the_interpreter_loads_every_handler() -> None:
    """A handler enters itself when it is loaded: a file that nobody imports would handle nothing."""
    assert interpreter.HANDLERS
    folder = Path(gradsan.check.__path__[0])
    handling = {file.stem for file in folder.glob("*.py") if "\n@entered(" in file.read_text(encoding="utf-8")}

    assert {f"gradsan.check.{each}" for each in handling} <= _loaded_with_the_interpreter()


def _loaded_with_the_interpreter() -> set[str]:
    program = "import sys, gradsan.check.interpreter; print(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    )


def test_no_class_inherits_deeper_than_one() -> None:
    """The interpreter is composed: values derive from `Value`, and nothing derives from them."""
    for found in pkgutil.iter_modules(gradsan.check.__path__):
        module = importlib.import_module(f"gradsan.check.{found.name}")
        own = [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]
        for each in own:
            bases = [base for base in each.__mro__[1:] if base.__module__.startswith("gradsan.check")]
            assert len(bases) <= 1, each


def test_unknown_values_are_never_taken_for_one_another() -> None:
    """A key lives as long as the table that it is in: an `id` would be given to the next value."""
    assert len({key_of(Value()) for _ in range(1000)}) == 1000

"""The house rules: what may import what."""

import ast
import graphlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gradsan

HOUSE = Path(gradsan.__file__).parent
MODULES = {
    ".".join(("gradsan", *file.relative_to(HOUSE).with_suffix("").parts)).removesuffix(".__init__"): file
    for file in HOUSE.rglob("*.py")
}
ROOMS_WITH_TORCH = ("observe", "entry")
ROOMS_WITHOUT_CODES = ("facts", "check", "source", "knowledge", "lifecycle", "fix")
# The program itself, and what plugs into trainers, which bring torch along (`make test-integrations`).
NOT_LOADED = ("__main__", "plug.lightning", "plug.huggingface", "plug.ignite", "plug.ray", "plug.skorch")
CODE = re.compile(r"\bGS\d{3}\b")
# Data flows one way: a room may import from those that stand before it.
ORDER = (
    "errors",
    "user_cache",
    "knowledge",
    "source",
    "facts",
    "lifecycle",
    "report",
    "causes",
    "check",
    "show",
    "fix",
    "observe",
    "explanation",
    "entry",
    "cli",
    "plug",
)
# What watches a program knows nothing of causes, fixes, checks and renderers: it hands on plain facts.
OBSERVE_MAY_KNOW = ("observe", "errors", "knowledge", "source", "facts", "lifecycle")
# The pipeline and the command line know many others: that is what they are for.
CONNECTING = ("gradsan.explanation.pipeline", "gradsan.cli")
A_DOZEN = 12


def imports(file: Path, *, anywhere: bool) -> Iterator[str]:
    """The modules that a file imports when it is loaded or, if `anywhere`, at any time."""
    tree = ast.parse(file.read_bytes())
    nodes = ast.walk(tree) if anywhere else tree.body
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def room(module: str) -> str:
    """The folder a module stands in, or its own name where it stands in none."""
    return module.split(".")[1] if "." in module else ""


@pytest.mark.parametrize("name", sorted(name for name in MODULES if room(name) not in ROOMS_WITH_TORCH))
def test_only_rooms_that_run_programs_know_torch(name: str) -> None:
    """`gradsan check` and `gradsan explain` work where torch is not installed."""
    assert not [each for each in imports(MODULES[name], anywhere=True) if each.split(".")[0] == "torch"]


def test_everything_else_loads_without_torch() -> None:
    """It is not enough that no line says so: loading it must not bring torch in either."""
    names = [name for name in MODULES if room(name) not in ROOMS_WITH_TORCH and not name.endswith(NOT_LOADED)]
    program = f"import importlib, sys; sys.modules['torch'] = None; [importlib.import_module(n) for n in {names}]"

    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def test_modules_import_in_no_circle() -> None:
    """A stage knows what it receives, and nothing of the stage that created it."""
    graph = {
        name: {each for each in imports(file, anywhere=False) if each in MODULES and not name.startswith(f"{each}.")}
        for name, file in MODULES.items()
    }

    graphlib.TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("name", sorted(name for name in MODULES if room(name) in ORDER))
def test_data_flows_one_way(name: str) -> None:
    """`lifecycle → causes → show → cli`: nothing reaches back."""
    later = [
        each
        for each in imports(MODULES[name], anywhere=True)
        if each.startswith("gradsan.") and room(each) in ORDER and ORDER.index(room(each)) > ORDER.index(room(name))
    ]

    assert not later


PARSING = ("libcst", "parso", "tokenize", "ast.parse", "PyCF_ONLY_AST")


@pytest.mark.parametrize("name", sorted(name for name in MODULES if room(name) != "source"))
def test_only_source_parses(name: str) -> None:
    """One reader of Python, and one syntax library: what two read, they would read in two ways."""
    tree = ast.parse(MODULES[name].read_bytes())
    used = {ast.unparse(each) for each in ast.walk(tree) if isinstance(each, ast.Attribute | ast.Name)}

    assert not {*imports(MODULES[name], anywhere=True), *used} & set(PARSING)


def _texts(tree: ast.Module) -> Iterator[str]:
    """The strings of a module, but for its docstrings."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    bodies = [node.body[:1] for node in ast.walk(tree) if isinstance(node, documented)]
    docstrings = {id(each.value) for first in bodies for each in first if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


@pytest.mark.parametrize("name", sorted(name for name in MODULES if room(name) in ROOMS_WITHOUT_CODES))
def test_only_causes_know_codes(name: str) -> None:
    """Whoever fills facts does not know what is made of them."""
    assert not [text for text in _texts(ast.parse(MODULES[name].read_bytes())) if CODE.search(text)]


@pytest.mark.parametrize("name", sorted(name for name in MODULES if room(name) == "observe"))
def test_observing_hands_on_facts_and_knows_nobody_who_reads_them(name: str) -> None:
    """It is a stage: what an error means, how it is fixed and how it is shown is asked by the pipeline, later."""
    assert {room(each) for each in known_by(name)} <= set(OBSERVE_MAY_KNOW)


def test_no_module_knows_more_than_a_dozen_others() -> None:
    """A reader has to hold in mind what a module builds on."""
    known = {name: len(known_by(name)) for name in MODULES if not name.startswith(CONNECTING)}

    assert {name: count for name, count in known.items() if count > A_DOZEN} == {}


def known_by(name: str) -> set[str]:
    """The modules of gradsan that one imports, at any time; a package only where none of its modules is meant."""
    found = {each for each in imports(MODULES[name], anywhere=True) if each in MODULES and each != "gradsan"}
    return {each for each in found if not any(other.startswith(f"{each}.") for other in found)}

"""Test files are compiled by pytest itself, and recorded all the same."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

from _pytest.assertion.rewrite import AssertionRewritingHook

from gradsan.observe.log.tests_loaded import after_test_files, functions_of

TEST = """\
import torch

class TestModel:
    def test_twice(self):
        layer = torch.nn.Linear(3, 1)
        loss = layer(torch.ones(2, 3)).square().mean()
        loss.backward()
        loss.backward()
"""


def test_failing_test_is_reported_with_the_line_that_created_the_graph(tmp_path: Path) -> None:
    """The note stands in pytest's own report."""
    file = tmp_path / "test_model.py"
    file.write_text(TEST, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-m", "gradsan", "run", "-m", "pytest", "-q", "-p", "no:cacheprovider", file.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "1 test_model.py:6  loss = layer(torch.ones(2, 3)).square().mean()\n" in done.stdout
    assert "not recorded" not in done.stdout
    assert done.returncode == 1


def test_functions_in_classes_and_behind_decorators_are_found() -> None:
    """Those of other modules are left alone."""
    module = ModuleType("sample")
    source = """
import functools, textwrap
def wrapping(f):
    @functools.wraps(f)
    def inner(): return f()
    return inner
class A:
    @wrapping
    def one(self): pass
    @staticmethod
    def two(): pass
    @property
    def three(self): pass
dedent = textwrap.dedent
"""
    exec(source, vars(module))  # noqa: S102 # a module in the making

    assert {each.__code__.co_name for each in functions_of(module)} == {"wrapping", "inner", "one", "two", "three"}


def test_pytest_is_left_as_it_was_found() -> None:
    """What was put in place of its method is taken away again."""
    before = vars(AssertionRewritingHook)["exec_module"]

    call_off = after_test_files(lambda _: None)
    during = vars(AssertionRewritingHook)["exec_module"]
    call_off()

    assert during is not before
    assert vars(AssertionRewritingHook)["exec_module"] is before

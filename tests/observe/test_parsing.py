"""Large files are read once, and only as far as somebody asks."""

import ast
from pathlib import Path
from unittest.mock import Mock

import pytest

from gradsan.observe.log.source_loops import comprehending, loops_of
from gradsan.source.file import tree_of
from gradsan.source.scopes import scope_of
from gradsan.source.stores import buffers

SOURCE = """\
from torch import nn

double = lambda x: 2 * x


class Model(nn.Module):
    factor = [each for each in range(3)]

    def __init__(self):
        self.register_buffer("state", None)

    @property
    def each(self):
        def inner():
            for one in (1, 2):
                yield [double(one) for _ in range(3)]
        return inner

    async def last(self): return lambda: [
        each for each in self.each()
    ]


if double:
    def step():
        while True:
            break
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A file with functions in all places."""
    path = tmp_path / "model.py"
    path.write_text(SOURCE, encoding="utf-8")
    return str(path)


def test_every_function_is_found_by_its_name_and_line(file: str) -> None:
    """Wherever it stands: in a class, a function, a condition, an expression."""
    found = {
        name: scope_of(file, name, line)
        for name, line in (
            ("<module>", 22),
            ("<lambda>", 3),
            ("Model", 7),
            ("Model.<listcomp>", 7),
            ("Model.__init__", 10),
            ("Model.each", 12),
            ("Model.each.<locals>.inner", 15),
            ("Model.each.<locals>.inner.<locals>.<listcomp>", 16),
            ("Model.last", 19),
            ("Model.last.<locals>.<lambda>.<locals>.<listcomp>", 20),
            ("step", 26),
        )
    }

    assert {name: scope and scope.first for name, scope in found.items()} == {
        "<module>": 0,
        "<lambda>": 3,
        "Model": 6,
        "Model.<listcomp>": 7,
        "Model.__init__": 9,
        "Model.each": 12,
        "Model.each.<locals>.inner": 14,
        "Model.each.<locals>.inner.<locals>.<listcomp>": 16,
        "Model.last": 19,
        "Model.last.<locals>.<lambda>.<locals>.<listcomp>": 19,
        "step": 25,
    }


def test_function_is_the_same_whenever_it_is_asked_for(file: str) -> None:
    """Executions are compared by the scope that they ran in."""
    inner = scope_of(file, "Model.each.<locals>.inner", 15)

    assert inner is scope_of(file, "Model.each.<locals>.inner", 16)
    assert inner is not None
    assert inner.outer is scope_of(file, "Model.each", 17)
    assert scope_of(file, "inner", 26) is None


def test_loops_and_registrations_are_found_in_all_places(file: str) -> None:
    """Also inside of conditions and methods."""
    assert [loop.header for loop in loops_of(file, "Model.each.<locals>.inner", 14)] == [15]
    assert [loop.header for loop in loops_of(file, "step", 25)] == [26]
    assert comprehending(file) == {19: 19, 20: 19, 21: 19}
    assert buffers(file) == {"state"}


def test_file_is_parsed_once(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of ten thousand lines takes an eighth of a second."""
    tree_of.cache_clear()
    parse = Mock(side_effect=ast.parse)
    monkeypatch.setattr(ast, "parse", parse)

    scope_of(file, "step", 26)
    loops_of(file, "step", 25)
    comprehending(file)
    buffers(file)

    parse.assert_called_once_with(SOURCE)

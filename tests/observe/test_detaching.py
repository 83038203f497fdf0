"""Which variables a statement gives a detached value of their own."""

import ast

import pytest

from gradsan.observe.naming.detaching import detached_by
from gradsan.source.stores import text


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("h = h.detach()", ["h"]),
        ("self.h = self.h.detach()", ["self.h"]),
        ("h, c = h.detach(), c", ["h"]),
        ("h, c = h.detach(), c.detach()", ["h", "c"]),
        ("kept = h.detach()", []),  # `h` itself goes on
        ("h, c = c.detach(), h.detach()", []),  # neither has its own value
        ("h, c = cell(x, (h.detach(), c))", []),  # what the cell gives back has a graph again
    ],
)
def test_variable_is_detached_where_it_is_given_its_own_value(statement: str, names: list[str]) -> None:
    """Whoever looks for the half of a pair that was forgotten must not take the other one."""
    (parsed,) = ast.parse(statement).body

    assert [text(target) for target, _ in detached_by(parsed)] == names

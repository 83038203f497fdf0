"""What code reads of the names around it."""

import ast

import pytest

from gradsan.source.names import loaded, loaded_names


@pytest.mark.parametrize(
    ("code", "read"),
    [
        ("{i: f(code) for i, (code, _) in enumerate(tasks)}", {"f", "enumerate", "tasks"}),
        ("[x for x in x if x > limit]", {"x", "limit"}),  # the first iterable is evaluated outside
        ("[y for x in rows for y in x]", {"rows"}),
        ("sum(h(x) for x in rows) + x", {"sum", "h", "rows", "x"}),
        ("lambda x, *more: x + y", {"y"}),
        ("[lambda: (x, y) for x in rows]", {"rows", "y"}),
    ],
)
def test_names_that_an_expression_binds_for_itself_are_not_read(code: str, read: set[str]) -> None:
    """They are others than those of the same name around it."""
    assert loaded_names(ast.parse(code)) == read


def test_expression_about_such_a_name_is_not_read() -> None:
    """`row.h` of the comprehension is no `row.h` of the function around it."""
    code = ast.parse("total = row.h + sum(row.h for row in rows)")
    assert len(loaded(code, "row.h")) == 1

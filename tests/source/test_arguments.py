"""A call with an argument more, or one less, is written as it was."""

import pytest

from gradsan.source.arguments import with_argument, without_argument

SEVERAL = "f(\n    a,\n    k=1,\n)"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("f()", "f(k=2)"),
        ("f(a)", "f(a, k=2)"),
        ("f(a,b)", "f(a,b,k=2)"),
        ("f(k=1, a=(3))", "f(k=2, a=(3))"),
        ("x.f(\n    a,\n    b,\n)", "x.f(\n    a,\n    b,\n    k=2,\n)"),
        ("f(\n    a,\n)", "f(\n    a,\n    k=2,\n)"),
        ("f(a, **d)", "f(a, **d, k=2)"),
        ("(x\n .f(a))", "(x\n .f(a, k=2))"),
    ],
)
def test_argument_is_added_as_the_others_are_written(call: str, expected: str) -> None:
    """On a line of its own where they are; changed in its place where it is there."""
    assert with_argument(call, "k", "2") == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("f(k=1)", "f()"),
        ("f( k=1, )", "f( )"),
        ("f(a, k=1)", "f(a)"),
        ("f(k=1, a=2)", "f(a=2)"),
        ("f(a)", "f(a)"),
        (SEVERAL, "f(\n    a,\n)"),
    ],
)
def test_argument_is_taken_out_with_its_comma(call: str, expected: str) -> None:
    """The others stay as they are."""
    assert without_argument(call, "k") == expected

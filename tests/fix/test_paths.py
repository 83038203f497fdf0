"""An edit is offered only if every path that worked before works after it."""

import ast

import pytest

from gradsan.fix.refusals.paths import UNBOUND, keeps_every_path, seen_at

LOOP = "def f(n):\n    {above}\n    for i in {over}:\n        {inside}\n        print(a)\n    {below}\n"


@pytest.mark.parametrize(
    ("over", "below", "holds"),
    [
        ("range(n)", "return a", False),
        ("n", "print(a)", False),
        ("range(3)", "return a", True),  # it runs
        ("(1, 2)", "return a", True),
        ("range(n)", "pass", True),  # nobody reads it below
    ],
)
def test_name_of_a_loop_that_may_not_run_is_not_needed_below_it(over: str, below: str, holds: bool) -> None:  # noqa: FBT001 # a parameter of the test
    """Moved into the loop, its only assignment may never be made."""
    old = LOOP.format(above="a = 1", over=over, inside="pass", below=below)
    new = LOOP.format(above="pass", over=over, inside="a = 1", below=below)

    assert keeps_every_path(old, new) is holds


@pytest.mark.parametrize(
    ("old", "new", "holds"),
    [
        ("b = 1\ndef f():\n    print(b)\n", "b = 1\ndef f():\n    print(b)\n    b = 2\n", False),
        ("b = 1\ndef f():\n    print(b)\n", "b = 1\ndef f():\n    b = 2\n    print(b)\n", True),
        ("def f(b):\n    print(b)\n", "def f(b):\n    print(b)\n    b = 2\n", True),
        ("b = 1\ndef f():\n    b.zero_()\n", "b = 1\ndef f():\n    global b\n    b = b.new()\n", True),
        ("def f():\n    b = 1\n    print(b)\n", "def f():\n    def g():\n        b = 1\n    print(b)\n", False),
        ("b = 0\ndef f():\n    b = 1\n    print(b)\n", "b = 0\ndef f():\n    print(b)\n", True),
    ],
    ids=[
        "a global becomes a local",
        "a local of its own",
        "an argument",
        "said to be global",
        "gone",
        "a global again",
    ],
)
def test_global_does_not_become_a_local_that_has_no_value(old: str, new: str, holds: bool) -> None:  # noqa: FBT001 # a parameter of the test
    """What a function assigns is its own, in all of its lines."""
    assert keeps_every_path(old, new) is holds


def test_what_is_bound_on_some_paths_only_may_stay_so() -> None:
    """The two conditions may be the same: the program worked, and nothing is worse."""
    old = "def f(c):\n    if c:\n        a = 1\n    if c:\n        print(a)\n"

    assert keeps_every_path(old, old.replace("a = 1", "a = 2"))


@pytest.mark.parametrize(
    ("source", "line", "lines"),
    [
        ("if c:\n    a = 1\nelse:\n    a = 2\nprint(a)\n", 5, {2, 4}),
        ("if c:\n    a = 1\nprint(a)\n", 3, {2, UNBOUND}),
        ("a = 0\nwhile True:\n    a += 1\n    if a:\n        break\nprint(a)\n", 3, {1, 3}),
        ("a = 0\nwhile True:\n    a += 1\n    if a:\n        break\nprint(a)\n", 6, {3}),
        ("try:\n    a = 1\nexcept E:\n    print(a)\n", 4, {2, UNBOUND}),
        ("a = 1\ntry:\n    a = 2\nfinally:\n    print(a)\n", 5, {1, 3}),
        ("with c as a:\n    print(a)\n", 2, {1}),
        ("match c:\n    case [a]:\n        print(a)\n", 3, {2}),
        ("a = 1\nprint([a for a in b])\n", 2, set()),
        ("for a in b:\n    if a:\n        continue\n    c = 1\nprint(c)\n", 5, {4, UNBOUND}),
        ("a = 1\ndel a\nprint(a)\n", 3, {UNBOUND}),
        ("import a.b\nprint(a)\n", 2, {1}),
    ],
)
def test_reading_sees_the_assignments_of_every_path(source: str, line: int, lines: set[int]) -> None:
    """Branches, loops, handlers, and what binds a name without an equals sign."""
    assert seen_at(ast.parse(source), line, "c" if "print(c)" in source else "a") == lines

"""Where nodes stand in a text: in characters, with the brackets around them, whatever the file looks like."""

import ast
import random
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsan.source.changes import Changes
from gradsan.source.disk import load
from gradsan.source.file import Source, expression
from gradsan.source.splices import OverlappingSplicesError, Splice, spliced
from gradsan.source.tree import Tree, same, same_as

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
SOME = [LIBRARY / f"{name}.py" for name in ("ast", "copy", "enum", "functools", "statistics")]


def tree(text: str) -> Tree:
    """As if read from a file."""
    return Tree("x.py", Source("x.py", text))


def expressions(of: Tree) -> list[ast.expr]:
    """Those that stand for a value, and not inside of a string."""
    found = [each for each in ast.walk(of.module) if isinstance(each, ast.expr) and not of.is_in_string(each)]
    return [each for each in found if not isinstance(each, ast.Slice | ast.Starred | ast.JoinedStr)]


@pytest.mark.parametrize("file", SOME, ids=[each.name for each in SOME])
def test_text_of_every_expression_is_that_expression(file: Path) -> None:
    """Read alone, it is the same again."""
    source = load(str(file))
    assert source is not None
    of = Tree(str(file), source)

    found = random.Random(3).sample(expressions(of), min(600, len(expressions(of))))

    assert [of.text(each) for each in found if not same_as(each, of.text(each)) and not holds_slices(each)] == []


def holds_slices(node: ast.expr) -> bool:
    """`a[1:2, 3]`: what is between the brackets is no expression by itself."""
    return isinstance(node, ast.Tuple) and any(isinstance(each, ast.Slice | ast.Starred) for each in node.elts)


@pytest.mark.parametrize("file", SOME, ids=[each.name for each in SOME])
def test_node_in_its_own_place_changes_nothing(file: Path) -> None:
    """Not a space, nor a bracket."""
    source = load(str(file))
    assert source is not None
    of = Tree(str(file), source)

    for each in random.Random(4).sample(expressions(of), 30):
        assert Changes(replaced={each: of.text(each)}).new_text(of) == source.text


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("f((a), b)\n", "(a)"),
        ("f(a)\n", "a"),
        ("x = ((a)  # why\n)\n", "((a)  # why\n)"),
        ("class A(a): pass\n", "a"),
        ("class A((a)): pass\n", "(a)"),
        ("é = 'ü' + (a)\r\n", "(a)"),
        ("with (a) as b, c: pass\n", "(a)"),
        ("with (a, b): pass\n", "a"),
        ("sum(x for x in (a))\n", "(a)"),
        ("(a).b\n", "(a)"),
        ("(f)(a)\n", "a"),
        ("f(*(a))\n", "(a)"),
        ("\tif (a): pass\n".lstrip(), "(a)"),
        ("for x in (a): pass\n", "(a)"),
    ],
)
def test_brackets_around_a_name_are_its_own_unless_a_call_needs_them(text: str, inner: str) -> None:
    """`f(a)` is no call without them."""
    of = tree(text)
    name = next(each for each in ast.walk(of.module) if isinstance(each, ast.Name) and each.id == "a")

    assert of.text(name) == inner


@pytest.mark.parametrize(
    ("text", "new", "expected"),
    [
        ("x = a * b\n", "c + d", "x = (c + d) * b\n"),
        ("f(a)\n", "c + d", "f(c + d)\n"),
        ("f(a)\n", "c, d", "f((c, d))\n"),
        ("x = a\n", "c, d", "x = c, d\n"),
        ("a.b()\n", "c if d else e", "(c if d else e).b()\n"),
        ("x = a ** 2\n", "-c", "x = (-c) ** 2\n"),
        ("[a for _ in y]\n", "c if d else e", "[c if d else e for _ in y]\n"),
    ],
)
def test_new_expression_is_bracketed_where_it_would_be_torn_apart(text: str, new: str, expected: str) -> None:
    """And only there."""
    of = tree(text)
    name = next(each for each in ast.walk(of.module) if isinstance(each, ast.Name) and each.id == "a")

    assert Changes(replaced={name: new}).new_text(of) == expected


def test_statements_are_found_by_their_lines() -> None:
    """The innermost one; several where a line is crowded; decorators are part of what they decorate."""
    of = tree("@cache\ndef f(\n    x,\n):\n    for y in x: a(y); b(y)\n    return (\n        y\n    )\n")

    found = {line: [of.text(each).partition("\n")[0] for each in of.statements_at(line)] for line in range(1, 9)}

    assert found[1] == found[3] == ["def f("]
    assert found[5] == ["for y in x: a(y); b(y)", "a(y)", "b(y)"]
    assert found[7] == ["return ("]


def test_loops_are_those_whose_body_a_statement_is_in() -> None:
    """What stands in the `else` of a loop, or is gone over, does not run again."""
    of = tree("for x in f(a):\n    while b:\n        c\n    else:\n        d\n")
    names = {each.id: each for each in ast.walk(of.module) if isinstance(each, ast.Name)}

    loops = {name: [type(each).__name__ for each in of.loops(names[name])] for name in "acd"}

    assert loops == {"a": [], "c": ["While", "For"], "d": ["For"]}


@given(st.text(alphabet="ab\n é", max_size=12), st.data())
def test_text_outside_of_splices_stays(text: str, data: st.DataObject) -> None:
    """Each stretch of it, in its order."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))

    new = spliced(text, [Splice(start, end, "<>") for start, end in pairs])

    outside = [0, *(each for pair in pairs for each in pair), len(text)]
    assert new == "<>".join(text[a:b] for a, b in zip(outside[::2], outside[1::2], strict=True))


def test_splices_that_overlap_are_refused() -> None:
    """One of them would be lost."""
    with pytest.raises(OverlappingSplicesError):
        spliced("abc", [Splice(0, 2, "x"), Splice(1, 3, "y")])


def test_same_expression_is_known_whatever_its_quotes_and_spaces() -> None:
    """Read or written; but 1 is not True."""
    assert same(expression("d['x'] [0]"), expression('d["x"][0]'))
    assert not same(expression("1"), expression("True"))

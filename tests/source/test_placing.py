"""Statements are added, taken away and written again on their own lines; all else stays, to the last space."""

import ast
import random
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsan.source.disk import load
from gradsan.source.file import Source, parses
from gradsan.source.placing import Placed, code_of, nested, placed, start_of
from gradsan.source.splices import NoPlaceError, spliced
from gradsan.source.tree import Statement, Tree, is_simple, same

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
SOME = [LIBRARY / f"{name}.py" for name in ("argparse", "contextlib", "dataclasses", "inspect", "textwrap", "uuid")]

CROWDED = """\
class Model:
    z = 3
    a = 1; b = 'ü'; c = 3  # crowded
    if z: a = 2
    else: a = 3; b = 4;
    for x in z:
        # about it
        step(x)
        # the end of the block
    last()"""


def tree(text: str = CROWDED) -> Tree:
    """As if read from a file."""
    return Tree("x.py", Source("x.py", text))


def statement(of: Tree, code: str) -> Statement:
    """The statement that is written like this, or begins so."""
    return next(each for each in of.statements if of.text(each).startswith(code))


def changed(of: Tree, at: Statement, change: Placed) -> str:
    """The text with one change."""
    return spliced(of.source.text, placed(of, {at: change}, []))


def can_have_neighbours(of: Tree, at: Statement) -> bool:
    """An `elif` cannot: what is added beside it would part it from its `if`."""
    return not of.source.text.startswith("elif", start_of(of, at))


@pytest.mark.parametrize("file", SOME, ids=[each.name for each in SOME])
def test_statements_can_be_added_beside_every_statement_of_a_real_file(file: Path) -> None:
    """Above and below all of them at once; without what was added, the text is the old one."""
    source = load(str(file))
    assert source is not None
    of = Tree(str(file), source)
    places = [each for each in of.statements if can_have_neighbours(of, each)]

    new = spliced(source.text, placed(of, {each: Placed(["ADDED"], ["ADDED"]) for each in places}, []))

    assert parses(new)
    kept = "".join(line for line in new.splitlines(keepends=True) if line.strip() != "ADDED")
    assert same(ast.parse(kept), source.tree)


@pytest.mark.parametrize("file", SOME, ids=[each.name for each in SOME])
def test_every_statement_of_a_real_file_can_be_taken_away(file: Path) -> None:
    """A block of which nothing is left gets a `pass`."""
    source = load(str(file))
    assert source is not None
    of = Tree(str(file), source)
    gone = {each: Placed(instead=[], with_comments=True) for each in of.statements if is_simple(each)}

    assert parses(spliced(source.text, placed(of, gone, [])))


@pytest.mark.parametrize("file", SOME, ids=[each.name for each in SOME])
def test_code_of_a_statement_is_the_statement_wherever_it_is_put(file: Path) -> None:
    """Its strings over several lines keep their spaces."""
    source = load(str(file))
    assert source is not None
    of = Tree(str(file), source)
    moved = [each for each in of.statements if can_have_neighbours(of, each) and not isinstance(each, ast.Return)]

    for each in random.Random(1).sample(moved, min(40, len(moved))):
        block = ast.parse(nested(of, "if x:", code_of(of, each))).body[0]
        assert isinstance(block, ast.If)
        assert same(block.body[0], each)


@given(st.data())
def test_only_the_line_of_a_statement_changes(data: st.DataObject) -> None:
    """Whatever is done there, the other lines are the same, byte for byte."""
    ends = data.draw(st.sampled_from(["\n", "\r\n"]))
    of = tree(CROWDED.replace("\n", ends))
    at = data.draw(st.sampled_from(of.statements))
    change = data.draw(st.sampled_from([Placed(["ADDED"]), Placed([], ["ADDED"]), Placed(instead=["ADDED", "ADDED"])]))

    new = changed(of, at, change)

    first, last = of.line(at) - 1, of.end_line(at) + last_of_block(of, at)
    assert new.startswith("".join(of.source.lines[:first]))
    assert new.endswith("".join(of.source.lines[last:]))
    assert parses(new)
    assert ("\r\n" in new) == (ends == "\r\n")
    assert new.replace("\r\n", "").count("\n") == 0 or ends == "\n"


def last_of_block(of: Tree, at: Statement) -> bool:
    """Whether a comment that belongs to its block follows."""
    return isinstance(at, ast.For) and of.end_line(at) < len(of.source.lines)


def test_crowded_line_is_spread_out_where_a_statement_is_added() -> None:
    """Its statements are then written one a line; other crowded lines stay as they are."""
    of = tree()

    new = changed(of, statement(of, "b = 'ü'"), Placed(after=["added = True"]))

    spread_out = "    a = 1\n    b = 'ü'\n    added = True\n    c = 3  # crowded\n"
    assert new == CROWDED.replace("    a = 1; b = 'ü'; c = 3  # crowded\n", spread_out)


def test_block_on_the_line_of_its_header_gets_lines_of_its_own() -> None:
    """With the file's own indentation; an `else` likewise."""
    of = tree()

    new = changed(of, statement(of, "b = 4"), Placed(instead=[], with_comments=True))

    assert new == CROWDED.replace("    else: a = 3; b = 4;\n", "    else:\n        a = 3\n")


def test_comment_above_a_statement_goes_with_it() -> None:
    """It is about the statement; one at the end of the block is about the block."""
    of = tree()

    new = changed(of, statement(of, "step(x)"), Placed(instead=[], with_comments=True))

    assert new == CROWDED.replace("        # about it\n        step(x)\n", "        pass\n")


def test_what_is_added_above_a_statement_stands_below_its_comments() -> None:
    """And what is added below a block stands below the comments that are indented as the block is."""
    of = tree()

    above = changed(of, statement(of, "step(x)"), Placed(["added()"]))
    below = changed(of, statement(of, "for x"), Placed([], ["added()"]))

    assert "# about it\n        added()\n        step(x)" in above
    assert "# the end of the block\n    added()\n    last()" in below


def test_last_line_without_an_end_takes_a_statement_below() -> None:
    """Nothing is added to the line itself."""
    of = tree()

    assert changed(of, statement(of, "last()"), Placed([], ["added()"])) == CROWDED + "\n    added()"


def test_line_that_goes_on_after_a_backslash_is_one_line() -> None:
    """A statement between the two halves would part them."""
    of = tree("if a: \\\n    b(); \\\n    c()\n")

    assert changed(of, statement(of, "c()"), Placed(["added()"])) == "if a:\n    b()\n    added()\n    c()\n"


def test_nothing_is_put_beside_an_elif() -> None:
    """It would part it from its `if`."""
    of = tree("if a:\n    b\nelif c:\n    d\n")

    with pytest.raises(NoPlaceError):
        changed(of, statement(of, "elif"), Placed(["added()"]))


def test_what_is_added_below_a_block_stays_there_when_its_last_statement_goes() -> None:
    """Moved out of the loop, a statement leaves where the other comes."""
    of = tree("for x in y:\n    a()\n    b()\n")
    changes = {statement(of, "b()"): Placed(instead=[]), statement(of, "for"): Placed(after=["b()"])}

    assert spliced(of.source.text, placed(of, changes, [])) == "for x in y:\n    a()\nb()\n"

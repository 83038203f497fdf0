"""What is left out of a tree is still there in the file."""

import libcst as cst
from hypothesis import given
from hypothesis import strategies as st

from gradsan.fix.condensing import condense
from gradsan.fix.drafting import Draft
from gradsan.fix.editing import edited
from gradsan.fix.tree import Tree
from gradsan.source.file import Source

SOURCE = '''\
"""A file."""
import torch


@torch.no_grad()
def first(x):
    return x


class Model:
    def forward(self, x):
        """Two lines.

        Of text."""
        return x + 1

    async def other(self): pass; y = 2

    z = 3
    a = 1; b = 'ü'; c = 3  # crowded
    if z: a = 2
    else: a = 3; b = 4;


def last():
    return 5
'''


def source(text: str = SOURCE) -> Source:
    """As if read from a file."""
    return Source("x.py", text)


def test_functions_without_a_wanted_line_are_one_line_each() -> None:
    """The tree is small, and every line knows where it stands."""
    lines = condense(source(), {11})

    text = "".join(line.text for line in lines)
    assert "def first(): ...\n" in text
    assert "Of text." in text
    assert "def last(): ...\n" in text
    assert "torch.no_grad" not in text


METHODS = """\
class Model:
    def one(self): return 1

    @property
    def two(self):
        return 2
    # three
    def three(self): return 3
    def four(self): return 4
    x = 5


class Other:
    x = 6
"""


def test_methods_in_a_row_are_one_line_and_a_class_without_a_wanted_line_is_another() -> None:
    """A test file of ten thousand lines has a thousand of them. What stands between them is not left out."""
    lines = condense(source(METHODS), {10})

    text = "".join(line.text for line in lines)
    assert text == (
        "class Model:\n    def two(): ...\n    # three\n    def four(): ...\n    x = 5\n\n\nclass Other: ...\n"
    )
    assert tuple(each for line in lines for each in line.full) == source(METHODS).lines


@given(st.sets(st.integers(1, 28)))
def test_nothing_is_lost(wanted: set[int]) -> None:
    """Whatever is left out, the lines it stands for are the file's."""
    lines = condense(source(), wanted)

    assert tuple(text for line in lines for text in line.full) == source().lines
    cst.parse_module("".join(line.text for line in lines))


@given(st.sampled_from([n for n, line in enumerate(SOURCE.splitlines(), 1) if line.strip() in ("return x", "z = 3")]))
def test_statement_added_beside_a_function_left_out_leaves_it_whole(number: int) -> None:
    """An edit speaks of the file, not of the tree."""
    tree = Tree("x.py", source(), condense(source(), {number}))
    statement = tree.statement_at(number)
    assert statement is not None
    draft = Draft()
    draft.insert_after(tree, statement, "added = True")

    result = edited(source().lines, draft.edits())

    added = [line for line in result if "added" in line]
    assert len(added) == 1
    assert [line for line in result if "added" not in line] == list(source().lines)


def test_crowded_line_is_spread_out_only_where_it_is_edited() -> None:
    """Its statements are then written one a line; other crowded lines stay as they are."""
    number = SOURCE.splitlines().index("    a = 1; b = 'ü'; c = 3  # crowded") + 1
    tree = Tree("x.py", source(), condense(source(), {number}))
    draft = Draft()
    draft.insert_after(tree, tree.statements_at(number)[1], "added = True")

    result = "".join(edited(source().lines, draft.edits()))

    spread_out = "    a = 1\n    b = 'ü'\n    added = True\n    c = 3  # crowded\n"
    assert result == SOURCE.replace("    a = 1; b = 'ü'; c = 3  # crowded\n", spread_out)


def test_block_on_the_line_of_its_header_gets_lines_of_its_own() -> None:
    """With the file's own indentation; an `else` likewise."""
    number = SOURCE.splitlines().index("    else: a = 3; b = 4;") + 1
    tree = Tree("x.py", source(), condense(source(), {number}))
    draft = Draft()
    draft.remove(tree, tree.statements_at(number)[-1])

    result = "".join(edited(source().lines, draft.edits()))

    assert result == SOURCE.replace("    else: a = 3; b = 4;\n", "    else:\n        a = 3\n")

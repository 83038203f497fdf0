"""Lines of a notebook's cells change, and no other byte of its file does."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsan.source.notebook_cells import UnusualNotebookError, with_cells


def notebook(*cells: object, **style: object) -> str:
    """A file with these sources of cells, and a text between."""
    texts = [{"cell_type": "markdown", "source": ["# ü"]}]
    codes = [{"cell_type": "code", "id": f"c{at}", "source": each, "outputs": []} for at, each in enumerate(cells)]
    return json.dumps({"cells": [*texts, *codes], "nbformat": 4}, **style)  # type: ignore[arg-type] # of `json`


@pytest.mark.parametrize("style", [{}, {"indent": 1}, {"indent": 4, "ensure_ascii": False}], ids=repr)
def test_one_line_changes(style: dict[str, object]) -> None:
    """As Jupyter, Colab and others store a cell: line by line, in a list."""
    before = notebook(["a = 1\n", "b = 'é'\n", "c = 3"], ["d = 4"], **style)

    after = with_cells(before.encode(), {1: ["a = 1", "b = 'é'", "x = 0", "c = 3"]}).decode()

    assert after == notebook(["a = 1\n", "b = 'é'\n", "x = 0\n", "c = 3"], ["d = 4"], **style)


@pytest.mark.parametrize(
    ("new", "stored"),
    [
        (["a", "b", "c"], ["a\n", "b\n", "c"]),
        (["a"], ["a"]),
        (["x", "a", "b"], ["x\n", "a\n", "b"]),
        (["b", "a"], ["b\n", "a"]),
    ],
)
def test_last_line_has_no_end(new: list[str], stored: list[str]) -> None:
    """Whichever line becomes the last."""
    assert json.loads(with_cells(notebook(["a\n", "b"]).encode(), {1: new}))["cells"][1]["source"] == stored


def test_cell_that_is_one_text_stays_one() -> None:
    """The format allows both."""
    before = notebook("a = 1\nb = 2", "c")

    assert with_cells(before.encode(), {1: ["a = 1", "b = 3"], 2: ["d"]}).decode() == notebook("a = 1\nb = 3", "d")


def test_third_format_is_known() -> None:
    """Old notebooks have a sheet, and call the source of a cell its input."""
    before = '{"worksheets": [{"cells": [{"cell_type": "code", "input": ["a\\n",  "b"]}]}]}'

    assert with_cells(before.encode(), {1: ["a", "c"]}).decode() == before.replace('"b"', '"c"')


def test_other_forms_are_refused() -> None:
    """Rather than rewritten."""
    with pytest.raises(UnusualNotebookError):
        with_cells(notebook(["a\nb\n", "c"]).encode(), {1: ["x"]})


LINES = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=6), min_size=1)


@given(cells=st.lists(LINES, min_size=1, max_size=3), new=LINES, style=st.sampled_from([{}, {"indent": 2}]))
def test_nothing_else_changes(cells: list[list[str]], new: list[str], style: dict[str, object]) -> None:
    """Whatever the lines are: the notebook with the new lines is the one that was always written with them."""

    def stored(lines: list[str]) -> list[str]:
        return [*(f"{line}\n" for line in lines[:-1]), lines[-1]]

    before = notebook(*map(stored, cells), **style)
    after = with_cells(before.encode(), {1: new}).decode()

    assert after == notebook(stored(new), *map(stored, cells[1:]), **style)

"""Notebooks as files: found, named by their cells, and edited in them."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from cli.test_check import Here, here
from gradsan.cli.fixing import Fixing
from gradsan.cli.wishes import Wishes

__all__ = ["here"]  # the fixture

GIT = shutil.which("git") or "git"
IMPORTS = "import torch\nfrom torch import nn\n%matplotlib inline"
MODEL = "cell = nn.GRUCell(3, 4)\nopt = torch.optim.SGD(cell.parameters(), 0.1)\nh = torch.zeros(1, 4)"
LOOP = """\
%%time
for x in torch.ones(5, 1, 3):
    opt.zero_grad()
    h = cell(x, h)
    loss = h.square().mean()
    loss.backward()
    opt.step()
    %xmode Plain
print(loss.item())"""
ONCE = "net = nn.Linear(3, 3)\ntable = net(torch.ones(2, 3)).exp()  # für später"
USES = """\
opt = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    opt.zero_grad()
    table.sum().backward()
    opt.step()"""


def stored(*cells: str) -> str:
    """As Jupyter writes it."""
    codes = [
        {
            "cell_type": "code",
            "execution_count": 7,
            "id": f"cell-{number}",
            "metadata": {"tags": ["ü"]},
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["h = cell(x, h)\n"]}],
            "source": each.splitlines(keepends=True),
        }
        for number, each in enumerate(cells)
    ]
    text = {"cell_type": "markdown", "id": "text", "metadata": {}, "source": ["# h = cell(x, h)"]}
    whole = {"cells": [codes[0], text, *codes[1:]], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


# The cells, where the explanation points, and the cells when they are fixed.
NOTEBOOKS = {
    "a loop with magics": (
        [IMPORTS, MODEL, LOOP],
        "train.ipynb:In[3]:6:5: GS103",
        [IMPORTS, MODEL, LOOP.replace("cell(x, h)", "cell(x, h.detach())")],
    ),
    "a value of another cell": (
        [IMPORTS, ONCE, USES],
        "train.ipynb:In[3]:4:5: GS104",
        [
            IMPORTS,
            "net = nn.Linear(3, 3)",
            USES.replace("    table.sum", "    table = net(torch.ones(2, 3)).exp()  # für später\n    table.sum"),
        ],
    ),
}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_cells_are_edited_and_nothing_else(here: Here, name: str) -> None:
    """Outputs, texts and the formatting of the file stay; then nothing is found any more."""
    cells, place, fixed = NOTEBOOKS[name]
    file = here.write("train.ipynb", stored(*cells))

    assert here.check("--format", "concise").stdout.startswith(place)
    assert Fixing(Wishes(form="quiet", paths=(Path("train.ipynb"),), write=True), None).run() == 0

    assert file.read_text(encoding="utf-8") == stored(*fixed)
    assert here.codes() == []


@pytest.mark.parametrize("comment", ["# gradsan: ignore[GS103] it is meant so", "# noqa: GS103"])
def test_comment_silences_a_line_of_its_cell(here: Here, comment: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Also when the answer is kept from the last check, and for `gradsan fix`; not that line of another cell."""
    meant = LOOP.replace("    loss.backward()", f"    loss.backward()  {comment}")
    here.write("train.ipynb", stored(IMPORTS, MODEL, meant))

    assert here.codes() == here.codes() == []
    assert Fixing(Wishes(paths=(Path("train.ipynb"),)), None).run() == 0
    capsys.readouterr()

    here.write("train.ipynb", stored(IMPORTS, MODEL, meant, MODEL, LOOP))
    assert here.check("--format", "concise").stdout.startswith("train.ipynb:In[5]:6:5: GS103")


def test_comment_that_silences_nothing_is_named_by_its_cell(here: Here) -> None:
    """It would hide the next mistake."""
    here.write("train.ipynb", stored(IMPORTS, "x = 1\ny = x  # gradsan: ignore[GS103]"))

    assert "train.ipynb:In[2]:2: `# gradsan: ignore[GS103]` silences nothing" in here.check().stderr


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_comments_are_added_to_cells(here: Here, name: str) -> None:
    """On the line of each finding, and no other byte changes."""
    cells, place, _ = NOTEBOOKS[name]
    file = here.write("train.ipynb", stored(*cells))
    line = cells[2].splitlines()[int(place.split(":")[2]) - 1]

    assert "1 finding silenced in 1 file" in here.check("--add-ignore").stderr

    meant = cells[2].replace(line, f"{line}  # gradsan: ignore[{place[-5:]}]")
    assert file.read_text(encoding="utf-8") == stored(*cells[:2], meant)
    assert here.codes() == []


def test_cell_that_takes_no_comment_is_named(here: Here) -> None:
    """A cell that is stored in an unusual way is not rewritten."""
    notebook = json.loads(stored(IMPORTS, MODEL, LOOP))
    notebook["cells"][3]["source"] = [LOOP[:60], LOOP[60:]]
    before = json.dumps(notebook)
    file = here.write("train.ipynb", before)

    said = here.check("--add-ignore").stderr

    assert "0 findings silenced in 0 files" in said
    assert "train.ipynb:In[3]:6 takes no comment" in said
    assert file.read_text(encoding="utf-8") == before


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_patch_of_a_notebook_can_be_applied(here: Here, name: str) -> None:
    """It is a patch of the file as it is stored."""
    cells, _, fixed = NOTEBOOKS[name]
    file = here.write("train.ipynb", stored(*cells))

    (here.folder / "a.patch").write_text(here.check("--diff").stdout, encoding="utf-8")
    subprocess.run([GIT, "apply", "a.patch"], check=True)

    assert file.read_text(encoding="utf-8") == stored(*fixed)


def test_fix_that_is_not_made_is_shown_cell_by_cell(here: Here, capsys: pytest.CaptureFixture[str]) -> None:
    """With the lines that the reader of the notebook knows."""
    here.write("train.ipynb", stored(IMPORTS, ONCE, USES.replace("    opt.zero_grad()\n", "")))

    assert Fixing(Wishes(paths=(Path("train.ipynb"),)), None).run() == 1

    shown = capsys.readouterr().out
    assert "  --- a/train.ipynb:In[2]\n" in shown
    assert "gradsan: In" not in shown


def test_explanation_shows_the_code_of_the_cell(here: Here) -> None:
    """By the prompt that a cell has when all are run in order; SARIF, which knows no cells, has no edit of one."""
    here.write("train.ipynb", stored(IMPORTS, MODEL, LOOP))

    text = here.check("--no-cache").stdout
    (result,) = json.loads(here.check("--format", "sarif").stdout)["runs"][0]["results"]

    assert "  train.ipynb:In[3]:4\n  - h = cell(x, h)\n  + h = cell(x, h.detach())\n" in text
    assert "\n4 | h = cell(x, h)\n  |     ---------- 1 created here\n" in text
    assert result["fixes"] == []

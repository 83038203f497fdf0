"""A real kernel: explanations below the error, as HTML with the code of the cell, and `%%gradsan` for one cell."""

import os
import sys
from html import unescape
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient and ipykernel are not installed here")
nbformat = pytest.importorskip("nbformat", reason="nbclient and ipykernel are not installed here")

pytestmark = pytest.mark.cold  # a kernel is a program of its own

LOAD = "import torch\n%load_ext gradsan"
MODEL = "cell = torch.nn.GRUCell(3, 4)\nopt = torch.optim.SGD(cell.parameters(), 0.1)\nh = torch.zeros(1, 4)"
STEP = "opt.zero_grad()\nh = cell(torch.ones(1, 3), h)  # <img src=x onerror=alert(1)>\nh.sum().backward()\nopt.step()"
SILENT = """\
%%gradsan
total = 0
for x in torch.ones(40, 1, 3):
    opt.zero_grad()
    loss = cell(x).square().mean()
    loss.backward()
    opt.step()
    total += loss
'the value of the cell'"""
MEANT = SILENT.replace("total += loss", "total += loss  # gradsan: ignore[GS301] it is plotted")
FAILING = "%%gradsan\nloss = cell(torch.ones(1, 3)).sum()\nloss.backward()\nloss.backward()"
WATCHED = "import gradsan\nwith gradsan.watch() as seen:\n    cell(torch.ones(1, 3)).sum().backward()"
SHOWN = "try:\n    loss.backward()\nexcept RuntimeError as caught:\n    found = gradsan.explain(caught)\nfound"
CELLS = [LOAD, MODEL, STEP, STEP, SILENT, FAILING, WATCHED, SHOWN, MEANT, "%unload_ext gradsan", "loss.backward()"]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What each cell shows, by its prompt; the notebook is executed once."""
    folder = tmp_path_factory.mktemp("notebook")
    kernel = folder / "kernels" / "python3" / "kernel.json"
    kernel.parent.mkdir(parents=True)
    command = f'["{sys.executable}", "-m", "ipykernel_launcher", "-f", "{{connection_file}}"]'
    kernel.write_text(f'{{"argv": {command}, "display_name": "3", "language": "python"}}', encoding="utf-8")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in CELLS])
    settings = {"JUPYTER_PATH": str(folder), "IPYTHONDIR": str(folder), "JUPYTER_RUNTIME_DIR": str(folder)}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        patch.chdir(folder)
        client = nbclient.NotebookClient(notebook, timeout=120, allow_errors=True, kernel_name="python3")
        client.execute(env={**os.environ, "OMP_NUM_THREADS": "1"})
    return {f"In[{number}]": cell.outputs for number, cell in enumerate(notebook.cells, 1)}


def html_of(outputs: list[Any]) -> str:
    """All of the HTML below a cell."""
    return "".join(each.data.get("text/html", "") for each in outputs if "data" in each)


def test_error_is_explained_below_it(outputs: dict[str, list[Any]]) -> None:
    """The traceback has one sentence; the fix is code of the cell, and can be copied; source is escaped."""
    error, shown = outputs["In[4]"]
    html = html_of([shown])

    assert "GS103 carried-state: `h` still has the graph of an earlier step" in error.traceback[-1]
    assert "retain_graph=True`:" not in error.traceback[-1]
    assert ">In[4]:2</code>" in html
    assert ">In[3]:3</code>" in html
    assert 'data-code="h = cell(torch.ones(1, 3), h.detach())' in unescape(html)
    assert "<img" not in html
    assert shown.data["text/plain"].startswith("GS103 carried-state")


def test_silent_problems_of_one_cell_are_reported(outputs: dict[str, list[Any]]) -> None:
    """With the prompt and the lines that its reader sees; the cell's own value is shown too."""
    value, shown = outputs["In[5]"]
    html = html_of([shown])

    assert value.data["text/plain"] == "'the value of the cell'"
    assert "GS301 graph-leak" in html
    assert ">In[5]:8</code>" in html
    assert "1 problem found (40 backward passes, 40 steps)" in html


def test_comment_in_a_cell_silences_its_line(outputs: dict[str, list[Any]]) -> None:
    """As one in a file does."""
    assert "nothing found (40 backward passes, 40 steps)" in html_of(outputs["In[9]"])


def test_watched_cell_that_fails_is_explained_once(outputs: dict[str, list[Any]]) -> None:
    """And fails: a notebook that is run whole stops there."""
    first, shown, last = outputs["In[6]"]

    assert (first.ename, last.ename, last.traceback) == ("RuntimeError", "RuntimeError", [])
    assert ">In[6]:4</code>" in html_of([shown])


def test_watch_and_diagnoses_show_themselves(outputs: dict[str, list[Any]]) -> None:
    """Below the cell, and as the value of one."""
    assert "nothing found (1 backward pass, 0 steps)" in html_of(outputs["In[7]"])
    assert "GS101 same-loss-twice" in html_of(outputs["In[8]"])


def test_nothing_is_left_after_unloading(outputs: dict[str, list[Any]]) -> None:
    """The error is PyTorch's own again."""
    (error,) = outputs["In[11]"]

    assert "GS101" not in "".join(error.traceback)

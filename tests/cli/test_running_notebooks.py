"""A notebook as a program: `gradsan run` and `gradsan fix --verify` run its cells, and name lines by them."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import Ended, Workshop
from cli.test_notebooks import stored
from gradsan.entry.as_python import ProgramMissingError, find_script
from gradsan.entry.running_notebook import IPythonMissingError
from gradsan.source.notebooks import as_program, parse_notebook

pytest.importorskip("IPython", reason="IPython is not installed here")
pytestmark = pytest.mark.torch  # `gradsan run` asks for it

IMPORTS = "import torch\nfrom torch import nn\n%xmode Plain"
MODEL = "cell = nn.GRUCell(3, 4)\nopt = torch.optim.SGD(cell.parameters(), 0.1)\nh = torch.zeros(1, 4)"
LOOP = """\
%%time
for x in torch.ones(5, 1, 3):
    opt.zero_grad()
    h = cell(x, h)
    loss = h.square().mean()
    %time loss.backward()
    opt.step()"""
HEALTHY = LOOP.replace("cell(x, h)", "cell(x, h.detach())")
ONCE = "net = nn.Linear(3, 3)\ntable = net(torch.ones(2, 3)).exp()  # für später"
USES = """\
opt = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    opt.zero_grad()
    table.sum().backward()
    opt.step()"""
LEAK = """\
await asyncio.sleep(0)
net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), 0.1)
history = []
for _ in range(30):
    opt.zero_grad()
    loss = net(torch.ones(2, 3)).square().mean()
    loss.backward()
    opt.step()
    history.append(loss)"""


def ran(workshop: Workshop, *words: str) -> Ended:
    """The command; IPython keeps its own files beside the program."""
    return workshop.gradsan(*words, IPYTHONDIR=str(workshop.folder / "ipython"), WIDTH="100")


# The cells, where the explanation points, and the cells when they are fixed.
NOTEBOOKS = {
    "a loop with magics": (
        [IMPORTS, MODEL, LOOP],
        "train.ipynb:In[3]:6  %time loss.backward()",
        [IMPORTS, MODEL, HEALTHY],
    ),
    "a value of another cell": (
        [IMPORTS, ONCE, USES],
        "train.ipynb:In[2]:2  table = net(torch.ones(2, 3)).exp()  # für später",
        [
            IMPORTS,
            "net = nn.Linear(3, 3)",
            USES.replace("    table.sum", "    table = net(torch.ones(2, 3)).exp()  # für später\n    table.sum"),
        ],
    ),
    "what raises no error, beside what no single file may hold": (
        ["%xmode Plain", "from __future__ import annotations\nimport asyncio\n" + IMPORTS, LEAK],
        "train.ipynb:In[3]:10  history.append(loss)",
        [
            "%xmode Plain",
            "from __future__ import annotations\nimport asyncio\n" + IMPORTS,
            LEAK.replace("append(loss)", "append(loss.item())"),
        ],
    ),
}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_fix_is_proved_by_running_the_cells(workshop: Workshop, name: str) -> None:
    """Then it is written into the cells, and no other byte of the file changes; after that nothing is found."""
    cells, place, fixed = NOTEBOOKS[name]
    file = workshop.write("train.ipynb", stored(*cells))

    explained = ran(workshop, "run", "train.ipynb")
    done = ran(workshop, "fix", "train.ipynb", "--verify", "--write")

    assert place in explained.stderr
    assert "verified: " in done.stdout
    assert done.status == 0, done.stderr
    assert file.read_text(encoding="utf-8") == stored(*fixed)
    assert ran(workshop, "run", "--fail-on", "warning", "train.ipynb").status == 0


@pytest.mark.parametrize("command", ["python train.ipynb", "train.ipynb", "NAME=x python -O train.ipynb --epochs 3"])
def test_notebook_can_be_the_command(workshop: Workshop, command: str) -> None:
    """As a script can; near miss: one without a problem has nothing to fix."""
    workshop.write("train.ipynb", stored(IMPORTS, MODEL, HEALTHY))

    done = ran(workshop, "fix", "--verify", command)

    assert done.status == 0
    assert "the program ran to its end: nothing found in 5 backward passes and 5 steps" in done.stderr


SHELL = """\

!echo from the shell \\
    in one line
files = !echo a b
print(files, __name__)"""
FUNCTION = "def double(x):\n    %xmode Plain\n    return 2 * x"
HELPER = "%%writefile helper.py\ndef halve(x):\n    return x / 2"
TEXT = "%%capture out\nfrom helper import halve\ntext = '''\n%d items\n!ls\n'''\nprint(double(halve(3.0)), text)"
LATER = "from __future__ import annotations\nimport sys, asyncio\nawait asyncio.sleep(0)\nprint(sys.argv)\ndisplay(2)"


def test_cells_run_as_ipython_runs_them(workshop: Workshop) -> None:
    """Magics, the shell, `await`, and imports of the future in a cell that is not the first."""
    workshop.write("a.ipynb", stored(SHELL, FUNCTION, HELPER, TEXT, "%%bash\necho from bash", "", LATER))

    ended = ran(workshop, "run", "a.ipynb", "--flag")

    assert ended.stderr == ""
    assert ended.stdout.splitlines() == [
        "from the shell in one line",
        "['a b'] __main__",
        "Writing helper.py",
        "Exception reporting mode: Plain",
        "3.0 ",
        "%d items",
        "!ls",
        "",
        "from bash",
        "['a.ipynb', '--flag']",
        "2",
    ]


@pytest.mark.parametrize(("end", "status"), [("exit()", 0), ("import sys\nsys.exit(3)", 3)])
def test_cell_may_end_the_program(workshop: Workshop, end: str, status: int) -> None:
    """As it ends a kernel."""
    workshop.write("a.ipynb", stored(f"print('before')\n{end}", "print('after')"))

    ended = ran(workshop, "run", "a.ipynb")

    assert (ended.status, ended.stdout, ended.stderr) == (status, "before\n", "")


FAILS = {
    "where it raises": (
        ["def f():\n    1 / 0", "\n\ntry:\n    f()\nexcept ZeroDivisionError as e:\n    raise ValueError('x') from e"],
        [
            'a.ipynb:In[2]", line 4, in <module>\n    f()\n',
            'a.ipynb:In[1]", line 2, in f\n    1 / 0\n',
            'a.ipynb:In[2]", line 6, in <module>\n    raise ValueError(',
        ],
    ),
    "a magic that raises": (["x = 1\n%timeit -n 1 -r 1 nothing"], ["    %timeit -n 1 -r 1 nothing\n"]),
    "no Python": (["print('before')", "x = 1\nfor in x:\n    pass"], ['a.ipynb:In[2]", line 2\n    for in x:\n']),
    "no program": (["print('before')", "x = 1\nreturn x"], ['a.ipynb:In[2]", line 2\n', "SyntaxError: 'return'"]),
    "a warning": (
        ["import warnings", "def f():\n    warnings.warn('w')\nf()\nraise SystemExit(1)"],
        ["a.ipynb:In[2]:2: UserWarning: w\n  warnings.warn('w')\n"],
    ),
}


@pytest.mark.parametrize("name", FAILS)
def test_lines_are_named_by_their_cells(workshop: Workshop, name: str) -> None:
    """In tracebacks, in warnings, and where the compiler stops: at that cell, as a kernel does."""
    cells, expected = FAILS[name]
    workshop.write("a.ipynb", stored(*cells))

    ended = ran(workshop, "run", "a.ipynb")

    assert ended.status == 1
    assert not [each for each in expected if each not in ended.stderr], ended.stderr
    assert ended.stdout == ("before\n" if "before" in cells[0] else "")


def test_lines_stay_where_the_reader_has_them() -> None:
    """Whatever IPython makes of a cell, shorter or longer: an edit counts from the same lines."""
    cells = ["\n\n%a\nx = 1", "!ls \\\n  -l\ny = 2", "%%time\nz = 3", "for in:\n  pass", "w = 4"]
    source = parse_notebook("a.ipynb", stored(*cells).encode())

    tree = as_program(source, lambda code: code.replace("%a", "a()").replace("!ls \\\n  -l", "ls()"))

    lines = {ast.unparse(each.targets[0]): each.lineno for each in tree.body if isinstance(each, ast.Assign)}
    assert lines == {"x": 5, "y": 8, "z": 12, "w": 17}
    assert [source.cell_of(line)[0] for line in lines.values()] == [1, 2, 3, 5]


def test_comment_in_a_cell_silences_its_line(workshop: Workshop) -> None:
    """When the notebook runs, and where a run is to prove a fix; near miss: the same line of another cell."""
    meant = LEAK.replace("append(loss)", "append(loss)  # gradsan: ignore[GS301] few")
    cells = ["import asyncio\n" + IMPORTS, meant, LEAK.replace("history", "losses")]
    workshop.write("a.ipynb", stored(*cells))

    ended = ran(workshop, "run", "a.ipynb")

    assert "a.ipynb:In[3]:10  losses.append(loss)" in ended.stderr
    assert "1 warning: GS301" in ended.stderr
    workshop.write("a.ipynb", stored(*cells[:2]))
    assert "nothing found" in ran(workshop, "run", "a.ipynb").stderr
    assert "nothing found" in ran(workshop, "fix", "--verify", "a.ipynb").stderr


def test_page_shows_cells(workshop: Workshop) -> None:
    """Source, graph and timeline count lines as the explanation does."""
    workshop.write("train.ipynb", stored(IMPORTS, MODEL, LOOP))

    ran(workshop, "run", "--format", "json", "--details", "--output", "r.json", "train.ipynb")

    details = json.loads((workshop.folder / "r.json").read_text(encoding="utf-8"))["details"]
    loop = next(each for each in details["sources"] if each["file"] == "train.ipynb:In[3]")
    assert (loop["first"], loop["lines"]) == (1, LOOP.splitlines())
    frames = [*details["graphs"][0]["frames"], *(each["place"] for each in details["timeline"]["lines"])]
    assert {(each["file"], each["line"]) for each in frames} <= {("train.ipynb:In[3]", line) for line in range(1, 8)}


def test_what_cannot_run_is_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that only has the name, and a Python without IPython."""
    wrong, right = tmp_path / "wrong.ipynb", tmp_path / "right.ipynb"
    wrong.write_text('{"cells": 3}', encoding="utf-8")
    right.write_text(stored("1"), encoding="utf-8")
    with pytest.raises(ProgramMissingError, match="it is not a notebook"):
        find_script(str(wrong))

    monkeypatch.setattr("gradsan.entry.running_notebook.is_installed", lambda _: False)

    with pytest.raises(IPythonMissingError, match="pip install ipython"):
        find_script(str(right))


def test_other_commands_read_every_cell(tmp_path: Path) -> None:
    """A cell that is no Python is empty for them, be it with or without a line end behind it."""
    cells = ["%%bash\nls", "for in:\n", "x = !ls", "a = 1"]
    (tmp_path / "a.ipynb").write_text(stored(*cells), encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-m", "gradsan", "check", "--no-cache", "a.ipynb"],
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "gradsan: nothing found in 1 file\n")

"""Cells of a notebook: what they do is recorded, and told by the prompts that its reader sees."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

LOAD = "import torch\n%load_ext gradsan"
TRAINING = "w = torch.nn.Parameter(torch.ones(3, 3))\nopt = torch.optim.SGD([w], 0.1)"
MAKES_LOSS = "loss = (w @ w).tanh().sum()"
ASKS = "loss.backward()\nopt.step()"
CELL = "torch.manual_seed(0)\ncell = torch.nn.GRUCell(3, 4)\nopt = torch.optim.SGD(cell.parameters(), 0.1)"
STEP = "opt.zero_grad()\nh = cell(torch.ones(1, 3), h)\nloss = h.square().mean()\nloss.backward()\nopt.step()"
EMBEDDED = "opt.zero_grad()\nloss = table.square().sum()\nloss.backward()\nopt.step()"
TRAIN = "def train():\n    loss = state['x'].square().sum()\n    loss.backward()\n    opt.step()"

# The cells of a session, and what stands in the note: each on a line of its own.
SESSIONS: dict[str, tuple[list[str], list[str]]] = {
    "the cell of a pass run twice": (
        [LOAD, TRAINING, MAKES_LOSS, ASKS, ASKS],
        [
            "GS101 same-loss-twice: `loss` has already been through backward()",
            "In[3]:1  loss = (w @ w).tanh().sum()",
            "In[4]:1  loss.backward()              freed by this backward()",
            "In[5]:1  loss.backward()              this backward() needs it, but it is gone",
        ],
    ),
    "a step run twice that carries a state": (
        [LOAD, CELL, "h = torch.zeros(1, 4)", STEP, STEP],
        [
            "GS103 carried-state: `h` still has the graph of an earlier step",
            "In[4]:2  h = cell(torch.ones(1, 3), h)  created here",
            "In[4]:4  loss.backward()                freed by this backward()",
            "In[5]:2  h = cell(torch.ones(1, 3), h)  used again here",
            "In[5]:4  loss.backward()                this backward() needs it, but it is gone",
        ],
    ),
    "a step run twice on what an earlier cell made": (
        [LOAD, TRAINING, "table = (w @ w).exp()", EMBEDDED, EMBEDDED],
        ["GS104 computed-once: `table` was computed once", "In[3]:1  table", "In[4]:3  loss", "In[5]:3  loss"],
    ),
    "a function of one cell called in two": (
        [LOAD, TRAINING, TRAIN, "state = {'x': (w @ w).exp()}", "train()", "train()"],
        ["In[4]:1  state", "called from In[5]:1", "called from In[6]:1", "In[3]:3  loss.backward()"],
    ),
    "two losses in cells of their own": (
        [LOAD, TRAINING, "y = (w @ w).exp()\na = y.sum()\nb = y.square().sum()", "a.backward()", "b.backward()"],
        ["GS102 shared-forward: `y`", "In[3]:1  y", "In[4]:1  a.backward()", "In[5]:1  b.backward()"],
    ),
    "an edit in a cell of its own": (
        [LOAD, "w = torch.ones(3, requires_grad=True)\ny = w.exp()", "y += 1", "y.sum().backward()"],
        ["GS202 inplace-edit: `y`", "In[2]:2  y = w.exp()", "In[3]:1  y += 1", "In[4]:1  y.sum().backward()"],
    ),
    "a history lost in an earlier cell": (
        [LOAD, "w = torch.ones(3, requires_grad=True)\nwith torch.no_grad():\n    y = w.exp()", "y.sum().backward()"],
        ["GS203 lost-graph: `y`", "In[2]:2  with torch.no_grad():", "In[3]:1  y.sum().backward()"],
    ),
    "saved values that are read too late": (
        [LOAD, "w = torch.ones(3, requires_grad=True)\ny = w.exp()", "y.sum().backward()", "y.grad_fn._saved_result"],
        ["GS108 saved-after-free: The saved values of `y`", "In[3]:1  y.sum()", "In[4]:1  y.grad_fn._saved_result"],
    ),
}

# What is run twice has two names at a terminal, and one under Jupyter; the rest is the same for both.
TOLD = [*((name, "jupyter") for name in SESSIONS), *((name, "terminal") for name in SESSIONS if "run twice" in name)]


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All sessions, run one after the other in one process."""
    # Whoever runs cells one after the other is a library, as the kernel is; else the loop that does so would be a loop
    # of the user's.
    script = tmp_path_factory.mktemp("kernel") / "site-packages" / "prompt_session.py"
    script.parent.mkdir()
    shutil.copy(Path(__file__).with_name("prompt_session.py"), script)
    done = subprocess.run(
        [sys.executable, str(script)],
        input=json.dumps([(name, where, SESSIONS[name][0]) for name, where in TOLD]),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "IPYTHONDIR": str(tmp_path_factory.mktemp("ipython"))},
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("name", "where"), TOLD)
def test_session_is_recognised_by_its_prompts(name: str, where: str, reported: dict[str, Any]) -> None:
    """Also where the same text was run twice, which Jupyter gives the same file name."""
    (note,) = reported[f"{name} {where}"]["notes"]

    missing = [each for each in SESSIONS[name][1] if " ".join(each.split()) not in " ".join(note.split())]
    assert missing == [], note
    assert "ipython-input" not in note
    assert "ipykernel" not in note


def test_traceback_shows_no_frame_of_gradsan_and_nothing_is_left_at_the_shell(reported: dict[str, Any]) -> None:
    """IPython shows an error by itself: gradsan's own frame is taken out before."""
    for each in reported.values():
        (files,) = each["files"]
        assert [file for file in files if "gradsan" in file] == []
        assert each["left"] == []

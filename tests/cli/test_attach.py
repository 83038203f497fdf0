"""`gradsan attach`: what another process is to run, and what is said where none can be told to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import Workshop
from gradsan.cli.attach import script_for


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="there it can be done")
def test_older_python_says_that_it_cannot(workshop: Workshop) -> None:
    """And what can be done instead."""
    ended = workshop.gradsan("attach", str(os.getpid()))

    assert ended.status == 2
    assert ended.stderr == (
        f"gradsan: Python 3.{sys.version_info[1]} cannot attach to a running program (3.14 can); "
        "call `gradsan.install(budget=...)` in the program, or start it with `gradsan run`\n"
    )


def test_budget_is_looked_at_first(workshop: Workshop) -> None:
    """Before another process is troubled."""
    assert "'much' is no budget" in workshop.gradsan("attach", "1", "--budget", "much").stderr


def test_script_watches_a_program_that_is_running(tmp_path: Path) -> None:
    """In the midst of training, with gradsan found where it lies; here the program runs it by itself."""
    (tmp_path / "attached.py").write_text(script_for("50%"))
    (tmp_path / "job.py").write_text(
        "import torch\n"
        "model = torch.nn.Linear(3, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.01)\n"
        "losses = []\n"
        "def train():\n"
        "    for step in range(100):\n"
        "        if step == 20:\n"
        "            exec(open('attached.py').read(), {})\n"
        "        optimizer.zero_grad()\n"
        "        loss = model(torch.ones(8, 3)).square().mean()\n"
        "        loss.backward()\n"
        "        optimizer.step()\n"
        "        losses.append(loss)\n"
        "train()\n"
    )

    done = subprocess.run([sys.executable, "job.py"], cwd=tmp_path, capture_output=True, text=True, check=True)

    first, _, said = done.stderr.partition("\n")
    assert first == "gradsan: errors are explained from here on, and silent problems go to the logger `gradsan`"
    assert said.startswith("GS301 graph-leak: ")

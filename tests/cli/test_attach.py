"""`gradsan attach`: what another process is to run, and what is said where none can be told to."""

import os
import subprocess
import sys
import time
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
    (tmp_path / "attached.py").write_text(script_for("50%", "attached.py"))
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
    assert not (tmp_path / "attached.py").exists()


@pytest.mark.cold
@pytest.mark.skipif(sys.version_info < (3, 14), reason="a running interpreter takes no code before 3.14 (PEP 768)")
def test_running_program_is_watched_from_then_on(workshop: Workshop) -> None:
    """Its silent problem is reported and its error explained; it was started without gradsan."""
    workshop.write(
        "job.py",
        "import pathlib, time, torch\n"
        "losses, model = [], torch.nn.Linear(3, 1)\n"
        "def train():\n"
        "    for step in range(3000):\n"
        "        loss = model(torch.ones(8, 3)).square().mean()\n"
        "        loss.backward()\n"
        "        model.zero_grad()\n"
        "        losses.append(loss)\n"
        "        time.sleep(0.001)\n"
        "        pathlib.Path('begun').touch()\n"
        "    loss.backward()\n"
        "train()\n",
    )
    with subprocess.Popen([sys.executable, "job.py"], cwd=workshop.folder, stderr=subprocess.PIPE, text=True) as job:
        while not (workshop.folder / "begun").exists():
            time.sleep(0.1)
        attached = workshop.gradsan("attach", str(job.pid), "--budget", "50%")
        _, said = job.communicate(timeout=120)

    assert (attached.status, attached.stderr) == (0, "")
    assert said.startswith("gradsan: errors are explained from here on")
    assert "\nGS301 graph-leak: `losses` " in said
    assert "\nGS101 " in said[said.index("Traceback") :]


@pytest.mark.skipif(sys.version_info < (3, 14), reason="a running interpreter takes no code before 3.14 (PEP 768)")
def test_process_that_is_gone_is_named(workshop: Workshop) -> None:
    """And no script is left behind."""
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass

    ended = workshop.gradsan("attach", str(gone.pid))

    assert ended.status == 2
    assert f"cannot attach to process {gone.pid}" in ended.stderr

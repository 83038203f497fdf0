"""A trial is the user's program, elsewhere, with some files changed."""

import os
import shlex
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import gradsan
from gradsan.facts.held import TENSOR
from gradsan.facts.live_evidence import Access, Alive
from gradsan.fix.trials.arrangement import Arrangement
from gradsan.fix.trials.commands import UnusableCommandError, command_of
from gradsan.fix.trials.environment import environment
from gradsan.fix.trials.workshop import Workshop


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("python train.py --epochs 1", "PYTHON train.py --epochs 1"),
        ("python3.11 -W error -u -m pkg.train x", "PYTHON -W error -u -m pkg.train x"),
        ("CUDA_VISIBLE_DEVICES= LR=0.1 python3 train.py", "CUDA_VISIBLE_DEVICES= LR=0.1 PYTHON train.py"),
        ("train.py", "PYTHON train.py"),
        ("torchrun --nproc-per-node 2 train.py", "torchrun --nproc-per-node 2 train.py"),
        ("make train && pytest 'tests/a b'", "make train && pytest 'tests/a b'"),
        ("python ROOT/train.py", "PYTHON train.py"),
        (["python", "train.py", "a b"], "PYTHON train.py 'a b'"),
    ],
)
def test_command_is_what_a_user_would_type(tmp_path: Path, words: str | list[str], line: str) -> None:
    """`python` is the one that runs gradsan, and files are those of the scratch directory."""
    words = words.replace("ROOT", str(tmp_path)) if isinstance(words, str) else words

    assert command_of(words, tmp_path) == line.replace("PYTHON", shlex.quote(sys.executable))


@pytest.mark.parametrize("words", ["", "python", "python ../train.py", "python /elsewhere/train.py"])
def test_command_that_proves_nothing_is_refused(tmp_path: Path, words: str) -> None:
    """Before anything is run."""
    with pytest.raises(UnusableCommandError):
        command_of(words, tmp_path)


def test_python_without_the_start_up_file_finds_it_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkout is run by its path; the user's own `sitecustomize` is imported after ours."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("print('of the user')", encoding="utf-8")
    monkeypatch.setattr("site.getsitepackages", list)
    monkeypatch.setattr("site.getusersitepackages", lambda: str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'own'}{os.pathsep}{Path(gradsan.__file__).parents[1]}")
    arranged = Arrangement(tmp_path, tmp_path, tmp_path)

    code = "import sys; print('gradsan.entry.trial' in sys.modules, [p for p in sys.path if 'from_checkout' in p])"
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code],
        env=environment(arranged),
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.splitlines() == ["of the user", "True []"]


@pytest.mark.torch
@pytest.mark.cold
def test_program_is_tried_by_a_python_that_gradsan_is_not_installed_for(tmp_path: Path) -> None:
    """From a checkout alone: PYTHONPATH leads to the source, and nothing is read at the start of an interpreter."""
    bare, libraries = tmp_path / "bare", Path(pytest.__file__).parents[1]
    venv.create(bare, symlinks=True)
    own = next((bare / "lib").glob("python*/site-packages"))
    (own / "libraries.pth").write_text(str(libraries), encoding="utf-8")  # whose own `.pth` files are not read
    (tmp_path / "main.py").write_text(TWICE, encoding="utf-8")

    done = subprocess.run(
        [bare / "bin" / "python", "-m", "gradsan", "fix", "--verify", "python main.py", "--quiet"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(gradsan.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "GS101" in done.stdout, done.stderr
    assert "verified" in done.stdout


TWICE = """\
import torch

layer = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(3):
    loss = layer(torch.ones(4, 2)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    loss.backward()
    optimizer.step()
"""

STATEFUL = """\
import torch


class Memory(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.state = torch.nn.RNNCell(2, 2), torch.zeros(1, 2)

    def forward(self, x):
        self.state = self.cell(x, self.state)
        return self.state


memory = Memory()
for x in torch.ones(2, 1, 2):
    memory(x).sum().backward()
"""


@pytest.mark.torch
def test_trial_leaves_what_the_live_program_showed_beside_its_report(tmp_path: Path) -> None:
    """Typed, by the fingerprint of the error; the report itself has nothing of it."""
    (tmp_path / "train.py").write_text(STATEFUL, encoding="utf-8")

    trial = Workshop(tmp_path, command_of("python train.py", tmp_path), seconds=60, layers=False).run({})

    (found,) = trial.diagnoses
    live = trial.live[found.fingerprint]
    assert live.alive == Alive(TENSOR, Access("memory.state", "<module>"))
    assert live.crossings == ()
    assert {each.file for each in live.graph_lines} == {"train.py"}
    assert set(found.evidence) == {"freed_ops", "saved_bytes"}

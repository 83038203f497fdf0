"""The patch of `docs/upstream.md` says what is so, and does nothing else."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not version("torch").startswith("2.13"), reason="the patch is for torch 2.13")


def said(program: str, folder: Path, *, patched: bool = True) -> str:
    """What a program prints, where PyTorch has the patch or not; it is called `train.py`."""
    (folder / "train.py").write_text(program, encoding="utf-8")
    script = [str(PROJECT / "benchmarks" / "upstream_message.py")] if patched else []
    command = [sys.executable, *script, "train.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


CATCH = """\
except RuntimeError as error:
    print(str(error).partition("after calling backward. ")[2])
"""


def test_pass_that_freed_a_function_of_the_users_is_named(tmp_path: Path) -> None:
    """Ops of a `torch.autograd.Function` keep what they save elsewhere."""
    program = f"""\
import torch

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 2 * x
    @staticmethod
    def backward(ctx, gradient):
        ctx.saved_tensors
        return 2 * gradient

loss = Double.apply(torch.ones(3, requires_grad=True)).sum()
torch.autograd.backward(loss)
try:
    loss.backward(retain_graph=True)
{CATCH}"""

    assert said(program, tmp_path) == (
        "All 2 ops of this graph are older than the backward pass at train.py:14, which freed values that they had "
        "saved. The newest of them is SumBackward0 (number 1), the oldest whose values are gone "
        "DoubleBackward (number 0).\n"
    )


def test_passes_that_cannot_be_told_apart_are_both_named(tmp_path: Path) -> None:
    """One that ran between, and had nothing to do with the graph, is as new as the one that freed it."""
    program = f"""\
import torch
x = torch.ones(3, requires_grad=True)
shared = x.exp()
(x * x).sum().backward()
shared.sum().backward()
try:
    shared.mean().backward()
{CATCH}"""

    assert "passes at train.py:5 and train.py:4, of which one freed" in said(program, tmp_path)


@pytest.mark.parametrize("patched", [False, True])
def test_no_hook_of_the_program_runs_for_a_message(tmp_path: Path, *, patched: bool) -> None:
    """What was saved is looked at, and not unpacked."""
    program = """\
import torch
unpacked = []
x = torch.ones(3, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda each: each, lambda each: unpacked.append(1) or each):
    first = x.exp()
    loss = (first * first).sin().sum()
first.sum().backward()
try:
    loss.backward()
except RuntimeError as error:
    print(len(unpacked))
"""

    assert said(program, tmp_path, patched=patched) == said(program, tmp_path, patched=False)


def test_graph_that_no_noted_pass_has_freed_gets_no_sentence(tmp_path: Path) -> None:
    """Passes of other threads are not noted here: nothing is said rather than something wrong."""
    program = f"""\
import threading
import torch
x = torch.ones(3, requires_grad=True)
loss = x.exp().sum()
thread = threading.Thread(target=loss.backward)
thread.start()
thread.join()
try:
    loss.backward()
{CATCH}"""

    assert said(program, tmp_path).strip() == ""

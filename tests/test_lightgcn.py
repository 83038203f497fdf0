"""LightGCN in plain torch, broken and fixed. `make lightgcn` does the same with PyTorch Geometric and DGL."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1] / "examples" / "lightgcn"


def gradsan(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, in that folder."""
    command = [sys.executable, "-m", "gradsan", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def body(program: Path) -> str:
    """A program without the lesson at its head."""
    return program.read_text(encoding="utf-8").split('"""\n', maxsplit=1)[1]


def test_embeddings_propagated_once_an_epoch_are_explained_and_moved(tmp_path: Path) -> None:
    """What is fixed reads like the program that was right from the start."""
    folder = Path(shutil.copytree(HERE, tmp_path / "lightgcn"))

    gradsan(folder, "run", "--format", "json", "--output", "report.json", "torch_broken.py", "1")
    (found,) = json.loads((folder / "report.json").read_text(encoding="utf-8"))["diagnoses"]
    done = gradsan(folder, "fix", "report.json", "--write")

    lines = (HERE / "torch_broken.py").read_text(encoding="utf-8").splitlines()
    assert (found["code"], found["culprit"]["name"], found["confidence"]) == ("GS104", "nodes", "certain")
    assert [lines[frame["line"] - 1].strip() for frame in found["made"]["stack"]][1:] == [
        "nodes = model()",
        "return total / (self.layers + 1)",
    ]
    assert done.returncode == 0
    assert body(folder / "torch_broken.py") == body(HERE / "torch_fixed.py")


def test_fixed_program_is_quiet_and_learns() -> None:
    """It finds much more of what was held out than chance does, and nothing is said about it."""
    done = gradsan(HERE, "run", "torch_fixed.py", "2")

    untrained, trained = (float(recall) for recall in re.findall(r"recall@20 ([\d.]+)", done.stdout))
    assert done.returncode == 0
    assert done.stderr.startswith("gradsan: nothing found")
    assert trained > 5 * untrained


@pytest.mark.parametrize("library", ["torch", "pyg", "dgl"])
def test_pair_differs_in_where_propagation_stands(library: str) -> None:
    """One line, one level deeper: nothing else distinguishes broken from fixed."""
    broken, fixed = (body(HERE / f"{library}_{state}.py").splitlines() for state in ("broken", "fixed"))
    (line,) = (each for each in broken if each not in fixed)
    deeper = f"    {line}"

    broken.remove(line)
    broken.insert(fixed.index(deeper), deeper)

    assert broken == fixed

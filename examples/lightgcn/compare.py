"""LightGCN in three libraries: the broken program explained and fixed, the fixed one trained, as a table.

`python compare.py torch=PYTHON pyg=PYTHON dgl=PYTHON`, each an interpreter that has the library and gradsan; `make
lightgcn` sets them up. Everything happens in a copy. Where a program is not explained, not fixed, or learns nothing,
the status is 1.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
TITLES = {"torch": "plain torch", "pyg": "PyTorch Geometric", "dgl": "DGL"}
WIDE_MARGIN = 5  # times the recall of the untrained model, at least
HEADINGS = ("library", "broken: code, culprit, line", "fix", "recall@20", "NDCG@20", "seconds", "with gradsan")


@dataclass(frozen=True)
class Training:
    """One run of a program, by what it printed."""

    before: tuple[float, float]  # recall@20, NDCG@20
    after: tuple[float, float]
    seconds: float  # from the first report to the last


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A command in the copy, to its end."""
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)  # noqa: S603 # our own


def environment() -> dict[str, str]:
    """DGL asks for its backend here, and writes into the home directory where it is not told."""
    return os.environ | {"DGLBACKEND": "pytorch"}


def explained(python: str, program: str, folder: Path) -> str:
    """Code, culprit, and the line that called for what was freed."""
    run([python, "-m", "gradsan", "run", "--format", "json", "--output", "report.json", program, "1"], folder)
    (found,) = json.loads((folder / "report.json").read_text(encoding="utf-8"))["diagnoses"]
    line = next(frame["line"] for frame in found["made"]["stack"] if frame["function"] == found["used"]["function"])
    return f"{found['code']} `{found['culprit']['name']}` {program}:{line}"


def fixed(python: str, program: str, folder: Path) -> str:
    """Whether the fix was proved by running it, and written."""
    done = run([python, "-m", "gradsan", "fix", "--write", "--verify", f"python {program} 1"], folder)
    is_proved = done.returncode == 0 and "verified" in done.stdout
    return "verified" if is_proved else sys.exit(f"{program} was not fixed:\n{done.stdout}{done.stderr}")


def trained(command: list[str], folder: Path) -> Training:
    """Time a program by when it prints."""
    reports = []
    with subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 # likewise
        for line in process.stdout or ():
            _, recall, ndcg = line.replace(",", "").rsplit("@20 ")
            reports.append((time.perf_counter(), (float(recall.split()[0]), float(ndcg))))
    (begun, before), (ended, after) = reports
    return Training(before, after, ended - begun)


def row(library: str, python: str) -> tuple[str, ...]:
    """All of it for one library."""
    program = f"{library}_broken.py"
    with tempfile.TemporaryDirectory() as copy:
        folder = Path(shutil.copytree(HERE, Path(copy) / "lightgcn"))
        say(f"{TITLES[library]}: running {program} under gradsan")
        explanation = explained(python, program, folder)
        say(f"{TITLES[library]}: {explanation}; fixing it, with proof")
        fix = fixed(python, program, folder)
        say(f"{TITLES[library]}: training what came out of it, without and with gradsan")
        plain = trained([python, program], folder)
        watched = trained([python, "-m", "gradsan", "run", "--quiet", program], folder)
        say(f"{TITLES[library]}: measuring what gradsan costs, in turns")
        slower, first_looks = run([python, "slowdown.py", program.removesuffix(".py")], folder).stdout.split()
    if (plain.before, plain.after) != (watched.before, watched.after):
        sys.exit(f"{program} does not do the same with gradsan")
    if plain.after[0] < WIDE_MARGIN * plain.before[0]:
        sys.exit(f"{program} has learnt nothing: {plain}")
    recall, ndcg = (f"{before:.3f} → {after:.3f}" for before, after in zip(plain.before, plain.after, strict=True))
    cost = f"{slower}x, after {first_looks} s of first looks"
    return TITLES[library], explanation, fix, recall, ndcg, f"{plain.seconds:.1f}", cost


def say(progress: str) -> None:
    """Tell whoever waits; the table alone goes to stdout."""
    print(progress, file=sys.stderr, flush=True)


def main() -> None:
    """Print the table."""
    interpreters = dict(each.split("=", 1) for each in sys.argv[1:])
    rows = [HEADINGS, *(row(library, str(Path(python).absolute())) for library, python in interpreters.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, tuple("-" * width for width in widths))
    for each in rows:
        print("| " + " | ".join(f"{cell:{width}}" for cell, width in zip(each, widths, strict=True)) + " |")


if __name__ == "__main__":
    main()

"""Lets `gradsan fix` repair programs that it was not made for, and compares how they train with an expert's repair.

    python tests/blind/judge.py a            a set: a folder beside this file
    python tests/blind/judge.py b 07 12      some programs of it

Each program is copied without its `fixed.py`, repaired with `fix --write --verify`, and run; at every step, each
optimizer must be given what it is given in the expert's version. README.md keeps the figures of first contact.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CLOSE = 1e-4  # of the largest gradient of a step
STEPS = 60

Steps = list[tuple[int, list[list[float] | None]]]


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended, and what its optimizers were given."""

    status: int
    steps: Steps


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one program."""

    name: str
    word: str  # repaired, refused, DIFFERS, left alone, FALSE ALARM
    detail: str


def main() -> None:
    """Judge a set, or some of its programs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=sorted(each.parent.name for each in HERE.glob("*/labels.json")))
    parser.add_argument("only", nargs="*", help="how the names of programs begin")
    asked = parser.parse_args()
    labels = json.loads((HERE / asked.set / "labels.json").read_text(encoding="utf-8"))
    chosen = [each for each in labels if not asked.only or each["id"].startswith(tuple(asked.only))]
    found = []
    for label in chosen:
        judged = judge(HERE / asked.set, label)
        print(f"{judged.name:32} {judged.word:12} {judged.detail}", flush=True)
        found.append(judged.word)
    print(", ".join(f"{word}: {found.count(word)}" for word in dict.fromkeys(found)))
    sys.exit(any(word.isupper() for word in found))


def judge(folder: Path, label: dict[str, Any]) -> Judged:
    """Repair one program, and compare it."""
    name, command = label["id"], label.get("command", "python main.py")
    with tempfile.TemporaryDirectory() as place:
        expert, work = _copied(folder, name, Path(place) / "expert"), _copied(folder, name, Path(place) / "work")
        _without_answers(work)
        before = _sources(work)
        fix = [sys.executable, "-m", "gradsan", "fix", "--write", "--timeout", "120", "--verify", command]
        done = subprocess.run(fix, cwd=work, capture_output=True, text=True, check=False)
        if _sources(work) == before:
            last = done.stderr.strip().splitlines()[-1:]
            word = "left alone" if label.get("clean") else "refused"
            return Judged(name, word, " ".join(last))
        if label.get("clean"):
            return Judged(name, "FALSE ALARM", "a right program was edited")
        _put_answer_in_place(expert)
        detail = _difference(_run(work, command), _run(expert, command))
        return Judged(name, "repaired" if detail is None else "DIFFERS", detail or "")


def _copied(folder: Path, name: str, place: Path) -> Path:
    shutil.copytree(folder / name, place / name)
    if (folder / "data").exists():
        shutil.copytree(folder / "data", place / "data")
    return place / name


def _is_answer(file: Path) -> bool:
    words = file.stem.split("_")
    return "fixed" in (file.parent.name, words[0], words[-1])


def _without_answers(work: Path) -> None:
    for file in list(work.rglob("*.py")):
        if _is_answer(file):
            file.unlink()


def _put_answer_in_place(expert: Path) -> None:
    """A command that runs tests imports `main`, so the expert's file, or folder of files, takes its place."""
    if (expert / "fixed").is_dir():
        shutil.copytree(expert / "fixed", expert, dirs_exist_ok=True)
    else:
        (expert / "main.py").write_bytes((expert / "fixed.py").read_bytes())


def _sources(work: Path) -> dict[str, bytes]:
    return {str(file.relative_to(work)): file.read_bytes() for file in sorted(work.rglob("*.py"))}


def _run(work: Path, command: str) -> Ran:
    notes = work.parent / "notes"
    notes.mkdir()
    environment = os.environ | {
        "PYTHONPATH": str(HERE / "recorder"),
        "BLIND_RECORD": str(notes / "steps"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    done = subprocess.run(command, shell=True, cwd=work, env=environment, capture_output=True, check=False)  # noqa: S602 # as the label has it
    lines = [line for file in sorted(notes.iterdir()) for line in file.read_text(encoding="utf-8").splitlines()]
    return Ran(done.returncode, [(number, given) for number, given in map(json.loads, lines)])


def _difference(ours: Ran, theirs: Ran) -> str | None:
    """Where a program trains otherwise than the expert's; None: nowhere."""
    if ours.status != 0:
        return f"it ends with status {ours.status}"
    for step, (one, other) in enumerate(zip(ours.steps[:STEPS], theirs.steps[:STEPS], strict=False), start=1):
        if one[0] != other[0] or not _alike(one[1], other[1]):
            return f"another gradient at step {step}"
    if len(ours.steps) != len(theirs.steps):
        return f"{len(ours.steps)} steps instead of {len(theirs.steps)}"
    return None


def _alike(ours: list[list[float] | None], theirs: list[list[float] | None]) -> bool:
    if len(ours) != len(theirs):
        return False
    largest = max((abs(each[0]) for each in theirs if each is not None), default=0.0)
    pairs = zip(ours, theirs, strict=True)
    return all(
        math.isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE * largest)
        for one, other in pairs
        for a, b in zip(one or (0.0, 0.0), other or (0.0, 0.0), strict=True)
    )


if __name__ == "__main__":
    main()

"""Ask all questions, each in a process of its own, and write one file of results for this machine.

`python benchmarks/measure.py [--quick] [--device cuda] [--only NAME,…] --out benchmarks/results/NAME.json`. What a file
holds already and is not asked for stays. `python benchmarks/page.py` makes the page of all such files.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from measuring import Answer, Results, machine, versions

HERE = Path(__file__).parent
QUESTIONS = (
    "overhead",
    "first_second",
    "explaining",
    "production",
    "check_speed",
    "startup",
    "plugin_speed",
    "typing_speed",
    "upstream",
)
ON_DEVICE = ("overhead", "upstream")  # the others ask nothing of a GPU


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    usual = ON_DEVICE if given.device == "cuda" else QUESTIONS
    answers = _kept(given.out)
    for name in given.only.split(",") if given.only else usual:
        begun = time.perf_counter()
        print(f"== {name}", flush=True)
        answers[name] = _asked(name, given.device, quick=given.quick)
        print(f"== {name} took {time.perf_counter() - begun:.0f} s", flush=True)
        results = Results(machine(given.device), versions(), given.quick, answers)
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")


def _kept(file: Path) -> dict[str, Answer]:
    return dict(msgspec.json.decode(file.read_bytes(), type=Results).answers) if file.exists() else {}


def _asked(name: str, device: str, *, quick: bool) -> Answer:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "answer.json"
        words = [sys.executable, str(HERE / f"{name}.py"), "--device", device, "--out", str(out)]
        subprocess.run([*words, "--quick"] if quick else words, check=True)  # noqa: S603 # our own
        return msgspec.json.decode(out.read_bytes(), type=Answer)


if __name__ == "__main__":
    main()

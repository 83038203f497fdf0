"""Ask all questions, each in a process of its own, and write one file of results for this machine.

`python benchmarks/measure.py [--quick] [--device cuda] [--only NAME,…] --out benchmarks/results/NAME.json`. What a file
holds already and is not asked for stays. `python benchmarks/page.py` makes the page of all such files.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import msgspec

from measuring import Answer, Results, machine, versions

HERE = Path(__file__).parent
ALONE = ("overhead", "upstream", "first_second", "typing_speed")  # a percent, or the time of the wall, is asked for
TOGETHER = (
    "explaining",
    "check_speed",
    "startup",
    "plugin_speed",
    "production",
)  # multiples, and memory: two at a time
ON_DEVICE = ("overhead",)  # the others ask nothing of a GPU


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    usual = ON_DEVICE if given.device == "cuda" else (*ALONE, *TOGETHER)
    wanted = given.only.split(",") if given.only else usual
    answers, where = _kept(given.out), machine(given.device)
    writing = Lock()

    def ask(name: str) -> None:
        begun = time.perf_counter()
        answers[name] = _asked(name, given.device, quick=given.quick)
        print(f"== {name}: {time.perf_counter() - begun:.0f} s", flush=True)
        with writing:
            results = Results(where, versions(), given.quick, dict(sorted(answers.items())))
            given.out.parent.mkdir(parents=True, exist_ok=True)
            given.out.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")

    for name in wanted:
        if name not in TOGETHER:
            ask(name)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(ask, [name for name in wanted if name in TOGETHER]))


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

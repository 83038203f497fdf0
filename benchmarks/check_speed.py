"""How fast source is checked, in CPU seconds of one core, beside bare `ast.parse` of the same files and TorchFix.

`python benchmarks/check_speed.py [FOLDER]`; without a folder, torch's own source. The memory of the largest process is
printed, too. TorchFix is measured on a sample, as it takes minutes for all. It pins an older LibCST, so it is installed
into a folder of its own, named in TORCHFIX.
"""

import ast
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

SAMPLE = 3_000  # lines for TorchFix


def main(folder: Path) -> None:
    """Measure, and print lines a second and ratios."""
    files = sorted(each for each in folder.rglob("*.py") if "__pycache__" not in each.parts)
    lines = sum(each.read_bytes().count(b"\n") for each in files)
    print(f"{folder}: {len(files):,} files, {lines:,} lines")
    floor = measured(lambda: parse_all(files))
    with tempfile.TemporaryDirectory() as home:
        cold = of_children(lambda: check(folder, Path(home)))
        warm = of_children(lambda: check(folder, Path(home)))
    tell("ast.parse", lines, floor, floor)
    tell("gradsan check, cold, one core", lines, cold, floor)
    tell("gradsan check, warm cache", lines, warm, floor)
    print(f"warm is {cold / warm:.1f}x as fast as cold; the largest process had {largest_child():,.0f} MB")
    compare_torchfix(files, lines / cold)


def parse_all(files: list[Path]) -> None:
    """The floor for a tool in Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in files:
            try:
                ast.parse(each.read_bytes())
            except (SyntaxError, ValueError):
                continue


def check(folder: Path, home: Path) -> None:
    """The real command, in a folder of its own so that its cache is ours."""
    (home / ".git").mkdir(exist_ok=True)  # the root of a project: the cache lies here
    command = [sys.executable, "-m", "gradsan", "check", "--jobs", "1", "--quiet", "--no-gitignore", str(folder)]
    subprocess.run(command, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)  # noqa: S603


def compare_torchfix(files: list[Path], ours: float) -> None:
    """On as many files as make up the sample."""
    home = os.environ.get("TORCHFIX")
    if home is None and importlib.util.find_spec("torchfix") is None:
        print("TorchFix: not installed (pip install --target FOLDER torchfix; TORCHFIX=FOLDER)")
        return
    sample: list[str] = []
    lines = 0
    for each in files[:: max(1, len(files) // 40)]:
        sample.append(str(each))
        lines += each.read_bytes().count(b"\n")
        if lines > SAMPLE:
            break
    environment = os.environ | ({} if home is None else {"PYTHONPATH": home})
    command = [sys.executable, "-m", "torchfix", "--jobs", "1", *sample]

    def run() -> None:
        subprocess.run(  # noqa: S603
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )

    theirs = lines / of_children(run)
    print(
        f"{'TorchFix, ' + str(lines) + ' lines':32} {theirs:>12,.0f} lines/s; gradsan is {ours / theirs:,.0f}x as fast"
    )


def measured(work: Callable[[], None]) -> float:
    """CPU seconds of this process."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def of_children(work: Callable[[], None]) -> float:
    """CPU seconds of the processes that it starts."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime


def largest_child() -> float:
    """The most memory, in MB, that a process has had which was started from here."""
    kilobytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return kilobytes / 1024 if sys.platform == "linux" else kilobytes / 1024**2


def tell(what: str, lines: int, seconds: float, floor: float) -> None:
    """One line of the table."""
    print(f"{what:32} {lines / seconds:>12,.0f} lines/s  {seconds:>7.2f} s  {seconds / floor:>5.2f}x ast.parse")


if __name__ == "__main__":
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    spec = importlib.util.find_spec("torch")
    main(given or Path(str(spec.origin if spec else ".")).parent)

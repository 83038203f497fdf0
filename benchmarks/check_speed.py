"""How fast source is checked, beside bare `ast.parse`, TorchFix and ruff: all of torch's own files, on one core.

CPU seconds of the real commands; then, in one process, every file by itself against its own parse. TorchFix is measured
on a sample, as it takes minutes for all. `python benchmarks/check_speed.py [--quick] [--out FILE]`.
"""

import ast
import importlib.util
import os
import resource
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from gradsan.check.reading import check_content, read_content
from gradsan.check.sifting import Sifting
from measuring import PLAIN, Answer, Figure, Row, Wish, answer, ratios, rounds_of, seconds_of_command, spread

ROUNDS = 3
SAMPLE = 3_000  # lines for TorchFix
QUICK = 12  # files
SLOW = 50  # times its parse: a file that takes longer is named
SHORT = 1_000  # bytes; what is shorter is parsed in less than the clock tells apart
ONE_THREAD = os.environ | {"RAYON_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}


def files_of_torch() -> list[Path]:
    """In their order."""
    spec = importlib.util.find_spec("torch")
    folder = Path(str(spec.origin if spec else ".")).parent
    return sorted(each for each in folder.rglob("*.py") if "__pycache__" not in each.parts)


def lines_of(files: Sequence[Path]) -> int:
    """How many there are."""
    return sum(each.read_bytes().count(b"\n") for each in files)


def parse_all(files: Sequence[Path]) -> float:
    """The floor for a tool in Python."""
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in files:
            with suppress(SyntaxError):  # of a later Python
                ast.parse(each.read_bytes())
    return time.process_time() - begun


def checked(folder: Path, home: Path, *, cold: bool) -> float:
    """The real command, with a cache of its own."""
    cache = home / "cache"
    if cold:
        shutil.rmtree(cache, ignore_errors=True)
    words = [sys.executable, "-m", "gradsan", "check", "--jobs", "1", "--quiet", "--no-gitignore", str(folder)]
    return seconds_of_command(words, cwd=home, env=ONE_THREAD | {"XDG_CACHE_HOME": str(cache)})


def ruff(folder: Path) -> float:
    """Its usual rules, without a cache, on one thread."""
    words = [sys.executable, "-m", "ruff", "check", "--no-cache", "--isolated", "--silent", str(folder)]
    return seconds_of_command(words, env=ONE_THREAD)


def torchfix(files: Sequence[Path]) -> float:
    """On one process."""
    words = [sys.executable, "-m", "torchfix", "--jobs", "1", *map(str, files)]
    return seconds_of_command(words, env=ONE_THREAD)


def copied(files: Sequence[Path], folder: Path) -> Path:
    """The files as a project of their own: what lies in `site-packages` is never checked as a part of a folder."""
    top = Path(os.path.commonpath(files))
    for each in files:
        place = folder / each.relative_to(top)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(each, place)
    return folder


def whole(files: Sequence[Path], home: Path, wish: Wish) -> tuple[list[Row], dict[str, str]]:
    """The commands."""
    folder = copied(files, home / "torch")
    lines = lines_of(files)
    sides: dict[str, Callable[[], float]] = {
        PLAIN: lambda: parse_all(files),
        "gradsan check, cold": lambda: checked(folder, home, cold=True),
    }
    facts = {}
    if importlib.util.find_spec("ruff") is None:
        facts["ruff"] = "not installed"
    else:
        sides["ruff check"] = lambda: ruff(folder)
    found = rounds_of(sides, wish.rounds(ROUNDS))
    warm = rounds_of({PLAIN: sides[PLAIN], "gradsan check, warm": lambda: checked(folder, home, cold=False)}, 2)
    rows = [_row("ast.parse", lines, found[PLAIN], None)]
    for measured in (found, warm):
        against = ratios(measured)
        rows += [_row(name, lines, measured[name], against[name]) for name in against]
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    facts["the largest process"] = f"{largest:,.0f} MB"
    return rows, facts


def beside_torchfix(files: Sequence[Path], home: Path, wish: Wish) -> tuple[list[Row], dict[str, str]]:
    """As many files as make up the sample, for both."""
    if importlib.util.find_spec("torchfix") is None:
        return [], {"TorchFix": "not installed"}
    sample: list[Path] = []
    for each in files[:: max(1, len(files) // 40)]:
        sample.append(each)
        if lines_of(sample) > SAMPLE:
            break
    folder = copied(sample, home / "sample")
    copies = sorted(folder.rglob("*.py"))
    sides = {
        PLAIN: lambda: parse_all(copies),
        "gradsan check, cold": lambda: checked(folder, home, cold=True),
        "TorchFix": lambda: torchfix(copies),
    }
    found = rounds_of(sides, wish.rounds(ROUNDS))
    against, lines = ratios(found), lines_of(copies)
    subject = f"{len(copies)} files of {lines:,} lines"
    return [_row(f"{name}, {subject}", lines, found[name], against[name]) for name in against], {}


def _row(name: str, lines: int, seconds: Sequence[float], against: Figure | None) -> Row:
    figures = {"lines a second": Figure(spread([lines / each for each in seconds]), unit="lines/s")}
    return Row(name, figures if against is None else figures | {"against `ast.parse`": against})


def by_file(files: Sequence[Path]) -> tuple[Row, dict[str, str], list[tuple[float, float]]]:
    """What the command does with each, against its parse; what seems slow is measured again, and the best counts."""
    sifting = Sifting()
    taken: dict[Path, float] = {}
    followed: list[Path] = []
    _seconds(files[0], sifting)  # what is loaded for the first is paid for
    for each in files:
        if each.stat().st_size < SHORT:
            continue
        if sifting.is_worth_reading(str(each), each.read_bytes()):
            followed.append(each)
        ratio = _ratio(each, sifting)
        taken[each] = ratio if ratio < SLOW / 2 else min(ratio, _ratio(each, sifting), _ratio(each, sifting))
    top = Path(os.path.commonpath(files)).parent
    slow = sorted((each for each in taken if taken[each] > SLOW), key=lambda each: -taken[each])
    facts = {
        "files": f"{len(taken):,} of {SHORT:,} bytes and more; {len(followed):,} of them lead to a backward pass",
        f"slower than {SLOW} times its parse": ", ".join(
            f"`{each.relative_to(top).as_posix()}` ({taken[each]:.0f})" for each in slow
        )
        or "none",
    }
    figures = {"all": Figure(spread(list(taken.values())))}
    if followed:
        figures["those that are followed"] = Figure(spread([taken[each] for each in followed if each in taken]))
    figures["the slowest"] = Figure(spread([max(taken.values())]))
    ordered = sorted(taken.values())
    shares = [(float(at), ordered[(len(ordered) - 1) * at // 200]) for at in range(0, 201, 2)]
    return Row("a file, against its parse", figures), facts, [(at / 2, ratio) for at, ratio in shares]


def _ratio(file: Path, sifting: Sifting) -> float:
    return _seconds(file, sifting) / parse_all([file])


def _seconds(file: Path, sifting: Sifting) -> float:
    """What the command does with a file, of which nothing is known yet."""
    for module in [each for name, each in sys.modules.items() if name.startswith("gradsan.")]:
        for each in list(vars(module).values()):
            if hasattr(each, "cache_clear"):
                each.cache_clear()
    content, path = file.read_bytes(), str(file)
    begun = time.process_time()
    (check_content if sifting.is_worth_reading(path, content) else read_content)(path, content)
    return time.process_time() - begun


def question(wish: Wish) -> Answer:
    """Whole trees first."""
    every = files_of_torch()
    files = every[:: len(every) // QUICK] if wish.quick else every[::2]
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        (home / ".git").mkdir()  # the root of a project
        rows, facts = whole(files, home, wish)
        sampled, left_out = beside_torchfix(files, home, wish)
        single = files if wish.quick else every
        row, of_files, shares = by_file(sorted(copied(single, home / "single" / "torch").rglob("*.py")))
    source = f"every second file of torch's own: {len(files):,} files, {lines_of(files):,} lines"
    facts = {"source": source} | facts | left_out | of_files
    return Answer([*rows, *sampled, row], {"files": shares}, facts)


if __name__ == "__main__":
    answer(question)

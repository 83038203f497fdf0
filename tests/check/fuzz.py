"""Mutated sources of the standard library, of torch and of the corpus: whatever they say, the checker answers.

`python -m check.fuzz 3000` (part of `make prove`) reads three thousand; `test_fuzz.py` a few. A mutant is made again by
its number: `python -m check.fuzz 1 4711`.
"""

import ast
import copy
import importlib.util
import multiprocessing
import os
import re
import sys
import sysconfig
import tempfile
import time
import traceback
from functools import cache
from pathlib import Path
from random import Random

from gradsan.check.reading import Checked, check_content
from gradsan.fix.proposing import with_edits
from gradsan.report import Report
from gradsan.show.code_frames import framed
from gradsan.show.concise import concise
from gradsan.show.github import github
from gradsan.show.gitlab import gitlab
from gradsan.show.json import write
from gradsan.show.sarif import sarif
from gradsan.source.file import parses

CORPUS = Path(__file__).parents[1] / "corpus"
LARGEST = 60_000  # bytes of a file that is mutated
SLOWEST = 20.0  # seconds of the processor for one mutant
HOT = (
    *("loss.backward()", "loss.backward(retain_graph=True)", "h = cell(x, h)", "opt.step()", "opt.zero_grad()"),
    *("total += loss", "losses.append(loss)", "x = x + x", "x = [x, x]", "x.extend(x)", "self.h = h.detach()", "del x"),
    *(
        "w = torch.ones(2, requires_grad=True)",
        "loss = (w * w).sum()",
        "torch.autograd.grad(loss, w, create_graph=True)",
    ),
    *(
        "with torch.no_grad(): y = model(x)",
        "for x in loader: loss = model(x).sum()",
        "[*x, *x]",
        "yield loss",
        "raise",
    ),
    *("x = lambda *a, **k: x(*a, **k)", "import torch, os.path as p", "from . import *", "nonlocal x", "global loss"),
    *("return loss", "x: int = (y := 3)", "match x:", "async def f(): await x", "class A(A, metaclass=A): pass"),
    *("x[1:2, ..., ::3] = y", "f'{x!r:{y}}'", "while True: loss.backward()", "def f(x, *, y=f, **z): return f(x)"),
)
NAMES = ("loss", "model", "h", "opt", "torch", "self", "x", "backward", "step", "detach", "append", "data", "__dict__")


@cache
def sources() -> list[Path]:
    """The files that mutants are made of, always in the same order."""
    torch = importlib.util.find_spec("torch")
    standard = Path(sysconfig.get_path("stdlib"))
    library = [each for each in standard.rglob("*.py") if "site-packages" not in each.parts]
    if torch is not None and torch.origin is not None:
        home = Path(torch.origin).parent
        library += [each for part in ("nn", "optim", "distributions") for each in (home / part).rglob("*.py")]
    programs = sorted(CORPUS.rglob("*.py"))
    return programs * (len(library) // len(programs)) + sorted(library)


def mutant(seed: int, files: list[Path]) -> bytes:
    """A file with some of its parts changed, lost, doubled or exchanged."""
    random = Random(seed)
    content = b"x" * LARGEST
    while not 0 < len(content) < LARGEST:
        content = random.choice(files).read_bytes()
    text = content.decode("utf-8", errors="replace")
    changed = _other_tree(text, random) if random.random() < 0.8 else text
    content = changed.encode(errors="replace")
    for _ in range(random.choice((0, 0, 0, 1)) if changed != text else random.choice((1, 2, 5))):
        content = random.choice((_other_lines, _other_lines, _other_names, _other_bytes))(content, random)
    return content


def _other_tree(text: str, random: Random) -> str:
    """Parts of its tree in the place of others, so that it is Python still."""
    if not parses(text):
        return text
    tree = ast.parse(text)
    kinds: tuple[type[ast.AST], ...] = (ast.expr, ast.stmt)
    for _ in range(random.choice((1, 1, 2, 3, 12))):
        kind = random.choice(kinds)
        places = [
            (node, field, at)
            for node in ast.walk(tree)
            for field, value in ast.iter_fields(node)
            if isinstance(value, list)
            for at, each in enumerate(value)
            if isinstance(each, kind)
        ]
        hot = ast.parse(random.choice([each for each in HOT if parses(each)])).body
        donors = [each for each in ast.walk(tree) if isinstance(each, kind)] + [
            each for each in hot if isinstance(each, kind)
        ] * 9
        if places and donors:
            node, field, at = random.choice(places)
            getattr(node, field)[at] = copy.deepcopy(random.choice(donors))
    try:
        return ast.unparse(tree)
    except (RecursionError, ValueError):  # what no text can say
        return text


def _other_lines(content: bytes, random: Random) -> bytes:
    lines = content.split(b"\n")
    at, other = random.randrange(len(lines)), random.randrange(len(lines))
    indent = re.match(rb"[ \t]*", lines[at])
    changes = (
        lambda: lines.pop(at),
        lambda: lines.insert(at, lines[other]),
        lambda: lines.__setitem__(at, lines[other]),
        lambda: lines.insert(at, (indent[0] if indent else b"") + random.choice(HOT).encode()),
        lambda: lines.__setitem__(slice(at, at + 20), []),
        lambda: lines.__setitem__(slice(at, at), lines[other : other + 20]),
    )
    random.choice(changes)()
    return b"\n".join(lines)


def _other_names(content: bytes, random: Random) -> bytes:
    names = sorted({*re.findall(rb"[A-Za-z_]\w*", content)})
    if not names:
        return content
    old, new = random.choice(names), random.choice([*names, *(each.encode() for each in NAMES)])
    return re.sub(rb"\b" + old + rb"\b", new, content, count=random.choice((0, 1, 3)))


def _other_bytes(content: bytes, random: Random) -> bytes:
    at = random.randrange(len(content) + 1)
    new = random.choice(
        (b"", b"\0", b"\xff", b"\x0c", b"\r", b"(" * 99, b"\\\n", b"\xe2\x80\xae", b"#\x1b[2J", b"'" * 3, b"\t")
    )
    return content[:at] + new + content[at + random.choice((0, 1, 9)) :]


def fault(content: bytes, folder: Path) -> str | None:
    """What goes wrong with a program: an error of gradsan's own, or an answer that takes too long."""
    file = folder / "mutant.py"
    file.write_bytes(content)
    began = time.process_time()
    try:
        _answered(file, check_content(str(file), content))
    except Exception:  # noqa: BLE001 # whatever it is, it is a fault
        return traceback.format_exc()
    took = time.process_time() - began
    return f"it took {took:.0f} s" if took > SLOWEST else None


def _answered(file: Path, checked: Checked) -> None:
    """Everything that is done with what was found."""
    if checked.internal:
        raise AssertionError(checked.problem)
    found = tuple(with_edits(each, file.parent) for each in checked.diagnoses[:5])
    report = Report(gradsan="", python="", torch=None, argv=(), diagnoses=found)
    framed(report, width=80, color=False, lines=lambda _: None)
    for render in (concise, github, gitlab, write, sarif):
        render(report)


def _tried(seed: int) -> tuple[int, str | None]:
    with tempfile.TemporaryDirectory() as folder:
        return seed, fault(mutant(seed, sources()), Path(folder))


def main(count: int, first: int = 0) -> int:
    """Read so many mutants, and print those with which something goes wrong."""
    faults = 0
    with multiprocessing.get_context("fork").Pool(os.cpu_count(), maxtasksperchild=200) as pool:
        for seed, wrong in pool.imap_unordered(_tried, range(first, first + count)):
            if wrong is not None:
                faults += 1
                print(f"mutant {seed}: {wrong}", flush=True)
    print(f"{count:,} mutants were read, and {faults} of them show a fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))

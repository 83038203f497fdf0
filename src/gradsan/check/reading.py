"""One file, from its bytes to its diagnoses."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gradsan.knowledge.effects import accumulates, named
from gradsan.report import Diagnosis
from gradsan.source.disk import locate_import
from gradsan.source.file import Source, UnreadableSourceError, parse

_ASKING = "|".join(sorted(named("walks")))
_ACCUMULATING = "|".join(sorted(filter(accumulates, named("walks"))))
_PASS = re.compile(rf"\.(?:{_ACCUMULATING})\(|autograd\.(?:{_ASKING})\(|def training_step\b".encode())
_BARE_PASS = re.compile(rb"\bgrad\(")  # after `from torch.autograd import grad`
_IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import|import[ \t]+([\w.]+))", re.MULTILINE)
_DEEPEST_IMPORT = 3


@dataclass(frozen=True, slots=True)
class Checked:
    """What checking a file came to."""

    path: str
    diagnoses: tuple[Diagnosis, ...] = ()
    problem: str | None = None  # why it could not be read
    line: int | None = None
    drawn_in: tuple[str, ...] = ()  # other files that the answer depends on
    internal: bool = False  # the problem is gradsan's own


def is_worth_reading(path: str, content: bytes) -> bool:
    """Whether there can be anything to find: a pass in the file, or in one that this program draws in."""
    if _has_pass(content):
        return True
    return b"__main__" in content and path.endswith(".py") and _draws_in_passes(path, content, _DEEPEST_IMPORT)


def _has_pass(content: bytes) -> bool:
    if b"backward(" not in content and b"grad(" not in content and b"training_step" not in content:
        return False
    bare = b"autograd" in content and _BARE_PASS.search(content) is not None
    return bare or _PASS.search(content) is not None


def _draws_in_passes(path: str, content: bytes, depth: int) -> bool:
    for found in _IMPORT.finditer(content):
        dots, module, plain = found[1] or b"", found[2] or b"", found[3] or b""
        target = locate_import(path, (module or plain).decode(), len(dots))
        if target is None or target == path:
            continue
        inner = _content(target)
        if _has_pass(inner):
            return True
        if depth > 1 and _draws_in_passes(target, inner, depth - 1):
            return True
    return False


@lru_cache(maxsize=2048)
def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def check_content(path: str, content: bytes) -> Checked:
    """Read a file; whatever it holds, the answer is what was found or why it could not be read."""
    try:
        source = _parsed(path, content)
    except UnreadableSourceError as error:
        return Checked(path, problem=error.reason, line=error.line)
    try:
        return _checked(source)
    except Exception as error:  # noqa: BLE001 # one odd file must not end the run
        return Checked(path, problem=f"internal error ({type(error).__name__}: {error})", internal=True)


def _parsed(path: str, content: bytes) -> Source:
    if path.endswith(".ipynb"):
        from gradsan.source.notebooks import parse_notebook

        return parse_notebook(path, content)
    return parse(path, content)


def _checked(source: Source) -> Checked:
    # Loaded when there is something to follow, and something to tell: most files have neither.
    from gradsan.check.interpreter import deep_recursion
    from gradsan.check.program import Reader

    with deep_recursion():
        shown = Reader(source).read()
    others = tuple(sorted(shown.drawn_in - {source.path}))
    if not shown.stopped and not shown.courses:
        return Checked(source.path, drawn_in=others)
    from gradsan.check.diagnoses import diagnoses_of

    return Checked(source.path, tuple(diagnoses_of(shown, {source.path: source})), drawn_in=others)

"""One file, from its bytes to its diagnoses."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gradsan.knowledge.effects import accumulates, named
from gradsan.report import Diagnosis
from gradsan.source.bounded import content_of, digest_of
from gradsan.source.disk import locate_import, read
from gradsan.source.file import Source, UnreadableSourceError

_ASKING = "|".join(sorted(named("walks")))
_ACCUMULATING = "|".join(sorted(filter(accumulates, named("walks"))))
_PASS = re.compile(rf"\.(?:{_ACCUMULATING})\(|autograd\.(?:{_ASKING})\(|def training_step\b".encode())
_BARE_PASS = re.compile(rb"\bgrad\(")  # after `from torch.autograd import grad`
_IMPORT = re.compile(rb"^[ \t]*+(?:from[ \t]++(\.*+)([\w.]*+)[ \t]++import|import[ \t]++([\w.]++))", re.MULTILINE)
_DEEPEST_IMPORT = 3


@dataclass(frozen=True, slots=True)
class Checked:
    """What checking a file came to."""

    path: str
    diagnoses: tuple[Diagnosis, ...] = ()
    problem: str | None = None  # why it could not be read
    line: int | None = None
    digest: str = ""  # of what the file said
    drawn_in: Mapping[str, str] = field(default_factory=dict)  # other files that the answer depends on: their digests
    internal: bool = False  # the problem is gradsan's own
    complete: bool = True  # False: some path through it was too long to be followed to its end


@dataclass(frozen=True, slots=True)
class Sifting:
    """Whether there can be something to find in a file; it knows what it has found out already."""

    _known: dict[tuple[str, int], bool] = field(default_factory=dict)  # by file, and how deep was looked

    def is_worth_reading(self, path: str, content: bytes) -> bool:
        """Whether there can be anything to find: a pass in the file, or in one that this program draws in."""
        return _has_pass(content) or (
            depends_on_others(path, content) and self._draws_in(path, content, _DEEPEST_IMPORT)
        )

    def _draws_in(self, path: str, content: bytes, depth: int) -> bool:
        targets = dict.fromkeys(_imported(path, content)) if depth else ()
        return any(self._leads_to_pass(each, depth - 1) for each in targets if each != path)

    def _leads_to_pass(self, path: str, depth: int) -> bool:
        if (path, depth) not in self._known:
            self._known[path, depth] = False  # while it is looked into: files may import one another
            content = _content(path)
            self._known[path, depth] = _has_pass(content) or self._draws_in(path, content, depth)
        return self._known[path, depth]


def depends_on_others(path: str, content: bytes) -> bool:
    """Whether others may make a program of it that is worth reading, though there is no pass in it."""
    return b"__main__" in content and path.endswith(".py")


def _has_pass(content: bytes) -> bool:
    if b"backward(" not in content and b"grad(" not in content and b"training_step" not in content:
        return False
    bare = b"autograd" in content and _BARE_PASS.search(content) is not None
    return bare or _PASS.search(content) is not None


def _imported(path: str, content: bytes) -> Iterator[str]:
    """The files beside this one that it imports."""
    for found in _IMPORT.finditer(content):
        module = (found[2] or found[3] or b"").decode(errors="replace")
        target = locate_import(path, module, len(found[1] or b""))
        if target is not None:
            yield target


def _content(path: str) -> bytes:
    try:
        return content_of(path)
    except OSError:
        return b""


def check_content(path: str, content: bytes) -> Checked:
    """Read a file; whatever it holds, the answer is what was found or why it could not be read."""
    try:
        source = read(path, content)
    except UnreadableSourceError as error:
        return Checked(path, problem=error.reason, line=error.line)
    try:
        return _checked(source)
    except MemoryError:  # a budget, which is not ours to mind
        raise
    except Exception as error:  # noqa: BLE001 # one odd file must not end the run
        return Checked(path, problem=f"internal error ({type(error).__name__}: {error})", internal=True)


def _checked(source: Source) -> Checked:
    # Loaded when there is something to follow, and something to say: most files have neither.
    from gradsan.check.followed_paths import Reader
    from gradsan.check.interpreter import deep_recursion

    with deep_recursion():
        reader = Reader(source)
        shown = reader.read()
    drawn_in = {each: reader.sources[each] for each in sorted(shown.drawn_in) if each in reader.sources}
    others = {path: digest_of(each.content) for path, each in drawn_in.items() if each is not None}
    if not shown.stopped and not shown.courses:
        return Checked(source.path, drawn_in=others, complete=shown.complete)
    from gradsan.check.diagnoses import diagnoses_of

    found = tuple(diagnoses_of(shown, {source.path: source}))
    return Checked(source.path, found, drawn_in=others, complete=shown.complete)

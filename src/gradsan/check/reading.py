"""One file, from its bytes to its diagnoses."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gradsan.check.sifting import depends_on_others, digest_at
from gradsan.report import Diagnosis
from gradsan.source.bounded import digest_of
from gradsan.source.disk import read
from gradsan.source.file import Source, UnreadableSourceError, is_python


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
    settled: bool = True  # False: it was not followed, and files beside it may yet give a reason to do so


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


def read_content(path: str, content: bytes) -> Checked:
    """Whether a file can be read at all; nothing in it is followed."""
    settled = not depends_on_others(path, content)
    if path.endswith(".py") and is_python(content):
        return Checked(path, settled=settled)
    try:
        read(path, content)
    except UnreadableSourceError as error:
        return Checked(path, problem=error.reason, line=error.line, settled=settled)
    return Checked(path, settled=settled)


def _checked(source: Source) -> Checked:
    # Loaded when there is something to follow, and something to say: most files have neither.
    from gradsan.check.followed_paths import Reader
    from gradsan.check.interpreter import deep_recursion

    with deep_recursion():
        reader = Reader(source)
        shown = reader.read()
    sources = reader.project.sources
    drawn_in = {each: sources[each] for each in sorted(shown.drawn_in) if each in sources}
    others = {path: digest_of(each.content) for path, each in drawn_in.items() if each is not None}
    others |= {path: digest_at(path) for path in reader.project.sifting.looked_at}
    if not shown.stopped and not shown.courses:
        return Checked(source.path, drawn_in=others, complete=shown.complete)
    from gradsan.check.diagnoses import diagnoses_of

    found = tuple(diagnoses_of(shown, {source.path: source}))
    return Checked(source.path, found, drawn_in=others, complete=shown.complete)

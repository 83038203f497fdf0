"""A whole check: files in, diagnoses out; over all cores, and past whatever cannot be read."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from gradsan.check.cache import Cache
from gradsan.check.reading import Checked, check_content
from gradsan.check.sifting import Sifting, depends_on_others
from gradsan.source.bounded import content_of, digest_of
from gradsan.source.comments import Comment, comments_in

_WORTH_A_PROCESS = 24  # files; for fewer, starting more than one takes longer than it saves


@dataclass(slots=True)
class Outcome:
    """What a check came to."""

    files: int = 0
    read: int = 0  # how many of them were parsed and followed this time
    checked: list[Checked] = field(default_factory=list)
    comments: dict[str, list[Comment]] = field(default_factory=dict)

    @property
    def digests(self) -> dict[str, str]:
        """What every file said that was followed, by its name in reports."""
        from gradsan.facts.culprit import shown

        found = [pair for each in self.checked for pair in ((each.path, each.digest), *each.drawn_in.items())]
        return {shown(path): digest for path, digest in found if digest}


def check_files(
    paths: Sequence[str],
    cache: Cache | None,
    *,
    jobs: int,
    named: Collection[str] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Check all files. `progress` is called with each that is done.

    A file in which there can be nothing to find is not even parsed, unless it is `named` by itself: then the user
    wants to know of that one whether it can be.
    """
    outcome = Outcome(files=len(paths))
    sifting = Sifting()
    waiting: dict[str, int] = {}  # with their sizes
    for path in paths:
        size = _sifted(path, sifting, cache, outcome, is_named=path in named)
        if size is None:
            progress(path)
        else:
            waiting[path] = size
    for checked in _results(waiting, jobs):
        outcome.read += 1
        _keep(checked, outcome, cache)
        progress(checked.path)
    if cache is not None:
        cache.write(paths)
    return outcome


def check_here(path: str, content: bytes) -> Checked:
    """Check what has no file, within the same budget."""
    (checked,) = _within_budget(lambda _: check_content(path, content), (path,), jobs=1)
    return checked


def _within_budget(work: Callable[[str], Checked], paths: Iterable[str], *, jobs: int) -> Iterator[Checked]:
    from gradsan.check.workers import Exceeded, answers

    for path, answer in answers(work, paths, jobs=jobs):
        yield Checked(path, problem=answer.why, internal=True) if isinstance(answer, Exceeded) else answer


def _sifted(path: str, sifting: Sifting, cache: Cache | None, outcome: Outcome, *, is_named: bool) -> int | None:
    """The size of a file that has to be followed; None where a first look was enough."""
    entry = None if cache is None else cache.get(path)
    if entry is not None and not (is_named and entry.checked is None):
        outcome.checked += [] if entry.checked is None else [entry.checked]
        if entry.comments:
            _note_comments(path, outcome)
        return None
    try:
        content = content_of(path)
    except OSError as error:
        outcome.checked.append(Checked(path, problem=error.strerror or "it cannot be read"))
        return None
    if is_named or sifting.is_worth_reading(path, content):
        return len(content)
    comments = _has_comments(content)
    if comments:
        _note_comments(path, outcome)
    if cache is not None and not depends_on_others(path, content):
        cache.put(path, digest_of(content), None, comments=comments)
    return None


def _keep(checked: Checked, outcome: Outcome, cache: Cache | None) -> None:
    comments = _note_comments(checked.path, outcome)
    outcome.checked.append(checked)
    if cache is not None and checked.digest:
        cache.put(checked.path, checked.digest, checked, comments=comments)


def _results(waiting: dict[str, int], jobs: int) -> Iterator[Checked]:
    if not waiting:  # as mostly: then nothing is loaded for it
        return
    import gradsan.check.followed_paths  # noqa: F401 # before the processes part, so that each need not load it

    longest_first = sorted(waiting, key=lambda path: -waiting[path])  # so that no core waits for it at the end
    yield from _within_budget(_check_path, longest_first, jobs=jobs if len(waiting) >= _WORTH_A_PROCESS else 1)


def _check_path(path: str) -> Checked:
    try:
        content = content_of(path)
    except OSError as error:
        return Checked(path, problem=error.strerror or "it cannot be read")
    return replace(check_content(path, content), digest=digest_of(content))


def _has_comments(content: bytes) -> bool:
    return b"gradsan:" in content or b"noqa: GS" in content or b"noqa:GS" in content


def _note_comments(path: str, outcome: Outcome) -> bool:
    """Whether the file has comments that ask for silence, which are noted."""
    from gradsan.facts.culprit import shown

    try:
        content = content_of(path)
    except OSError:
        return False
    name = shown(path)
    found = (
        comments_in(name, content.decode(errors="replace")) if path.endswith(".py") and _has_comments(content) else []
    )
    if found:
        outcome.comments[name] = found
    return bool(found)

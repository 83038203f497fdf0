"""A whole check: files in, diagnoses out; over all cores, and past whatever cannot be read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from gradsan.check.cache import Cache
from gradsan.check.reading import Checked, check_content, read_content
from gradsan.check.sifting import Sifting
from gradsan.source.bounded import content_of, digest_of
from gradsan.source.comments import Comment, comments_of

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
    progress: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Check all files. `progress` is called with each that is done.

    A file in which there can be nothing to find is not followed: it is only asked whether it can be read.
    """
    todo = _Todo(Outcome(files=len(paths)), cache)
    for path in paths:
        if todo.is_known(path):
            progress(path)
    for checked in _results(_read_path, todo.to_read, jobs):
        todo.keep(checked)
        progress(checked.path)
    if todo.to_follow:  # mostly there is nothing: then nothing is loaded for it
        import gradsan.check.followed_paths  # noqa: F401 # before the processes part, so that each need not load it
    for checked in _results(_check_path, todo.to_follow, jobs):
        todo.outcome.read += 1
        todo.keep(checked)
        progress(checked.path)
    if cache is not None:
        cache.write(paths)
    return todo.outcome


def check_here(path: str, content: bytes) -> Checked:
    """Check what has no file, within the same budget."""
    (checked,) = _within_budget(lambda _: check_content(path, content), (path,), jobs=1)
    return checked


def _within_budget(work: Callable[[str], Checked], paths: Iterable[str], *, jobs: int) -> Iterator[Checked]:
    from gradsan.check.workers import Exceeded, answers

    for path, answer in answers(work, paths, jobs=jobs):
        yield Checked(path, problem=answer.why, internal=True) if isinstance(answer, Exceeded) else answer


@dataclass(frozen=True, slots=True)
class _Todo:
    """What is left to do for the files of which not all is known."""

    outcome: Outcome
    cache: Cache | None
    to_follow: dict[str, int] = field(default_factory=dict)  # there may be something to find; with their sizes
    to_read: dict[str, int] = field(default_factory=dict)
    _sifting: Sifting = field(default_factory=Sifting)
    _commented: set[str] = field(default_factory=set)

    def is_known(self, path: str) -> bool:
        """Whether there is nothing left to do for a file: all of it is in the outcome."""
        entry = None if self.cache is None else self.cache.get(path)
        if entry is not None and entry.checked.settled and not entry.comments:
            return self._note(entry.checked)
        try:
            content = content_of(path)
        except OSError as error:
            return self._note(Checked(path, problem=error.strerror or "it cannot be read"))
        self._note_comments(path, content)
        if entry is not None and (entry.checked.settled or not self._sifting.is_worth_reading(path, content)):
            return self._note(entry.checked)
        is_worth_it = entry is not None or self._sifting.is_worth_reading(path, content)
        (self.to_follow if is_worth_it else self.to_read)[path] = len(content)
        return False

    def keep(self, checked: Checked) -> None:
        """What a file came to, also for the next check."""
        self._note(checked)
        if self.cache is not None and checked.digest:
            self.cache.put(checked, comments=checked.path in self._commented)

    def _note(self, checked: Checked) -> bool:
        self.outcome.checked.append(checked)
        return True

    def _note_comments(self, path: str, content: bytes) -> None:
        """Those that ask for silence."""
        from gradsan.facts.culprit import shown

        name = shown(path)
        if found := comments_of(name, content):
            self.outcome.comments[name] = found
            self._commented.add(path)


def _results(work: Callable[[str], Checked], waiting: dict[str, int], jobs: int) -> Iterator[Checked]:
    if jobs == 1 or len(waiting) < _WORTH_A_PROCESS:  # neighbours draw in the same files, which are known then
        yield from _within_budget(work, waiting, jobs=1)
    else:
        longest_first = sorted(waiting, key=lambda path: -waiting[path])  # so that no core waits for it at the end
        yield from _within_budget(work, longest_first, jobs=jobs)


def _check_path(path: str) -> Checked:
    return _done(check_content, path)


def _read_path(path: str) -> Checked:
    return _done(read_content, path)


def _done(work: Callable[[str, bytes], Checked], path: str) -> Checked:
    try:
        content = content_of(path)
    except OSError as error:
        return Checked(path, problem=error.strerror or "it cannot be read")
    return replace(work(path, content), digest=digest_of(content))

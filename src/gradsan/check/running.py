"""A whole check: files in, diagnoses out; over all cores, and past whatever cannot be read."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gradsan.check.cache import Cache
from gradsan.check.reading import Checked, check_content, is_worth_reading
from gradsan.source.comments import Comment, comments_in

_WORTH_A_PROCESS = 24  # files; for fewer, starting others takes longer than it saves


@dataclass(slots=True)
class Outcome:
    """What a check came to."""

    files: int = 0
    read: int = 0  # how many of them were parsed and followed this time
    checked: list[Checked] = field(default_factory=list)
    comments: dict[str, list[Comment]] = field(default_factory=dict)


def check_files(
    paths: Sequence[str], cache: Cache | None, *, jobs: int, progress: Callable[[], None] = lambda: None
) -> Outcome:
    """Check all files. `progress` is told of each that is done."""
    outcome = Outcome(files=len(paths))
    waiting: dict[str, bytes] = {}
    for path in paths:
        content = _first_look(path, cache, outcome)
        if content is None:
            progress()
        else:
            waiting[path] = content
    for checked in _results(waiting, jobs):
        outcome.read += 1
        _keep(checked.path, waiting[checked.path], checked, outcome, cache)
        progress()
    if cache is not None:
        cache.write(paths)
    return outcome


def _first_look(path: str, cache: Cache | None, outcome: Outcome) -> bytes | None:
    """The content of a file that has to be read in full; None where a look was enough."""
    entry = None if cache is None else cache.get(path)
    if entry is not None:
        if entry.checked is not None:
            outcome.checked.append(entry.checked)
        if entry.comments:
            _note_comments(path, outcome)
        return None
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        outcome.checked.append(Checked(path, problem=error.strerror or "it cannot be read"))
        return None
    if is_worth_reading(path, content):
        return content
    _keep(path, content, None, outcome, cache)
    return None


def _keep(path: str, content: bytes, checked: Checked | None, outcome: Outcome, cache: Cache | None) -> None:
    comments = _has_comments(content)
    if checked is not None:
        outcome.checked.append(checked)
    if comments:
        _note_comments(path, outcome)
    if cache is not None:
        cache.put(path, content, checked, comments=comments)


def _results(waiting: dict[str, bytes], jobs: int) -> Iterator[Checked]:
    if jobs == 1 or len(waiting) < _WORTH_A_PROCESS:
        yield from (check_content(path, content) for path, content in waiting.items())
        return
    import multiprocessing

    import gradsan.check.program  # noqa: F401 # before the processes part, so that each need not load it

    method = "fork" if "fork" in multiprocessing.get_all_start_methods() and os.name == "posix" else None
    longest_first = sorted(waiting, key=lambda path: -len(waiting[path]))  # so that no core waits for it at the end
    with multiprocessing.get_context(method).Pool(jobs) as pool:
        yield from pool.imap_unordered(_check_path, longest_first, chunksize=4)


def _check_path(path: str) -> Checked:
    try:
        return check_content(path, Path(path).read_bytes())
    except OSError as error:
        return Checked(path, problem=error.strerror or "it cannot be read")


def _has_comments(content: bytes) -> bool:
    return b"gradsan:" in content or b"noqa: GS" in content or b"noqa:GS" in content


def _note_comments(path: str, outcome: Outcome) -> None:
    from gradsan.facts.culprit import shown

    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    name = shown(path)
    found = comments_in(name, text) if path.endswith(".py") else []
    if found:
        outcome.comments[name] = found

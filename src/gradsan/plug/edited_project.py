"""A project while it is edited: what its files come to, as they are on disk or in the buffers of an editor.

The first run is that of `gradsan check`, and shares its cache. From then on, a file that changes is read again with
those that draw it in, in a process that is kept for it. Whatever that comes to, the process that asks lives on.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gradsan.check.reading import Checked, check_content
from gradsan.check.running import Outcome
from gradsan.check.settings import Settings
from gradsan.check.sifting import Sifting
from gradsan.check.workers import Exceeded
from gradsan.cli.by_source import Proposing
from gradsan.cli.checking import Check, Wishes
from gradsan.cli.output import say
from gradsan.cli.rechecking import Rechecker
from gradsan.report import Diagnosis, Fix
from gradsan.source.comments import Comment, comments_of
from gradsan.source.disk import locate_import, reading_instead, said_by

_MOST = 5_000  # files; an editor may have somebody's home open
Texts = Mapping[str, bytes]  # of buffers, by their paths as seen from the root
_EXAMPLE = b"""\
import torch

model = torch.nn.Linear(2, 2)
state = torch.zeros(2)
for _ in range(9):
    state = model(state)
    state.sum().backward()
"""


@dataclass(frozen=True, slots=True)
class Offer:
    """A fix that can be written now."""

    fix: Fix
    proved: bool  # by the source: `gradsan check --fix` would write it


@dataclass(frozen=True, slots=True)
class OneFile:
    """Asks what a file of a project comes to."""

    root: str
    path: str  # as seen from the root
    texts: Texts

    def answer(self) -> tuple[Checked, list[Comment]]:
        """To be given by a process that is asked again and again."""
        with _as_edited(self.root, self.texts):
            try:
                content = said_by(self.path)
            except OSError:  # it is gone
                return Checked(self.path), []
            comments = comments_of(self.path, content)
            if not Sifting().is_worth_reading(self.path, content):
                return Checked(self.path), comments
            return check_content(self.path, content), comments


@dataclass(frozen=True, slots=True)
class OneFinding:
    """Asks for the fixes of a finding."""

    root: str
    diagnosis: Diagnosis
    texts: Texts

    def answer(self) -> list[Offer]:
        """What the source proves comes first; what it refutes is left out."""
        with _as_edited(self.root, self.texts):
            root = Path(self.root)
            tried = Proposing(root, Rechecker(root, [self.diagnosis]), unsafe=False).each_alone(self.diagnosis)
        offers = [Offer(each.fix, each.changed is not None) for each in tried if each.fix and not each.is_wrong]
        return sorted(offers, key=lambda each: not each.proved)


def answer(question: OneFile | OneFinding) -> "tuple[Checked, list[Comment]] | list[Offer]":
    """The work of the process that is asked."""
    return question.answer()


@dataclass
class EditedProject:
    """All that is known of the files below a folder."""

    root: str
    _settings: Settings = field(default_factory=Settings)
    _checked: dict[str, Checked] = field(default_factory=dict)  # by path, as seen from the root
    _comments: dict[str, list[Comment]] = field(default_factory=dict)

    @property
    def _check(self) -> Check:
        return Check(Wishes(quiet=True), reported=sys.stderr)

    def read_all(self) -> None:
        """Every file as it is on disk; what was not changed since the last time is known."""
        os.chdir(self.root)
        self._settings = self._check.settings()
        files = self._check.files(self._settings)
        if len(files) > _MOST:
            say(sys.stderr, f"only open files are checked: there are {len(files):,} below {self.root}")
            return
        outcome = self._check.outcome(self._settings)
        self._checked = {os.path.normpath(each.path): each for each in outcome.checked}
        self._comments = dict(outcome.comments)
        self.example.answer()  # what reads is a copy of this process, and after it was given up, another one

    @property
    def example(self) -> OneFile:
        """A question whose answer tells nothing, but loads all that reading takes."""
        return OneFile(self.root, "", {"": _EXAMPLE})

    def learn(self, path: str, found: tuple[Checked, list[Comment]] | Exceeded) -> None:
        """What a file has come to; one that takes too long comes to nothing."""
        if isinstance(found, Exceeded):
            found = Checked(path, problem=found.why, internal=True), []
        self._checked[path], self._comments[path] = found

    def drawing_in(self, path: str) -> list[str]:
        """The other files whose findings depend on this one."""
        others = ((name, map(os.path.normpath, each.drawn_in)) for name, each in self._checked.items())
        return [name for name, drawn_in in others if name != path and path in drawn_in]

    def found(self) -> list[Diagnosis]:
        """What is to be reported, as `gradsan check` would."""
        outcome = Outcome(len(self._checked), 0, list(self._checked.values()), self._comments)
        return self._check.found(outcome, self._settings)

    @property
    def docs_url(self) -> str | None:
        """Where the project says that the site is."""
        return self._settings.docs_url


@contextmanager
def _as_edited(root: str, texts: Texts) -> Iterator[None]:
    """Stand in a folder, and read its files as the buffers have them, by whichever name."""
    os.chdir(root)
    locate_import.cache_clear()  # files may have come and gone
    named = {name: text for path, text in texts.items() for name in _names(root, path)}
    with reading_instead(named):
        yield


def _names(root: str, path: str) -> set[str]:
    full = os.path.join(root, path)  # noqa: PTH118 # texts, as readers of source have them
    return {path, full, os.path.realpath(full)}

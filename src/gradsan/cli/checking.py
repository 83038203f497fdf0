"""What `gradsan check` does, from the wishes of its caller to the status of the process."""

import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import shorten
from typing import TextIO

from gradsan.causes import all_causes
from gradsan.causes.unreadable import unreadable
from gradsan.check.baseline import new_ones, read_baseline, write_baseline
from gradsan.check.cache import Cache
from gradsan.check.files import find
from gradsan.check.reading import Checked
from gradsan.check.running import Outcome, check_files, check_here
from gradsan.check.settings import Settings, find_settings, settings_in
from gradsan.check.suppressions import Silenced, silenced
from gradsan.cli.check_output import as_report, as_text, closing, statistics
from gradsan.cli.codes import selection
from gradsan.cli.formats import Format
from gradsan.cli.output import say, write
from gradsan.cli.progress import file_bar
from gradsan.entry.screen import ColorChoice, screen_of
from gradsan.errors import ChangedFileError, GradsanError
from gradsan.facts.location import Location, in_cell, line_of
from gradsan.lifecycle.amounts import count
from gradsan.report import Diagnosis
from gradsan.show.harmless import neutral
from gradsan.source.bounded import MOST, content_of, digest_of, inside
from gradsan.source.comments import Comment, comments_of

_MOST_EDITED = 40  # findings; nobody reads the edits of more at once, and a count is the same in every run
_SECONDS_FOR_EDITS = 30.0  # of the processor, should these be slow to make


class NoBaselineError(GradsanError):
    """A baseline is to be written, and nobody said where."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """The options of the command."""

    paths: tuple[Path, ...] = (Path(),)
    form: Format = "text"
    output: Path | None = None
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    pedantic: bool = False
    statistics: bool = False
    baseline: Path | None = None
    write_baseline: bool = False
    add_ignore: bool = False
    stdin_filename: str | None = None
    fix: bool = False
    diff: bool = False
    exit_zero: bool = False
    config: Path | None = None
    isolated: bool = False
    cached: bool = True
    respect_gitignore: bool = True
    jobs: int = field(default_factory=lambda: os.cpu_count() or 1)
    quiet: bool = False
    verbose: bool = False
    color: ColorChoice = "auto"


@dataclass(frozen=True, slots=True)
class Check:
    """One run of the command."""

    wishes: Wishes
    reported: TextIO  # where remarks go that are no findings

    def run(self) -> int:
        """Check, report, and say by the status whether something was found."""
        settings = self.settings()
        outcome = self.outcome(settings)
        silent = self._silenced(outcome, settings)
        if self.wishes.write_baseline:
            return self._write_baseline(self._baseline(settings), silent.reported)
        reported = self._new(silent, settings)
        if self.wishes.add_ignore:
            return self._add_ignores(reported, outcome)
        if self.wishes.fix or self.wishes.diff:
            return self._fix(reported)
        self._report(_edited(reported[:_MOST_EDITED]) + reported[_MOST_EDITED:], outcome, settings)
        self._remark(silent.unused, outcome, settings)
        return 1 if reported and not self.wishes.exit_zero else 0

    def found(self, outcome: Outcome, settings: Settings) -> list[Diagnosis]:
        """What is reported of what a check came to: all that is wanted, not silenced, and not known before."""
        return self._new(self._silenced(outcome, settings), settings)

    def _silenced(self, outcome: Outcome, settings: Settings) -> Silenced:
        return silenced(self._wanted(outcome, settings), outcome.comments)

    def _new(self, silent: Silenced, settings: Settings) -> list[Diagnosis]:
        baseline = self._baseline(settings)
        return list(silent.reported) if baseline is None else new_ones(silent.reported, read_baseline(baseline))

    def _baseline(self, settings: Settings) -> Path | None:
        return self.wishes.baseline or settings.baseline_file

    def files(self, settings: Settings | None = None) -> list[str]:
        """What is checked."""
        settings = settings or self.settings()
        return list(
            find(
                self.wishes.paths,
                exclude=(*settings.exclude, *self.wishes.exclude),
                respect_gitignore=self.wishes.respect_gitignore and settings.respect_gitignore,
                left_out=self._left_out,
            )
        )

    def settings(self) -> Settings:
        """Those of the project, or those that are asked for."""
        if self.wishes.isolated:
            return Settings()
        if self.wishes.config is not None:
            return settings_in(self.wishes.config)
        return find_settings(Path.cwd(), self._left_out)

    def _write_baseline(self, baseline: Path | None, found: Sequence[Diagnosis]) -> int:
        if baseline is None:
            raise NoBaselineError("there is no baseline to write to", "name one with `--baseline FILE`")
        self._say(f"{count(write_baseline(baseline, found), 'finding')} written to {baseline}")
        return 0

    def _fix(self, found: list[Diagnosis]) -> int:
        """Write what the source proves, or show it as one patch; then report what is left."""
        from gradsan.cli.fixing import Fixing
        from gradsan.cli.wishes import Wishes as FixWishes

        wishes = FixWishes(form="diff" if self.wishes.diff else "quiet", write=self.wishes.fix and not self.wishes.diff)
        changed = Fixing(wishes, None if self.wishes.quiet or self.wishes.diff else self.reported).fix(found)
        if self.wishes.diff:
            return 1 if changed and not self.wishes.exit_zero else 0
        return replace(self, wishes=replace(self.wishes, fix=False)).run()

    def _remark(self, unused: Sequence[Comment], outcome: Outcome, settings: Settings) -> None:
        """What is no finding: files that took too long, and comments that silence nothing."""
        for each in sorted(outcome.checked, key=lambda each: each.path):
            if each.problem is not None and each.internal:
                self._left_out(each.path, each.problem)
        self._say_unfinished(sorted(str(Path(each.path)) for each in outcome.checked if not each.complete))
        if not outcome.files:
            self._say("there are no Python files or notebooks in " + ", ".join(map(str, self.wishes.paths)))
        everything = not (self.wishes.select or settings.select or self.wishes.ignore or settings.ignore)
        known = {name for each in all_causes() for name in (each.code.lower(), each.name)}
        for comment in unused:
            place = f"{in_cell(comment.file, comment.cell)}:{comment.line}"
            where = f"{place}: `{shorten(comment.text, 80, placeholder='…')}`"
            unknown = [code for code in comment.codes if code not in known]
            if unknown:
                self._say(f"{where}: there is no code {', '.join(each.upper() for each in unknown)}")
            elif everything:  # what was not looked for could not be silenced
                self._say(f"{where} silences nothing, and can be removed")

    def _say_unfinished(self, paths: list[str]) -> None:
        """What was not followed to the end may hold more than was found."""
        if self.wishes.verbose:
            for path in paths:
                self._say(neutral(f"{path} was not followed to the end: there may be more in it"))
        elif paths:
            self._say(f"{count(len(paths), 'file')} not followed to the end, and may contain more; -v names them")

    def outcome(self, settings: Settings) -> Outcome:
        """What reading all files comes to."""
        if self.wishes.stdin_filename is not None:
            return self._stdin(self.wishes.stdin_filename)
        paths = self.files(settings)
        cache = Cache.read(Path.cwd()) if self.wishes.cached and settings.cache else None
        with file_bar(None if self.wishes.quiet else self.reported, len(paths)) as advance:
            return check_files(paths, cache, jobs=self.wishes.jobs, progress=advance)

    def _stdin(self, name: str) -> Outcome:
        content = sys.stdin.buffer.read(MOST + 1)
        checked = check_here(name, content)
        comments = comments_of(name, content)
        return Outcome(1, 1, [checked], {name: comments} if comments else {})

    def _wanted(self, outcome: Outcome, settings: Settings) -> list[Diagnosis]:
        unread = [_unread(each) for each in outcome.checked if each.problem is not None and not each.internal]
        if not unread and not any(checked.diagnoses for checked in outcome.checked):
            return []
        from gradsan.check.diagnoses import main_place, merged

        wishes = self.wishes
        select, ignore = wishes.select or settings.select, (*settings.ignore, *wishes.ignore)
        extended = (*settings.extend_select, *wishes.extend_select)
        wanted = selection((*select, *extended) if select else (), ignore)
        pedantic = wishes.pedantic or settings.pedantic
        found = merged(each for checked in outcome.checked for each in checked.diagnoses)
        reported = [each for each in found if wanted(each.code) and (pedantic or each.confidence != "possible")]
        # What could not be read is reported whatever was selected: nothing was looked for in it.
        reported += [each for each in unread if selection((), ignore)(each.code)]
        kept = [each for each in reported if not _ignored(each.code, settings.ignored_in(main_place(each).file))]
        return sorted(kept, key=lambda each: main_place(each).file)

    def _report(self, reported: list[Diagnosis], outcome: Outcome, settings: Settings) -> None:
        wishes = self.wishes
        if wishes.statistics and wishes.form in ("text", "concise"):
            write(statistics(reported), wishes.output)
        elif wishes.form == "text":
            screen = screen_of(sys.stdout if wishes.output is None else None, wishes.color)
            last = "" if wishes.quiet else closing(reported, outcome.files)
            write(as_text(reported, screen) + last, wishes.output)
        else:
            write(as_report(reported, wishes.form, settings.docs_url), wishes.output)

    def _add_ignores(self, reported: list[Diagnosis], outcome: Outcome) -> int:
        """Write the comments, into files of the folders that were named alone, which say what was checked."""
        from gradsan.check.diagnoses import main_place
        from gradsan.source.comments import Line, commented
        from gradsan.source.writing import write as write_files

        wanted: dict[str, dict[Line, set[str]]] = defaultdict(lambda: defaultdict(set))
        for each in reported:
            place = main_place(each)
            if self._is_ours(place.file):
                wanted[place.file][place.cell, place.line].add(each.code)
        before = {Path(file): content_of(file) for file in wanted}
        for file in wanted:
            if digest_of(before[Path(file)]) != outcome.digests.get(file):
                raise ChangedFileError(f"{file!r} was changed meanwhile", "nothing was written; try again")
        after = {file: commented(file, before[Path(file)], lines) for file, lines in wanted.items()}
        paths = {Path(file): (before[Path(file)], content) for file, content in after.items()}
        changed = {path: texts for path, texts in paths.items() if texts[0] != texts[1]}
        write_files(changed)
        left = silenced(reported, {file: comments_of(file, content) for file, content in after.items()}).reported
        self._say(f"{count(len(reported) - len(left), 'finding')} silenced in {count(len(changed), 'file')}")
        for each in left:
            self._say(neutral(f"{line_of(main_place(each))} takes no comment"))
        return 0

    def _is_ours(self, file: str) -> bool:
        """Whether it lies where the user has asked for a check, links followed."""
        asked = [Path.cwd(), *(path.resolve() for path in self.wishes.paths)]
        is_ours = any(inside(each, str(Path(file).absolute())) for each in asked)
        if not is_ours:
            self._left_out(file, "it leads out of what is checked")
        return is_ours

    def _say(self, sentence: str) -> None:
        if not self.wishes.quiet:
            say(self.reported, sentence)

    def _left_out(self, path: str, why: str) -> None:
        say(self.reported, neutral(f"{path} is left out: {why}"))


def _edited(reported: list[Diagnosis]) -> list[Diagnosis]:
    """Each with its edits, as far as they can be made in time: what is found is reported without them too."""
    if not reported:
        return reported
    from gradsan.check.workers import Exceeded, answers

    edited = list(reported)
    left = _SECONDS_FOR_EDITS
    for number, answer in answers(lambda at: _timed(_with_edits, reported[at]), range(len(reported)), jobs=1):
        edited[number], seconds = (reported[number], left) if isinstance(answer, Exceeded) else answer
        left -= seconds
        if left <= 0:
            break
    return edited


def _timed(make: Callable[[Diagnosis], Diagnosis], diagnosis: Diagnosis) -> tuple[Diagnosis, float]:
    """What is made of it, and how long that takes the processor."""
    began = time.process_time()
    return make(diagnosis), time.process_time() - began


def _with_edits(diagnosis: Diagnosis) -> Diagnosis:
    """With the edits that fix it, where it lies in plain files; what is found is reported, whatever becomes of them."""
    from gradsan.show.places import main_place

    place = main_place(diagnosis)
    if not Path(place.file).is_file():
        return diagnosis
    from gradsan.fix.proposing import with_edits

    try:
        return with_edits(diagnosis, Path.cwd(), anywhere=True)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 # an edit is an offer
        return diagnosis


def _ignored(code: str, patterns: tuple[str, ...]) -> bool:
    return bool(patterns) and not selection((), patterns)(code)


def _unread(checked: Checked) -> Diagnosis:
    """The finding for a file that could not be read."""
    line = checked.line or 1
    try:
        lines = content_of(checked.path).decode(errors="replace").splitlines()
    except OSError:
        lines = []
    source = lines[line - 1].strip() if line <= len(lines) else None
    file = str(Path(checked.path))  # links are not followed: they may be what is wrong
    return unreadable(Location(file, line, source=source), checked.problem or "it cannot be read")

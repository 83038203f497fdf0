"""What `gradsan check` does, from the wishes of its caller to the status of the process."""

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from gradsan.check.baseline import new_ones, read_baseline, write_baseline
from gradsan.check.cache import Cache
from gradsan.check.files import find
from gradsan.check.reading import Checked
from gradsan.check.running import Outcome, check_files, check_here
from gradsan.check.settings import Settings, find_settings
from gradsan.check.suppressions import silenced
from gradsan.cli.codes import selection
from gradsan.cli.output import say, write
from gradsan.entry.screen import ColorChoice, screen_of
from gradsan.errors import ChangedFileError, GradsanError
from gradsan.report import Diagnosis, Report
from gradsan.show.harmless import neutral
from gradsan.source.bounded import MOST, content_of, digest_of, inside
from gradsan.source.comments import comments_in

_MOST_EDITED = 40  # findings; nobody reads the edits of more at once
_SECONDS_FOR_EDITS = 5.0  # of the processor
_LARGE = 200  # files; from there on a reader wants to see that something happens


class NoBaselineError(GradsanError):
    """A baseline is to be written, and nobody said where."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """The options of the command."""

    paths: tuple[Path, ...]
    form: str
    output: Path | None
    select: tuple[str, ...]
    extend_select: tuple[str, ...]
    ignore: tuple[str, ...]
    exclude: tuple[str, ...]
    pedantic: bool
    statistics: bool
    baseline: Path | None
    write_baseline: bool
    add_ignore: bool
    stdin_filename: str | None
    cached: bool
    respect_gitignore: bool
    jobs: int
    quiet: bool
    color: ColorChoice


@dataclass(frozen=True, slots=True)
class Check:
    """One run of the command."""

    wishes: Wishes
    reported: TextIO  # where remarks go that are no findings

    def run(self) -> int:
        """Check, report, and say by the status whether something was found."""
        settings = find_settings(Path.cwd(), self._left_out)
        outcome = self._outcome(settings)
        found = self._wanted(outcome, settings)
        quieted = silenced(found, outcome.comments)
        baseline = self.wishes.baseline or settings.baseline_file
        if self.wishes.write_baseline:
            if baseline is None:
                raise NoBaselineError("there is no baseline to write to", "name one with `--baseline FILE`")
            self._say(f"{write_baseline(baseline, quieted.reported)} put into {baseline}")
            return 0
        reported = list(quieted.reported) if baseline is None else new_ones(quieted.reported, read_baseline(baseline))
        if self.wishes.add_ignore:
            return self._add_ignores(reported, outcome)
        self._report(_edited(reported[:_MOST_EDITED]) + reported[_MOST_EDITED:], outcome)
        for unread in sorted(
            (each for each in outcome.checked if each.problem is not None), key=lambda each: each.path
        ):
            self._say_unread(unread)
        everything = not (self.wishes.select or settings.select or self.wishes.ignore or settings.ignore)
        for comment in quieted.unused if everything else ():  # what was not looked for could not be silenced
            self._say(f"{comment.file}:{comment.line}: `{comment.text}` silences nothing that the source shows")
        return 1 if reported else 0

    def _outcome(self, settings: Settings) -> Outcome:
        if self.wishes.stdin_filename is not None:
            return self._stdin(self.wishes.stdin_filename)
        paths = list(
            find(
                self.wishes.paths,
                exclude=(*settings.exclude, *self.wishes.exclude),
                respect_gitignore=self.wishes.respect_gitignore and settings.respect_gitignore,
                left_out=self._left_out,
            )
        )
        cache = Cache.read(Path.cwd()) if self.wishes.cached and settings.cache else None
        with self._progress(len(paths)) as advance:
            return check_files(paths, cache, jobs=self.wishes.jobs, progress=advance)

    def _stdin(self, name: str) -> Outcome:
        content = sys.stdin.buffer.read(MOST + 1)
        checked = check_here(name, content)
        comments = comments_in(name, content.decode("utf-8", errors="replace"))
        return Outcome(1, 1, [checked], {name: comments} if comments else {})

    def _wanted(self, outcome: Outcome, settings: Settings) -> list[Diagnosis]:
        if not any(checked.diagnoses for checked in outcome.checked):
            return []
        from gradsan.check.diagnoses import main_place, merged

        wishes = self.wishes
        select = wishes.select or settings.select
        extended = (*settings.extend_select, *wishes.extend_select)
        wanted = selection((*select, *extended) if select else (), (*settings.ignore, *wishes.ignore))
        pedantic = wishes.pedantic or settings.pedantic
        found = merged(each for checked in outcome.checked for each in checked.diagnoses)
        return [
            each
            for each in found
            if wanted(each.code)
            and (pedantic or each.confidence != "possible")
            and not _ignored(each.code, settings.ignored_in(main_place(each).file))
        ]

    def _report(self, reported: list[Diagnosis], outcome: Outcome) -> None:
        wishes = self.wishes
        if wishes.statistics and wishes.form in ("text", "concise"):
            write(_statistics(reported), wishes.output)
            return
        if wishes.form == "text":
            self._report_text(reported, outcome)
            return
        import platform

        from gradsan.cli.version import version

        report = Report(
            gradsan=version(),
            python=platform.python_version(),
            torch=None,
            argv=tuple(sys.argv[1:]),
            diagnoses=tuple(reported),
        )
        write(_renderer(wishes.form)(report), wishes.output)

    def _report_text(self, reported: list[Diagnosis], outcome: Outcome) -> None:
        wishes = self.wishes
        text = ""
        if reported:
            from gradsan.show.code_frames import framed

            screen = screen_of(sys.stdout if wishes.output is None else None, wishes.color)
            report = Report(gradsan="", python="", torch=None, argv=(), diagnoses=tuple(reported))
            text = framed(report, width=screen.width, color=screen.color, lines=_line_of)
        if not wishes.quiet:
            text += _closing(reported, outcome.files)
        write(text, wishes.output)

    def _add_ignores(self, reported: list[Diagnosis], outcome: Outcome) -> int:
        """Write the comments, into files of the folders that were named alone, which say what was checked."""
        from gradsan.check.diagnoses import main_place
        from gradsan.source.comments import commented
        from gradsan.source.writing import write as write_files

        wanted: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for each in reported:
            place = main_place(each)
            if place.cell is None and self._is_ours(place.file):
                wanted[place.file][place.line].add(each.code)
        before = {Path(file): content_of(file) for file in wanted}
        for file in wanted:
            if digest_of(before[Path(file)]) != outcome.digests.get(file):
                raise ChangedFileError(f"{file!r} was changed meanwhile", "nothing was written; try again")
        after = {Path(file): commented(before[Path(file)], lines) for file, lines in wanted.items()}
        write_files({file: (before[file], content) for file, content in after.items() if content != before[file]})
        self._say(f"{len(reported)} silenced in {len(wanted)} files")
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

    def _say_unread(self, checked: Checked) -> None:
        line = f":{checked.line}" if checked.line else ""
        self._left_out(f"{checked.path}{line}", checked.problem or "")

    def _left_out(self, path: str, why: str) -> None:
        say(self.reported, neutral(f"{path} is left out: {why}"))

    @contextmanager
    def _progress(self, files: int) -> Iterator[Callable[[], None]]:
        """A bar on a terminal, where there is enough to do for one."""
        if files < _LARGE or self.wishes.quiet or not self.reported.isatty():
            yield lambda: None
            return
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(file=self.reported), transient=True) as bar:
            task = bar.add_task("checking", total=files)
            yield lambda: bar.advance(task)


def _edited(reported: list[Diagnosis]) -> list[Diagnosis]:
    """Each with its edits, as far as they can be made in time: what is found is told without them too."""
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
    """With the edits that fix it, where it lies in plain files; what is found is told, whatever becomes of them."""
    from gradsan.show.places import main_place

    place = main_place(diagnosis)
    if place.cell is not None or not Path(place.file).is_file():
        return diagnosis
    from gradsan.fix.proposing import with_edits

    try:
        return with_edits(diagnosis, Path.cwd())
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 # an edit is an offer
        return diagnosis


def _ignored(code: str, patterns: tuple[str, ...]) -> bool:
    return bool(patterns) and not selection((), patterns)(code)


def _renderer(form: str) -> Callable[[Report], str]:
    match form:
        case "json":
            from gradsan.show.json import write as render
        case "sarif":
            from gradsan.show.sarif import sarif as render
        case "github":
            from gradsan.show.github import github as render
        case "gitlab":
            from gradsan.show.gitlab import gitlab as render
        case _:
            from gradsan.show.concise import concise as render
    return render


def _statistics(reported: list[Diagnosis]) -> str:
    counts = Counter((each.code, each.name) for each in reported)
    return "".join(f"{count:>6}  {code} {name}\n" for (code, name), count in sorted(counts.items()))


def _closing(reported: list[Diagnosis], files: int) -> str:
    looked = f"{files:,} file{'' if files == 1 else 's'}"
    if not reported:
        return f"gradsan: nothing found in {looked}\n"
    errors = sum(each.severity == "error" for each in reported)
    warnings = len(reported) - errors
    counts = [f"{n} {word}{'' if n == 1 else 's'}" for n, word in ((errors, "error"), (warnings, "warning")) if n]
    codes = ", ".join(sorted({each.code for each in reported}))
    return f"gradsan: {' and '.join(counts)} in {looked} ({codes})\n"


def _line_of(place: "Location") -> str | None:
    from gradsan.source.disk import load

    source = load(place.file) if place.cell is None else None
    if source is None or place.line > len(source.lines):
        return None
    return source.lines[place.line - 1].rstrip("\r\n")


TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradsan.facts.location import Location

"""What `gradsan run` puts around a program: the sanitizer, and the report when all is over."""

import atexit
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import CodeType, TracebackType
from typing import Literal, Self, get_args

from gradsan.cli.formats import Format, docs_url_here, rendered
from gradsan.cli.output import UnwritableOutputError, write
from gradsan.entry.at_exit import print_what_ranks_found, report_in_children
from gradsan.entry.installing import take_over, uninstall
from gradsan.entry.ranks import this_rank
from gradsan.entry.screen import Screen, Style, screen_of
from gradsan.entry.session import Session
from gradsan.entry.siblings import OUTPUT
from gradsan.entry.speaking import speak
from gradsan.explanation.findings import Conclusion
from gradsan.explanation.own_report import report_of
from gradsan.observe.guarding import attempt, say, shown
from gradsan.report import Details, Diagnosis

FailOn = Literal["never", "warning", "error"]
FAIL_ON: tuple[FailOn, ...] = get_args(FailOn)


class Reporting:
    """How a run is reported. In text, errors are explained in their tracebacks; this adds what those do not show."""

    def __init__(
        self,
        argv: tuple[str, ...],
        *,
        form: Format,
        output: Path | None,
        quiet: bool,
        style: Style,
        fail_on: FailOn,
        details: bool = False,
    ) -> None:
        self._argv = argv
        self._form = form
        self._output = None if output is None else _writable(output)
        self._docs_url = docs_url_here() if form == "sarif" else None  # now: the program may go elsewhere
        self._quiet = quiet
        self.style = style
        self._fail_on = fail_on
        self.is_detailed = details or form == "html"

    @property
    def is_brief(self) -> bool:
        """Whether nothing is written where nothing was seen."""
        return self._output is None and self._form == "text"

    def report(self, session: Session, *, has_failed: bool) -> int:
        """Write down what was found; the answer is 1 where that is to fail a run that went well.

        `has_failed`: a traceback stands above.
        """
        from gradsan.causes.silence import folded

        errors, concluded = list(session.uncaught), session.conclude()
        found = folded(errors, concluded.silent) if errors else list(concluded.silent)
        session.ranks.leave(found, concluded.summary)
        known = {each.fingerprint for each in found}
        caught = [each for each in session.explainer.diagnoses if each.fingerprint not in known]
        if not self.is_brief:
            shown = [*found, *(caught if self.style.verbose else ())]
            self._put(self._rendered(shown, concluded, self._details(shown, session, concluded)))
        elif not errors:
            unsaid = tuple(session.ranks.unsaid(concluded.silent))
            if unsaid or (not concluded.silent and session.ranks.says_that_all_is_well()):
                self._put(self._text(replace(concluded, silent=unsaid), caught, has_failed=has_failed))
        return int(_is_grave(found, self._fail_on))

    def _text(self, concluded: Conclusion, caught: Sequence[Diagnosis], *, has_failed: bool) -> str:
        text = "".join(map(self._explanation, caught)) if self.style.verbose else ""
        if concluded.silent or not (has_failed or caught or self._quiet):
            text += self._closing(concluded)
        if caught and not self._quiet:
            codes = ", ".join(dict.fromkeys(each.code for each in caught))
            more = "" if self.style.verbose else "; `gradsan run -v` explains them"
            text += f"gradsan: errors that the program caught: {codes}{more}\n"
        return text

    def _put(self, text: str) -> None:
        if self._output is not None:
            write(text, self._output)
        else:
            speak(text)

    def _details(self, found: Sequence[Diagnosis], session: Session, concluded: Conclusion) -> Details | None:
        """What a page shows besides; a report does without."""
        if not self.is_detailed:
            return None
        from gradsan.explanation.detailing import details

        return attempt(
            lambda: details(found, session.explainer.graphs, concluded),
            lambda error: say(f"details are not reported: {shown(error)}"),
        )

    def _rendered(self, found: Iterable[Diagnosis], concluded: Conclusion, details: Details | None) -> str:
        report = report_of(
            found, argv=self._argv, torch=_torch_version(), rank=_rank(), summary=concluded.summary, details=details
        )
        if self._form != "text":
            return rendered(report, self._form, self._docs_url)
        from gradsan.show.text import terminal

        screen = self._screen()
        return terminal(report, width=screen.width, color=screen.color, verbose=self.style.verbose)

    def _closing(self, concluded: Conclusion) -> str:
        from gradsan.show.text import closing

        if concluded.summary is None or not (concluded.summary.passes or concluded.silent):
            return ""  # a program without a single pass is none of our business
        screen = self._screen()
        return closing(
            concluded.summary, concluded.silent, width=screen.width, color=screen.color, verbose=self.style.verbose
        )

    def _explanation(self, diagnosis: Diagnosis) -> str:
        from gradsan.show.text import explanation

        screen = self._screen()
        shown = explanation(diagnosis, width=screen.width, color=screen.color, verbose=True)
        return f"gradsan: the program caught this error\n{shown}\n"

    def _screen(self) -> Screen:
        return screen_of(sys.stderr if self._output is None else None, self.style.color)


def _is_grave(found: Iterable[Diagnosis], fail_on: FailOn) -> bool:
    grave = {"never": (), "warning": ("warning", "error"), "error": ("error",)}[fail_on]
    return any(each.severity in grave for each in found)


class Watching:
    """Entered before the program's first line; the report is written when the process ends, after its last thread."""

    def __init__(
        self,
        reporting: Reporting,
        *,
        include: Iterable[str],
        exclude: Iterable[str],
        wants: Callable[[str], bool],
        quiet: bool,
    ) -> None:
        self._reporting = reporting
        self._process = os.getpid()
        report: Callable[[str], None] = (lambda _: None) if quiet else say
        self._session = Session(
            include=include,
            exclude=exclude,
            wants=wants,
            report=report,
            own_hooks=False,
            keeps_ledger=True,
            style=reporting.style,
            details=reporting.is_detailed,
            arriving=lambda: report_in_children(self._session),
        )
        self._went_well = self._interrupted = self._has_failed = False

    def __enter__(self) -> Self:
        os.environ.setdefault("GRADSAN", "ranks")  # processes that the program starts again are watched too
        # The first to come is the last to go: what the program registers runs before.
        atexit.register(attempt, self._end, lambda error: say(f"the report is not written: {shown(error)}"))
        take_over(self._session)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._went_well = error is None or (isinstance(error, SystemExit) and not error.code)
        self._interrupted = isinstance(error, KeyboardInterrupt)
        self._has_failed = error is not None and not isinstance(error, SystemExit)
        self._session.ended_by(error, is_printed=sys.excepthook is sys.__excepthook__, ends_process=True)

    def marked_main(self, code: CodeType) -> CodeType:
        """What is to be run as the main file, so that its lines are recorded."""
        return self._session.marked_main(code)

    def _end(self) -> None:
        """The program's status stands, whatever becomes of the report."""
        try:
            self._conclude()
        finally:
            if self._interrupted:
                _stay_interrupted()

    def _conclude(self) -> None:
        is_bare = not self._session.has_seen_passes
        uninstall()
        if os.getpid() != self._process:  # a fork of the program ends here too; the report is its parent's
            return
        self._session.ranks.confirm()
        print_what_ranks_found()
        if is_bare and self._reporting.is_brief:  # there is nothing to say, so nothing is loaded to say it
            return
        if self._reporting.report(self._session, has_failed=self._has_failed) and self._went_well:
            _leave_with(1)


def _stay_interrupted() -> None:
    """Let the process still die of its interrupt: CPython forgets that it is to, when any text is executed later on.

    Data classes execute text when they are created. What CPython takes note of is an interrupt that leaves such a text.
    """
    with suppress(KeyboardInterrupt):
        exec("raise KeyboardInterrupt")  # noqa: S102 # our own text


def _leave_with(status: int) -> None:
    """End the process with a status of our own, which nothing but this can do so late: all handlers have run."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(status)


def collect_in(folder: Path) -> None:
    """Have this process, and all that the program starts, leave their reports in a folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableOutputError(
            f"cannot write to {str(folder)!r} ({error.strerror})", "give another folder with --output"
        ) from None
    os.environ[OUTPUT] = str(_writable(folder / "rank-0.json").parent)


def _writable(output: Path) -> Path:
    """Where the report goes, whatever the program makes its working directory; refused while nothing has run yet."""
    path = output.absolute()
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        reason = "No such file or directory" if not path.parent.exists() else "it is not writable"
        raise UnwritableOutputError(f"cannot write {str(output)!r} ({reason})", "give another file with --output")
    return path


def _torch_version() -> str | None:
    found = getattr(sys.modules.get("torch"), "__version__", None)
    return None if found is None else str(found)


def _rank() -> int | None:
    """Which of the processes that train together this is."""
    rank = this_rank()
    return None if rank is None else rank.number

"""What `pytest --gradsan` does: one sanitizer in each process of the run, and one ledger for each test.

A ledger is kept from a test's setup to the end of its call, and is closed before the next test begins: what is found
was done by that test. Everything is done in the process that runs the test, be it a worker of xdist or a fork of
pytest-forked; what is to be shown travels in the test's own report.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import pytest
from _pytest._code.code import ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback

from gradsan.check.settings import Settings, find_settings
from gradsan.cli.codes import selection
from gradsan.entry.installing import Watch, explain, install, uninstall, watch
from gradsan.errors import GradsanError
from gradsan.plug.pytest_plugin import FAIL_ON
from gradsan.report import Diagnosis
from gradsan.show.places import main_place

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_FIXTURE = "gradsan_watch"
_COLUMNS = 80  # of an explanation in a report
_GRAVE = {"warning": ("warning", "error"), "error": ("error",), "never": ()}


class SilentProblemError(AssertionError):
    """A test did nothing that raises, and something that is wrong."""

    def __init__(self, found: Sequence[Diagnosis]) -> None:
        super().__init__("\n\n".join(map(_explained, found)))
        self.found = found


class BadLevelError(GradsanError):
    """A level of problems that does not exist."""


@dataclass(frozen=True, slots=True)
class _Marked:
    """What the marks of a test ask for."""

    wants: Callable[[str], bool]  # a code
    grave: tuple[str, ...]  # the severities that fail it


class Watching:
    """One in a process of tests. Its methods are pytest's hooks."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        fail_on = config.getoption("gradsan_fail_on") or config.getini("gradsan_fail_on")
        self._fail_on = _level(fail_on)
        self._settings = settings
        ignored = (*settings.ignore, *config.getini("gradsan_ignore"), *config.getoption("gradsan_ignore"))
        self._wants = selection((*settings.select, *settings.extend_select) if settings.select else (), ignored)
        self._open: AbstractContextManager[Watch] | None = None
        self._watched: Watch | None = None
        self._reported: list[tuple[str, list[str]]] = []  # by test: what was found and failed nothing

    @classmethod
    def begun(cls, config: pytest.Config) -> Self:
        """With the settings of the project, and gradsan switched on."""
        watching = cls(config, find_settings(config.rootpath, lambda _file, _why: None))
        install()
        config.add_cleanup(uninstall)
        return watching

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None]:
        """Begin to watch one test, with its fixtures."""
        if _FIXTURE not in getattr(item, "fixturenames", ()):
            self._open = watch(quiet=True)
            self._watched = self._open.__enter__()
        yield from self._explaining()
        item.stash[_MARKED] = self._marked(item)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        """Let it run, and fail it where it did what never raises."""
        __tracebackhide__ = True
        yield from self._explaining()
        self._close()
        found = self._found(item)
        grave = [each for each in found if each.severity in item.stash[_MARKED].grave]
        item.stash[_NOTED] = [_headline(each) for each in found if each not in grave]
        if grave:
            raise SilentProblemError(grave)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: "pytest.CallInfo[None]"
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put the code into the line of the short summary."""
        report = yield
        if call.when == "call":  # plain texts: reports are sent from process to process
            vars(report)["gradsan_noted"] = item.stash.get(_NOTED, [])
        error = None if call.excinfo is None else call.excinfo.value
        if error is None or not report.failed:
            return report
        if isinstance(error, SilentProblemError):
            vars(report)["gradsan_headline"] = _headline(error.found[0])
            report.longrepr = _shown(str(error), report)
        elif (explained := explain(error)) is not None:
            vars(report)["gradsan_headline"] = _headline(explained)
            crash = getattr(report.longrepr, "reprcrash", None)
            if crash is not None:
                crash.message = _headline(explained)
        return report

    def pytest_runtest_teardown(self) -> None:
        """The setup may have failed, or skipped the test."""
        self._close()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Where reports come together, note what failed nothing."""
        noted: list[str] = getattr(report, "gradsan_noted", [])
        if noted:
            self._reported.append((report.nodeid, noted))
        if isinstance(report.longrepr, str) and hasattr(report, "gradsan_headline"):  # pytest-forked sends text alone
            report.longrepr = _shown(report.longrepr, report)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:  # noqa: ANN401 # pytest does not export its class
        """Below all else, what was found and failed no test."""
        if not self._reported:
            return
        terminalreporter.section("gradsan: found, and failed no test")
        for test, found in self._reported:
            for each in found:
                terminalreporter.line(f"{test}: {each}")

    def _explaining(self) -> Generator[None]:
        """What is raised meanwhile is explained, and there is nothing else to say of the test."""
        try:
            yield
        except BaseException as error:
            opened, self._open = self._open, None
            if opened is not None and opened.__exit__(type(error), error, error.__traceback__):
                return
            raise

    def _close(self) -> None:
        opened, self._open = self._open, None
        if opened is not None:
            opened.__exit__(None, None, None)

    def _found(self, item: pytest.Item) -> list[Diagnosis]:
        """The silent problems of a test that nobody has ignored; an error that it caught was meant."""
        watched, self._watched = self._watched, None
        silent = [] if watched is None else [each for each in watched.diagnoses if each.error is None]
        if not silent:
            return []
        wants = item.stash[_MARKED].wants
        return [each for each in silent if self._wants(each.code) and wants(each.code) and self._is_wanted(each)]

    def _is_wanted(self, found: Diagnosis) -> bool:
        """Whether the project does not ignore it in its file."""
        ignored = self._settings.ignored_in(main_place(found).file)
        return not ignored or selection((), ignored)(found.code)

    def _marked(self, item: pytest.Item) -> _Marked:
        ignored: list[str] = []
        fail_on = self._fail_on
        for mark in reversed(list(item.iter_markers("gradsan"))):  # the nearest decides
            if mark.args or not mark.kwargs.keys() <= {"ignore", "fail_on"}:
                pytest.fail('@pytest.mark.gradsan takes ignore=["GS302"] and fail_on="never" alone', pytrace=False)
            ignore = mark.kwargs.get("ignore", ())
            ignored += [ignore] if isinstance(ignore, str) else ignore
            fail_on = mark.kwargs.get("fail_on") or fail_on
        try:
            return _Marked(selection((), ignored), _GRAVE[_level(fail_on)])
        except GradsanError as error:
            pytest.fail(f"@pytest.mark.gradsan: {error}", pytrace=False)


_MARKED = pytest.StashKey[_Marked]()
_NOTED = pytest.StashKey[list[str]]()


def _level(given: str) -> str:
    if given not in FAIL_ON:
        raise BadLevelError(f"problems of the level {given!r} do not exist", f"take one of {', '.join(FAIL_ON)}")
    return given


def _shown(text: str, report: pytest.TestReport) -> ReprExceptionInfo:
    """A text in place of a traceback, with the line for the short summary."""
    file, line, _ = report.location
    crash = ReprFileLocation(file, (line or 0) + 1, report.gradsan_headline)
    return ReprExceptionInfo(ReprTraceback([ReprEntryNative([f"{text}\n"])], None, "native"), crash)


def _headline(found: Diagnosis) -> str:
    return f"{found.code} {found.name}: {found.message}"


def _explained(found: Diagnosis) -> str:
    from gradsan.show.text import explanation

    return explanation(found, width=_COLUMNS, color=False).rstrip()

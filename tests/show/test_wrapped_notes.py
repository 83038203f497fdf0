"""The note on an exception, where others print it: their boxes and margins leave its lines as they are."""

import io
import logging
import re
import sys
from collections.abc import Callable

import pytest
from rich.console import Console
from rich.traceback import Traceback

from gradsan.explanation.explainer import Explainer
from show.scenes import CARRIED, FOREIGN, SHARED, WRAPPED

SCENES = {"carried": CARRIED, "shared": SHARED, "wrapped": WRAPPED, "foreign": FOREIGN}


def by_rich(error: BaseException) -> str:
    """As `rich.traceback.install()` prints it."""
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard")
    with console.capture() as captured:
        console.print(Traceback.from_exception(type(error), error, error.__traceback__, width=80))
    return captured.get()


def by_structlog_in_a_box(error: BaseException) -> str:
    """As structlog prints it where rich is installed."""
    structlog = pytest.importorskip("structlog", reason="structlog is not installed here")
    stream = io.StringIO()
    formatted = structlog.dev.RichTracebackFormatter(width=80, show_locals=False)
    formatted(stream, (type(error), error, error.__traceback__))
    return stream.getvalue()


def by_structlog_plainly(error: BaseException) -> str:
    """As structlog prints it otherwise, in a log without colours."""
    structlog = pytest.importorskip("structlog", reason="structlog is not installed here")
    renderer = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    printed: str = renderer(None, "error", {"event": "failed", "exc_info": error})
    return printed


def by_logging(error: BaseException) -> str:
    """As `logger.exception` prints it."""
    return logging.Formatter().formatException((type(error), error, error.__traceback__))


@pytest.mark.parametrize("printed", [by_rich, by_structlog_in_a_box, by_structlog_plainly, by_logging])
@pytest.mark.parametrize("scene", SCENES)
def test_every_line_stays_whole(scene: str, printed: Callable[[BaseException], str]) -> None:
    """So that what stands below a line still stands below the same letters."""
    note = Explainer().note(SCENES[scene])
    try:
        error = RuntimeError("Trying to backward through the graph a second time")
        error.add_note(note)
        raise error
    except RuntimeError:
        raised = sys.exc_info()[1]
    assert raised is not None

    lines = re.sub(r"\x1b\[[0-9;]*m", "", printed(raised)).splitlines()

    shown = [line.rstrip() for line in lines]
    assert [line for line in note.splitlines() if line and line not in shown] == []

"""The exception that ends a program, freed of gradsan's frames, for whoever shows it."""

import itertools
import os
import sys
from collections.abc import Callable, Iterator
from types import TracebackType

from gradsan.observe.guarding import attempt

_ENTRY = os.path.dirname(__file__)  # noqa: PTH120 -- compared with names in code objects, as the next one
_GRADSAN = os.path.dirname(_ENTRY) + os.sep  # noqa: PTH120
# What runs a program stands above all of its frames, and is never where the error is.
_RUNNERS = (
    _GRADSAN + "cli" + os.sep,
    *(os.path.join(_ENTRY, name) for name in ("as_python.py", "startup.py")),  # noqa: PTH118 -- likewise
)


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and all that it came from: causes, contexts, members of groups."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += [each.__context__, each.__cause__]
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions


def without_ours(traceback: TracebackType | None) -> TracebackType | None:
    """The entries that `python` would show, linked to one another.

    What runs the program and what watches it stand above and between the program's own frames, and are taken out. The
    innermost frames stay, whoever's they are: there the error is, be it that the program called gradsan and was wrong.
    """
    entries = [each for each in _entries(traceback) if not _file(each).startswith(_RUNNERS)]
    innermost = list(itertools.takewhile(_is_ours, reversed(entries)))
    shown = [each for each in entries if each in innermost or not _is_ours(each)]
    for entry, following in itertools.pairwise(shown):
        if entry.tb_next is not following:
            entry.tb_next = following
    return shown[0] if shown else None


def excepthook_without_ours(
    error: BaseException, forget: Callable[[], None]
) -> Callable[[type[BaseException], BaseException, TracebackType | None], None]:
    """The program's own `sys.excepthook`, given what `python` would give it; it stands there again when it is called.

    `forget` is called when all is shown.
    """
    traceback = without_ours(error.__traceback__)
    own = getattr(sys, "excepthook", sys.__excepthook__)  # a program may have deleted it
    asked: list[bool] = []

    def excepthook(kind: type[BaseException], value: BaseException, _: TracebackType | None) -> None:
        try:
            sys.excepthook = own
            sys.last_traceback = value.__traceback__ = traceback
            asked.append(True)
            own(kind, value, traceback)
        except BaseException as second:
            if not asked:  # what failed was ours
                own(kind, value, traceback)
            elif isinstance(second, SystemExit):
                raise
            else:
                _say_that_it_failed(second, value, traceback)
        finally:
            attempt(forget, lambda _: None)

    return excepthook


def _say_that_it_failed(second: BaseException, value: BaseException, traceback: TracebackType | None) -> None:
    """The program's own hook raised: said as CPython says it, less our frame."""
    second.__traceback__ = without_ours(second.__traceback__)
    sys.stderr.write("Error in sys.excepthook:\n")
    sys.__excepthook__(type(second), second, second.__traceback__)
    sys.stderr.write("\nOriginal exception was:\n")
    sys.__excepthook__(type(value), value, traceback)


def _entries(traceback: TracebackType | None) -> list[TracebackType]:
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    return entries


def _file(entry: TracebackType) -> str:
    return entry.tb_frame.f_code.co_filename


def _is_ours(entry: TracebackType) -> bool:
    # What the compiler looks into bears the name of another file: see `compilation.compiles_to_nothing`.
    return _file(entry).startswith(_GRADSAN) or str(entry.tb_frame.f_globals.get("__name__")).startswith("gradsan.obs")

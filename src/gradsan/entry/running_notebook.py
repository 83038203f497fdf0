"""A notebook as a program: its code cells, in their order, in one process, as a new kernel runs all of them.

They run as the one text that the reader of notebooks makes of them, so that whatever follows a program follows this one
as it does any other. IPython makes Python of magics and of `!`, and its shell is there for whoever asks.
"""

import asyncio
import linecache
import sys
import warnings
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from collections.abc import Iterator
from dataclasses import dataclass
from traceback import FrameSummary, TracebackException
from types import ModuleType, TracebackType
from typing import Any

from gradsan.entry import as_python
from gradsan.entry.installing import current_session
from gradsan.errors import GradsanError
from gradsan.facts.location import in_cell
from gradsan.observe.guarding import attempt
from gradsan.observe.hidden_frames import hidden
from gradsan.observe.import_hook import is_installed
from gradsan.source.disk import cell_at, note_as_running, notebook_at
from gradsan.source.file import Source, UnreadableSourceError
from gradsan.source.notebooks import as_program, parse_notebook

_formatwarning = warnings.formatwarning


class IPythonMissingError(GradsanError):
    """A notebook was given, and nothing that could run its cells is installed."""


@dataclass(frozen=True, slots=True)
class Notebook(as_python.Script):
    """A notebook. It runs without a kernel: nothing is shown but what is printed, and its file stays as it is."""

    def __post_init__(self) -> None:
        self.source()
        if not is_installed("IPython"):
            raise IPythonMissingError(
                "IPython, which runs the cells of a notebook, is not installed for this Python",
                "install it with `pip install ipython`",
            )

    def source(self) -> Source:
        """Its cells, as its reader has them."""
        try:
            return parse_notebook(as_python.absolute(self.path), self.content)
        except UnreadableSourceError as error:
            raise as_python.ProgramMissingError(
                f"cannot run the notebook {self.path!r} ({error.reason})", "open it with Jupyter, and save it again"
            ) from None

    @hidden
    def run(self, main: ModuleType, prepare: as_python.Prepare) -> None:
        """Run its cells in the module `main`."""
        source, shell = self.source(), _shell(main)
        program = as_program(source, shell.input_transformer_manager.transform_cell)
        note_as_running(source.path, source)
        sys.excepthook = sys.__excepthook__ = _print_by_cells
        warnings.formatwarning = _warning_by_cells
        code = as_python.compiled(program, source.path, PyCF_ALLOW_TOP_LEVEL_AWAIT)
        to_run = as_python.prepared(code, prepare)
        as_python.has_begun = True
        try:
            with shell.builtin_trap:
                awaited = eval(to_run, vars(main))  # noqa: S307 -- this is what running means
                if awaited is not None:
                    asyncio.run(awaited)
        finally:
            attempt(as_python.flush, as_python.unwatched)


def _shell(main: ModuleType) -> Any:  # noqa: ANN401 # IPython has no types
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    shell: Any = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}), user_module=main)
    shell.ask_exit = sys.exit  # what `exit()` calls in the shells that have a prompt
    return shell


def _print_by_cells(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """What Python prints of an exception, with every line counted in its cell, as the reader of the notebook does."""
    shown = TracebackException(kind, error, traceback)
    for each in _with_those_before(shown):
        each.stack[:] = map(_in_its_cell, each.stack)
    sys.stderr.write("".join(shown.format()))


def _in_its_cell(frame: FrameSummary) -> FrameSummary:
    notebook, line = notebook_at(frame.filename), frame.lineno or 0
    cell, first = (None, 1) if notebook is None else notebook.cell_of(line)
    if notebook is None or cell is None:
        return frame
    is_as_run = line not in notebook.typed
    return FrameSummary(
        in_cell(frame.filename, cell),
        line - first + 1,
        frame.name,
        line=notebook.as_written(line),
        end_lineno=(frame.end_lineno or line) - first + 1,
        colno=frame.colno if is_as_run else None,
        end_colno=frame.end_colno if is_as_run else None,
    )


def _warning_by_cells(  # the signature of the one whose place it takes
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    cell, first = cell_at(filename, lineno)
    line = linecache.getline(filename, lineno) if line is None else line
    return _formatwarning(message, category, in_cell(filename, cell), lineno - first + 1, line)


def _with_those_before(shown: TracebackException) -> Iterator[TracebackException]:
    yield shown
    for each in (shown.__cause__, shown.__context__, *(getattr(shown, "exceptions", None) or ())):
        if each is not None:
            yield from _with_those_before(each)


def main() -> None:
    """`python -m gradsan.entry.running_notebook FILE`: a notebook in a process that is watched already, if at all."""
    session = current_session()
    try:
        program = as_python.find_script(sys.argv[1], tuple(sys.argv[2:]))
    except GradsanError as error:
        sys.exit(str(error))
    as_python.run_program(program, prepare=(lambda code: code) if session is None else session.marked_main)


if __name__ == "__main__":
    main()

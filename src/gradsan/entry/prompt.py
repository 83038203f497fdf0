"""IPython, in a terminal or under Jupyter: what is typed at its prompt is recorded and explained like any program."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from types import CodeType
from typing import Any

from gradsan.entry.notebook import explained_in_html, shell_of_this_process
from gradsan.observe.cells import CELLS
from gradsan.observe.guarding import attempt, say, shown
from gradsan.observe.private import private


def at_prompt(
    mark: Callable[[CodeType], CodeType],
    passes_seen: Callable[[], int],
    ended_by: Callable[[BaseException | None], None],
) -> Callable[[], None]:
    """Have every statement seen before IPython runs it, and every error before it is shown; the answer undoes that.

    `mark` has the lines of a code object recorded, and `passes_seen` counts the passes so far.
    IPython compiles a cell by itself, and runs it statement by statement: `run_code` is where each comes by. It shows
    errors by itself too, and calls no `sys.excepthook`.
    """
    undo = ExitStack()
    undo.callback(CELLS.forget)
    shell = shell_of_this_process()
    if shell is None:
        return undo.close

    def prepare(code: CodeType) -> CodeType:
        """What is to be run, so that its lines are recorded too; its prompt is noted."""
        counter, prompt = private().op_counter, _prompt(shell, code)
        if counter is not None and prompt is not None:
            CELLS.begin(prompt, code.co_filename, counter(), passes_seen())
        return mark(code)

    def runs(run_code: Any, code: CodeType, *args: Any, **named: Any) -> Any:  # noqa: ANN401 # as IPython calls it
        prepared = attempt(lambda: prepare(code), _overlooked) or code
        return run_code(prepared, *args, **named)

    def shows(showtraceback: Any, *args: Any, **named: Any) -> Any:  # noqa: ANN401 # as IPython calls it
        error = sys.exc_info()[1]
        attempt(lambda: ended_by(error), _overlooked)
        display = attempt(lambda: explained_in_html(shell, error), _overlooked)
        try:
            return showtraceback(*args, **named)
        finally:
            if display is not None:
                attempt(display, _overlooked)

    undo.callback(_around(shell, "run_code", runs))
    undo.callback(_around(shell, "showtraceback", shows))
    return undo.close


def _around(shell: Any, name: str, act: Callable[..., Any]) -> Callable[[], None]:  # noqa: ANN401 # as below
    original = getattr(shell, name)

    def stand_in(*args: Any, **named: Any) -> Any:  # noqa: ANN401 # as the original
        return act(original, *args, **named)

    setattr(shell, name, stand_in)

    def take_back() -> None:
        if vars(shell).get(name) is stand_in:  # else another tool stands before it, and calls it
            delattr(shell, name)

    return take_back


def _prompt(shell: Any, code: CodeType) -> str | None:  # noqa: ANN401 # as below
    """What IPython's own tracebacks call the cell."""
    name_of = getattr(shell.compile, "format_code_name", None)  # IPython 8 and later
    found = None if name_of is None else name_of(code.co_filename)
    return None if found is None else str(found[1])


def _overlooked(error: BaseException) -> None:
    say(f"a statement is not recorded: {shown(error)}")

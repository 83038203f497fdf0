"""A notebook's output: explanations as HTML where the kernel's reader has a browser, and `%%gradsan` for one cell."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradsan.entry.screen import screen_of
from gradsan.entry.speaking import speak
from gradsan.entry.uncaught import chain
from gradsan.explanation.explainer import diagnosis_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradsan.report import Diagnosis, Summary

_MAGIC = "gradsan"
_SHOWS_ITSELF = "_render_traceback_"  # the method by which IPython lets an exception do so


def shell_of_this_process() -> Any:  # noqa: ANN401 # IPython has no types
    """IPython's shell, where there is one."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return None if get_ipython is None else get_ipython()


def shows_html(shell: Any) -> bool:  # noqa: ANN401 # as above
    """Whether the reader has more than a terminal: only then is there a kernel behind the shell."""
    return getattr(shell, "kernel", None) is not None


def explained_in_html(shell: Any, error: BaseException | None) -> Callable[[], None] | None:  # noqa: ANN401 # as above
    """Make the notes of an error one sentence each, as it is about to be shown; None: nobody sees HTML here.

    The answer puts them back, and displays the explanations below the error.
    """
    found = [(each, diagnosis) for each in chain(error) if (diagnosis := diagnosis_on(each)) is not None]
    if not found or not shows_html(shell) or hasattr(error, _SHOWS_ITSELF):
        return None
    from gradsan.show.notebook import explanation

    shown = [(explanation(diagnosis), str(diagnosis)) for _, diagnosis in found]
    undo = [_shortened(each, diagnosis) for each, diagnosis in found]

    def display() -> None:
        for each in undo:
            each()
        for html, text in shown:
            _publish(shell, html, text)

    return display


def show_summary(numbers: "Summary", diagnoses: "Sequence[Diagnosis]") -> None:
    """What was found, below the cell of a notebook; else on stderr."""
    from gradsan.show.text import closing

    screen, shell = screen_of(sys.stderr), shell_of_this_process()
    if not shows_html(shell):
        speak(closing(numbers, diagnoses, width=screen.width, color=screen.color))
        return
    from gradsan.show.notebook import summary

    _publish(shell, summary(numbers, diagnoses), closing(numbers, diagnoses, width=screen.width, color=False))


def add_magic(shell: Any) -> None:  # noqa: ANN401 # as above
    """`%%gradsan` at the beginning of a cell: what is wrong in it, and raises nothing, is reported too."""

    def watched(_line: str, cell: str) -> None:
        from gradsan.entry.installing import watch

        with watch(quiet=True) as seen:
            result = _run_within(shell, cell)
        if result.success:
            if seen.summary is not None:
                show_summary(seen.summary, seen.diagnoses)
            return
        error = result.error_in_exec or result.error_before_exec
        _show_no_more(error)
        raise error

    shell.register_magic_function(watched, "cell", _MAGIC)


def _run_within(shell: Any, cell: str) -> Any:  # noqa: ANN401 # as above
    """Run what stands below `%%gradsan`, under the prompt and with the lines that its reader sees."""
    ahead = shell.execution_count  # IPython 9 has counted this cell already
    shell.execution_count = len(shell.history_manager.input_hist_raw) - 1
    try:
        return shell.run_cell(f"pass  # %%{_MAGIC}\n{cell}", store_history=False)
    finally:
        shell.execution_count = ahead


def remove_magic(shell: Any) -> None:  # noqa: ANN401 # as above
    """Undo that."""
    shell.magics_manager.magics["cell"].pop(_MAGIC, None)


def _show_no_more(error: Any) -> None:  # noqa: ANN401 # an exception, which takes attributes
    """The inner cell has shown it: for the outer one, which fails with it, IPython shows nothing, once."""

    def nothing() -> list[str]:
        delattr(error, _SHOWS_ITSELF)
        return []

    setattr(error, _SHOWS_ITSELF, nothing)


def _shortened(error: BaseException, diagnosis: "Diagnosis") -> Callable[[], None]:
    notes = getattr(error, "__notes__", None)
    begins = f"\n{diagnosis.code} {diagnosis.name}:"
    at = next((at for at, note in enumerate(notes or ()) if str(note).startswith(begins)), None)
    if notes is None or at is None:
        return lambda: None
    whole, notes[at] = notes[at], f"{begins} {diagnosis.message}\nthe fix is below"

    def restore() -> None:
        notes[at] = whole

    return restore


def _publish(shell: Any, html: str, text: str) -> None:  # noqa: ANN401 # as above
    shell.display_pub.publish({"text/html": html, "text/plain": text})

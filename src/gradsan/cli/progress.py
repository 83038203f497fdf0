"""How a long command goes on: lines that stay, and on a terminal a bar with the time so far and the time expected."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from gradsan.show.harmless import neutral

_FIRST = 30.0  # seconds; where lines stay, one says how long it takes after this time, and then after twice as long
_MANY = 200  # files; from there on a reader wants to see that something happens
_BAR = 20  # columns
_BESIDE = 84  # columns that all but the name of the file take


class Progress:
    """Writes to a stream; to None, nothing is written."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._is_terminal = stream is not None and stream.isatty()
        self._shown = ""  # what stands in the last line of the terminal, to be replaced
        self._next = _FIRST
        self._expected: float | None = None  # seconds

    def say(self, line: str) -> None:
        """A line that stays."""
        self._clear()
        self._next = _FIRST
        self._write(f"gradsan: {neutral(line, lines=True)}\n")

    def expect(self, seconds: float) -> None:
        """From here on, what is said takes about so long."""
        self._expected = seconds

    def tick(self, seconds: float) -> None:
        """What was said last has been going on for so long."""
        if self._is_terminal and seconds >= 1:
            line = f"gradsan: {self._so_far(seconds)}"
            if line != self._shown:
                self._clear()
                self._write(line)
                self._shown = line
        elif seconds >= self._next:
            self._next *= 2
            self._write(f"gradsan: still running after {_in_words(seconds)}\n")

    def _so_far(self, seconds: float) -> str:
        if self._expected is None or self._expected < 1:
            return f"running for {_in_words(seconds)}"
        done = min(int(_BAR * seconds / self._expected), _BAR)
        return f"[{'#' * done:-<{_BAR}}] {_in_words(seconds)} of about {_in_words(self._expected)}"

    def _clear(self) -> None:
        if self._shown:
            self._write("\r" + " " * len(self._shown) + "\r")
            self._shown = ""

    def _write(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(text)
            self._stream.flush()


@contextmanager
def file_bar(stream: TextIO | None, files: int) -> Iterator[Callable[[str], None]]:
    """A bar for many files on a terminal: call what is given with each that is done. It is gone when all are."""
    if stream is None or files < _MANY or not stream.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("gradsan: checking"),
        BarColumn(bar_width=_BAR),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("so far,"),
        TimeRemainingColumn(),
        TextColumn("left"),
        TextColumn("{task.fields[file]}", markup=False),
    )
    console = Console(file=stream)
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=files, file="")
        yield lambda file: bar.update(task, advance=1, file=_end_of(file, console.width - _BESIDE))


def _end_of(file: str, columns: int) -> str:
    """As much of a name as there is room for: without it, the bar itself would have to give way."""
    from rich.cells import cell_len

    name = neutral(file)
    if cell_len(name) <= columns:
        return name
    while name and cell_len(name) > columns - 3:
        name = name[1:]
    return f"...{name}" if name else ""


def _in_words(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"

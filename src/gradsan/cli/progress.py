"""Lines that say how a long command goes on; on a terminal, the last of them says for how long."""

from typing import TextIO

from gradsan.show.harmless import neutral

_FIRST = 30.0  # seconds; where lines stay, one says how long it takes after this time, and then after twice as long


class Progress:
    """Writes to a stream; to None, nothing is written."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._is_terminal = stream is not None and stream.isatty()
        self._shown = ""  # what stands in the last line of the terminal, to be replaced
        self._next = _FIRST

    def say(self, line: str) -> None:
        """A line that stays."""
        self._clear()
        self._next = _FIRST
        self._write(f"gradsan: {neutral(line, lines=True)}\n")

    def tick(self, seconds: float) -> None:
        """What was said last has been going on for so long."""
        if self._is_terminal and seconds >= 1:
            line = f"gradsan: running for {_in_words(seconds)}"
            if line != self._shown:
                self._clear()
                self._write(line)
                self._shown = line
        elif seconds >= self._next:
            self._next *= 2
            self._write(f"gradsan: still running after {_in_words(seconds)}\n")

    def _clear(self) -> None:
        if self._shown:
            self._write("\r" + " " * len(self._shown) + "\r")
            self._shown = ""

    def _write(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(text)
            self._stream.flush()


def _in_words(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"

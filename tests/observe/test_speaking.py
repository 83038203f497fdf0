"""What is said at the end, and where on the screen it stands."""

import io
import sys

import pytest

from gradsan.entry import speaking


class Terminal(io.StringIO):
    """Of 20 columns, by its looks."""

    def isatty(self) -> bool:
        """It says so."""
        return True


def screen(written: str, columns: int) -> list[str]:
    """What a terminal shows of a text; in its last column it waits before it goes to the next line."""
    lines, place = [""], 0
    for letter in written:
        if letter == "\n":
            lines.append("")
            place = 0
        elif letter == "\r":
            place = 0
        else:
            if place == columns:
                lines.append("")
                place = 0
            lines[-1] = lines[-1][:place].ljust(place) + letter + lines[-1][place + 1 :]
            place += 1
    return [each.rstrip() for each in lines]


@pytest.mark.parametrize(
    ("before", "shown"),
    [("\r 50%", [" 50%", "gradsan: fine", ""]), ("done\n", ["done", "gradsan: fine", ""]), ("", ["gradsan: fine", ""])],
)
def test_nothing_on_the_screen_is_written_over(before: str, shown: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A progress bar stays, and so does the line below it; no empty line comes in between."""
    terminal = Terminal()
    terminal.write(before)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TERM", "xterm")

    speaking.speak("gradsan: fine\n")

    assert screen(terminal.getvalue(), 20) == shown


def test_program_without_a_console_is_shown_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nobody to tell it to."""
    monkeypatch.setattr(sys, "stderr", None)

    speaking.speak("gradsan: fine\n")

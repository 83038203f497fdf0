"""How a long command goes on."""

import io
import re

import pytest

from gradsan.cli.progress import Progress, file_bar


class Terminal(io.StringIO):
    """Somebody looks at it."""

    def isatty(self) -> bool:
        """As it says."""
        return True


def test_on_a_terminal_the_last_line_counts_and_is_replaced() -> None:
    """Nothing of it stays."""
    stream = Terminal()
    progress = Progress(stream)

    progress.say("running")
    progress.tick(0.4)
    progress.tick(1.2)
    progress.tick(1.7)
    progress.tick(61.0)
    progress.say("done")

    one, two = "gradsan: running for 1 s", "gradsan: running for 1 min 1 s"
    cleared = [f"\r{' ' * len(line)}\r" for line in (one, two)]
    assert stream.getvalue() == f"gradsan: running\n{one}{cleared[0]}{two}{cleared[1]}gradsan: done\n"


def test_what_takes_as_long_as_before_has_a_bar() -> None:
    """The time so far, the time expected; and no more than all of the bar."""
    stream = Terminal()
    progress = Progress(stream)

    progress.expect(40.0)
    progress.tick(10.0)
    progress.tick(80.0)

    shown = [line for line in stream.getvalue().split("\r") if line.strip()]
    assert shown == [
        "gradsan: [#####---------------] 10 s of about 40 s",
        "gradsan: [####################] 1 min 20 s of about 40 s",
    ]


def test_many_files_have_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """With how many are done, how long it took, how long it will, and the file; nothing of it stays."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    stream = Terminal()

    with file_bar(stream, 300) as advance:
        for number in range(300):
            advance(f"model_{number}\x1b.py")

    shown = stream.getvalue()
    assert "gradsan: checking" in shown
    assert "300/300" in shown
    assert "so far" in shown
    assert "left" in shown
    assert "model_299\N{REPLACEMENT CHARACTER}.py" in shown
    assert shown.endswith("\x1b[2K")  # the line is cleared


@pytest.mark.parametrize(("width", "end"), [(80, "left"), (120, "left ...rs/and_the_last_of_their_files.py")])
def test_a_long_name_leaves_the_bar_its_room(monkeypatch: pytest.MonkeyPatch, width: int, end: str) -> None:
    """Its end is shown, as far as there is room."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(width))
    stream = Terminal()

    with file_bar(stream, 300) as advance:
        for _ in range(300):
            advance(f"{'folders_in_folders/' * 8}and_the_last_of_their_files.py")

    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;?]*\w", "", stream.getvalue()).split("\r")]
    (last,) = {line for line in lines if "300/300" in line}
    assert last.startswith("gradsan: checking")
    assert last.endswith(end)


@pytest.mark.parametrize(("stream", "files"), [(io.StringIO(), 300), (Terminal(), 20), (None, 300)])
def test_there_is_no_bar_elsewhere(stream: io.StringIO | None, files: int) -> None:
    """In a log, for a few files, or where nobody wants to know."""
    with file_bar(stream, files) as advance:
        advance("train.py")

    assert stream is None or not stream.getvalue()


def test_elsewhere_lines_stay_and_are_few() -> None:
    """In the log of a CI job, a day takes a dozen."""
    stream = io.StringIO()
    progress = Progress(stream)

    for seconds in range(200):
        progress.tick(float(seconds))

    assert [line.rsplit("after ")[1] for line in stream.getvalue().splitlines()] == ["30 s", "1 min 0 s", "2 min 0 s"]


def test_nothing_is_said_to_nobody() -> None:
    """With `-q`."""
    progress = Progress(None)

    progress.say("running")
    progress.tick(100.0)

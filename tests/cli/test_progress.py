"""How a long command goes on."""

import io

from gradsan.cli.progress import Progress


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

"""The statement that puts graphs into a holder, as its file has it."""

from pathlib import Path

import pytest

from gradsan.observe.ledger.container_writes import feed_of

LOG = """\
class Log:
    def __init__(self):
        self.rows = {first}

    def add(self, logs):
        {adds}
"""


def _line(folder: Path, first: str, adds: str) -> int | None:
    """The line that feeds `rows`."""
    file = folder / "log.py"
    file.write_text(LOG.format(first=first, adds=adds), encoding="utf-8")
    feed = feed_of("log.rows", "main", None, [str(file)])
    return None if feed is None else feed.place.line


@pytest.mark.parametrize(
    "adds",
    ["self.rows.append(dict(logs))", "self.rows.append(list(logs.values()))", "self.rows.insert(0, tuple(logs))"],
)
def test_copy_that_is_put_into_a_holder_brings_what_it_was_given(tmp_path: Path, adds: str) -> None:
    """The holder then keeps the tensors of a dict, though the dict is a new one."""
    assert _line(tmp_path, "[]", adds) == len(LOG.splitlines())


@pytest.mark.parametrize(
    ("first", "adds"),
    [
        ("deque(maxlen=9)", "print(logs)"),
        ("dict(defaults)", "return logs"),
        ("[]", "self.rows.append(deque(maxlen=9))"),
    ],
)
def test_new_container_that_a_holder_begins_with_feeds_nothing(tmp_path: Path, first: str, adds: str) -> None:
    """What it is given is there before the first step, or it is given nothing."""
    assert _line(tmp_path, first, adds) is None


def _text_of_feed(folder: Path, function: str, text: str) -> str | None:
    """The line that feeds `keep`, a variable of that function."""
    file = folder / "program.py"
    file.write_text(text, encoding="utf-8")
    feed = feed_of("keep", function, None, [str(file)])
    return None if feed is None else text.splitlines()[feed.place.line - 1].strip()


SAME_NAMED = """\
def add(keep, l):
    keep.append(l)

def gather():
    keep = []
    keep.append(net(x))

"""


@pytest.mark.parametrize(
    ("function", "text", "line"),
    [
        ("<module>", "keep = []\nfor x in data:\n    keep.append(loss)\n", "keep.append(loss)"),
        ("<module>", "keep = []\nfor x in data:\n    keep += [loss]\n", "keep += [loss]"),
        ("<module>", "keep = {}\ndef step(x):\n    keep[x] = loss\n", "keep[x] = loss"),
        ("<module>", "keep = []\ndef step(x):\n    global keep\n    keep = keep + [loss]\n", "keep = keep + [loss]"),
        (
            "main",
            "def main():\n    keep = []\n    def add(keep):\n        keep.append(l)\n    keep.append(loss)\n",
            "keep.append(loss)",
        ),
        (
            "main",
            "def main():\n    keep = []\n    def step(x):\n        keep.append(loss)\n    step(1)\n",
            "keep.append(loss)",
        ),
    ],
)
def test_line_that_means_the_holder_is_named_before_a_same_named_one(
    tmp_path: Path, function: str, text: str, line: str
) -> None:
    """A function above it may have a variable of that name for something else."""
    assert _text_of_feed(tmp_path, function, SAME_NAMED + text) == line


@pytest.mark.parametrize(
    "text",
    ["keep = []\nadd(keep, loss)\n", "keep = load()\nadd(keep, loss)\n", "keep = add(keep, loss)\n"],
)
def test_line_of_a_function_that_was_given_the_holder_is_named(tmp_path: Path, text: str) -> None:
    """Where the holder's own variable is fed by no line, but handed on."""
    assert _text_of_feed(tmp_path, "<module>", SAME_NAMED + text) == "keep.append(l)"

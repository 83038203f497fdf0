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

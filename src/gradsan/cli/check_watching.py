"""`gradsan check --watch`: the check again, whenever a file has changed."""

import os
import sys
import time
from typing import NoReturn

from gradsan.cli.checking import Check
from gradsan.cli.output import say
from gradsan.lifecycle.amounts import count

_PAUSE = 0.5  # seconds
_CLEAR = "\x1b[2J\x1b[H"


def watch_files(check: Check) -> NoReturn:
    """Until somebody ends it."""
    seen: dict[str, tuple[int, int]] | None = None
    while True:
        now = _stamps(check.files())
        if now != seen:
            seen = now
            if sys.stdout.isatty():
                sys.stdout.write(_CLEAR)
            check.run()
            sys.stdout.flush()
            say(sys.stderr, f"watching {count(len(now), 'file')}; Ctrl-C ends it")
        time.sleep(_PAUSE)


def _stamps(files: list[str]) -> dict[str, tuple[int, int]]:
    """When each file was changed, and how long it is."""
    found = {}
    for file in files:
        try:
            status = os.stat(file)  # noqa: PTH116 # for every file, twice a second
        except OSError:
            continue
        found[file] = (status.st_mtime_ns, status.st_size)
    return found

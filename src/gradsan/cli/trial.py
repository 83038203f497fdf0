"""`python -m gradsan.cli.trial RECORD PASSES plain|retain run …`: what `gradsan fix --verify` starts for each trial."""

import sys
from pathlib import Path

from gradsan.cli import main
from gradsan.observe.doors.trial import Trial


def begin() -> None:
    """Take our own arguments away, and go on as the command."""
    record, passes, mode, *command = sys.argv[1:]
    Trial(Path(record), passes=int(passes) or None, retain=mode == "retain").begin()
    sys.argv[1:] = command
    main()


if __name__ == "__main__":
    begin()

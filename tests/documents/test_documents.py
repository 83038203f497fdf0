"""What the documents show is what the commands print."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
SHOWN = re.compile(r"<!-- from: gradsan (?P<command>[^\n]*) -->\n```text\n(?P<output>.*?)```", re.DOTALL)


@pytest.mark.parametrize("document", ["README.md"])
def test_shown_output_is_what_the_command_prints(document: str, request: pytest.FixtureRequest) -> None:
    """A reader who types the command sees what the page shows; `make golden` rewrites the page."""
    text = (PROJECT / document).read_text(encoding="utf-8")
    assert SHOWN.search(text)

    def printed(shown: re.Match[str]) -> str:
        command = [sys.executable, "-m", "gradsan", *shown["command"].split()]
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
        _, found, story = done.stderr.partition("\nGS")  # below the program's own traceback
        story = "GS" + story if found else done.stdout
        return f"<!-- from: gradsan {shown['command']} -->\n```text\n{story}```"

    renewed = SHOWN.sub(printed, text)

    if request.config.getoption("--update-golden"):
        (PROJECT / document).write_text(renewed, encoding="utf-8")
    assert renewed == text or request.config.getoption("--update-golden")

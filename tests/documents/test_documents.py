"""What the documents show is what the commands print."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from documents.press import run

PROJECT = Path(__file__).parents[2]
# What a page shows is what a command of gradsan or a program prints, or that program itself.
SHOWN = re.compile(r"<!-- from: (?P<source>[^\n]*) -->\n```(?P<language>text|python)\n(?P<output>.*?)```", re.DOTALL)
MYTHS = PROJECT / "docs" / "myths"


@pytest.mark.parametrize("document", ["README.md", "docs/myths.md"])
def test_shown_output_is_what_the_command_prints(document: str, request: pytest.FixtureRequest) -> None:
    """A reader who types the command sees what the page shows; `make golden` rewrites the page."""
    text = (PROJECT / document).read_text(encoding="utf-8")
    assert SHOWN.search(text)

    def printed(shown: re.Match[str]) -> str:
        return f"<!-- from: {shown['source']} -->\n```{shown['language']}\n{_content(shown['source'])}```"

    renewed = SHOWN.sub(printed, text)

    if request.config.getoption("--update-golden"):
        (PROJECT / document).write_text(renewed, encoding="utf-8")
    assert renewed == text or request.config.getoption("--update-golden")


def test_every_program_about_a_myth_is_shown_with_what_it_prints() -> None:
    """None is left over from an earlier page."""
    page = (PROJECT / "docs" / "myths.md").read_text(encoding="utf-8")
    sources = {shown["source"] for shown in SHOWN.finditer(page)}

    for program in MYTHS.glob("*.py"):
        name = program.relative_to(PROJECT).as_posix()
        assert name in sources
        assert {f"python {name}", f"gradsan run {name}"} & sources


def _content(source: str) -> str:
    first, *words = source.split()
    if not words:
        return (PROJECT / first).read_text(encoding="utf-8")
    if first == "python":
        return _printed_by_programs()[words[0]]
    command = [sys.executable, "-m", "gradsan", *words]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    _, found, story = done.stderr.partition("\nGS")  # below the program's own traceback
    return "GS" + story if found else done.stdout


@cache
def _printed_by_programs() -> dict[str, str]:
    """All of them at once: importing torch takes longer than all they do."""
    printed = run({each.stem: each.read_text(encoding="utf-8") for each in MYTHS.glob("*.py")})
    return {f"docs/myths/{name}.py": each.out for name, each in printed.items()}

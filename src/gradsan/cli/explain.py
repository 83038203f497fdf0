"""`gradsan explain`: the page of a cause, the table of all causes, or a saved report shown again."""

import sys
from pathlib import Path

import click

from gradsan.cli.output import FORMATS, write
from gradsan.entry.screen import COLOR_CHOICES, ColorChoice, Screen, screen_of
from gradsan.errors import NotYetError


@click.command("explain")
@click.argument("subject", metavar="[CODE | FILE.json]", required=False)
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write there instead of stdout.")
@click.option("--color", type=click.Choice(COLOR_CHOICES), default="auto", show_default=True)
def command(subject: str | None, form: str, output: Path | None, color: ColorChoice) -> None:
    """Say what a code means, with an example, or show a saved report.

    Without an argument: the table of all codes.
    """
    if form not in ("text", "json"):
        raise NotYetError(f"`gradsan explain --format {form}` is not part of this version yet", "use text or json")
    screen = screen_of(sys.stdout if output is None else None, color)
    write(_answer(subject, form, screen), output)


def _answer(subject: str | None, form: str, screen: Screen) -> str:
    if subject is not None and subject.endswith(".json"):
        return _report(Path(subject), form, screen)
    return _page(subject, form, screen)


def _page(code: str | None, form: str, screen: Screen) -> str:
    from gradsan.causes import all_causes, cause
    from gradsan.show.page import as_json, page, table

    if form == "json":
        return as_json(all_causes() if code is None else cause(code))
    if code is None:
        return table(all_causes(), width=screen.width, color=screen.color)
    return page(cause(code), width=screen.width, color=screen.color)


def _report(path: Path, form: str, screen: Screen) -> str:
    from gradsan.show.json import read, write
    from gradsan.show.text import terminal

    report = read(path)
    return write(report) if form == "json" else terminal(report, width=screen.width, color=screen.color)

"""`gradsan report`: saved reports as one page, or as one text."""

import sys
from pathlib import Path

import click

from gradsan.cli.output import write
from gradsan.errors import UnreadableReportError


@click.command("report")
@click.argument("files", metavar="(FILE.json | DIR)...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE.html",
    help="Write a page to this file, and no text to the terminal.",
)
def command(*, files: tuple[Path, ...], output: Path | None) -> None:
    """Make one report of many, as a text or a page.

    FILE.json is what `gradsan run --format json --details --output FILE.json` wrote; without `--details`, the page has
    no graph and no timeline. DIR is what `gradsan run --output DIR/` wrote, with a report of every rank, or a folder of
    such folders, one from each machine. A problem that several ranks ran into is shown once, with their numbers. The
    page is one file and needs no server and no network.
    """
    from gradsan.show.json import read
    from gradsan.show.ranks import folded

    reports = folded(read(each) for given in files for each in _reports_in(given))
    if output is not None:
        from gradsan.show.html import html

        write(html(*reports), output)
        return
    from gradsan.entry.screen import screen_of
    from gradsan.show.text import terminal

    screen = screen_of(sys.stdout)
    write("\n".join(terminal(each, width=screen.width, color=screen.color) for each in reports), None)


def _reports_in(given: Path) -> list[Path]:
    if not given.is_dir():
        return [given]
    found = sorted(given.rglob("*.json"))
    if not found:
        raise UnreadableReportError(
            f"there is no report in {str(given)!r}", "name the folder that `gradsan run --output DIR/` wrote to"
        )
    return found

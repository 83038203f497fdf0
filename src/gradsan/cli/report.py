"""`gradsan report`: saved reports as one page."""

from pathlib import Path

import click

from gradsan.cli.output import write


@click.command("report")
@click.argument("files", metavar="FILE.json...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE.html",
    required=True,
    help="Write the page to this file.",
)
def command(*, files: tuple[Path, ...], output: Path) -> None:
    """Make one page of saved reports.

    FILE.json is what `gradsan run --format json --details --output FILE.json` wrote; without `--details`, the page has
    no graph and no timeline. Several files make one page, for example those of the ranks of one run. The page is one
    file and needs no server and no network.
    """
    from gradsan.show.html import html
    from gradsan.show.json import read

    write(html(*map(read, files)), output)

"""`gradsan explain`: the page of a cause, the table of all causes, or a saved report shown again."""

import sys
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from gradsan.cli.codes import completed_codes, completed_files
from gradsan.cli.formats import FORMATS, Format, docs_url_here, rendered
from gradsan.cli.output import write
from gradsan.entry.screen import COLOR_CHOICES, ColorChoice, Screen, screen_of
from gradsan.errors import GradsanError


class NoSuchFormatError(GradsanError):
    """A format that pages do not have."""


def _completed(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes, and files where no code begins so."""
    return completed_codes(ctx, param, incomplete) or completed_files(ctx, param, incomplete)


@click.command("explain")
@click.argument("subject", metavar="[CODE | FILE.json]", required=False, shell_complete=_completed)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="Text for people, or a format for other programs.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to this file instead of stdout."
)
@click.option("-v", "--verbose", is_flag=True, help="For a report: also print the path through the graph, and memory.")
@click.option(
    "--color",
    type=click.Choice(COLOR_CHOICES),
    default="auto",
    show_default=True,
    help="Colours: on a terminal, always, or never.",
)
def command(*, subject: str | None, form: Format, output: Path | None, verbose: bool, color: ColorChoice) -> None:
    """Explain a code, or print a saved report again.

    CODE is a code or a name: GS103, carried-state. FILE.json is what `gradsan run --format json --output FILE.json`
    wrote. Without an argument, all codes are listed.
    """
    screen = screen_of(sys.stdout if output is None else None, color)
    if subject is not None and subject.endswith(".json"):
        write(_report(Path(subject), form, screen, verbose=verbose), output)
    else:
        write(_page(subject, form, screen), output)


def _page(code: str | None, form: Format, screen: Screen) -> str:
    from gradsan.causes import all_causes, cause
    from gradsan.show.addresses import on_site
    from gradsan.show.page import as_json, page, table

    if form not in ("text", "json"):
        raise NoSuchFormatError(f"the page of a code has no format {form!r}", "use text or json")
    if form == "json":
        return as_json(all_causes() if code is None else cause(code))
    if code is None:
        return table(all_causes(), width=screen.width, color=screen.color)
    known = cause(code)
    return page(known, address=on_site(known.code, docs_url_here()), width=screen.width, color=screen.color)


def _report(path: Path, form: Format, screen: Screen, *, verbose: bool) -> str:
    from gradsan.show.json import read
    from gradsan.show.text import terminal

    report = read(path)
    if form != "text":
        return rendered(report, form, docs_url_here())
    return terminal(report, width=screen.width, color=screen.color, verbose=verbose)

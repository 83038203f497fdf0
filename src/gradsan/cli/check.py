"""`gradsan check`: the mistakes of a program, found in its source."""

import os
import sys
from pathlib import Path

import click

from gradsan.entry.screen import COLOR_CHOICES, ColorChoice

_FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab")


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write there instead of stdout.")
@click.option("--select", multiple=True, metavar="CODES", help="Look for these codes alone, as in GS103,GS2.")
@click.option("--extend-select", multiple=True, metavar="CODES", help="Look for these too, beside those selected.")
@click.option("--ignore", multiple=True, metavar="CODES", help="Do not look for these codes.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave these files and folders out.")
@click.option("--pedantic", is_flag=True, help="Report what is merely possible, too.")
@click.option("--statistics", is_flag=True, help="Count what was found, by code.")
@click.option("--baseline", type=click.Path(path_type=Path), metavar="FILE", help="Do not report what stands there.")
@click.option("--write-baseline", is_flag=True, help="Put all that is found into the baseline.")
@click.option("--add-ignore", is_flag=True, help="Write `# gradsan: ignore[CODE]` wherever something is found.")
@click.option("--stdin-filename", type=click.Path(), metavar="FILE", help="Check stdin, under this name.")
@click.option("--no-cache", is_flag=True, help="Read every file, whatever is known from before.")
@click.option("--no-gitignore", is_flag=True, help="Check files that git ignores, too.")
@click.option("-j", "--jobs", type=click.IntRange(1), default=None, help="Processes at a time.  [default: all cores]")
@click.option("-q", "--quiet", is_flag=True, help="Only what is found.")
@click.option("--color", type=click.Choice(COLOR_CHOICES), default="auto", show_default=True)
def command(  # noqa: PLR0913 # one for each option
    *,
    paths: tuple[Path, ...],
    form: str,
    output: Path | None,
    select: tuple[str, ...],
    extend_select: tuple[str, ...],
    ignore: tuple[str, ...],
    exclude: tuple[str, ...],
    pedantic: bool,
    statistics: bool,
    baseline: Path | None,
    write_baseline: bool,
    add_ignore: bool,
    stdin_filename: str | None,
    no_cache: bool,
    no_gitignore: bool,
    jobs: int | None,
    quiet: bool,
    color: ColorChoice,
) -> int:
    """Find the same mistakes in source, without running it.

    PATHS are files, notebooks and folders; the present folder where none is given, stdin for `-`. The status is 0 where
    nothing is found, 1 where something is, 2 where the question makes no sense.
    """
    from gradsan.cli.checking import Check, Wishes

    wishes = Wishes(
        paths=paths or (Path(),),
        form=form,
        output=output,
        select=select,
        extend_select=extend_select,
        ignore=ignore,
        exclude=exclude,
        pedantic=pedantic,
        statistics=statistics,
        baseline=baseline,
        write_baseline=write_baseline,
        add_ignore=add_ignore,
        stdin_filename=stdin_filename or ("stdin.py" if Path("-") in paths else None),
        cached=not no_cache,
        respect_gitignore=not no_gitignore,
        jobs=jobs or os.cpu_count() or 1,
        quiet=quiet,
        color=color,
    )
    return Check(wishes, reported=sys.stderr).run()

"""`gradsan check`: the mistakes of a program, found in its source."""

import os
import sys
from pathlib import Path

import click

from gradsan.cli.codes import completed_codes
from gradsan.cli.formats import FORMATS, Format
from gradsan.entry.screen import COLOR_CHOICES, ColorChoice


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
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
@click.option(
    "--select",
    multiple=True,
    metavar="CODES",
    shell_complete=completed_codes,
    help="Report only these codes, for example GS103,GS2, or ALL.",
)
@click.option(
    "--extend-select",
    multiple=True,
    metavar="CODES",
    shell_complete=completed_codes,
    help="Report these codes too, in addition to those selected.",
)
@click.option(
    "--ignore", multiple=True, metavar="CODES", shell_complete=completed_codes, help="Do not report these codes."
)
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave these files and folders out.")
@click.option("--fix", is_flag=True, help="Write the fixes that the source proves, then report what is left.")
@click.option("--diff", is_flag=True, help="Print these fixes as a patch for `git apply`, and write nothing.")
@click.option("--watch", is_flag=True, help="Check again whenever a file changes, until Ctrl-C.")
@click.option("--exit-zero", is_flag=True, help="End with status 0 even if something is found.")
@click.option(
    "--config", type=click.Path(path_type=Path), metavar="FILE", help="Take the settings from this TOML file."
)
@click.option("--isolated", is_flag=True, help="Use no settings of a pyproject.toml.")
@click.option("--pedantic", is_flag=True, help="Also report problems that are possible, but not likely.")
@click.option(
    "--statistics", is_flag=True, help="Print how often each code was found, and mark with [*] what --fix can fix."
)
@click.option("--baseline", type=click.Path(path_type=Path), metavar="FILE", help="Do not report what this file lists.")
@click.option("--write-baseline", is_flag=True, help="Write all that is found into the baseline.")
@click.option(
    "--add-ignore", is_flag=True, help="Write `# gradsan: ignore[CODE]` on every line where something is found."
)
@click.option("--stdin-filename", type=click.Path(), metavar="FILE", help="Check stdin, and call it by this name.")
@click.option("--no-cache", is_flag=True, help="Read every file again, and keep nothing for the next check.")
@click.option("--no-gitignore", is_flag=True, help="Also check files that git ignores.")
@click.option(
    "-j", "--jobs", type=click.IntRange(1), default=None, help="How many processes to use.  [default: all cores]"
)
@click.option("-q", "--quiet", is_flag=True, help="Print only what is found.")
@click.option("-v", "--verbose", is_flag=True, help="Print the names of files that were not checked to the end.")
@click.option(
    "--color",
    type=click.Choice(COLOR_CHOICES),
    default="auto",
    show_default=True,
    help="Colours: on a terminal, always, or never.",
)
def command(  # noqa: PLR0913 # one for each option
    *,
    paths: tuple[Path, ...],
    form: Format,
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
    fix: bool,
    diff: bool,
    watch: bool,
    exit_zero: bool,
    config: Path | None,
    isolated: bool,
    no_cache: bool,
    no_gitignore: bool,
    jobs: int | None,
    quiet: bool,
    verbose: bool,
    color: ColorChoice,
) -> int:
    """Find mistakes in source files, without running them.

    PATHS are files, notebooks and folders; the current folder if none is given, stdin for `-`. The status is 0 if
    nothing is found, 1 if something is found, 2 if the command was used wrongly.
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
        fix=fix,
        diff=diff,
        exit_zero=exit_zero,
        config=config,
        isolated=isolated,
        cached=not no_cache,
        respect_gitignore=not no_gitignore,
        jobs=jobs or os.cpu_count() or 1,
        quiet=quiet,
        verbose=verbose,
        color=color,
    )
    check = Check(wishes, reported=sys.stderr)
    if watch:
        from gradsan.cli.check_watching import watch_files

        watch_files(check)
    return check.run()

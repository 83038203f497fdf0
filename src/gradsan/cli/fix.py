"""`gradsan fix`: the edits that fix a program, shown, proved by running it, and written."""

import sys
from pathlib import Path

import click

from gradsan.cli.codes import completed_codes
from gradsan.entry.screen import COLOR_CHOICES, ColorChoice

_DEFAULT = "\0"  # `--verify` without a command


@click.command("fix")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATHS]... | FILE.json")
@click.option("--diff", "_diff", is_flag=True, help="Print what would change, and write nothing. This is the default.")
@click.option("--write", is_flag=True, help="Write the fixes that the source proves, or that --verify has proved.")
@click.option(
    "--verify",
    metavar="COMMAND",
    is_flag=False,
    flag_value=_DEFAULT,
    help='Prove every fix by running the program with it: "python train.py". COMMAND can be left out with a report, or '
    "with one notebook, which is then run.",
)
@click.option("--unsafe", is_flag=True, help="Also take fixes that are not proved.")
@click.option("--ask", is_flag=True, help="Ask before each fix is written.")
@click.option(
    "--select",
    multiple=True,
    metavar="CODES",
    shell_complete=completed_codes,
    help="Fix only these codes, for example GS103,GS2.",
)
@click.option(
    "--ignore", multiple=True, metavar="CODES", shell_complete=completed_codes, help="Do not fix these codes."
)
@click.option("--timeout", type=click.FloatRange(min=1), default=600.0, show_default=True, help="Seconds for one run.")
@click.option(
    "--max-steps",
    type=click.IntRange(min=1),
    default=None,
    help="End each run after this many optimizer steps. By default a long run ends some steps after the problem.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="Text for people, or a format for other programs.",
)
@click.option("-q", "--quiet", is_flag=True, help="Do not print what is being tried.")
@click.option("-v", "--verbose", is_flag=True, help="Also print the size of the graph with the fix, and its memory.")
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
    _diff: bool,
    write: bool,
    verify: str | None,
    unsafe: bool,
    ask: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    timeout: float,
    max_steps: int | None,
    form: str,
    quiet: bool,
    verbose: bool,
    color: ColorChoice,
) -> int:
    """Print, prove and write the edits that fix a program.

    PATHS are files and folders to be checked, or a report that `gradsan run --format json --output FILE.json` wrote.
    With --verify, the program is first run as it is, so that problems which only show when it runs are fixed too; what
    it writes meanwhile does not reach your files. Without --verify nothing is run, and without --write nothing is
    written. The output is a patch: `gradsan fix train.py | git apply`. The status is 0 if nothing is left to fix, 1 if
    something is left, 2 if the command cannot be carried out.
    """
    from gradsan.cli.fixing import Fixing
    from gradsan.cli.signals import ended_by_signals
    from gradsan.cli.wishes import Wishes

    if not paths and verify is not None and verify.endswith(".json"):  # `--verify report.json`: no command, a report
        paths, verify = (Path(verify),), _DEFAULT
    wishes = Wishes(
        paths=paths,
        write=write or ask,
        verify=verify is not None,
        command=None if verify == _DEFAULT else verify,
        unsafe=unsafe,
        ask=ask,
        select=select,
        ignore=ignore,
        timeout=timeout,
        max_steps=max_steps,
        form=form,
        verbose=verbose,
        color=color,
    )
    with ended_by_signals():
        return Fixing(wishes, progress=None if quiet else sys.stderr).run()

"""`gradsan fix`: the edits that fix a program, shown, proved by running it, and written."""

import sys
from pathlib import Path

import click

from gradsan.entry.screen import COLOR_CHOICES, ColorChoice

_DEFAULT = "\0"  # `--verify` without a command


@click.command("fix")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATHS]... | FILE.json")
@click.option("--diff", "_diff", is_flag=True, help="Show what would change. This is the default.")
@click.option("--write", is_flag=True, help="Write the fixes that are certain, or that --verify has proved.")
@click.option(
    "--verify",
    metavar="COMMAND",
    is_flag=False,
    flag_value=_DEFAULT,
    help='Prove every fix by running "python train.py …" with it; a report names one, which is asked about.',
)
@click.option("--unsafe", is_flag=True, help="Also fixes that guess what is meant, or that stop training something.")
@click.option("--ask", is_flag=True, help="Ask before each fix is written.")
@click.option("--select", multiple=True, metavar="CODES", help="Fix only these codes, for example GS103,GS2.")
@click.option("--ignore", multiple=True, metavar="CODES", help="Do not fix these codes.")
@click.option("--timeout", type=click.FloatRange(min=1), default=600.0, show_default=True, help="Seconds for one run.")
@click.option(
    "--max-steps",
    type=click.IntRange(min=1),
    default=None,
    help="End a run after so many optimizer steps. By default one that takes long ends some steps past the problem.",
)
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("-q", "--quiet", is_flag=True, help="Do not tell what is being tried.")
@click.option("--color", type=click.Choice(COLOR_CHOICES), default="auto", show_default=True)
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
    color: ColorChoice,
) -> int:
    """Show the edits that fix a program; prove them by running it; write them.

    PATHS are files and folders to be checked, or a report that `gradsan run --format json --output FILE.json` wrote.
    With --verify, the command is first run as it is, so that what only shows at run time is fixed too. What it writes
    meanwhile does not reach your files. Nothing is run without it, and nothing is written without --write. The status
    is 0 where nothing is left to fix, 1 where something is, 2 where the question makes no sense.
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
        color=color,
    )
    with ended_by_signals():
        return Fixing(wishes, progress=None if quiet else sys.stderr).run()

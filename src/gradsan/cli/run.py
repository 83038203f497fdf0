"""`gradsan run`: a program, run as `python` would run it, with its errors explained."""

import functools
import importlib.util
import os
from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from gradsan.cli.codes import completed_codes, completed_files, selection
from gradsan.cli.formats import FORMATS, Format
from gradsan.cli.output import UnwritableOutputError
from gradsan.cli.watching import FAIL_ON, FailOn, Reporting, Watching, collect_in
from gradsan.entry.as_python import (
    Module,
    Program,
    find_script,
    interpreter_options,
    run_program,
    start_without_us,
    started_anyway,
)
from gradsan.entry.screen import COLOR_CHOICES, ColorChoice, Style
from gradsan.errors import GradsanError, TorchMissingError
from gradsan.observe.guarding import attempt, is_ours
from gradsan.source.disk import NOTEBOOK


class _Run(click.Command):
    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What a shell offers; behind the program, everything is the program's own."""
        if ctx.params.get("named"):
            return [CompletionItem(incomplete, type="file")]
        return super().shell_complete(ctx, incomplete)


@click.command("run", cls=_Run, context_settings={"allow_interspersed_args": False})
@click.option("-m", "as_module", is_flag=True, help="Run a module by its name, as `python -m` does.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="Text for people, or a format for other programs.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="FILE|DIR/",
    help="Write the report to this file, not to stderr; or a JSON report of every rank to this folder.",
)
@click.option(
    "--select",
    multiple=True,
    metavar="CODES",
    shell_complete=completed_codes,
    help="Explain only these codes, for example GS103,GS2.",
)
@click.option(
    "--ignore", multiple=True, metavar="CODES", shell_complete=completed_codes, help="Do not explain these codes."
)
@click.option(
    "--include",
    multiple=True,
    metavar="PATTERN",
    help="Treat these files as your own code, even if they are among installed packages.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    help="Treat these files as library code: explanations do not point into them.",
)
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    default="never",
    show_default=True,
    help="End with status 1 if a problem of this level is found, even if the program itself does not fail.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print nothing if nothing is found.")
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Also print errors that the program caught, the path through the graph, and memory.",
)
@click.option(
    "--color",
    type=click.Choice(COLOR_CHOICES),
    default="auto",
    show_default=True,
    help="Colours: on a terminal, always, or never.",
)
@click.option(
    "--details",
    is_flag=True,
    help="Also put source, graph and timeline into a JSON report. An HTML page always has them.",
)
@click.argument("named", metavar="(SCRIPT | -m MODULE)", shell_complete=completed_files)
@click.argument("arguments", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED, shell_complete=completed_files)
def command(  # noqa: PLR0913 # one for each option
    *,
    as_module: bool,
    form: Format,
    output: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    fail_on: FailOn,
    quiet: bool,
    verbose: bool,
    color: ColorChoice,
    details: bool,
    named: str,
    arguments: tuple[str, ...],
) -> Callable[[], None]:
    """Run a program as `python` does, and explain its errors.

    Write options of gradsan before SCRIPT; everything after it belongs to the program. The exit status is the
    program's. An explanation is part of the exception, below its traceback; problems that raise no error are reported
    when the program ends. SCRIPT can be a notebook: its cells run in their order, through IPython.
    """
    wants = selection(select, ignore)
    if form == "html" and output is None:
        raise UnwritableOutputError("an HTML page cannot be printed here", "name a file with --output report.html")

    def arranged() -> Callable[[], None]:
        program = Module(named, arguments) if as_module else find_script(named, arguments)
        _demand_torch(program)
        folder = _folder(output, form)
        if folder is not None:
            collect_in(folder)
        reporting = Reporting(
            ("-m", named, *arguments) if as_module else tuple(program.argv),
            form=form,
            output=None if output is None or folder is not None else Path(output),
            quiet=quiet,
            style=Style(color, verbose),
            fail_on=fail_on,
            details=details,
        )
        watching = Watching(reporting, include=include, exclude=exclude, wants=wants, quiet=quiet)
        return functools.partial(run_program, program, prepare=watching.marked_main, around=watching)

    if named.endswith(NOTEBOOK) and not as_module:
        return arranged()  # nobody else could start it
    options = attempt(interpreter_options, lambda _: None) or []
    plainly = (*options, *(("-m",) if as_module else ()), named, *arguments)
    try:
        return functools.partial(started_anyway, arranged(), plainly)
    except GradsanError:
        raise
    except BaseException as error:
        if not is_ours(error):
            raise
        return functools.partial(start_without_us, plainly, error)


def _folder(output: str | None, form: Format) -> Path | None:
    """Where every process is to leave its report, if not one file is named."""
    if output is None or not (output.endswith(("/", os.sep)) or Path(output).is_dir()):
        return None
    if form not in ("text", "json"):
        raise UnwritableOutputError(f"{output!r} is a folder, for JSON reports alone", "name a file with --output")
    return Path(output)


def _demand_torch(program: Program) -> None:
    """Refuse where the program could not import torch, without the second that importing it takes."""
    spec = importlib.util.find_spec("torch") or PathFinder.find_spec("torch", [os.fspath(program.path0)])
    if spec is None or spec.origin is None:  # a mere folder called `torch` has no origin
        raise TorchMissingError("torch is not installed for this Python", "install it with `pip install torch`")

"""What people type, and what they mean: errors of the command line in one style, each with what to do."""

import difflib
from collections.abc import Sequence
from pathlib import Path

import click

from gradsan.errors import GradsanError

# Commands of other tools.
_MEANT = {
    "rule": "explain",
    "rules": "explain",
    "codes": "explain",
    "show": "explain",
    "lint": "check",
    "scan": "check",
    "analyze": "check",
    "test": "check",
    "format": "fix",
    "apply": "fix",
    "patch": "fix",
    "exec": "run",
    "python": "run",
    "watch": "check --watch",
}


class UnknownCommandError(GradsanError):
    """A command that gradsan does not have."""


def unknown_command(name: str, rest: Sequence[str], known: Sequence[str]) -> UnknownCommandError:
    """What to type instead."""
    if Path(name).exists() or name.endswith((".py", ".ipynb")):
        hint = f"`gradsan run {name}` runs a program, `gradsan check {name}` reads it"
        return UnknownCommandError(f"{name!r} is not a command", hint)
    near = difflib.get_close_matches(name, known, n=1)
    meant = _MEANT.get(name) or (near[0] if near else None)
    if meant is None:
        return UnknownCommandError(f"there is no command {name!r}", "`gradsan --help` lists the commands")
    return UnknownCommandError(
        f"there is no command {name!r}", f"did you mean `{' '.join(('gradsan', meant, *rest))}`?"
    )


def in_one_sentence(error: click.ClickException) -> str:
    """An error of click's as gradsan says its own: what is wrong, and what to do."""
    what = error.format_message().strip().rstrip(".")
    what = what[:1].lower() + what[1:]
    what = what.replace(". Did you mean", "; did you mean").replace(" Did you mean", "; did you mean")
    if not isinstance(error, click.UsageError) or error.ctx is None or "did you mean" in what:
        return what
    return f"{what}; `{error.ctx.command_path} --help` says more"

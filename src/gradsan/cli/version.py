"""Which gradsan this is."""

import click

from gradsan.cli.output import write
from gradsan.explanation.own_report import version


@click.command("version")
def command() -> None:
    """Print the version."""
    write(f"gradsan {version()}\n", None)

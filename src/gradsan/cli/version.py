"""Which gradsan this is."""

from importlib import metadata

import click

from gradsan.cli.output import write


def version() -> str:
    """The version of the installed package."""
    try:
        return metadata.version("gradsan")
    except metadata.PackageNotFoundError:  # run from a checkout
        return "unknown"


@click.command("version")
def command() -> None:
    """Print the version."""
    write(f"gradsan {version()}\n", None)

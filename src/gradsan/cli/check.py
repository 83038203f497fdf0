import click

from gradsan.errors import NotYetError


@click.command("check", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def command() -> None:
    """Find the same mistakes in source, without running it."""
    raise NotYetError(
        "checking source without running it is not part of this version yet", "`gradsan run SCRIPT` runs the program"
    )

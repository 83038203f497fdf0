import click

from gradsan.errors import NotYetError


@click.command("fix", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def command() -> None:
    """Show, apply and verify fixes."""
    raise NotYetError(
        "applying fixes is not part of this version yet", "`gradsan explain CODE` shows the fix of each cause"
    )

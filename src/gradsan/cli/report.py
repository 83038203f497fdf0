import click

from gradsan.errors import NotYetError


@click.command("report", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def command() -> None:
    """Make one page of one or many saved reports."""
    raise NotYetError(
        "making one page of reports is not part of this version yet", "`gradsan explain FILE.json` shows a saved report"
    )

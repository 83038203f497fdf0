"""`gradsan mcp`: an assistant runs, checks, explains and fixes, through the Model Context Protocol."""

from pathlib import Path

import click

from gradsan.plug.extras import needs


@click.command("mcp")
@click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path(),
    metavar="FOLDER",
    help="The project; nothing outside of it is read or written.  [default: the current folder]",
)
@click.option("--allow-write", is_flag=True, help="Let the assistant write fixes, and run programs that change files.")
def command(*, root: Path, allow_write: bool) -> None:
    """Serve an assistant: tools that run, check, explain and fix.

    It speaks the Model Context Protocol on stdin and stdout, and is started by the assistant: docs/assistants.md says
    how, and what it may do. Without --allow-write no file is changed, and programs are run in a sandbox. It needs
    `pip install 'gradsan[mcp]'`.
    """
    with needs("gradsan mcp", "mcp"):
        from gradsan.plug.mcp_tools import server_of

    server_of(root, may_write=allow_write).run()

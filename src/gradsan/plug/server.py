"""`gradsan server`: findings, fixes and explanations in an editor, through the Language Server Protocol."""

import click

from gradsan.plug.extras import needs


@click.command("server")
def command() -> None:
    """Serve an editor: findings while you type, fixes, explanations.

    It speaks the Language Server Protocol on stdin and stdout, and is started by the editor: docs/editors.md says how.
    It reads, and runs nothing. It needs `pip install 'gradsan[lsp]'`.
    """
    with needs("gradsan server", "lsp"):
        from gradsan.plug.lsp_features import connected

    connected().start_io()

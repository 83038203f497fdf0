"""`gradsan completion`: the script by which a shell completes commands, options and codes."""

import click
from click.shell_completion import get_completion_class

from gradsan.cli.output import write

_SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print a script that lets a shell complete commands and codes.

    \b
    bash:  eval "$(gradsan completion bash)"      in ~/.bashrc
    zsh:   eval "$(gradsan completion zsh)"       in ~/.zshrc, below compinit
    fish:  gradsan completion fish | source       in ~/.config/fish/config.fish
    """  # noqa: D301 # the letter itself: click then keeps the lines below it
    found = get_completion_class(shell)
    assert found is not None  # noqa: S101 # click has these three
    script = found(ctx.find_root().command, {}, "gradsan", "_GRADSAN_COMPLETE")
    # click's script for fish would cut a list of codes, and a description, at its first comma.
    template = script.source_template.replace('string split ","', 'string split --max 1 ","')
    write(template % script.source_vars(), None)

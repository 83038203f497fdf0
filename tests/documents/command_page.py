"""The page `docs/commands.md`: every command with its options, as the commands themselves have them."""

import inspect
from collections.abc import Iterator

import click

from gradsan.cli import every_command

_HEAD = """\
# The commands

This page is made from the commands; `gradsan COMMAND --help` prints the same. Terms such as *step*, *graph* and *saved
values* are explained in [Getting started](getting-started.md#terms).

| status | means |
|---|---|
| 0 | nothing was found, or all that was asked for is done; of `gradsan run`: the program ended so |
| 1 | something was found, or is left to fix; of `gradsan run`: the program ended so, or `--fail-on` asks for it |
| 2 | the command could not be carried out; one sentence on stderr says why, and what to do |
"""


def commands_page() -> str:
    """All of it."""
    root = click.Context(every_command, info_name="gradsan")
    names = every_command.list_commands(root)
    found = [(name, every_command.get_command(root, name)) for name in names]
    return _HEAD + "".join(_section(name, command, root) for name, command in found if command is not None)


def _section(name: str, command: click.Command, root: click.Context) -> str:
    context = click.Context(command, info_name=name, parent=root)
    usage = " ".join(("gradsan", name, *command.collect_usage_pieces(context)))
    text = f"\n## `gradsan {name}`\n\n    {usage}\n\n{_prose(command.help or '')}\n"
    rows = list(_rows(command, context))
    if rows:
        text += "\n| option | what it does |\n|---|---|\n" + "".join(rows)
    return text


def _prose(text: str) -> str:
    """Paragraphs on one line each; one that click keeps as it is, as code."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(
        "\n".join(f"    {line.strip()}" for line in each.splitlines()[1:])
        if each.startswith("\b")
        else " ".join(each.split())
        for each in paragraphs
    )


def _rows(command: click.Command, context: click.Context) -> Iterator[str]:
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if isinstance(param, click.Option) and param.name != "help" and record is not None:
            names, said = record
            yield f"| `{_cell(names)}` | {_cell(said)} |\n"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())

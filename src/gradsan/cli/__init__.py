"""The command line: one file a command, loaded when it is asked for, so that each starts fast."""

import importlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import click

from gradsan.cli.hints import in_one_sentence, unknown_command
from gradsan.cli.output import say
from gradsan.errors import GradsanError, own_fault
from gradsan.observe.hidden_frames import hidden

# In the order of the help page, each with the room that it lies in.
_COMMANDS = {
    "run": "cli",
    "check": "cli",
    "fix": "cli",
    "explain": "cli",
    "report": "cli",
    "attach": "cli",
    "server": "plug",
    "mcp": "plug",
    "completion": "cli",
    "version": "cli",
}
_BROKEN_PIPE = 1  # click's own status for it, and the one Python's documentation advises


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- likewise
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"gradsan.{_COMMANDS[cmd_name]}.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant, or what to type instead."""
        if args[0] not in _COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise unknown_command(args[0], args[1:], tuple(_COMMANDS))
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "-V", "--version", package_name="gradsan", message="%(prog)s %(version)s")
def every_command() -> None:
    """Explain and fix errors of PyTorch's backward().

    When a backward pass fails, gradsan says which variable is the cause, where its graph was created and freed, and
    what to change. It also finds mistakes that raise no error, and finds both in source files before anything runs.
    """


@hidden
def main() -> None:
    """Do what the command line asks; the status of the process says how it went.

    A program to run is started only when click has let go of everything: whatever ends the program reaches the
    interpreter as it is, and none of click's frames stands above the program's.
    """
    arguments = sys.argv[1:]
    program = _obey([*arguments[1:2], "--help"] if arguments[:1] == ["help"] else arguments)
    if program is not None:
        program()


def _obey(arguments: list[str]) -> Callable[[], None] | None:
    """What is left to do when click is done: the program that `gradsan run` was asked to start, or nothing."""
    with _open_streams():
        left = _answered(arguments)
    if isinstance(left, int):  # click answers `--help` and `--version` with a status
        sys.exit(left)
    return left if callable(left) else None


@contextmanager
def _open_streams() -> Iterator[None]:
    """Streams for the command's own use, where it was started without; a program to run is to find none."""
    missing = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name) is None]
    for name in missing:
        setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: PTH123, SIM115 # closed below
    try:
        yield
    finally:
        for name in missing:
            getattr(sys, name).close()
            setattr(sys, name, None)


def _answered(arguments: list[str]) -> object:
    """What the command answers; whatever goes wrong ends the process with one sentence and its status."""
    try:
        left = every_command.main(arguments, prog_name="gradsan", standalone_mode=False)
        sys.stdout.flush()  # here, where a closed pipe can still be answered
    except GradsanError as error:
        say(sys.stderr, str(error))
        sys.exit(error.exit_status)
    except click.ClickException as error:
        if isinstance(error, click.exceptions.NoArgsIsHelpError):
            error.show()
        else:
            say(sys.stderr, in_one_sentence(error))
        sys.exit(error.exit_code)
    except click.Abort:
        _die_of_interrupt()
    except BrokenPipeError:
        _leave_broken_pipe()
    except Exception as error:  # noqa: BLE001 # status 1 means that something was found
        say(sys.stderr, own_fault(error))
        sys.exit(GradsanError.exit_status)
    return left


def _die_of_interrupt() -> NoReturn:
    """End as the shell expects of Ctrl-C: by the signal itself, so that a loop around the command ends too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.raise_signal(signal.SIGINT)
    sys.exit(130)


def _leave_broken_pipe() -> NoReturn:
    """End quietly when the reader (`head`, a pager) has gone, and keep the interpreter's last flush quiet too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(_BROKEN_PIPE)

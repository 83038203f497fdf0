"""The command line: one file a command, loaded when it is asked for, so that each starts fast."""

import importlib
import os
import signal
import sys
from collections.abc import Callable
from io import StringIO
from typing import NoReturn

import click

from gradsan.cli.output import say
from gradsan.errors import GradsanError, own_fault
from gradsan.observe.hidden_frames import hidden
from gradsan.show.harmless import neutral

_COMMANDS = ("run", "check", "fix", "explain", "report")  # in the order of the help page
_BROKEN_PIPE = 1  # click's own status for it, and the one Python's documentation advises


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- likewise
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"{__name__}.{cmd_name}").command
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "-V", "--version", package_name="gradsan", message="%(prog)s %(version)s")
def _gradsan() -> None:
    """A sanitizer for PyTorch's autograd graph.

    It says who freed the graph, where it was made, what carried it from there to here, and how to fix it.
    """


@hidden
def main() -> None:
    """Do what the command line asks; the status of the process says how it went.

    A program to run is started only when click has let go of everything: whatever ends the program reaches the
    interpreter as it is, and none of click's frames stands above the program's.
    """
    program = _obey(sys.argv[1:])
    if program is not None:
        program()


def _obey(arguments: list[str]) -> Callable[[], None] | None:
    """What is left to do when click is done: the program that `gradsan run` was asked to start, or nothing."""
    try:
        left = _gradsan.main(arguments, prog_name="gradsan", standalone_mode=False)
        sys.stdout.flush()  # here, where a closed pipe can still be answered
    except GradsanError as error:
        say(sys.stderr, str(error))
        sys.exit(error.exit_status)
    except click.ClickException as error:
        usage = StringIO()
        error.show(usage)
        sys.stderr.write(neutral(usage.getvalue(), lines=True))
        sys.exit(error.exit_code)
    except click.Abort:
        _die_of_interrupt()
    except BrokenPipeError:
        _leave_broken_pipe()
    except Exception as error:  # noqa: BLE001 # status 1 means that something was found
        say(sys.stderr, own_fault(error))
        sys.exit(GradsanError.exit_status)
    if isinstance(left, int):  # click answers `--help` and `--version` with a status
        sys.exit(left)
    return left if callable(left) else None


def _die_of_interrupt() -> NoReturn:
    """End as the shell expects of Ctrl-C: by the signal itself, so that a loop around the command ends too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.raise_signal(signal.SIGINT)
    sys.exit(130)


def _leave_broken_pipe() -> NoReturn:
    """End quietly when the reader (`head`, a pager) has gone, and keep the interpreter's last flush quiet too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(_BROKEN_PIPE)

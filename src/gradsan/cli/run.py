"""`gradsan run`: a program, run as `python` would run it."""

import functools
import importlib.util
import os
from collections.abc import Callable
from importlib.machinery import PathFinder

import click

from gradsan.cli.program import Module, Program, find_script, run_program
from gradsan.errors import TorchMissingError


@click.command("run", context_settings={"allow_interspersed_args": False})
@click.option("-m", "as_module", is_flag=True, help="Run a module by its name, as `python -m` does.")
@click.argument("named", metavar="(SCRIPT | -m MODULE)")
@click.argument("arguments", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED)
def command(*, as_module: bool, named: str, arguments: tuple[str, ...]) -> Callable[[], None]:
    """Run a program exactly as `python` does.

    Options of gradsan stand before SCRIPT; all that follows it is the program's own. The exit status is the program's.
    """
    program = Module(named, arguments) if as_module else find_script(named, arguments)
    _demand_torch(program)
    return functools.partial(run_program, program)


def _demand_torch(program: Program) -> None:
    """Refuse where the program could not import torch, without the second that importing it takes."""
    spec = importlib.util.find_spec("torch") or PathFinder.find_spec("torch", [os.fspath(program.path0)])
    if spec is None or spec.origin is None:  # a mere folder called `torch` has no origin
        raise TorchMissingError("torch is not installed for this Python", "install it with `pip install torch`")

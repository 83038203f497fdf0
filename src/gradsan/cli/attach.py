"""`gradsan attach`: explain and watch a program that is running already, where the interpreter allows it (PEP 768)."""

import os
import sys
import tempfile
from pathlib import Path

import click

from gradsan.errors import GradsanError

# It is run by the other process, between two lines of its main thread; what it cannot do, it says on that one's stderr.
_SCRIPT = """\
import contextlib, os, sys
with contextlib.suppress(OSError):
    os.unlink({script!r})
try:
    import gradsan
except ImportError:
    sys.path.append({home!r})
    import gradsan
gradsan.install(budget={budget!r})
sys.stderr.write("gradsan: errors are explained from here on, and silent problems go to the logger `gradsan`\\n")
"""


class NoAttachingError(GradsanError):
    """A process that cannot be attached to."""


@click.command("attach")
@click.argument("pid", type=click.IntRange(1))
@click.option(
    "--budget", default="0.5%", show_default=True, metavar="SHARE", help="How much of its time watching may take."
)
def command(*, pid: int, budget: str) -> None:
    """Explain and watch a program that is running already.

    PID is the number of its process, which must run Python 3.14 or later, as gradsan must. It goes on as before; from
    then on its errors are explained, and problems that raise no error go to its logger `gradsan`, or to its stderr.
    """
    from gradsan.entry.production import share_of

    share_of(budget)
    attach = getattr(sys, "remote_exec", None)
    if attach is None:
        raise NoAttachingError(
            f"Python {sys.version_info[0]}.{sys.version_info[1]} cannot attach to a running program (3.14 can)",
            "call `gradsan.install(budget=...)` in the program, or start it with `gradsan run`",
        )
    script = _written(budget)
    try:
        attach(pid, str(script))
    except (OSError, RuntimeError) as error:
        script.unlink()
        raise NoAttachingError(
            f"cannot attach to process {pid} ({error})", "it must run the same Python, and be yours"
        ) from None


def script_for(budget: str, script: str) -> str:
    """What the other process is to run, from this file."""
    return _SCRIPT.format(home=str(Path(__file__).resolve().parents[2]), budget=budget, script=script)


def _written(budget: str) -> Path:
    """A file that the other process removes: nobody else knows when it is read."""
    handle, name = tempfile.mkstemp(prefix="gradsan-attach-", suffix=".py")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(script_for(budget, name))
    Path(name).chmod(0o644)  # the other process may belong to another user
    return Path(name)

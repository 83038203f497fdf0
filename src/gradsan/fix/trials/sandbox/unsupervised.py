"""A trial where processes cannot be supervised, as on Windows: in a copy, and ended as far as the system lets us."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from gradsan.fix.trials.sandbox.copies import copy_project
from gradsan.fix.trials.sandbox.plans import Ended, Plan


@contextmanager
def unsupervised(plan: Plan, *, seconds: float) -> Iterator[Ended]:
    """The trial, over; within the block its notes and its copy are there."""
    try:
        plan.notes.mkdir(parents=True)
        copy_project(plan.root, plan.work, plan.changed)
        yield _run(plan, seconds) if plan.command else Ended(0, "")
    finally:
        shutil.rmtree(plan.folder, ignore_errors=True)


def _run(plan: Plan, seconds: float) -> Ended:
    process = subprocess.Popen(  # noqa: S602 # the user's own command, as they would type it
        plan.command,
        shell=True,
        cwd=plan.work,
        env=dict(plan.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
        return Ended(None, said.decode(errors="replace"))
    except BaseException:
        process.kill()
        process.wait()
        raise
    return Ended(process.returncode, said.decode(errors="replace"))

"""The process that owns a trial: its folder, its file system and all that it starts.

It ends when the pipe from `gradsan fix` is closed, and takes everything with it. So whatever becomes of that one, be it
that it is killed, nothing of a trial is left: neither a process nor a file.
"""

import json
import os
import select
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from gradsan.fix.trials.sandbox import kernel
from gradsan.fix.trials.sandbox.copies import copy_project
from gradsan.fix.trials.sandbox.layers import Layers
from gradsan.fix.trials.sandbox.plans import Plan

_PIPE, _ANSWERS, _OUTPUT = 0, 1, 2  # from `gradsan fix`; to it; what the program prints
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_BROKEN = 70  # the status of a child of ours that failed at its own work
_IS_LINUX = sys.platform == "linux"
_groups: list[int] = []  # of processes that were started without a file system of their own


class _EndedError(Exception):
    """Nobody waits for this trial any more."""


class _FailedError(Exception):
    """The trial cannot be made; the text says why."""


def main() -> None:
    """Own one trial, from the plan that the pipe brings until the pipe is closed."""
    with _attentive() as events, suppress(_EndedError, BrokenPipeError):
        plan = Plan.decoded(events.line())
        try:
            _say(**_tried(plan, events))
            events.until_closed()
        finally:
            _end_all()
            _remove(plan.folder)


def _tried(plan: Plan, events: "_Events") -> dict[str, int | str]:
    """How the program ended, or why it could not be started."""
    if _IS_LINUX:
        kernel.adopt_orphans()
    try:
        plan.folder.mkdir(mode=0o700)
        plan.notes.mkdir()
        child = _enclosed(plan, events) if plan.layers else _beside(plan)
        status = events.status_of(child)
        _end_all()  # what the program has left running
    except (_FailedError, OSError) as error:
        return {"failed": str(error)}
    return {"status": status}


def _beside(plan: Plan) -> int:
    """The program in a copy of its directory."""
    copy_project(plan.root, plan.work, plan.changed)
    child = _forked(lambda: _start(plan))
    _groups.append(child)
    return child


def _enclosed(plan: Plan, events: "_Events") -> int:
    """The program over a file system of its own, and where that can be had, among processes of its own."""
    why = ""
    for processes in (kernel.NEW_PROCESSES, 0):
        reading, writing = os.pipe()
        child = _forked(lambda what=processes, to=writing: _enclose(plan, what, to))  # type: ignore[misc] # bound now
        os.close(writing)
        with os.fdopen(reading, "rb") as answer:
            why = answer.read().decode()
        if not why:
            return child
        events.status_of(child)
        for name in ("root", "writes", "memory", "empty"):
            _remove(plan.folder / name)
    raise _FailedError(why)


def _enclose(plan: Plan, processes: int, ready: int) -> int:
    """A process in namespaces of its own, which lives as long as the first one in there does."""
    kernel.die_with_parent(signal.SIGKILL)
    user, group = os.getuid(), os.getgid()
    try:
        of_user = _unshare(kernel.NEW_MOUNTS | processes)
        if of_user:
            kernel.become_owner_of_new_user_namespace(user, group)
        kernel.mount("none", "/", flags=kernel.PRIVATE | kernel.RECURSIVE)
    except OSError as error:
        os.write(ready, str(error).encode(errors="replace"))
        return _BROKEN
    first = _forked(lambda: _live(plan, ready, of_user=of_user, sees_own=bool(processes)))
    os.close(ready)
    return _exit_status(os.waitpid(first, 0)[1])


def _unshare(what: int) -> bool:
    """Whether it took a user namespace, as it does for everybody but the administrator."""
    try:
        kernel.unshare(what)
    except PermissionError:
        kernel.unshare(what | kernel.NEW_USER)
        return True
    return False


def _live(plan: Plan, ready: int, *, of_user: bool, sees_own: bool) -> int:
    """The first process in there: it builds the file system, starts the program, and buries orphans until that ends."""
    kernel.die_with_parent(signal.SIGKILL)
    try:
        layers = Layers(plan.folder, of_user=of_user)
        layers.build(_mount_processes if sees_own else _show_processes)
        for name, content in plan.changed.items():
            layers.write(str(plan.root / name), content)
        layers.show(plan.notes)
        layers.enter()
    except Exception as error:  # noqa: BLE001 # whatever it is, another way is tried
        os.write(ready, (str(error) or repr(error)).encode(errors="replace"))
        return _BROKEN
    os.close(ready)
    program = _forked(lambda: _start(plan))
    while True:
        ended, status = os.wait()
        if ended == program:
            return _exit_status(status)


def _mount_processes(path: str) -> None:
    kernel.mount("proc", path, "proc")


def _show_processes(path: str) -> None:
    kernel.bind("/proc", path)


def _start(plan: Plan) -> NoReturn:
    """Become the program."""
    os.setsid()
    os.dup2(_OUTPUT, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(plan.work)
    for name in ("SIGPIPE", "SIGXFSZ"):  # which Python ignores, and programs expect
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    shell = ["sh", "-c", plan.command or ":"]
    os.execve("/bin/sh", shell, dict(plan.environment))  # noqa: S606 # the user's own command, as they would type it


def _forked(act: Callable[[], int]) -> int:
    """A child that does this, and ends with the status that it returns."""
    child = os.fork()
    if child:
        return child
    status = _BROKEN
    try:
        signal.set_wakeup_fd(-1)
        for each in (*_ENDING, signal.SIGCHLD):
            signal.signal(each, signal.SIG_DFL)
        status = act()
    except BaseException:  # noqa: BLE001 # it must not come out in the parent's code
        traceback.print_exc()
    finally:
        os._exit(status)


def _exit_status(status: int) -> int:
    """As a shell has it: 128 and more for signals."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _end_all() -> None:
    """Kill all children; on Linux, theirs become ours when they end."""
    while True:
        for child in _children():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        for group in _groups:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children() -> Iterator[int]:
    """Those of this process, where the kernel lists processes."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            _, _, after_name = stat.read_bytes().rpartition(b") ")
            if int(after_name.split()[1]) == os.getpid():
                yield int(stat.parent.name)


def _remove(folder: Path) -> None:
    """Also what nobody is allowed to look into."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, folders, _ in os.walk(folder):
        for name in folders:
            with suppress(OSError):
                (Path(path) / name).chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _say(**reported: int | str) -> None:
    os.write(_ANSWERS, json.dumps(reported).encode() + b"\n")


class _Events:
    """What this process waits for: its pipe, its children, signals."""

    def __init__(self, signals: int) -> None:
        self._signals = signals  # a pipe that says of each signal that it came

    def line(self) -> bytes:
        """The next line from the pipe."""
        text = b""
        while not text.endswith(b"\n"):
            if self._wait():
                text += self._read()
        return text

    def status_of(self, child: int) -> int:
        """How a child ends."""
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return _exit_status(status)
            if self._wait():
                self._read()

    def until_closed(self) -> NoReturn:
        """Until nobody waits any more."""
        while True:
            if self._wait():
                self._read()

    def _wait(self) -> bool:
        """Until something happens; whether it happened to the pipe."""
        ready, _, _ = select.select([_PIPE, self._signals], [], [])
        if self._signals in ready and any(number in _ENDING for number in os.read(self._signals, 512)):
            raise _EndedError
        return _PIPE in ready

    @staticmethod
    def _read() -> bytes:
        text = os.read(_PIPE, 1 << 20)
        if not text:
            raise _EndedError
        return text


@contextmanager
def _attentive() -> Iterator[_Events]:
    """Signals end nothing by themselves: they are read from a pipe, where it is safe."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for each in (*_ENDING, signal.SIGCHLD):
        signal.signal(each, lambda _number, _frame: None)
    yield _Events(reading)

"""Imports torch when the first program is asked for, and makes a copy of itself for each."""

import ctypes
import fcntl
import importlib
import marshal
import os
import pkgutil
import select
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from forking.modules import Moment, Shelf
from forking.program import Starting

# The second brings what the first optimizer brings along, and takes as long as torch itself.
LIBRARIES = ["torch", "torch._dynamo", "torch.utils.data", "rich.console", "rich.text", "msgspec"]
_OUT_OF_THE_WAY = 400  # of the numbers that a program's files have
_NAMESPACES = (0x10000000, 0x00020000, 0x20000000)  # of the user, of mounts, of processes


def main(listening: str, python: str) -> None:
    """Serve until standard input is closed, as it is when the tests are over, however they end."""
    real, sys.executable = sys.executable, python
    listener = socket.socket(fileno=int(listening))
    if sys.stdin in select.select([listener, sys.stdin], [], [])[0]:  # before anybody needed it
        return
    _import_all()
    while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
        link, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _attend(link, real)
            os._exit(0)
        link.close()
        with suppress(ChildProcessError):  # so that their time counts as the tests'
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _import_all() -> None:
    before = Moment()
    sys.dont_write_bytecode = False  # as programs see it is settled when they start; those that start cold read ours
    with suppress(ImportError):  # a Python without torch has other programs to run
        for name in LIBRARIES:
            importlib.import_module(name)
    import gradsan

    # What plugs into other tools would bring them along, which programs load after gradsan.
    for module in pkgutil.walk_packages(gradsan.__path__, "gradsan."):
        with suppress(ImportError):
            if not module.name.endswith("__main__") and not module.name.startswith("gradsan.plug."):
                importlib.import_module(module.name)
    tempfile.tempdir = None  # which somebody has asked for, and TMPDIR decides
    shelf = Shelf(before)
    shelf.keep_to_the_end()
    shelf.put_away()


def _attend(link: socket.socket, real: str) -> None:
    """Start the program that is asked for, pass on signals, say how it ended; end it if nobody wants to know."""
    head, received, _, _ = socket.recv_fds(link, 4, 253)
    link = socket.socket(fileno=fcntl.fcntl(link.detach(), fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY))
    with link.makefile("rb", buffering=0) as stream:
        request = b""
        while len(request) < int.from_bytes(head, "big"):
            request += stream.read(int.from_bytes(head, "big") - len(request)) or b""
    arguments, variables, files, mask = marshal.loads(request)  # noqa: S302 # from our own client
    *places, root, here = (fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY) for each in received[:5])
    opened = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY) for each in received[5:]]
    for each, number in zip(opened, files, strict=True):
        os.dup2(each, number)
    first = _enter(places)
    os.fchdir(root)
    if not Path().samefile("/"):
        os.chroot(".")
    os.fchdir(here)
    os.umask(mask)
    program = Starting(real, arguments, variables, files).fork(first)
    for number in files:
        os.close(number)
    for each in opened:
        os.close(each)
    status = _ended(program, link)
    with suppress(OSError):
        link.sendall(status.to_bytes(4, "big", signed=True))


def _enter(places: list[int]) -> list[Callable[[], object]]:
    """The namespaces of whoever asks, but for the one of processes: what is returned has a thread's children there."""
    library = ctypes.CDLL(None)
    own = [Path(f"/proc/self/ns/{name}").stat() for name in ("user", "mnt", "pid")]  # gone when the first is entered
    others = [
        partial(library.setns, place, kind)
        for kind, known, place in zip(_NAMESPACES, own, places, strict=True)
        if not os.path.samestat(os.fstat(place), known)
    ]
    later = [each for each in others if each.args[1] == _NAMESPACES[-1]]
    for each in others:
        if each not in later and each() != 0:
            raise OSError("no way into a namespace")
    return list(later)


def _ended(program: int, link: socket.socket) -> int:
    """How the program ended; meanwhile, signals are passed on."""
    process = os.pidfd_open(program)
    while process not in select.select([process, link.fileno()], [], [])[0]:
        asked = link.recv(1)
        with suppress(ProcessLookupError):
            if not asked:
                os.killpg(program, signal.SIGKILL)
                break
            os.kill(program, asked[0])
    return os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])

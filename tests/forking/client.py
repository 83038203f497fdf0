"""What tests start as `python`: asks the fork server for a program and ends as that ends.

It imports only what is built into the interpreter: all else would take longer than the rest of its work.
"""

import _signal  # type: ignore[import-not-found] # as below
import _socket
import marshal
import posix
import sys

# Settings of the interpreter, or of what the server has imported, that a copy of the server would not follow.
FOLLOWED = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONWARNINGS"}
READ_AT_IMPORT = ("PYTHON", "TORCHDYNAMO_", "TORCH_", "OMP_", "MKL_", "ATEN_", "LD_", "MALLOC_")
FORWARDED = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP, _signal.SIGUSR1, _signal.SIGUSR2, _signal.SIGALRM)
NAMESPACES = ("user", "mnt", "pid")


def main() -> None:
    """Called with the real interpreter, the server's address, its variables, and what Python is called with."""
    real, address, own, *arguments = sys.argv[1:]
    link = connected(address) if can_be_forked(arguments, marshal.loads(bytes.fromhex(own))) else None  # noqa: S302 # from `starting.py`
    if link is None:
        posix.execv(real, [real, *arguments])  # the real thing
    files = [int(name) for name in posix.listdir("/proc/self/fd")]
    inherited = [number for number in files if number != link.fileno() and is_open(number)]
    places = [posix.open(f"/proc/self/ns/{name}", posix.O_RDONLY) for name in NAMESPACES]
    places += [posix.open(name, posix.O_RDONLY) for name in ("/", ".")]
    mask = posix.umask(0o22)
    request = marshal.dumps((arguments, dict(posix.environ), inherited, mask))
    handles = b"".join(number.to_bytes(4, sys.byteorder) for number in [*places, *inherited])
    for each in FORWARDED:
        _signal.signal(each, lambda number, _: link.send(bytes([number])))
    link.sendmsg([len(request).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handles)])
    link.sendall(request)
    leave(link.recv(4))


def can_be_forked(arguments: "list[str]", own: "dict[bytes, bytes]") -> bool:
    """Whether a copy of the server would do the same as an interpreter that is started so."""
    if not all(is_open(number) and not posix.isatty(number) for number in range(3)):
        return False
    for name in {*posix.environ, *own}:
        word = name.decode(errors="replace")
        if word.startswith(READ_AT_IMPORT) and word not in FOLLOWED and posix.environ.get(name) != own.get(name):
            return False
    if posix.environ.get(b"PYTHONHASHSEED", b"0") != b"0":
        return False
    return has_known_options(arguments)


def has_known_options(arguments: "list[str]") -> bool:
    """Whether there is a program, with no other options before it than `-B` and `-W`."""
    rest = list(arguments)
    while rest and rest[0] in ("-B", "-W"):
        del rest[: 2 if rest[0] == "-W" else 1]
    return bool(rest) and (rest[0] == "-c" or rest[0].startswith("-m") or exists(rest[0]))


def connected(address: str) -> "_socket.socket | None":
    """The server, where there is one."""
    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        link.connect("\0" + address)
    except OSError:
        return None
    return link


def exists(name: str) -> bool:
    """Whether a script is there; options are not."""
    try:
        posix.stat(name)
    except OSError:
        return False
    return not name.startswith("-")


def is_open(number: int) -> bool:
    """Whether a file descriptor leads somewhere."""
    try:
        posix.fstat(number)
    except OSError:
        return False
    return True


def leave(answer: bytes) -> None:
    """End as the program did; where nobody knows how that was, as if it had been killed."""
    status = int.from_bytes(answer, "big", signed=True) if answer else -_signal.SIGKILL
    if status >= 0:
        posix._exit(status)  # noqa: SLF001 # nothing is left to do
    if -status != _signal.SIGKILL:
        _signal.signal(-status, _signal.SIG_DFL)
    posix.kill(posix.getpid(), -status)


main()

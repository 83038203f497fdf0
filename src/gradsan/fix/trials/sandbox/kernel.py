"""The few calls of Linux that Python 3.11 has no names for."""

import ctypes
import os
from functools import cache
from pathlib import Path

NEW_MOUNTS, NEW_USER, NEW_PROCESSES = 0x00020000, 0x10000000, 0x20000000  # CLONE_NEWNS, _NEWUSER, _NEWPID

BIND, MOVE, RECURSIVE, PRIVATE = 0x1000, 0x2000, 0x4000, 0x40000  # MS_BIND, MS_MOVE, MS_REC, MS_PRIVATE
READ_ONLY, REMOUNT = 0x1, 0x20  # MS_RDONLY, MS_REMOUNT
_KEPT = 0x2 | 0x4 | 0x8 | 0x400 | 0x800  # nosuid, nodev, noexec, noatime, nodiratime: a remount must not take them away

_SET_DEATH_SIGNAL, _SET_SUBREAPER = 1, 36  # PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER


def unshare(what: int) -> None:
    """Leave namespaces that are shared with others for new ones."""
    _call("unshare", what)


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Attach a file system."""
    _call("mount", *(os.fsencode(each) for each in (source, target, kind)), ctypes.c_ulong(flags), os.fsencode(options))


def bind(source: str, target: str, *, read_only: bool = False) -> None:
    """Have what stands at `source`, with all that is mounted below it, at `target` too."""
    mount(source, target, flags=BIND | RECURSIVE)
    if read_only:
        kept = os.statvfs(target).f_flag & _KEPT
        mount("", target, flags=BIND | REMOUNT | READ_ONLY | kept)


def unmount(target: str) -> None:
    """Take it away again."""
    _call("umount2", os.fsencode(target), 0)


def die_with_parent(signal: int) -> None:
    """Be sent this signal when the process that started this one is gone."""
    _call("prctl", _SET_DEATH_SIGNAL, signal, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent ends."""
    _call("prctl", _SET_SUBREAPER, 1, 0, 0, 0)


def become_owner_of_new_user_namespace(user: int, group: int) -> None:
    """After `unshare(NEW_USER)`: be the same user and group inside as outside."""
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: object) -> None:
    if getattr(_library(), name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")

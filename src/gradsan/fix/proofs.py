"""Proofs that were made, kept for the user: `--write` after a proof of the same program need not prove it again.

They lie in the user's own cache, not in the project: nobody who sends a project can send proofs along.
"""

import hashlib
import os
import sys
import tempfile
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeVar

import msgspec

import gradsan
from gradsan.fix.snapshot import Snapshot

_MOST = 50  # proofs that are kept
T = TypeVar("T")


def name_of(snapshot: Snapshot, *asked: object) -> str:
    """A name for all that a proof depends on: the project, what is asked of it, and who answers."""
    variables = [os.environ.get(name) for name in ("PYTHONPATH", "PYTHONHASHSEED", "CUDA_VISIBLE_DEVICES")]
    return snapshot.digest(str(snapshot.root), repr(asked), repr(variables), sys.version, _torch(), _own_source())


def kept(name: str, kind: type[T]) -> T | None:
    """What was kept under that name; None where there is nothing that can be trusted."""
    try:
        folder = _folder()
        if not _is_ours(folder):
            return None
        handle = os.open(folder / f"{name}.json", os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(handle, "rb") as file:
            return msgspec.json.decode(file.read(), type=kind)
    except (OSError, msgspec.MsgspecError):
        return None


def keep(name: str, proof: object) -> None:
    """Keep it under that name; where that is not possible, it is proved again another time."""
    with suppress(OSError):
        folder = _folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_ours(folder):
            return
        handle, unfinished = tempfile.mkstemp(dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.encode(proof))
            Path(unfinished).replace(folder / f"{name}.json")
        finally:
            Path(unfinished).unlink(missing_ok=True)
        for old in sorted(folder.iterdir(), key=lambda each: -each.lstat().st_mtime)[_MOST:]:
            old.unlink()


def _folder() -> Path:
    """In the user's cache; an error of the system's where there is none."""
    own, usual = ("LOCALAPPDATA", "~/AppData/Local") if sys.platform == "win32" else ("XDG_CACHE_HOME", "~/.cache")
    home = Path(os.environ.get(own) or os.path.expanduser(usual))  # noqa: PTH111 # which raises where there is no home
    if not home.is_absolute():
        raise FileNotFoundError(home)
    return home / "gradsan" / "proofs"


def _is_ours(folder: Path) -> bool:
    """A folder, not a link to one, that this user owns."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    is_owner = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return folder.is_dir() and not folder.is_symlink() and is_owner


def _torch() -> str:
    try:
        return version("torch")
    except PackageNotFoundError:
        return ""


def _own_source() -> str:
    """A name for this version of gradsan."""
    whole = hashlib.blake2b(digest_size=16)
    for file in sorted(Path(gradsan.__file__).parent.rglob("*.py")):
        whole.update(file.read_bytes())
    return whole.hexdigest()

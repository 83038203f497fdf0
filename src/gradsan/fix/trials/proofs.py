"""Proofs that were made, kept for the user: `--write` after a proof of the same program need not prove it again.

They lie in the user's own cache, not in the project: nobody who sends a project can send proofs along.
"""

import hashlib
import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeVar

import gradsan
from gradsan import user_cache
from gradsan.fix.trials.snapshot import Snapshot

T = TypeVar("T")


def name_of(snapshot: Snapshot, *asked: object) -> str:
    """A name for all that a proof depends on: the project, what is asked of it, and who answers."""
    variables = [os.environ.get(name) for name in ("PYTHONPATH", "PYTHONHASHSEED", "CUDA_VISIBLE_DEVICES")]
    return snapshot.digest(str(snapshot.root), repr(asked), repr(variables), sys.version, _torch(), _own_source())


def kept(name: str, kind: type[T]) -> T | None:
    """What was proved under that name; None where there is nothing that can be trusted."""
    return user_cache.kept("proofs", name, kind)


def keep(name: str, proof: object) -> None:
    """Keep it under that name; where that is not possible, it is proved again another time."""
    user_cache.keep("proofs", name, proof)


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

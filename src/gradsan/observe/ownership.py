"""Which files are the user's own, and not a library's."""

import linecache
import os
import sys
import sysconfig
from collections.abc import Iterable
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path

_LIBRARY_FOLDERS = frozenset({"site-packages", "dist-packages"})

# Sources that programs generate and register with `linecache`, but that nobody wrote.
_GENERATED = ("<string>", "<frozen", "<attrs generated", "<eval_with_key", "<torch_package", "<__array_function__")

_OWN_PACKAGE = f"{Path(__file__).resolve().parents[1]}{os.sep}"


class Ownership:
    """Distinguishes the user's files from everything else; each file is decided once.

    The user's are all but the standard library, what is installed under site-packages or dist-packages, torch
    wherever it lies, and gradsan itself. Code without a file (`<stdin>`, a notebook's cell, a doctest) is the user's
    if its source can be shown.

    `include` and `exclude` are path prefixes or globs; `include` wins over the rules above, `exclude` over all.
    """

    def __init__(self, *, include: Iterable[str] = (), exclude: Iterable[str] = ()) -> None:
        self._include = tuple(map(_pattern, include))
        self._exclude = tuple(map(_pattern, exclude))
        self._libraries = _library_prefixes()
        self._decided: dict[str, bool] = {}

    def owns(self, filename: str) -> bool:
        """Whether code of this `co_filename` is the user's."""
        decided = self._decided.get(filename)
        if decided is None:
            decided = self._decided[filename] = self._decide(filename)
        return decided

    @property
    def seen(self) -> list[str]:
        """The user's files of which code was seen so far."""
        return sorted(filename for filename, is_users in self._decided.items() if is_users)

    def _decide(self, filename: str) -> bool:
        path = filename if filename.startswith("<") else os.path.abspath(filename)  # noqa: PTH100 # no link resolved
        if _matches(path, self._exclude):
            return False
        wanted = _matches(path, self._include) or self._is_users(path)
        return wanted and not os.path.realpath(path).startswith(_OWN_PACKAGE)  # also through a link

    def _is_users(self, path: str) -> bool:
        if path.startswith("<"):
            return _is_written(path)
        parts = path.split(os.sep)  # noqa: PTH206 # a `Path` takes twenty times as long, and every module is asked for
        return not path.startswith(self._libraries) and _LIBRARY_FOLDERS.isdisjoint(parts)


def _is_written(filename: str) -> bool:
    if filename == "<stdin>":
        return True
    return not filename.startswith(_GENERATED) and bool(linecache.getlines(filename))


def _pattern(text: str) -> str:
    return text if text.startswith("<") else os.path.abspath(os.path.expanduser(text))  # noqa: PTH100, PTH111 # globs


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(
        path == pattern or path.startswith(pattern.rstrip(os.sep) + os.sep) or fnmatchcase(path, pattern)
        for pattern in patterns
    )


def _torch_file() -> str | None:
    """Where torch lies, also while it is not imported yet."""
    torch = sys.modules.get("torch")
    if torch is not None:
        return torch.__file__
    try:
        spec = find_spec("torch")
    except Exception:  # noqa: BLE001 # whatever a finder of the program's does
        return None
    return None if spec is None else spec.origin


def _library_prefixes() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    found = {paths[name] for name in ("stdlib", "platstdlib", "scripts")}
    found.add(os.path.dirname(os.__file__))  # noqa: PTH120 # a virtual environment's library is its base's
    torch = _torch_file()
    if torch:  # built from a checkout, it is outside site-packages
        found.add(os.path.dirname(torch))  # noqa: PTH120
    folders = (path.rstrip(os.sep) + os.sep for path in found | {os.path.realpath(path) for path in found})
    return (*folders, _OWN_PACKAGE)

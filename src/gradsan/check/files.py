"""Which files there are to check: those named, and those in the folders named that git would not ignore."""

import os
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from gradsan.errors import GradsanError

_NEVER = frozenset(
    """
    .git .hg .svn .venv venv env .env node_modules __pycache__ .tox .nox .eggs .mypy_cache .pytest_cache .ruff_cache
    .gradsan_cache build dist site-packages .ipynb_checkpoints .hypothesis .idea .vscode
    """.split()
)
_ENDINGS = (".py", ".ipynb")


class MissingPathError(GradsanError):
    """A path that was given and is not there."""


class _Ignored:
    """What the .gitignore files from a folder upwards say."""

    def __init__(self) -> None:
        self._specs: dict[str, object] = {}

    def rules(self, folder: str, above: Sequence[tuple[str, object]]) -> list[tuple[str, object]]:
        """The rules that hold in a folder: those above it, and its own."""
        file = os.path.join(folder, ".gitignore")  # noqa: PTH118 # this runs for every folder
        try:
            with open(file, encoding="utf-8", errors="replace") as opened:  # noqa: PTH123
                lines = opened.read().splitlines()
        except OSError:
            return list(above)
        from pathspec import GitIgnoreSpec

        return [*above, (folder, GitIgnoreSpec.from_lines(lines))]


def find(paths: Iterable[Path], *, exclude: Sequence[str] = (), respect_gitignore: bool = True) -> Iterator[str]:
    """All files to check, each once, in order."""
    seen: set[str] = set()
    for path in paths:
        if path.is_file():
            found: Iterable[str] = [str(path)]
        elif path.is_dir():
            found = _walk(path, exclude, respect_gitignore=respect_gitignore)
        else:
            raise MissingPathError(f"there is no {str(path)!r}", "give files or folders that exist")
        for each in found:
            if each not in seen:
                seen.add(each)
                yield each


def _walk(  # noqa: C901 # one loop over everything on disk
    top: Path, exclude: Sequence[str], *, respect_gitignore: bool
) -> Iterator[str]:
    ignored = _Ignored()
    above: list[tuple[str, object]] = []
    if respect_gitignore:
        for parent in _up_to_repository(top):
            above = ignored.rules(str(parent), above)
    waiting = [(str(top), above)]
    while waiting:
        folder, rules = waiting.pop()
        folders: list[str] = []
        try:
            entries = sorted(os.scandir(folder), key=lambda each: each.name)
        except OSError:
            continue
        if respect_gitignore and folder != str(top) and any(each.name == ".gitignore" for each in entries):
            rules = ignored.rules(folder, rules)
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and (entry.name in _NEVER or os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))):  # noqa: PTH110, PTH118
                continue
            if not is_folder and not entry.name.endswith(_ENDINGS):
                continue
            if _is_excluded(entry.path, exclude) or _is_ignored(entry.path, rules, is_folder=is_folder):
                continue
            if is_folder:
                folders.append(entry.path)
            else:
                yield entry.path
        waiting += [(each, rules) for each in reversed(folders)]


def _up_to_repository(top: Path) -> list[Path]:
    """The folders from the repository's root down to `top`, whose rules hold there."""
    resolved = top.resolve()
    chain = [resolved, *resolved.parents]
    for at, folder in enumerate(chain):
        if (folder / ".git").exists():
            return chain[: at + 1][::-1]
    return [resolved]


def _is_excluded(path: str, patterns: Sequence[str]) -> bool:
    plain = path.removeprefix("./")
    return any(
        fnmatch(plain, pattern)
        or fnmatch(plain.rsplit("/", 1)[-1], pattern)
        or f"/{pattern.strip('/')}/" in f"/{plain}/"
        for pattern in patterns
    )


def _is_ignored(path: str, rules: Sequence[tuple[str, object]], *, is_folder: bool) -> bool:
    if not rules:
        return False
    full = os.path.abspath(path)  # noqa: PTH100 # this runs for every file
    for folder, spec in reversed(rules):
        base = os.path.abspath(folder)  # noqa: PTH100
        if full.startswith(base + os.sep):
            inner = full[len(base) + 1 :] + ("/" if is_folder else "")
            verdict = spec.check_file(inner).include  # type: ignore[attr-defined]
            if verdict is not None:
                return bool(verdict)
    return False

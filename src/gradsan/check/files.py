"""Which files there are to check: those named, and those in the folders named that git would not ignore."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from gradsan.check.ignoring import NAME, Rules, read_rules
from gradsan.errors import GradsanError

_NEVER = frozenset(
    """
    .git .hg .svn .venv venv env .env node_modules __pycache__ .tox .nox .eggs .mypy_cache .pytest_cache .ruff_cache
    build dist site-packages .ipynb_checkpoints .hypothesis .idea .vscode
    """.split()
)
_ENDINGS = (".py", ".ipynb")


class MissingPathError(GradsanError):
    """A path that was given and is not there."""


def find(
    paths: Iterable[Path],
    *,
    exclude: Sequence[str] = (),
    respect_gitignore: bool = True,
    left_out: Callable[[str, str], None] = lambda _path, _why: None,
) -> Iterator[str]:
    """All files to check, each once, in order; `left_out` hears of `.gitignore` files that cannot be read, and why."""
    seen: set[str] = set()
    for path in paths:
        if path.is_dir():
            found: Iterable[str] = _walk(path, exclude, _Ignored(left_out) if respect_gitignore else None)
        elif path.exists():
            found = [str(path)]
        else:
            raise MissingPathError(f"there is no {str(path)!r}", "give files or folders that exist")
        for each in found:
            if each not in seen:
                seen.add(each)
                yield each


class _Ignored:
    """What the `.gitignore` files from a folder upwards say."""

    def __init__(self, left_out: Callable[[str, str], None]) -> None:
        self._left_out = left_out

    def with_rules(self, folder: str, above: Sequence[Rules]) -> list[Rules]:
        """The rules that hold in a folder: those above it, and its own."""
        try:
            return [*above, read_rules(folder)]
        except FileNotFoundError:
            return list(above)
        except OSError as error:
            self._left_out(os.path.join(folder, NAME), error.strerror or "it cannot be read")  # noqa: PTH118
            return list(above)


def _walk(top: Path, exclude: Sequence[str], ignored: _Ignored | None) -> Iterator[str]:
    rules: list[Rules] = []
    if ignored is not None:
        for parent in _up_to_repository(top):
            rules = ignored.with_rules(str(parent), rules)
    waiting = [(str(top), rules)]
    while waiting:
        folder, rules = waiting.pop()
        entries = _entries(folder)
        if ignored is not None and folder != str(top) and any(each.name == NAME for each in entries):
            rules = ignored.with_rules(folder, rules)
        wanted = [each for each in entries if _is_wanted(each, exclude, rules)]
        yield from (each.path for each in wanted if not each.is_dir(follow_symlinks=False))
        folders = [each.path for each in wanted if each.is_dir(follow_symlinks=False)]
        waiting += [(each, rules) for each in reversed(folders)]


def _entries(folder: str) -> "list[os.DirEntry[str]]":
    try:
        return sorted(os.scandir(folder), key=lambda each: each.name)
    except OSError:
        return []


def _is_wanted(entry: "os.DirEntry[str]", exclude: Sequence[str], rules: Sequence[Rules]) -> bool:
    is_folder = entry.is_dir(follow_symlinks=False)
    if is_folder and (entry.name in _NEVER or os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))):  # noqa: PTH110, PTH118
        return False
    if not is_folder and not entry.name.endswith(_ENDINGS):
        return False
    return not (_is_excluded(entry.path, exclude) or _is_ignored(entry.path, rules, is_folder=is_folder))


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


def _is_ignored(path: str, rules: Sequence[Rules], *, is_folder: bool) -> bool:
    """Whether git ignores it: the nearest file that says something of it decides."""
    full = os.path.abspath(path) + ("/" if is_folder else "")  # noqa: PTH100 # this runs for every file
    below = (
        each.verdict(full[len(each.folder) + 1 :]) for each in reversed(rules) if full.startswith(each.folder + os.sep)
    )
    return next((each for each in below if each is not None), False)

"""`[tool.gradsan]` of pyproject.toml: what a project has decided for everybody who checks it."""

import difflib
import fnmatch
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from gradsan.errors import GradsanError
from gradsan.source.bounded import content_of, inside

_LARGEST = 4_000_000  # bytes
_ADDRESS = re.compile(r"(https?|file)://[^\s()<>\[\]\\\x00-\x1f\x7f]+")  # editors make a link of it

_KINDS = {
    "pedantic": bool,
    "respect_gitignore": bool,
    "cache": bool,
    "baseline": str,
    "docs_url": str,
    "per_file_ignores": dict,
}


class BadSettingError(GradsanError):
    """A setting that does not exist, or has a value of the wrong kind."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a project wants to be checked."""

    root: Path = field(default_factory=Path.cwd)
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    baseline: str | None = None
    docs_url: str | None = None
    pedantic: bool = False
    respect_gitignore: bool = True
    cache: bool = True

    @property
    def baseline_file(self) -> Path | None:
        """Where the baseline is; a project may name one of its own files alone."""
        if self.baseline is None:
            return None
        file = inside(self.root, self.baseline)
        if file is None:
            raise BadSettingError(
                f"the baseline {self.baseline!r} lies outside the project", "name one with --baseline"
            )
        return file

    def ignored_in(self, file: str) -> tuple[str, ...]:
        """The codes that are not wanted in a file."""
        return tuple(
            code
            for pattern, codes in self.per_file_ignores.items()
            if fnmatch.fnmatch(file, pattern) or fnmatch.fnmatch(Path(file).name, pattern)
            for code in codes
        )


def settings_in(file: Path) -> Settings:
    """The settings of a file that the user has named: a pyproject.toml, or one with the same keys at its top."""

    def refuse(path: str, why: str) -> None:
        raise BadSettingError(f"cannot read the settings in {path!r} ({why})", "give another file with --config")

    content = _content(file, refuse) or {}
    tool = content.get("tool")
    table = tool.get("gradsan", {}) if isinstance(tool, dict) else content
    return _settings(table if isinstance(table, dict) else {}, file.resolve().parent, file)


def find_settings(start: Path, left_out: Callable[[str, str], None]) -> Settings:
    """The settings that hold in a folder: those of the nearest pyproject.toml that has any.

    `left_out` hears of one that cannot be read, and why: it may come from anybody, and is no reason to check nothing.
    """
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if file.is_file():
            table = _table(file, left_out)
            if table is not None:
                return _settings(table, folder, file)
        if (folder / ".git").exists():
            return Settings(root=folder)
    return Settings(root=start)


def _table(file: Path, left_out: Callable[[str, str], None]) -> dict[str, Any] | None:
    content = _content(file, left_out) or {}
    tool = content.get("tool")
    table = tool.get("gradsan") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _content(file: Path, left_out: Callable[[str, str], None]) -> dict[str, Any] | None:
    try:
        return tomllib.loads(content_of(file, _LARGEST).decode())
    except OSError as error:
        left_out(str(file), error.strerror or "it cannot be read")
        return None
    except (ValueError, RecursionError) as error:  # what is no TOML, no text, or has a number that is too long
        left_out(str(file), f"it is not TOML ({error})")
        return None


def _settings(table: dict[str, Any], root: Path, file: Path) -> Settings:
    known = {each.name for each in fields(Settings)} - {"root"}
    values: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = (
                f"did you mean `{near[0].replace('_', '-')}`?" if near else "docs/getting-started.md lists the settings"
            )
            raise BadSettingError(f"there is no setting `{key}` in [tool.gradsan] of {str(file)!r}", hint)
        values[name] = _value(name, key, value, file)
    return Settings(root=root, **values)


def _value(name: str, key: str, value: object, file: Path) -> object:
    wrong = BadSettingError(
        f"`{key}` in [tool.gradsan] of {str(file)!r} has a value of the wrong kind",
        "docs/getting-started.md lists the settings",
    )
    kind = _KINDS.get(name, list | str)
    if not isinstance(value, kind):
        raise wrong
    if name == "docs_url" and not _ADDRESS.fullmatch(str(value)):
        raise BadSettingError(
            f"`{key}` in [tool.gradsan] of {str(file)!r} is no address", "begin it with https://, http:// or file://"
        )
    if isinstance(value, dict):
        return {pattern: _texts(codes, wrong) for pattern, codes in value.items()}
    return value if name in _KINDS else _texts(value, wrong)


def _texts(value: object, wrong: GradsanError) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise wrong
    return tuple(value)

"""`[tool.gradsan]` of pyproject.toml: what a project has decided for everybody who checks it."""

import difflib
import fnmatch
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from gradsan.errors import GradsanError

_KINDS = {"pedantic": bool, "respect_gitignore": bool, "cache": bool, "baseline": str, "per_file_ignores": dict}


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
    pedantic: bool = False
    respect_gitignore: bool = True
    cache: bool = True

    def ignored_in(self, file: str) -> tuple[str, ...]:
        """The codes that are not wanted in a file."""
        return tuple(
            code
            for pattern, codes in self.per_file_ignores.items()
            if fnmatch.fnmatch(file, pattern) or fnmatch.fnmatch(Path(file).name, pattern)
            for code in codes
        )


def find_settings(start: Path) -> Settings:
    """The settings that hold in a folder: those of the nearest pyproject.toml that has any."""
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if file.is_file():
            table = _table(file)
            if table is not None:
                return _settings(table, folder, file)
        if (folder / ".git").exists():
            return Settings(root=folder)
    return Settings(root=start)


def _table(file: Path) -> dict[str, Any] | None:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    except tomllib.TOMLDecodeError as error:
        raise BadSettingError(f"{str(file)!r} is no TOML ({error})", "mend it, or run gradsan elsewhere") from None
    table = content.get("tool", {}).get("gradsan")
    return table if isinstance(table, dict) else None


def _settings(table: dict[str, Any], root: Path, file: Path) -> Settings:
    known = {each.name for each in fields(Settings)} - {"root"}
    values: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean `{near[0].replace('_', '-')}`?" if near else "see the README for those there are"
            raise BadSettingError(f"there is no setting `{key}` in [tool.gradsan] of {str(file)!r}", hint)
        values[name] = _value(name, key, value, file)
    return Settings(root=root, **values)


def _value(name: str, key: str, value: object, file: Path) -> object:
    wrong = BadSettingError(
        f"`{key}` in [tool.gradsan] of {str(file)!r} has a value of the wrong kind", "see the README"
    )
    kind = _KINDS.get(name, list | str)
    if not isinstance(value, kind):
        raise wrong
    if isinstance(value, dict):
        return {pattern: _texts(codes, wrong) for pattern, codes in value.items()}
    return value if name in _KINDS else _texts(value, wrong)


def _texts(value: object, wrong: GradsanError) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise wrong
    return tuple(value)

"""What the caller of `gradsan fix` wishes."""

from dataclasses import dataclass
from pathlib import Path

from gradsan.entry.screen import ColorChoice


@dataclass(frozen=True, slots=True)
class Wishes:
    """The options of the command."""

    paths: tuple[Path, ...]
    write: bool
    verify: bool
    command: str | None
    unsafe: bool
    ask: bool
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    timeout: float
    max_steps: int | None
    form: str
    color: ColorChoice

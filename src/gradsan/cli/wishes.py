"""What the caller of `gradsan fix` wishes."""

from dataclasses import dataclass
from pathlib import Path

from gradsan.entry.screen import ColorChoice


@dataclass(frozen=True, slots=True)
class Wishes:
    """The options of the command."""

    form: str = "text"  # or "json", "diff": one patch, "quiet": nothing
    paths: tuple[Path, ...] = ()
    write: bool = False
    verify: bool = False
    command: str | None = None
    unsafe: bool = False
    ask: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    timeout: float = 600.0
    max_steps: int | None = None
    verbose: bool = False
    color: ColorChoice = "auto"

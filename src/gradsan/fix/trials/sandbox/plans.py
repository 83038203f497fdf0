"""What a supervisor is told, and what it says: values that travel as one line of JSON each."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Plan:
    """One trial: what is to be run, where, and with which files changed."""

    folder: Path  # the trial's own; it is not there yet
    root: Path  # the user's working directory
    layers: bool  # over the user's file system; else `root` is copied into the folder
    command: str = ""  # for the shell; empty: nothing is run
    environment: Mapping[str, str] = field(default_factory=dict)
    changed: Mapping[str, bytes] = field(default_factory=dict)  # by their names in `root`

    @property
    def notes(self) -> Path:
        """Where the processes of the trial leave what they saw."""
        return self.folder / "notes"

    @property
    def work(self) -> Path:
        """The working directory of the command."""
        return self.root if self.layers else self.folder / "work"

    def encoded(self) -> bytes:
        """As a line."""
        arranged: dict[str, Any] = {
            "folder": str(self.folder),
            "root": str(self.root),
            "layers": self.layers,
            "command": self.command,
            "environment": dict(self.environment),
            "changed": {name: base64.b64encode(content).decode() for name, content in self.changed.items()},
        }
        return json.dumps(arranged).encode() + b"\n"

    @classmethod
    def decoded(cls, line: bytes) -> "Plan":
        """What the line says."""
        arranged = json.loads(line)
        changed = {name: base64.b64decode(content) for name, content in arranged.pop("changed").items()}
        return cls(Path(arranged.pop("folder")), Path(arranged.pop("root")), **arranged, changed=changed)


@dataclass(frozen=True, slots=True)
class Ended:
    """How the command of a trial ended."""

    status: int | None  # None: it took too long
    said: str  # the end of what it printed

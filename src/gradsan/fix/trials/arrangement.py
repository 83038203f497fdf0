"""What the processes of a trial are told, through their environment, whoever starts them."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

VARIABLE = "GRADSAN_TRIAL"
Line = tuple[str, int, int, str]  # a file, the first and the last line of a statement, the function
WEIGHED = 32  # of its first passes: so many are sure to run, and sampled in a second or two
UNCHECKED = ", unchecked"  # at the end of a reference's name: edits in place stop no pass


@dataclass(frozen=True, slots=True)
class Limit:
    """When a process of a trial ends by itself: at the first backward pass that finds one of these exceeded."""

    steps: int | None = None  # of its optimizers
    seconds: float = 0.0  # since its first pass, which must have gone by too; processes that work together only count
    most_seconds: float | None = None  # however few steps there were


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How a process of a trial is to run, and where it leaves its notes.

    Each process writes files of its own there: `report-N.json`, what ended it and what never raised; `caught-N.json`,
    errors that its program caught; `live-N.json`, what the live program told at each error; `steps-N.json`, what each
    optimizer was given; `outside-N.json`, what it wrote outside of a copy.
    """

    notes: Path
    root: Path  # the user's working directory
    scratch: Path  # what stands in its place; the same, where writes do not reach the disk
    limit: Limit = Limit()
    reference: str | None = None  # a reference run: what its passes are to do
    noted: tuple[int, ...] = ()  # what it goes by, and another reference has noted
    line: Line | None = None  # of the program, which it goes by
    precise: bool = False  # in double precision
    weighed: int = 0  # so many of its first passes: what is alive then is recorded

    def environment(self) -> dict[str, str]:
        """The variables that say so; `GRADSAN` brings the sanitizer into every Python that is started."""
        arranged: dict[str, Any] = {"notes": str(self.notes), "root": str(self.root), "scratch": str(self.scratch)}
        arranged |= {"limit": asdict(self.limit), "reference": self.reference}
        arranged |= {"noted": self.noted, "line": self.line, "precise": self.precise, "weighed": self.weighed}
        return {"GRADSAN": "1", VARIABLE: json.dumps(arranged)}


def arranged(environment: Mapping[str, str] = os.environ) -> Arrangement | None:
    """What this process was told; None: it belongs to no trial."""
    text = environment.get(VARIABLE)
    if text is None:
        return None
    arranged = json.loads(text)
    notes, root, scratch = (Path(arranged[name]) for name in ("notes", "root", "scratch"))
    limit, line = Limit(**arranged["limit"]), arranged["line"]
    noted, line = tuple(arranged["noted"]), None if line is None else tuple(line)
    return Arrangement(
        notes, root, scratch, limit, arranged["reference"], noted, line, arranged["precise"], arranged["weighed"]
    )

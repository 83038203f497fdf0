"""What the processes of a trial are told, through their environment, whoever starts them."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "GRADSAN_TRIAL"


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How a process of a trial is to run, and where it leaves its notes.

    Each process writes files of its own there: `report-N.json`, what ended it and what never raised; `caught-N.json`,
    errors that its program caught; `steps-N.json`, what each optimizer was given.
    """

    notes: Path
    root: Path  # the user's working directory
    scratch: Path  # what stands in its place
    passes: int | None = None  # the program ends after so many
    reference: str | None = None  # a reference run: what its passes are to do

    def environment(self) -> dict[str, str]:
        """The variables that say so; `GRADSAN` brings the sanitizer into every Python that is started."""
        told = {"notes": str(self.notes), "root": str(self.root), "scratch": str(self.scratch)}
        return {"GRADSAN": "1", VARIABLE: json.dumps({**told, "passes": self.passes, "reference": self.reference})}


def arranged(environment: Mapping[str, str] = os.environ) -> Arrangement | None:
    """What this process was told; None: it belongs to no trial."""
    text = environment.get(VARIABLE)
    if text is None:
        return None
    told = json.loads(text)
    notes, root, scratch = (Path(told[name]) for name in ("notes", "root", "scratch"))
    return Arrangement(notes, root, scratch, told["passes"], told["reference"])

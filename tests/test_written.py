"""What `gradsan fix --write` writes without a run is proved from source: all examples and the corpus run."""

import json
import shutil
from pathlib import Path

from warm import Warm
from written import ends_of, write_without_a_run

TESTS = Path(__file__).parent
LABELS = json.loads((TESTS / "corpus" / "labels.json").read_text(encoding="utf-8"))
PROGRAMS = [*sorted((TESTS.parent / "examples").glob("*/broken.py"))]
PROGRAMS += [TESTS / "corpus" / label["entry"] for label in LABELS if label["outcome"] != "clean"]
COMPILED = "torch.compile"  # takes longer than all others together, and is run by tests of its own
FEWEST = 30  # of them are fixed so


def test_whatever_is_written_from_source_runs(tmp_path: Path) -> None:
    """Not one ends with an error, be it a new one or the one that it had."""
    scripts: dict[str, Path] = {}
    for program in PROGRAMS:
        folder = tmp_path / program.parent.name
        shutil.copytree(program.parent, folder, ignore=shutil.ignore_patterns("fixed*", "*_fixed*", "__pycache__"))
        compiles = any(COMPILED in file.read_text(encoding="utf-8") for file in folder.glob("*.py"))
        if not compiles and write_without_a_run(folder / program.name):
            scripts[folder.name] = folder / program.name

    ends = ends_of(scripts, tmp_path, Warm())

    assert ends == dict.fromkeys(scripts, "ran")
    assert len(ends) >= FEWEST

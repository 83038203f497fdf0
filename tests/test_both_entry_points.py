"""Every program of the corpus and every example, run and read: one cause, one name, one first fix.

What the run says is on record, and other tests prove it: `test_corpus.py` the golden file, `test_pairs.py` the index of
the examples. So nothing has to be run here.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from golden_files import FOLDER
from gradsan.check.diagnoses import merged
from gradsan.check.reading import check_content
from gradsan.fix.proposing import with_edits

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
ROW = re.compile(r"^\| \[(\w+)\]\(\1/\) \| (GS\d+) \| `([^`]+)` \| ([\w-]+) \|", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an entry point says of a program."""

    code: str
    fix: str
    name: str | None


def at_run_time() -> dict[str, Answer]:
    """By the path of the program."""
    answers = {}
    for line in (FOLDER / "text" / "corpus_answers.txt").read_text(encoding="utf-8").splitlines():
        entry, code, fix, name = line.split(" ", 3)
        answers[f"tests/corpus/{entry}"] = Answer(code, fix, name)
    for pair, code, name, fix in ROW.findall((EXAMPLES / "README.md").read_text(encoding="utf-8")):
        answers[f"examples/{pair}/broken.py"] = Answer(code, fix, name)
    return answers


def in_source(program: str) -> list[Answer]:
    """What `gradsan check` reports."""
    path = HERE.parent / program
    found = merged(check_content(str(path), path.read_bytes()).diagnoses)
    sure = [with_edits(each, Path.cwd()) for each in found if each.confidence != "possible"]
    return [Answer(each.code, each.fixes[0].kind, each.culprit.name if each.culprit else None) for each in sure]


RUN = at_run_time()

# Where the source cannot know, and why.
APART: dict[str, str] = {
    "tests/corpus/so_009_preallocated_trajectory/main.py": (
        "the buffer goes by two names, and only the log has the line that read the one that is meant"
    ),
    "tests/corpus/so_012_synthetic_targets/main.py": "the source names the part, and not what it was taken from",
    "tests/corpus/so_013_encoded_dataset/main.py": (
        "likewise; and the optimizer of the pretraining is gone by then, of which the source does not know"
    ),
    "tests/corpus/so_035_cached_around_epoch/main.py": "the cache is a context manager of torch's",
    "tests/corpus/so_039_equilibrium_layer/main.py": (
        "the forward of a custom Function is not followed: its result is named, and not what it keeps"
    ),
    "examples/talking_agents/broken.py": "a run ends at the first error; the source goes on to the other agent's",
    "examples/maml/broken.py": "the source does not follow which weights `functional_call` uses",
    "examples/rotary_cache/broken.py": "the parts of the cached pair have names of their own, which are nearer",
}


@pytest.mark.parametrize("program", RUN)
def test_both_entry_points_agree(program: str) -> None:
    """Cause, name and first fix; but not where the source cannot know, and then it is said why."""
    answers = in_source(program)

    assert (answers != [RUN[program]]) == (program in APART), answers


def test_reasons_are_given_for_programs_that_there_are() -> None:
    """A reason for nothing is an old one."""
    assert APART.keys() <= RUN.keys()

"""What is measured is what the documents say, and the harness that measures it works."""

import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import msgspec
import pytest

import measuring
import page
from golden_files import Golden
from measuring import AGAIN, PLAIN, Answer, Figure, Results, Wish, exponent, ratios, rounds_of, spread

PROJECT = Path(__file__).parents[2]
QUESTIONS = ("overhead", "first_second", "explaining", "production", "startup", "check_speed", "upstream")


def test_documents_say_what_the_results_say(golden: Golden) -> None:
    """The page, its plots, and every figure that another document quotes; `make bench-page` writes them, too."""
    written = page.documents(page.load())

    for name, text in written.items():
        golden.check(PROJECT / name, text)
    drawn = {each.relative_to(PROJECT).as_posix() for each in (PROJECT / "docs" / "benchmarks").iterdir()}
    assert drawn == {name for name in written if name.endswith(".svg")}


def test_every_figure_that_can_be_quoted_is() -> None:
    """None is left over from an earlier text."""
    documents = [PROJECT / "README.md", *(PROJECT / "docs").glob("*.md")]
    quoted = {found["name"] for each in documents for found in page.QUOTED.finditer(each.read_text(encoding="utf-8"))}

    assert quoted == set(page.QUOTES)


def test_no_line_of_a_paragraph_begins_with_a_figure() -> None:
    """Markdown would take all of that line for HTML; a table stands by itself."""
    for each in (PROJECT / "README.md", *(PROJECT / "docs").glob("*.md")):
        for found in page.QUOTED.finditer(each.read_text(encoding="utf-8")):
            before = found.string[: found.start()].rpartition("\n")[2]
            assert before.strip() or found["text"].startswith("\n"), found[0]


def test_results_are_of_whole_runs() -> None:
    """Figures of a quick run mean nothing."""
    for name, each in page.load().items():
        assert not each.quick, name


@pytest.mark.parametrize("question", QUESTIONS)
def test_question_has_an_answer(question: str, tmp_path: Path) -> None:
    """Asked quickly, which takes a second or two: its figures are numbers, and the page can show them."""
    out = tmp_path / "answer.json"
    command = [sys.executable, f"benchmarks/{question}.py", "--quick", "--out", str(out)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer = msgspec.json.decode(out.read_bytes(), type=Answer)

    results = Results({"processor": "one"}, {}, quick=True, answers={question: answer})
    text = page.page({"one": results})

    assert answer.rows or "does not apply" in str(answer.facts)
    for row in answer.rows:
        assert re.sub(r"\s+", " ", row.subject) in text
        assert all(each.value.low <= each.value.middle <= each.value.high for each in row.figures.values())


def test_round_measures_every_side_once_and_plain_twice() -> None:
    """So each ratio has a null beside it, of the same round."""
    order: list[str] = []

    def side(name: str, seconds: float) -> float:
        order.append(name)
        return seconds

    found = rounds_of({PLAIN: partial(side, PLAIN, 2.0), "slow": partial(side, "slow", 3.0)}, 5)

    assert sorted(order) == [PLAIN] * 10 + ["slow"] * 5
    figure = ratios(found)["slow"]
    assert figure.value.middle == 1.5
    assert figure.null is not None
    assert figure.null.middle == 1.0
    assert set(found) == {PLAIN, AGAIN, "slow"}


def test_goal_is_decided_by_where_the_median_can_lie() -> None:
    """Not by the median alone: a few rounds decide nothing."""
    close = spread([1.0 + each / 1000 for each in range(40)])

    assert Figure(close, goal=1.05).verdict == "met"
    assert Figure(close, goal=1.02).verdict == "not decided"
    assert Figure(close, goal=1.005).verdict == "missed"
    assert Figure(close).verdict == ""


def test_exponent_tells_linear_from_quadratic() -> None:
    """As the points grow, so does the line through their logarithms."""
    sizes = (10.0, 100.0, 1000.0)

    assert exponent([(size, 3 * size) for size in sizes]) == pytest.approx(1)
    assert exponent([(size, 3 * size**2) for size in sizes]) == pytest.approx(2)


def test_copy_of_the_process_leaves_nothing_behind() -> None:
    """What it learns is not there for the next."""
    learnt: list[int] = []

    def learn() -> int:
        learnt.append(1)
        return len(learnt)

    assert [measuring.in_copy(learn) for _ in range(2)] == [1, 1]
    assert not learnt


def test_quick_wish_asks_for_one_round() -> None:
    """Whatever is usual."""
    assert [Wish(quick=True).rounds(40), Wish().rounds(40)] == [1, 40]

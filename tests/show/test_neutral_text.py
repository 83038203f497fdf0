"""Nothing that others wrote does anything to whoever reads it, in any form."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from gradsan.facts.location import Frame, Location
from gradsan.report import Culprit, Diagnosis, Edit, Fix, PathOp, Report, Summary
from gradsan.show import code_frames, concise, github, gitlab, sarif, text
from gradsan.show.harmless import harmless, neutral
from gradsan.show.json import write

CONTROLS = "\x1b[2J\x1b]0;title\x07\x9b31m\r\x08\x7f\u202e\u2066\u200b\u2028\x0b\x85"
EVIL = f"a{CONTROLS}\n::error file=x.js::y\n ::add-mask::z ##[stop-commands]t ##vso[task.x] ##teamcity[m]\udcff"
COMMAND = re.compile(r"^\s*::(?!error file=a)|##(vso|teamcity)?\[", re.MULTILINE)


def evil_report() -> Report:
    """Every text that a report can have."""
    at = Location(EVIL, 1, function=EVIL, source=EVIL, stack=(Frame(EVIL, 1, EVIL), Frame(EVIL, 2, EVIL)))
    other = replace(at, line=2, stack=(Frame(EVIL, 3, EVIL),))
    fix = Fix("detach", EVIL, "same-gradients", (Edit(EVIL, 1, 1, EVIL, EVIL + "b"),), diff=EVIL)
    found = Diagnosis(
        code="GS103",
        name="carried-state",
        severity="error",
        origin="check",
        confidence="likely",
        message=EVIL,
        fingerprint=EVIL,
        used=at,
        freed=other,
        made=other,
        culprit=Culprit(EVIL, "local"),
        path=(PathOp(EVIL, "freed", EVIL, at),),
        evidence={EVIL: EVIL},
        notes=(EVIL, f"not `{EVIL}"),
        fixes=(fix, fix),
    )
    return Report(gradsan=EVIL, python=EVIL, torch=EVIL, argv=(EVIL,), diagnoses=(found,))


def _proposal(report: Report) -> str:
    return text.proposal(report.diagnoses[0], EVIL, EVIL, width=60, color=False, is_made=True)


def _closing(report: Report) -> str:
    return text.closing(Summary(1, 1, 1), report.diagnoses, width=60, color=False)


TEXTS: dict[str, Callable[[Report], str]] = {
    "text": partial(text.terminal, width=60, color=False),
    "explanation": lambda report: text.explanation(report.diagnoses[0], width=60, color=False),
    "proposal": _proposal,
    "closing": _closing,
    "framed": partial(code_frames.framed, width=60, color=False, lines=lambda _: f"    {EVIL}"),
    "concise": concise.concise,
    "github": github.github,
}
DATA: dict[str, Callable[[Report], str]] = {"json": write, "sarif": sarif.sarif, "gitlab": gitlab.gitlab}


@pytest.mark.parametrize("form", [*TEXTS, *DATA])
def test_every_form_of_a_report_is_harmless(form: str) -> None:
    """No control reaches a terminal, no line begins that is not ours, and no build log obeys."""
    shown = (TEXTS | DATA)[form](evil_report())

    assert [each for each in shown if not each.isprintable() and each != "\n"] == []
    assert COMMAND.findall(shown) == []


def test_github_has_one_command_for_a_diagnosis() -> None:
    """Whatever its texts say."""
    assert TEXTS["github"](evil_report()).count("\n") == 1


@pytest.mark.parametrize("form", DATA)
def test_data_says_what_it_said(form: str) -> None:
    """Programs that read it see the very text; bytes that are no text are the one thing JSON cannot say."""
    report = evil_report()
    whole = json.dumps(json.loads(DATA[form](report)), ensure_ascii=False)

    assert json.dumps(EVIL.replace("\udcff", "\ufffd"), ensure_ascii=False)[1:-1] in whole


def test_place_in_sarif_is_a_uri() -> None:
    """Every byte of a name survives."""
    place = json.loads(DATA["sarif"](evil_report()))["runs"][0]["results"][0]["locations"][0]["physicalLocation"]

    assert place["artifactLocation"]["uri"].startswith("a%1B%5B2J")
    assert place["artifactLocation"]["uri"].endswith("%FF")


@pytest.mark.parametrize(
    "plain", ["loss.backward()", "x[:, ::2]", "Zoë\N{NO-BREAK SPACE}π 日本 \N{GRINNING FACE}", "\tx", "a::b"]
)
def test_ordinary_text_stays_as_it_is(plain: str) -> None:
    """Letter for letter, so that marks under a line stay in their places."""
    assert neutral(plain) == plain
    assert len(neutral(EVIL)) == len(EVIL)


def test_lines_of_an_edit_stay_lines() -> None:
    """They are the only texts that have several."""
    made = harmless(evil_report()).diagnoses[0]

    assert made.message.count("\n") == 0
    assert made.fixes[0].edits[0].new.count("\n") == EVIL.count("\n")

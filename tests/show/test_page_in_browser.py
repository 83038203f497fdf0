"""The page of a report in a real browser: what is shown, what the keyboard does, and that nothing else runs."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from gradsan.facts.details import (
    Details,
    EventLine,
    Label,
    OpGraph,
    RunTimeline,
    Sample,
    Share,
    SourceText,
    TimelineEvent,
)
from gradsan.facts.location import Frame
from gradsan.report import Culprit, Effects, GraphMemory, Seen
from gradsan.show.html import html
from show.chromium import FOUND, Tab, chromium
from show.scenes import CARRIED, LEAK, NEEDLESS, at, report

pytestmark = pytest.mark.skipif(FOUND is None, reason="no Chromium is found: `make test-page` installs one")

HOSTILE = "</script><img src=x onerror=\"window.ran='yes'\">"
BACKWARDS = "\u202egnp.sso\u202c"
PATH = "javascript:window.ran='yes'//"


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    """One browser for all of them."""
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def own_cell(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a real run."""
    page = tmp_path_factory.mktemp("page") / "report.html"
    example = Path(__file__).parents[2] / "examples/own_cell"
    command = [sys.executable, "-m", "gradsan", "run", "--format", "html", "--output", str(page), "broken.py"]
    subprocess.run(command, cwd=example, capture_output=True, check=False)
    return page


def page_of(folder: Path, details: Details | None = None) -> Path:
    """A report made by hand."""
    file = folder / "report.html"
    file.write_text(html(replace(report(CARRIED), details=details)), encoding="utf-8")
    return file


@pytest.mark.torch
def test_explanation_shows_the_fix_and_the_places(tab: Tab, own_cell: Path) -> None:
    """What is wrong, what to write, and what happened where."""
    tab.open(own_cell)

    assert tab.texts("h1") == [
        "self.hidden still has the graph of an earlier step, and the backward() of that step freed it"
    ]
    assert tab.texts(".fix .added") == ["+ model.hidden = model.hidden.detach()"]
    assert tab.texts(".code .lit .number") == ["28", "43"]
    assert tab.texts(".code .note") == [
        "1created here, in step 1",
        "3used again here, in step 2",
        "2freed by this backward(), in step 1",
        "4this backward() needs it, but it is gone, in step 2",
    ]
    assert tab.run("document.querySelectorAll('.arrows .arrow').length") == 3
    assert tab.texts(".what-if tbody tr:first-child td") == [
        "✓ yes",
        "about 5.7 KB",
        "nothing",
        "none",
        "not known",
        "not tried",
    ]
    assert tab.requests == []


@pytest.mark.torch
def test_fix_is_copied_as_a_patch(tab: Tab, own_cell: Path) -> None:
    """What is pasted can be applied."""
    tab.open(own_cell)

    tab.click(".fix .copy")

    tab.until("document.querySelector('.fix .copy').textContent === 'Copied'")
    assert tab.pasted().startswith("--- a/broken.py\n+++ b/broken.py\n@@ -41,6 +41,7 @@\n")


@pytest.mark.torch
def test_graph_shows_the_path_into_what_was_freed(tab: Tab, own_cell: Path) -> None:
    """Groups open and close; an op shows its line, its shape and what it saved."""
    tab.open(own_cell)
    tab.click("[role=tab]", "Graph")

    sentence = tab.texts(".graph .sentence")[0]
    assert sentence.startswith("A path of 8 ops leads from the loss into the 128 freed ops. The")
    assert tab.run("document.querySelectorAll('.edge.path').length") > 2
    assert tab.texts(".node .held") == ["self.hidden", "loss"]

    tab.click(".node", "MseLoss")
    assert tab.texts(".panel .title") == ["MseLossBackward0"]
    assert dict(zip(tab.texts(".panel dt"), tab.texts(".panel dd"), strict=True)) == {
        "name": "loss",
        "state": "● live: no backward() has used it yet",
        "shape": "[] float32",
        "has saved": "about 4 bytes",
        "created": "in step 2",
    }
    assert tab.texts(".panel .quoted") == ["loss = nn.functional.mse_loss(model(window[:-1]), window[1:])"]

    tab.click(".tools button", "Collapse")
    assert tab.texts(".node .group") == ["+ step 1", "+ step 2"]
    tab.run("document.querySelector('.node').focus()")
    tab.press("Enter", 13)
    assert tab.texts(".frame text") == ["\N{MINUS SIGN} step 1"]


@pytest.mark.torch
def test_graph_is_searched(tab: Tab, own_cell: Path) -> None:
    """A match inside a closed group is opened."""
    tab.open(own_cell)
    tab.click("[role=tab]", "Graph")

    tab.run(
        "(() => { const input = document.querySelector('input[type=search]'); input.value = 'squeeze';"
        " input.dispatchEvent(new Event('input')); })()"
    )
    assert tab.texts(".tally") == ["2 matches"]
    tab.click(".tools button", "Next")
    tab.click(".tools button", "Next")

    assert tab.texts(".tally") == ["2 of 2 matches"]
    assert tab.texts(".panel .title") == ["SqueezeBackward1"]


@pytest.mark.torch
def test_timeline_shows_what_happened_in_which_order(tab: Tab, own_cell: Path) -> None:
    """Forwards, passes, steps and cleared gradients; and what the failing pass leads to."""
    tab.open(own_cell)
    tab.click("[role=tab]", "Timeline")
    tab.until("document.querySelectorAll('.lane-label').length > 0")  # it is drawn once its width is known

    assert tab.texts(".timeline .sentence") == ["When backward() 2 began, the loss led to 128 ops of earlier steps."]
    assert tab.texts(".lane-label") == ["forward", "optimizer.zero_grad()", "loss.backward()", "optimizer.step()"]
    assert tab.run("[...document.querySelectorAll('.mark')].map((each) => each.classList[1])") == [
        *("forward", "zero_grad", "backward", "step"),
        *("forward", "zero_grad", "backward"),
    ]
    assert tab.texts(".failed + text") == ["✗ fails"]
    tab.run("document.querySelector('.timeline-drawing').focus()")
    for _ in range(2):
        tab.press("ArrowRight", 39)
    assert tab.texts(".timeline .said") == [
        "when backward() 2 began, after 1 step: this step: 147 ops; earlier steps, through the loss: 128 ops"
    ]


def test_tabs_obey_the_keyboard(tab: Tab, tmp_path: Path) -> None:
    """One stop for all tabs of a kind, and arrows between them; files are tabs as well."""
    tab.open(page_of(tmp_path))
    assert tab.texts(".files [role=tab]") == ["model.py", "train.py"]
    tab.run("document.querySelector('.files [aria-selected=true]').focus()")

    tab.press("ArrowRight", 39)

    assert tab.texts(".files [aria-selected=true]") == ["model.py"]
    assert tab.texts(".code .note .badge") == ["1", "3"]


def test_report_without_details_has_no_empty_views(tab: Tab, tmp_path: Path) -> None:
    """What was not recorded is not offered."""
    tab.open(page_of(tmp_path))

    assert tab.texts(".views [role=tab]") == ["Explanation"]
    assert tab.texts(".code .lit .text") == ["loss.backward()"]


def test_fixes_of_a_silent_problem_are_compared_too(tab: Tab, tmp_path: Path) -> None:
    """No graph was replayed with them: what they mean for the training, and whether they were tried."""
    file = tmp_path / "report.html"
    file.write_text(html(report(LEAK)), encoding="utf-8")
    tab.open(file)

    assert tab.texts(".what-if .now") == [
        "The problem concerns 8,400 ops, which saved about 91.0 MB, freed or not.",
        (
            "No backward() failed, so there is none to replay with a fix. "
            "How much would be held with a fix is not known."
        ),
    ]
    assert tab.texts(".what-if thead th") == ["Fix", "Gradients", "Is there an edit?", "Verified"]
    assert tab.texts(".what-if tbody tr:first-child td") == ["stay as they are", "yes", "not tried"]


@pytest.mark.parametrize(
    ("passes", "said"),
    [
        (1, "1 backward pass left about 5.2 KB of saved values in memory"),
        (20, "20 backward passes left about 5.2 KB of saved values each in memory"),
    ],
)
def test_what_passes_kept_for_nobody_is_said(tab: Tab, tmp_path: Path, passes: int, said: str) -> None:
    """It is gone when the next pass begins, so that no timeline shows it; with the fix there is none."""
    fix = replace(LEAK.fixes[0], kind="remove-retain")
    seen = {"retained_passes": passes, "saved_bytes": 5200}
    file = tmp_path / "report.html"
    file.write_text(html(report(replace(NEEDLESS, origin="run", evidence=seen, fixes=(fix,)))), encoding="utf-8")
    tab.open(file)

    now = f"In the run, {said}, until the last tensor that led to them was gone."
    assert tab.texts(".what-if .now") == [f"{now} With the fix, each backward() frees them itself."]


def test_pass_that_keeps_its_graph_has_a_mark_of_its_own(tab: Tab, tmp_path: Path) -> None:
    """And only the pass: not the forward before it."""
    timeline = RunTimeline(
        passes=1,
        steps=0,
        lines=(EventLine(Frame("train.py", 1, "<module>"), "loss"),),
        events=(TimelineEvent("backward", 0, 1, 0, 0, 3, 3, retains=True),),
        left_out=0,
        holders=("this step", "earlier"),
        samples=(Sample(0, 0, (Share(0, 3, 3),)),),
    )
    tab.open(page_of(tmp_path, Details(sources=(), graphs=(), timeline=timeline)))
    tab.click("[role=tab]", "Timeline")
    tab.until("document.querySelectorAll('.lane-label').length > 0")

    assert tab.texts(".timeline .sentence") == [
        "Nothing of earlier steps was alive when a backward() began: what passes had kept was gone by then."
    ]
    assert tab.texts(".legend li") == ["this stepat most 3 bytes", "a pass that keeps its graph1 time"]
    assert tab.run("document.querySelectorAll('.timeline-drawing .retaining').length") == 1


def test_what_was_seen_of_a_fix_stands_beside_what_is_without_it(tab: Tab, tmp_path: Path) -> None:
    """A run with the fix has shown it; of a fix that was not tried, nothing is known."""
    (first, *others) = LEAK.fixes
    seen = Seen(32, GraphMemory(10, 17_156), GraphMemory(164, 17_156, 11))
    effects = Effects(saved_bytes=17_156, kept_bytes=0, parameters_changed=(), seen=seen)
    tried = replace(LEAK, fixes=(replace(first, verified=True, effects=effects), *others))
    file = tmp_path / "report.html"
    file.write_text(html(report(tried)), encoding="utf-8")
    tab.open(file)

    assert tab.texts(".what-if tbody tr:first-child td") == [
        "✓ yes",
        "10 ops and about 17.2 KB instead of 164 ops and about 17.2 KB",
        "nothing instead of 11 ops",
        "none",
        "none",
        "✓ by running it",
    ]
    assert tab.texts(".what-if .now")[1:] == [
        "Of a fix that was run: as seen in the first 32 backward passes, with it and without."
    ]


@pytest.mark.torch
def test_what_a_silent_problem_holds_is_said_as_it_was_seen(tab: Tab, tmp_path: Path) -> None:
    """At the peak, and what every step adds: of the timeline, which knows what was freed."""
    command = [sys.executable, "-m", "gradsan", "run", "--format", "html", "-o", str(tmp_path / "report.html")]
    program = Path(__file__).parents[2] / "examples/running_loss"
    subprocess.run([*command, "broken.py"], cwd=program, capture_output=True, check=False)
    tab.open(tmp_path / "report.html")
    tab.click(".views [role=tab]", "Explanation")

    assert tab.texts(".what-if .now")[0] == (
        "In the run, running_loss held at most 154 ops of earlier steps, and none of their saved values: each"
        " backward() had freed them. Where it grew, every step added 11 ops."
    )


def test_edits_that_make_no_patch_are_shown_and_copied(tab: Tab, tmp_path: Path) -> None:
    """Those of cells: the new lines are what is pasted."""
    (first, *_) = CARRIED.fixes
    bare = replace(CARRIED, fixes=(replace(first, diff=""),))
    file = tmp_path / "report.html"
    file.write_text(html(report(bare)), encoding="utf-8")
    tab.open(file)

    tab.click(".fix .copy")
    tab.until("document.querySelector('.fix .copy').textContent === 'Copied'")

    assert tab.texts(".fix .diff .added") == ["+ self.hidden = self.cell(x, self.hidden.detach())"]
    assert tab.pasted().strip() == "self.hidden = self.cell(x, self.hidden.detach())"


def test_dark_and_light_follow_the_reader(tab: Tab, tmp_path: Path) -> None:
    """And a button changes it."""
    page, ground = page_of(tmp_path), "getComputedStyle(document.body).backgroundColor"
    seen = []
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        tab.open(page, scheme=scheme)
        seen.append(tab.run(ground))
    tab.click(".theme")

    assert seen[0] != seen[1]
    assert tab.run(ground) == seen[0]


def test_several_reports_are_listed(tab: Tab, tmp_path: Path) -> None:
    """The same problem of two ranks once, with both."""
    ranks = [replace(report(CARRIED, *more), rank=rank) for rank, more in enumerate(((), (NEEDLESS,)))]
    file = tmp_path / "report.html"
    file.write_text(html(*ranks), encoding="utf-8")
    tab.open(file)

    assert tab.texts(".item .where") == [
        "train.py:58 · rank 0, rank 1",
        "a_rather_long_name_of_a_training_script.py:7 · rank 1",
    ]
    tab.click(".item", "GS302")
    assert tab.texts("h1") == [NEEDLESS.message.replace("`", "")]


def hostile() -> Details:
    """Names that would do something in a page that took them for markup."""
    graph = OpGraph(
        diagnosis=CARRIED.fingerprint,
        line=Frame(PATH, 1, HOSTILE),
        step=1,
        kinds=(HOSTILE,),
        modules=(HOSTILE,),
        shapes=(HOSTILE,),
        frames=(Frame(HOSTILE, 1, HOSTILE),),
        stacks=((0,),),
        conditions=("live", "freed"),
        kind=(0, 0),
        condition=(1, 0),
        module=(0, 0),
        shape=(0, 0),
        stack=(0, 0),
        created=(1, 2),
        saved_bytes=(1, 1),
        edges=(1, 0),
        path=(1, 0),
        labels=(Label(1, HOSTILE),),
    )
    timeline = RunTimeline(
        passes=1,
        steps=0,
        lines=(EventLine(Frame(PATH, 1, HOSTILE), HOSTILE),),
        events=(TimelineEvent("backward", 0, 1, 0, 0, 3, 3),),
        left_out=0,
        holders=("this step", "earlier", HOSTILE),
        samples=(Sample(0, 0, (Share(2, 3, 3),)),),
    )
    source = SourceText(HOSTILE, 1, (HOSTILE, BACKWARDS, "\x1b]0;x\x07"))
    return Details(sources=(source,), graphs=(graph,), timeline=timeline)


def test_names_of_a_hostile_program_run_nothing(tab: Tab, tmp_path: Path) -> None:
    """Whatever a program calls its things is text, in every view; nothing is asked of anybody."""
    place = replace(at(HOSTILE, 1, HOSTILE), function=HOSTILE)
    evil = replace(
        CARRIED,
        message=f"`{HOSTILE}` {BACKWARDS}",
        made=place,
        used=replace(place, file=PATH),
        culprit=Culprit(HOSTILE, "local"),
        notes=(HOSTILE, f"[link]({PATH})"),
        fixes=tuple(replace(each, title=HOSTILE, diff=f"+{HOSTILE}\n") for each in CARRIED.fixes),
    )
    file = tmp_path / "report.html"
    file.write_text(html(replace(report(evil), argv=(HOSTILE, PATH), details=hostile())), encoding="utf-8")
    tab.open(file)

    for view in ("Explanation", "Graph", "Timeline"):
        tab.click(".views [role=tab]", view)
        for name in tab.texts(".panels > :not([hidden]) button")[:12]:
            if name:
                tab.click(".panels > :not([hidden]) button", name)
        tab.run("new Promise((done) => setTimeout(done, 30))")

    assert tab.run("window.ran") is None
    assert tab.run("document.querySelectorAll('img, iframe, object, embed, a, link, base, form').length") == 0
    assert tab.run("document.querySelectorAll('script').length") == 2
    assert HOSTILE in tab.texts("h1")[0]
    assert "\u202e" not in json.dumps(tab.run("document.body.innerText"), ensure_ascii=False)
    assert tab.requests == []


def test_policy_stops_what_is_not_the_page_s_own(tab: Tab, tmp_path: Path) -> None:
    """Even if markup came in, it would not run, nor would anything be fetched."""
    tab.open(page_of(tmp_path))
    tab.run(
        "void document.body.insertAdjacentHTML('beforeend',"
        ' \'<img src="https://example.invalid/x.png"><b onclick="window.ran=1" id="evil">x</b>\')'
    )
    tab.run("void document.getElementById('evil').click()")
    tab.run("fetch('https://example.invalid/').catch(() => null).then(() => 0)")

    assert tab.run("window.ran") is None
    assert not [
        each
        for each in tab.browser.events
        if each.get("method") == "Network.responseReceived" and "invalid" in each["params"]["response"]["url"]
    ]


def test_printed_page_hides_what_is_only_to_be_clicked(tab: Tab, tmp_path: Path) -> None:
    """And shows all of the source, in light colours; of lines that are left out, how many."""
    lines = tuple(f"x = {number}" for number in range(40, 80))
    tab.open(page_of(tmp_path, Details(sources=(SourceText("train.py", 40, lines),), graphs=(), timeline=None)))
    tab.ask("Emulation.setEmulatedMedia", media="print")

    assert tab.texts(".code > .gap") == ["⋯ 14 lines", "⋯ 17 lines"]
    assert tab.texts(".copy") == []
    assert tab.texts(".theme") == []
    assert tab.run("getComputedStyle(document.querySelector('.code')).maxHeight") == "none"
    tab.ask("Emulation.setEmulatedMedia", media="")


@pytest.mark.torch
def test_drawings_are_whole_on_paper(tab: Tab, own_cell: Path) -> None:
    """They were drawn for a window that is wider than paper."""
    tab.open(own_cell)
    for view, name in (("Graph", "graph"), ("Timeline", "timeline")):
        tab.click(".views [role=tab]", view)
        tab.until(f"document.querySelector('.{name}-drawing').clientWidth > 0")
        drawing = f"document.querySelector('.{name}-drawing')"
        tab.run(f"void addEventListener('beforeprint', () => {{ window.shown = {drawing}.getAttribute('viewBox'); }})")

        tab.ask("Page.printToPDF")

        assert tab.run("window.shown") == tab.run(f"`0 0 ${{{drawing}.clientWidth}} ${{{drawing}.clientHeight}}`")
        assert tab.run(f"{drawing}.hasAttribute('viewBox')") is False

"""The page of a report, as a file; what a browser makes of it is in `test_page_in_browser.py`."""

import base64
import gzip
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gradsan.facts.details import Details, SourceText
from gradsan.report import Summary
from gradsan.show.html import bundled, html
from gradsan.show.json import read, write
from show.bundle_sources import NOTED, PAGE, digest
from show.scenes import CARRIED, NEEDLESS, report

LARGEST = 1_500_000


def shown(page: str) -> list[dict[str, Any]]:
    """What a page is given to show."""
    packed = re.search(r'id="data">([^<]*)<', page)
    assert packed is not None
    runs: list[dict[str, Any]] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    return runs


def test_bundle_was_built_from_these_sources() -> None:
    """`make page` builds it again, and `make test-page` compares."""
    assert NOTED.read_text(encoding="utf-8").strip() == digest()


def test_lock_file_names_no_registry() -> None:
    """Whoever builds the page takes its libraries from where they like."""
    assert '"resolved"' not in (PAGE / "package-lock.json").read_text(encoding="utf-8")


def test_page_allows_its_own_script_and_nothing_else() -> None:
    """The policy names what may run by its digest; no request may be made."""
    page = html(report(CARRIED))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    digests = [
        base64.b64encode(hashlib.sha256(bundled(each).encode()).digest()).decode() for each in ("page.js", "page.css")
    ]

    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    assert [each in policy[1] for each in digests] == [True, True]
    assert "unsafe" not in policy[1]
    assert not re.search(r"(?:src|href|action)\s*=\s*[\"']?https?:", page)
    assert len(page.encode()) < LARGEST


@pytest.mark.parametrize("name", ["page.js", "page.css"])
def test_nothing_in_the_bundle_ends_it(name: str) -> None:
    """It stands in a page as it is."""
    assert not re.search(r"</(?:script|style)|<!--", bundled(name), re.IGNORECASE)


def test_page_shows_what_the_terminal_shows() -> None:
    """The same words for the same places."""
    (run,) = shown(html(report(CARRIED, summary=Summary(passes=2, steps=1, ops=30))))
    (finding,) = run["findings"]

    assert finding["message"] == CARRIED.message
    assert [(each["words"], each["where"]) for each in finding["places"]] == [
        ("created here, in step 1", "model.py:31"),
        ("freed by this backward(), in step 1", "train.py:58"),
        ("used again here, in step 2", "model.py:31"),
        ("this backward() needs it, but it is gone, in step 2", "train.py:58"),
    ]
    assert finding["fixes"][0]["edits"][0]["lines"] == [
        "- self.hidden = self.cell(x, self.hidden)",
        "+ self.hidden = self.cell(x, self.hidden.detach())",
    ]


def test_letters_that_deceive_are_not_shown() -> None:
    """A name that reads backwards, or ends a script."""
    details = Details(sources=(SourceText("evil\u202e.py", 1, ("</script><img onerror=alert(1)>", "\x1b[2J")),))
    page = html(replace(report(), details=details))

    assert shown(page)[0]["details"]["sources"][0] == {
        "file": "evil\N{REPLACEMENT CHARACTER}.py",
        "first": 1,
        "lines": ["</script><img onerror=alert(1)>", "\N{REPLACEMENT CHARACTER}[2J"],
    }
    assert "onerror" not in page.replace(bundled("page.js"), "")


def test_several_reports_make_one_page(tmp_path: Path) -> None:
    """Of the ranks of a run, say."""
    for rank, diagnosis in enumerate((CARRIED, NEEDLESS)):
        (tmp_path / f"rank{rank}.json").write_text(write(replace(report(diagnosis), rank=rank)), encoding="utf-8")
    command = [sys.executable, "-m", "gradsan", "report", "rank0.json", "rank1.json", "--output", "report.html"]

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    runs = shown((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert [(each["rank"], each["findings"][0]["code"]) for each in runs] == [(0, CARRIED.code), (1, NEEDLESS.code)]


PROGRAM = """\
import torch

model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0.0
for batch in torch.ones(6, 8, 3):
    loss = model(batch).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss
"""


@pytest.mark.torch
def test_details_are_recorded_where_they_are_asked_for(tmp_path: Path) -> None:
    """Source, graph and timeline; a plain report has none of it."""
    (tmp_path / "train.py").write_text(PROGRAM)
    for options in (["--details"], []):
        command = [sys.executable, "-m", "gradsan", "run", *options, "--format", "json", "-o", f"{len(options)}.json"]
        subprocess.run([*command, "train.py"], cwd=tmp_path, check=True)

    assert read(tmp_path / "0.json").details is None
    details = read(tmp_path / "1.json").details
    assert details is not None
    assert details.sources == (SourceText("train.py", 1, tuple(PROGRAM.splitlines())),)
    timeline = details.timeline
    assert timeline is not None
    once = ["zero_grad", "backward", "step"]
    assert [each.kind for each in timeline.events] == once * 6
    assert [timeline.lines[each.line].what for each in timeline.events[:3]] == ["opt", "loss", "opt"]
    held = [
        {timeline.holders[share.holder]: share.ops for share in sample.shares if share.ops}
        for sample in timeline.samples
    ]
    assert [each.get("total", 0) > 0 for each in held] == [False, True, True, True, True, True]
    assert sorted(each.get("total", 0) for each in held) == [each.get("total", 0) for each in held]
    (graph,) = details.graphs
    columns = (graph.condition, graph.module, graph.shape, graph.stack, graph.created, graph.saved_bytes)
    assert {len(each) for each in columns} == {len(graph.kind)}
    assert {each.name for each in graph.labels} == {"loss", "total"}
    states = [
        graph.conditions[each] for each, step in zip(graph.condition, graph.created, strict=True) if step == graph.step
    ]
    assert set(states) == {"live"}
    assert "freed" in {graph.conditions[each] for each in graph.condition}


@pytest.mark.torch
def test_long_run_is_sampled_from_its_first_pass_to_its_last(tmp_path: Path) -> None:
    """Also while the search for silent problems rests; at equal distances, so that no growth is hidden."""
    (tmp_path / "train.py").write_text(PROGRAM.replace("6, 8, 3", "500, 8, 3").replace("total +=", "total ="))
    command = [sys.executable, "-m", "gradsan", "run", "--details", "--format", "json", "-o", "report.json"]
    subprocess.run([*command, "train.py"], cwd=tmp_path, check=True)

    details = read(tmp_path / "report.json").details
    assert details is not None
    assert details.timeline is not None
    numbers = [each.number for each in details.timeline.samples]
    assert numbers == list(range(0, 500, 2))


@pytest.mark.torch
def test_graph_of_an_error_has_the_path_into_the_freed_part(tmp_path: Path) -> None:
    """From the loss, op by op, to the first that was freed."""
    source = PROGRAM.replace("    total += loss\n", "").replace(
        "    loss =", "    h = h * 0.5 + model(batch)\n    loss ="
    )
    source = source.replace("model(batch).square()", "h.square()").replace("total = 0.0", "h = torch.zeros(8, 1)")
    (tmp_path / "train.py").write_text(source)
    command = [sys.executable, "-m", "gradsan", "run", "--format", "html", "--output", "report.html", "train.py"]

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    (run,) = shown((tmp_path / "report.html").read_text(encoding="utf-8"))
    (graph,) = run["details"]["graphs"]
    assert graph["diagnosis"] == run["findings"][0]["fingerprint"]
    edges = set(zip(graph["edges"][::2], graph["edges"][1::2], strict=True))
    path = graph["path"]
    assert set(pairwise(path)) <= edges
    assert [graph["conditions"][graph["condition"][each]] for each in (path[0], path[-1])] == ["live", "freed"]
    assert {"loss", "h"} == {each["name"] for each in graph["labels"]}
    assert [each["failed"] for each in run["details"]["timeline"]["events"] if each["kind"] == "backward"] == [
        False,
        True,
    ]

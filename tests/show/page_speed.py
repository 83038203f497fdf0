"""What a browser takes to open a page and to move its graph: `python -m show.page_speed`, as `make test-page` does.

Times depend on the machine: they are printed, and only what is far too slow fails.
"""

import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradsan.facts.details import Details, EventLine, Label, OpGraph, RunTimeline, Sample, Share, TimelineEvent
from gradsan.facts.location import Frame
from gradsan.show.html import html
from show.chromium import FOUND, Tab, chromium
from show.scenes import CARRIED, report

LIMITS = {500: 0.5, 50_000: 3.0}  # seconds to open a report of so many ops
DRAWN = 3.0  # seconds until its graph is drawn
FRAMES = 30  # a second, while the graph is moved
SECONDS = 2.0  # for which it is moved
LARGEST = 1_500_000  # bytes

_FRAME = "PipelineReporter"  # of every frame that the browser began, in its trace


def graph_of(ops: int) -> OpGraph:
    """A network of many layers over several steps: each op leads to the one before it, and every third further back."""
    steps = max(2, ops // 500)
    each = ops // steps
    lines = 40
    modules = tuple(f"encoder.layer.{layer}.{part}" for layer in range(12) for part in ("attention", "output"))
    edges = [(op, op - 1) for op in range(1, ops)] + [(op, op - 7) for op in range(9, ops, 3)]
    return OpGraph(
        diagnosis=CARRIED.fingerprint,
        line=Frame("train.py", 58, "train"),
        step=steps,
        kinds=("AddmmBackward0", "MulBackward0", "AddBackward0", "GeluBackward0", "NativeLayerNormBackward0"),
        modules=modules,
        shapes=("[32, 128, 768] float32", "[32, 12, 128, 128] float32"),
        frames=(Frame("train.py", 58, "train"), *(Frame("model.py", 10 + at, "Block.forward") for at in range(lines))),
        stacks=tuple((0, 1 + at) for at in range(lines)),
        conditions=("live", "freed", "retained", "leaf", "unknown"),
        kind=tuple(op % 5 for op in range(ops)),
        condition=tuple(int(op < ops - each) for op in range(ops)),
        module=tuple(op % len(modules) if op % 5 == 0 else -1 for op in range(ops)),
        shape=tuple(op % 2 for op in range(ops)),
        stack=tuple(op * lines // each % lines for op in range(ops)),
        created=tuple(min(op // each + 1, steps) for op in range(ops)),
        saved_bytes=tuple(4096 * (op % 7) for op in range(ops)),
        edges=tuple(place for edge in edges for place in edge),
        path=tuple(range(ops - 1, ops - each - 2, -1)),
        labels=(Label(ops - 1, "loss"), Label(ops - each - 1, "self.hidden")),
    )


def timeline_of(passes: int) -> RunTimeline:
    """A run in which a name keeps more with every step."""
    events = [
        event
        for at in range(passes)
        for event in (
            TimelineEvent("zero_grad", 0, at + 1, at),
            TimelineEvent("backward", 1, at + 1, at, at, 500, 500),
            TimelineEvent("step", 2, at + 1, at),
        )
    ]
    lines = tuple(
        EventLine(Frame("train.py", 57 + at, "train"), what) for at, what in enumerate(("opt", "loss", "opt"))
    )
    samples = tuple(
        Sample(at, at, (Share(0, 500, 4096), Share(2, 10 * at, 512 * at))) for at in range(0, passes, passes // 400 + 1)
    )
    holders = ("this step", "earlier steps, through the loss", "total")
    return RunTimeline(passes, passes, lines, tuple(events), 0, holders, samples)


def page_of(ops: int, folder: Path) -> Path:
    """A report with so many ops."""
    details = Details(graphs=(graph_of(ops),), timeline=timeline_of(min(ops // 20, 660)))
    file = folder / f"{ops}.html"
    file.write_text(html(replace(report(CARRIED), details=details)), encoding="utf-8")
    return file


def frames_a_second(tab: Tab) -> float:
    """How many new frames came onto the screen while the graph was dragged, as the browser's own trace has it."""
    x, y = tab.run(
        "(({x, y, width}) => [x + width / 2, y + 8])(document.querySelector('.graph-drawing').getBoundingClientRect())"
    )
    ended = tab.browser.traced()
    tab.mouse("mousePressed", x, y)
    start, moves = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        moves += 1
        tab.mouse("mouseMoved", x - 100 + moves * 7 % 200, y)
    taken = time.perf_counter() - start
    tab.mouse("mouseReleased", x, y)
    return sum(map(_is_presented, ended())) / taken


def _is_presented(event: Mapping[str, Any]) -> bool:
    """Whether a frame came onto the screen with all that the page had changed."""
    if event["name"] != _FRAME or event["ph"] != "b":
        return False
    state: str = event["args"]["frame_reporter"]["state"]
    return state == "STATE_PRESENTED_ALL"


def measured(tab: Tab, file: Path) -> tuple[float, float, float]:
    """Seconds until the page is shown, and until its graph is; frames a second while that is moved."""
    begun = time.perf_counter()
    tab.open(file)
    opened = time.perf_counter()
    tab.click("[role=tab]", "Graph")
    tab.until("document.querySelectorAll('.node').length > 0")
    drawn = time.perf_counter()
    return opened - begun, drawn - opened, frames_a_second(tab)


def main() -> bool:
    """Whether all of it is fast enough."""
    is_fast = True
    with tempfile.TemporaryDirectory() as folder, chromium() as tab:
        measured(tab, page_of(100, Path(folder)))  # a browser's first page takes longer
        for ops, limit in LIMITS.items():
            file = page_of(ops, Path(folder))
            opened, drawn, frames = measured(tab, file)
            size = file.stat().st_size
            print(
                f"{ops:,} ops: page of {size / 1000:,.0f} KB opened in {opened:.2f} s (at most {limit}), its graph "
                f"drawn in {drawn:.2f} s (at most {DRAWN}); {frames:.0f} frames a second (at least {FRAMES})"
            )
            is_fast &= opened < limit and drawn < DRAWN and frames >= FRAMES and size < LARGEST
    return is_fast


if __name__ == "__main__":
    sys.exit("no Chromium is found" if FOUND is None else 0 if main() else "too slow, or too large")

"""Every view of a page, dark and light, as pictures under `build/screens`: to be looked at, and kept by CI."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

import pytest

from gradsan.report import Report
from gradsan.show.html import html
from gradsan.show.notebook import explanation
from show.chromium import FOUND, Tab, chromium
from show.scenes import CARRIED, EDITED, FOREIGN, LEAK, LOST, NEEDLESS, at, report

pytestmark = pytest.mark.skipif(FOUND is None, reason="no Chromium is found: `make test-page` installs one")

ROOT = Path(__file__).parents[2]
SCREENS = ROOT / "build/screens"
WIDE, NARROW = 1360, 420
Scheme = Literal["light", "dark"]

LONG = "a_package_with_a_long_name/experiments/of_the_third_year/train_the_second_network.py"
LONG_LINE = "prediction = self.decoder(self.encoder(batch.images, self.hidden_state_of_the_network), batch.actions)"
LONG_NAMES = replace(
    CARRIED,
    message=f"`{'self.hidden_state_of_the_network.' * 3}values` still has the graph of an earlier step",
    made=at(LONG, 1031, LONG_LINE, step=1),
    used=at(LONG, 1058, f"self.{'very_' * 20}long.backward()", step=2),
)
BY_HAND: dict[str, tuple[Report, ...]] = {
    "nothing": (report(),),
    "ranks": tuple(replace(report(CARRIED, *more), rank=rank) for rank, more in enumerate(((), (LEAK,), (NEEDLESS,)))),
    "source": (report(LOST, EDITED, FOREIGN),),
    "long": (replace(report(LONG_NAMES), argv=("-m", LONG, "--learning-rate", "0.001", "--seed", "3")),),
}
RUN = {
    "own_cell": "examples/own_cell/broken.py",
    "running_loss": "examples/running_loss/broken.py",
    "notebook_file": "docs/notebooks/train.ipynb",
}


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    """One browser for all of them."""
    with chromium() as opened:
        SCREENS.mkdir(parents=True, exist_ok=True)
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of each scene."""
    folder = tmp_path_factory.mktemp("pages")
    for name, reports in BY_HAND.items():
        (folder / f"{name}.html").write_text(html(*reports), encoding="utf-8")
    for name, program in RUN.items():
        command = [sys.executable, "-m", "gradsan", "run", "--format", "html", "-o", str(folder / f"{name}.html")]
        file = ROOT / program
        subprocess.run([*command, file.name], cwd=file.parent, capture_output=True, check=False)
    return folder


def look(tab: Tab, name: str, width: int) -> None:
    """Keep all of the page, as long as it is; nothing may stick out of the window."""
    tab.run("new Promise((done) => setTimeout(done, 150))")
    height = max(900, tab.run("document.documentElement.scrollHeight"))
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    tab.picture(SCREENS / f"{name}.png", captureBeyondViewport=True, clip=clip)

    assert tab.run("document.documentElement.scrollWidth") <= width, name
    assert [each["params"] for each in tab.browser.events if each.get("method") == "Runtime.exceptionThrown"] == []


def shown(tab: Tab, page: Path, scheme: Scheme, width: int) -> list[str]:
    """The names of the views of a page, once it is open."""
    tab.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    tab.open(page, scheme=scheme)
    return tab.texts(".views [role=tab]")


@pytest.mark.torch
@pytest.mark.parametrize("scheme", get_args(Scheme))
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_every_view_of_a_run(tab: Tab, pages: Path, scheme: Scheme, width: int) -> None:
    """An error, and a problem that raises none."""
    for name in RUN:
        views = shown(tab, pages / f"{name}.html", scheme, width)
        assert views == ["Explanation", "Graph", "Timeline"]
        for view in views:
            tab.click(".views [role=tab]", view)
            look(tab, f"{name}-{view.lower()}-{width}-{scheme}", width)


@pytest.mark.parametrize("scheme", get_args(Scheme))
@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("name", BY_HAND)
def test_other_reports(tab: Tab, pages: Path, name: str, scheme: Scheme, width: int) -> None:
    """Nothing found, several reports, findings from source, names that are too long."""
    shown(tab, pages / f"{name}.html", scheme, width)

    look(tab, f"{name}-{width}-{scheme}", width)


@pytest.mark.parametrize(("scheme", "colors"), [("light", "#fff;color:#111"), ("dark", "#111;color:#ddd")])
def test_output_of_a_notebook(tab: Tab, tmp_path: Path, scheme: Scheme, colors: str) -> None:
    """It takes the colours of the notebook around it."""
    output = "".join(map(explanation, (CARRIED, LEAK, LOST)))
    page = tmp_path / "notebook.html"
    style = f"margin:20px;font:14px sans-serif;background:{colors}"
    page.write_text(f'<!doctype html><html data-ready="yes"><body style="{style}">{output}', encoding="utf-8")
    shown(tab, page, scheme, 900)

    look(tab, f"notebook-{scheme}", 900)

    tab.click("button", "copy")
    tab.until("document.querySelector('button').textContent === 'copied'")
    assert tab.pasted().strip() == "self.hidden = self.cell(x, self.hidden.detach())"


@pytest.mark.torch
def test_printed(tab: Tab, pages: Path) -> None:
    """On paper it is light, whatever the reader has chosen."""
    shown(tab, pages / "own_cell.html", "dark", 800)
    tab.ask("Emulation.setEmulatedMedia", media="print", features=[])
    try:
        look(tab, "own_cell-printed", 800)

        assert tab.run("getComputedStyle(document.body).color") == "rgb(27, 34, 48)"
    finally:
        tab.ask("Emulation.setEmulatedMedia", media="")

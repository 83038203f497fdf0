"""The site as `make docs` builds it, in a browser: what its search finds, where gradsan's links lead, what it shows."""

import http.server
import json
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Literal

import pytest

from gradsan.causes import all_causes
from gradsan.show.addresses import on_site
from show.chromium import FOUND, Tab, chromium

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site"
SCREENS = ROOT / "build" / "screens"
SEARCH = "[data-md-component=search-query]"
# What people paste, and the part of the page of errors that it should lead to.
PASTED = {
    "Trying to backward through the graph a second time": "trying-to-backward-through-the-graph-a-second-time",
    "one of the variables needed for gradient computation has been modified by an inplace operation": (
        "one-of-the-variables-needed-for-gradient-computation-has-been-modified-by-an-inplace-operation"
    ),
    "element 0 of tensors does not require grad and does not have a grad_fn": (
        "element-0-of-tensors-does-not-require-grad-and-does-not-have-a-grad_fn"
    ),
    "Saved intermediate values of the graph are freed": (
        "saved-intermediate-values-of-the-graph-are-freed-when-you-call-backward-or-autogradgrad"
    ),
    "This backward function was compiled with non-empty donated buffers": (
        "this-backward-function-was-compiled-with-non-empty-donated-buffers"
    ),
}
SHOWN = ("index", "docs/getting-started", "docs/how-it-works", "docs/errors", "docs/comparison", "docs/codes/GS103")
WIDE, NARROW = 1360, 400


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 # as the base class calls it
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the site is served."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(SITE))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    """One browser for all of them."""
    assert FOUND is not None
    with chromium() as opened:
        yield opened


@pytest.mark.parametrize("pasted", PASTED)
def test_search_finds_the_error_that_is_pasted(pasted: str, address: str, tab: Tab) -> None:
    """First of all, and at its own heading."""
    page, sections = _found(pasted, address, tab)

    assert page == "/docs/errors.html"
    assert sections[0] == PASTED[pasted]


def test_search_finds_an_error_that_is_pasted_whole(address: str, tab: Tab) -> None:
    """With all that PyTorch says."""
    shown = (ROOT / "docs" / "codes" / "GS101.md").read_text(encoding="utf-8")
    (whole,) = (line for line in shown.splitlines() if line.startswith("RuntimeError: "))

    page, _ = _found(whole, address, tab)

    assert page == "/docs/errors.html"


@pytest.mark.parametrize("asked", ["GS103", "carried-state"])
def test_search_finds_a_code(asked: str, address: str, tab: Tab) -> None:
    """By what a report calls it."""
    page, _ = _found(asked, address, tab)

    assert page == "/docs/codes/GS103.html"


@pytest.mark.parametrize("code", [each.code for each in all_causes()])
def test_reports_lead_to_the_page_of_a_code(code: str, address: str) -> None:
    """SARIF, editors and `gradsan explain` make their address in one place; the site has a page there."""
    there = on_site(code, address)
    assert there is not None

    with urllib.request.urlopen(there) as answer:  # noqa: S310 # our own
        assert f'<h1 id="{code.lower()}-' in answer.read().decode()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_report_is_part_of_its_page(scheme: Literal["light", "dark"], address: str, tab: Tab) -> None:
    """A real one, which ran its script, in the colours around it; nobody else is asked for anything."""
    _open(f"{address}/docs/how-it-works.html", tab, scheme=scheme)
    inside = "document.querySelector('iframe.report').contentDocument"
    tab.until(f"{inside}?.documentElement?.dataset.ready === 'yes'")

    assert "carried-state" in tab.run(f"{inside}.body.innerText")
    assert tab.run(
        "document.querySelector('iframe.report').contentWindow.matchMedia('(prefers-color-scheme: dark)').matches"
    ) == (scheme == "dark")
    assert tab.run("document.querySelectorAll('svg.life').length") == 7
    assert {each for each in tab.requests if not each.startswith((address, "data:"))} == set()


def test_pictures_keep_their_own_styles(address: str, tab: Tab) -> None:
    """All of them are part of one page: no arrow of the first one goes through its words."""
    _open(f"{address}/docs/how-it-works.html", tab)

    words = "[...document.querySelectorAll('svg.life .from')].map((each) => each.getBoundingClientRect().right)"
    arrow = "[...document.querySelectorAll('svg.life .edge')].find((each) => each.getAttribute('d') === 'M189 80V145')"
    assert max(tab.run(words)) < tab.run(f"{arrow}.getBoundingClientRect().left")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("page", SHOWN)
def test_pages_fit_the_screen(page: str, width: int, scheme: Literal["light", "dark"], address: str, tab: Tab) -> None:
    """Nothing sticks out; a picture of each is left in build/screens."""
    tab.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width == NARROW)
    _open(f"{address}/{page}.html", tab, scheme=scheme)

    assert tab.run("document.documentElement.scrollWidth") == width
    assert tab.run("document.body.dataset.mdColorScheme") == ("slate" if scheme == "dark" else "default")
    SCREENS.mkdir(parents=True, exist_ok=True)
    tab.picture(SCREENS / f"site-{page.replace('/', '-')}-{width}-{scheme}.png")


def _open(url: str, tab: Tab, *, scheme: Literal["light", "dark"] = "light") -> None:
    tab.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    tab.browser.events.clear()
    tab.ask("Page.navigate", url=url)
    tab.until(f"document.readyState === 'complete' && location.href.startsWith({json.dumps(url)})")


def _found(words: str, address: str, tab: Tab) -> tuple[str, list[str]]:
    """The page that the site's own search lists first, and the parts of it, best first."""
    _open(f"{address}/index.html", tab)
    tab.run(
        f"(() => {{ const field = document.querySelector({json.dumps(SEARCH)}); field.focus();"
        f" field.value = {json.dumps(words)}; field.dispatchEvent(new Event('input', {{bubbles: true}}));"
        " field.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true})); })()"
    )
    tab.until("document.querySelector('.md-search-result__item') !== null")
    links: list[str] = tab.run(
        "[...document.querySelector('.md-search-result__item').querySelectorAll('a')].map((each) => each.href)"
    )
    first = urllib.parse.urlsplit(links[0])
    return first.path, [part for each in links if (part := urllib.parse.urlsplit(each).fragment)]

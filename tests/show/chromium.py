"""A headless Chromium, spoken to over a pipe by its own protocol: nothing else has to be installed."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

FOUND = next((each for name in ("chromium", "chromium-browser", "google-chrome") if (each := shutil.which(name))), None)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--force-color-profile=srgb",
    "--window-size=1360,900",
)
_SECONDS = 60.0  # that something shown may take to appear


@dataclass
class Browser:
    """One process."""

    write: int
    read: int
    events: list[dict[str, Any]] = field(default_factory=list)  # since somebody last looked
    _rest: bytes = b""
    _last: int = 0

    def ask(self, method: str, session: str | None = None, **parameters: object) -> dict[str, Any]:
        """What the browser answers."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                found: dict[str, Any] = answer["result"]
                return found
            self.events.append(answer)

    def traced(self) -> Callable[[], list[dict[str, Any]]]:
        """Begin a trace; the answer ends it, and has its events."""
        self.ask("Tracing.start", traceConfig={"includedCategories": ["disabled-by-default-devtools.timeline.frame"]})

        def ended() -> list[dict[str, Any]]:
            self.events.clear()
            self.ask("Tracing.end")
            while not any(each.get("method") == "Tracing.tracingComplete" for each in self.events):
                self.events.append(self._next())
            parts = [each["params"]["value"] for each in self.events if each.get("method") == "Tracing.dataCollected"]
            return [event for part in parts for event in part]

        return ended

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self.read, 1 << 20)
            if not more:
                raise RuntimeError("Chromium has gone")
            self._rest += more
        first, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        return message


@dataclass
class Tab:
    """A page that is open."""

    browser: Browser
    session: str

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        """What the page's part of the browser answers."""
        return self.browser.ask(method, self.session, **parameters)

    def run(self, script: str) -> Any:  # noqa: ANN401 # whatever the script gives
        """The value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']['exception'].get('description')}")
        return answer["result"].get("value")

    def open(self, file: Path, *, scheme: Literal["light", "dark"] = "light") -> None:
        """Show a report, and wait until it is there."""
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.run("void delete document.documentElement?.dataset.ready")  # of the page that is shown still
        self.browser.events.clear()
        self.ask("Page.navigate", url=file.as_uri())
        self.until("document.documentElement?.dataset.ready === 'yes'")

    def until(self, condition: str) -> None:
        """Wait for it."""
        end = time.monotonic() + _SECONDS
        while not self.run(condition):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            time.sleep(0.02)

    def click(self, selector: str, text: str = "") -> None:
        """Click on the first element that has the text, as a mouse would."""
        point = self.run(
            f"(() => {{ const it = [...document.querySelectorAll({json.dumps(selector)})]"
            f".find((each) => each.textContent.includes({json.dumps(text)}) && each.getClientRects().length);"
            " if (!it) return null; it.scrollIntoView({block: 'nearest'});"
            " const box = it.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        if point is None:
            raise LookupError(f"nothing to click: {selector} {text!r}")
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, *point)

    def mouse(self, kind: str, x: float, y: float) -> None:
        """Press, move or release its left button."""
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def press(self, key: str, code: int) -> None:
        """A key of the keyboard."""
        for kind in ("keyDown", "keyUp"):
            self.ask(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                windowsVirtualKeyCode=code,
                text="\r" if key == "Enter" and kind == "keyDown" else "",
            )

    def pasted(self) -> str:
        """What lies in the clipboard, as a user gets it."""
        self.run("document.body.append(Object.assign(document.createElement('textarea'), {id: 'pasted'}))")
        self.run("document.getElementById('pasted').focus()")
        self.ask("Input.dispatchKeyEvent", type="keyDown", commands=["paste"])
        text: str = self.run("document.getElementById('pasted').value")
        self.run("document.getElementById('pasted').remove()")
        return text

    def texts(self, selector: str) -> list[str]:
        """What elements say that are shown."""
        found: list[str] = self.run(
            f"[...document.querySelectorAll({json.dumps(selector)})]"
            ".filter((each) => each.getClientRects().length).map((each) => each.textContent)"
        )
        return found

    @property
    def requests(self) -> list[str]:
        """Where the page has asked for something since it was opened; its own file is not among them."""
        self.run("0")
        asked = [each["params"] for each in self.browser.events if each.get("method") == "Network.requestWillBeSent"]
        return [each["request"]["url"] for each in asked if each["type"] != "Document"]

    def picture(self, file: Path, **options: object) -> None:
        """Keep what is shown."""
        answer = self.ask("Page.captureScreenshot", format=file.suffix.removeprefix("."), **options)
        file.write_bytes(base64.b64decode(answer["data"]))


@contextmanager
def chromium() -> Iterator[Tab]:
    """One browser, with one page."""
    assert FOUND is not None
    to_browser, from_us = os.pipe()
    from_browser, to_us = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # A shell puts the pipes where Chromium looks for them: descriptors 3 and 4.
        command = f'exec "$0" "$@" 3<&{to_browser} 4>&{to_us}'
        process = subprocess.Popen(
            ["/bin/bash", "-c", command, FOUND, *FLAGS, "--remote-debugging-pipe", f"--user-data-dir={profile}"],
            pass_fds=(to_browser, to_us),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(to_us)
        browser = Browser(from_us, from_browser)
        try:
            target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
            session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            tab = Tab(browser, session)
            for domain in ("Page", "Network", "Runtime"):
                tab.ask(f"{domain}.enable")
            tab.ask("Emulation.setScrollbarsHidden", hidden=True)  # of a headless browser they are thick and grey
            tab.ask("Emulation.setDeviceMetricsOverride", width=1360, height=900, deviceScaleFactor=1, mobile=False)
            yield tab
            browser.ask("Browser.close")
        finally:
            os.close(from_us)
            os.close(from_browser)
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

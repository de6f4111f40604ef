"""A browser without a window, told what to do over a pipe (the Chrome DevTools protocol): no driver to install.

with Browser() as browser:
    tab = browser.open(path)
    tab.run("document.title")
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE = 900.0
_KEYS = {
    "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "PageDown": 34,
    "PageUp": 33, "Enter": 13, "Tab": 9, " ": 32, "Escape": 27,
}  # fmt: skip


def find_browser() -> str | None:
    """The one that SDCDSL_BROWSER names, or the first that is installed."""
    named = os.environ.get("SDCDSL_BROWSER")
    if named:
        return shutil.which(named)
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Wrong(AssertionError):
    """The page threw, or the browser refused."""


class Browser:
    def __init__(self, program: str | None = None) -> None:
        self._program = program or find_browser()
        self._numbers = itertools.count(1)
        self._rest = b""
        self._waiting: list[dict[str, Any]] = []

    def __enter__(self) -> Browser:
        assert self._program is not None, "no browser"
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()

        def as_three_and_four() -> None:
            # Somewhere else first: one of them may already be 3 or 4.
            reading, writing = os.dup(to_read), os.dup(to_write)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        options = [
            *("--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *(
                "--disable-extensions",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ),
            *("--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb", "--mute-audio"),
            *("--font-render-hinting=none", "--no-default-browser-check", f"--user-data-dir={self._folder.name}"),
        ]
        self._process = subprocess.Popen(
            [self._program, *options, "about:blank"],
            preexec_fn=as_three_and_four,  # noqa: PLW1509
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._selector = DefaultSelector()
        self._selector.register(self._read, EVENT_READ)
        return self

    def __exit__(self, *wrong: object) -> None:
        try:
            self.call("Browser.close")
            self._process.wait(5)
        except (Wrong, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait(5)
        os.close(self._write)
        os.close(self._read)
        self._folder.cleanup()

    # ---- messages ------------------------------------------------------------------------------------

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        answer = self._until(lambda m: m.get("id") == number, method)
        if "error" in answer:
            raise Wrong(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def wait(self, method: str, session: str, patience: float = PATIENCE) -> dict[str, Any]:
        """An event, or one of the same kind that has been there already."""

        def wanted(message: dict[str, Any]) -> bool:
            return message.get("method") == method and message.get("sessionId") == session

        return self._until(wanted, method, patience)

    def events(self, session: str) -> Iterator[dict[str, Any]]:
        """Everything that has been said of a tab and not been waited for."""
        self.call("Browser.getVersion")  # so that what was said before has arrived
        mine = [m for m in self._waiting if m.get("sessionId") == session]
        self._waiting = [m for m in self._waiting if m.get("sessionId") != session]
        yield from mine

    def _until(self, wanted: Callable[[dict[str, Any]], bool], what: str, patience: float = PATIENCE) -> dict[str, Any]:
        for i, message in enumerate(self._waiting):
            if wanted(message):
                return self._waiting.pop(i)
        end = time.monotonic() + patience
        while True:
            while b"\0" in self._rest:
                first, _, self._rest = self._rest.partition(b"\0")
                message = json.loads(first)
                if wanted(message):
                    return message
                self._waiting.append(message)
            if not self._selector.select(max(end - time.monotonic(), 0)):
                raise Wrong(f"the browser did not answer: {what}")
            piece = os.read(self._read, 1 << 20)
            if not piece:
                raise Wrong(f"the browser ended: {what}")
            self._rest += piece

    def open(self, page: Path | str, width: int = 1280, height: int = 900, *, dark: bool = False) -> Tab:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, session, target)
        for domain in ("Page", "Runtime", "Network", "Log"):
            tab.call(f"{domain}.enable")
        tab.resize(width, height)
        if dark:
            tab.dark(True)
        tab.call("Page.navigate", url=page if isinstance(page, str) else page.resolve().as_uri())
        self.wait("Page.loadEventFired", session)
        tab.settle()
        return tab


class Tab:
    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self._browser, self._session, self._target = browser, session, target
        self.requests: list[str] = []
        self.complaints: list[str] = []

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **parameters)

    def close(self) -> None:
        self._browser.call("Target.closeTarget", targetId=self._target)

    def run(self, script: str) -> Any:
        """The value of an expression, or of what it promises."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Wrong(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def settle(self) -> None:
        """Two frames: what waits for the next one is done."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))))")

    def until(self, condition: str, patience: float = PATIENCE) -> None:
        end = time.monotonic() + patience
        while not self.run(condition):
            if time.monotonic() > end:
                raise Wrong(f"never came true: {condition}")
            self.settle()

    def listen(self) -> None:
        """Sorts what was said so far into requests and complaints."""
        for event in self._browser.events(self._session):
            match event["method"], event["params"]:
                case "Network.requestWillBeSent", {"request": {"url": url}}:
                    self.requests.append(url)
                case "Runtime.exceptionThrown", {"exceptionDetails": details}:
                    self.complaints.append(details.get("exception", {}).get("description") or details["text"])
                case "Runtime.consoleAPICalled", {"type": kind, "args": args} if kind in ("error", "warning", "assert"):
                    self.complaints.append(f"console.{kind} {args}")
                case "Log.entryAdded", {"entry": entry} if entry["level"] in ("error", "warning"):
                    self.complaints.append(entry["text"])

    # ---- what people do --------------------------------------------------------------------------------

    def resize(self, width: int, height: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def dark(self, on: bool) -> None:
        features = [{"name": "prefers-color-scheme", "value": "dark" if on else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def press(self, key: str, *, control: bool = False, shift: bool = False) -> None:
        about: dict[str, Any] = {"key": key, "modifiers": 2 * control + 8 * shift}
        about |= {"windowsVirtualKeyCode": _KEYS[key], "code": "Space" if key == " " else key}
        self.call("Input.dispatchKeyEvent", type="rawKeyDown", **about)
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)
        self.settle()

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)
        self.settle()

    def click(self, selector: str) -> None:
        box = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center', behavior: 'instant'});"
            " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)
        self.settle()

    # ---- what people see --------------------------------------------------------------------------------

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        made = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(made["data"]))

    def pdf(self) -> bytes:
        return base64.b64decode(self.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)["data"])


@contextmanager
def opened(browser: Browser, path: Path, **more: Any) -> Iterator[Tab]:
    tab = browser.open(path, **more)
    try:
        yield tab
    finally:
        tab.close()

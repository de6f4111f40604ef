"""The playground in a real browser, served from this machine: what it says is what the program says."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.driver import Browser, Tab, find_browser
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(find_browser() is None, reason="no browser: apt-get install chromium"),
    pytest.mark.skipif(shutil.which("npm") is None, reason="no npm: Pyodide comes from it"),
]


class Served(http.server.SimpleHTTPRequestHandler):
    extensions_map = {  # noqa: RUF012  a class attribute of the library
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }
    asked: list[str] = []  # noqa: RUF012  one list for the module

    def log_message(self, format: str, *args: object) -> None:
        self.asked.append(self.path)


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    folder = tmp_path_factory.mktemp("site")
    spec = importlib.util.spec_from_file_location("site_playground", ROOT / "docs" / "site" / "playground.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    assert made.make_playground(Path(folder) / "playground")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Served, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with Browser() as browser:
        tab = browser.open(f"http://127.0.0.1:{server.server_port}/playground/index.html")
        tab.until("!document.getElementById('format').disabled && document.getElementById('status').textContent"
                  ".startsWith('no mistakes')")  # fmt: skip
        yield tab
    server.shutdown()


def write(tab: Tab, text: str) -> None:
    tab.run(f"document.getElementById('policy').value = {text!r};"
            "document.getElementById('policy').dispatchEvent(new Event('input'))")  # fmt: skip


def said(tab: Tab, name: str) -> str:
    return tab.run(f"document.getElementById('{name}').innerText")


TINY = (ROOT / "examples" / "tiny" / "tiny.sdc").read_text(encoding="utf-8")


def test_mistakes_are_found_while_typing(tab: Tab) -> None:
    write(tab, TINY.replace("lpl 10", "lpl needd"))
    tab.until("document.getElementById('status').textContent === '1 mistake'")
    assert "SDC112" in said(tab, "found") and "did you mean `needed`?" in said(tab, "found")
    assert tab.run("document.querySelector('.k-mistake').textContent") == "needd"
    tab.click("#found button")
    tab.until("!document.getElementById('page').hidden")
    assert said(tab, "page").startswith("# SDC112")
    write(tab, TINY)
    tab.until("document.getElementById('status').textContent.startsWith('no mistakes')")


def test_changes_are_told_by_what_they_mean(tab: Tab) -> None:
    write(tab, TINY)
    tab.click("#keep")
    tab.until("document.getElementById('verdict').textContent === 'neutral'")
    write(tab, TINY.replace("lpl 10", "lpl 7"))
    tab.until("document.getElementById('verdict').textContent === 'looser'")
    assert "lpl 7" in said(tab, "changes")


def test_it_formats_and_fixes(tab: Tab) -> None:
    write(tab, TINY.replace("  lpl 10\n", "        lpl    10\n"))
    tab.click("#format")
    tab.until("document.getElementById('policy').value.includes('\\n  lpl 10\\n')")
    assert tab.run("document.getElementById('policy').value") == TINY
    write(tab, TINY.replace("lpl 10", "lpl 10 % of value"))
    tab.click("#fix")
    tab.until("document.getElementById('policy').value.includes('lpl 10% of value')")


def test_words_are_coloured_and_explained(tab: Tab) -> None:
    write(tab, TINY)
    tab.until("document.querySelectorAll('#colours .k-method').length === 1")
    assert tab.run("document.getElementById('colours').textContent") == TINY + "\n"
    assert tab.run("document.querySelector('#colours .k-method').textContent") == "csp"
    at = TINY.index("csp") + 1
    tab.run(f"const t = document.getElementById('policy'); t.focus(); t.setSelectionRange({at}, {at})")
    tab.until("document.getElementById('hover').textContent.includes('suppression')")


def test_nothing_comes_from_elsewhere(tab: Tab) -> None:
    """The page's policy forbids it; and all it loaded came from its own folder."""
    hosts = tab.run("[...new Set(performance.getEntriesByType('resource').map((r) => new URL(r.name).host))]")
    assert hosts == [tab.run("location.host")]
    assert any(path.endswith(".whl") for path in Served.asked)

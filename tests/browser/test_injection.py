"""Whatever stands in a policy, its data and the names of its files: in a browser it is text, and nothing of it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcdsl.report.page import write_page
from tests.browser.driver import Browser, find_browser, opened
from tests.browser.test_page import quiet
from tests.report.outcomes import outcomes_of

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(find_browser() is None, reason="no Chromium or Chrome found; SDCDSL_BROWSER can name one"),
]
HIT = "window.hit=(window.hit||0)+1"
HOSTILE = [
    f"</script><script>{HIT}</script>",
    f"<img src=x onerror={HIT}>",
    f"<svg/onload={HIT}>",
    f"'\"><iframe srcdoc='<script>parent.{HIT}</script>'>",
    f"javascript:{HIT}",
    f"{{{{constructor.constructor('{HIT}')()}}}}",
    f"<!--<script>{HIT}//",
    f"]]><script>{HIT}</script>",
    f"\u2028{HIT}//\u2029",
    f"\u202e>tpircs/<{HIT}\u202c\u2066",
    f"<a href='data:text/html,<script>{HIT}</script>'>x</a>",
    f"<style>@import 'x'; body{{display:none}}</style><b onmouseover={HIT}>",
]


def written(folder: Path) -> Path:
    """Hostile texts as title, seed of codes, total, unit, reasons, names of files."""
    codes = [text.replace('"', '""') for text in HOSTILE]
    rows = "".join(f'    | "{code}" | {20 + i} |\n' for i, code in enumerate(codes))
    said = [code.replace("{", "{{").replace("}", "}}") for code in codes]  # no parameter; rows have none anyway
    listed = ", ".join(f'"{code}"' for code in said)
    path = folder / "<img src=x onerror=window.hit=1>'\"&.sdc"
    path.write_text(
        f'sdc 1\npolicy "{said[1]}{said[0]}"\ndimension d {{\n  codes {listed}\n'
        f'  total "{said[2]}!"\n}}\ntable t {{\n  by d\n  values\n    | d | value |\n{rows}  unit "{said[1]}"\n}}\n'
        f'sensitive t at (d: "{said[0]}") because "{said[3]}"\nattacker external {{\n  bounds 0 .. inf\n}}\n'
        "protect t {\n  lpl 1\n  upl 1\n  against external\n  method csp\n}\n",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize("public", [False, True], ids=["internal", "public"])
def test_nothing_runs(tmp_path: Path, public: bool) -> None:
    outcomes, provenance = outcomes_of(written(tmp_path))
    page = tmp_path / "page.html"
    write_page(page, outcomes, provenance, public=public)
    with Browser() as browser, opened(browser, page) as tab:
        # Everything that can be opened or pointed at.
        tab.run("document.querySelectorAll('details').forEach(one => one.open = true)")
        tab.run("document.querySelectorAll('button, [data-row] .cell, summary').forEach(one => one.click())")
        tab.run(
            "document.querySelectorAll('*').forEach(one => ['mouseover', 'focus', 'load', 'error', 'click'].forEach("
            "kind => one.dispatchEvent(new Event(kind))))"
        )
        assert tab.run("window.hit") is None
        assert tab.run("document.querySelectorAll('img, iframe, object, embed, base, a[onclick]').length") == 0
        assert tab.run("document.querySelectorAll('script').length") == 2
        assert tab.run("document.querySelectorAll('style').length") == 1
        handlers = "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes].map(a => a.name))"
        assert tab.run(f"{handlers}.filter(name => name.startsWith('on'))") == []
        links = "[...document.querySelectorAll('a')].map(a => a.protocol).filter(p => !['file:', 'https:'].includes(p))"
        assert tab.run(links) == []
        assert HOSTILE[1] in tab.run("document.body.innerText + document.title")
        quiet(tab, page)


def test_a_page_with_a_hostile_name(tmp_path: Path) -> None:
    outcomes, provenance = outcomes_of(written(tmp_path))
    page = tmp_path / "<script>window.hit=1<script>.html"
    write_page(page, outcomes, provenance, public=True)
    with Browser() as browser, opened(browser, page) as tab:
        assert tab.run("window.hit") is None

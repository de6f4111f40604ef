"""The page in a browser: that it works, asks nobody for anything, and stays quick with a hundred thousand cells."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sdcdsl.report.page import write_page
from tests.browser.driver import Browser, Tab, find_browser, opened
from tests.report.outcomes import large, made, outcomes_of
from tests.report.test_page_public import confidential, spellings

GRID = ".grid"
ROWS = "document.querySelectorAll('.grid .row:not(.top)').length"
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(find_browser() is None, reason="no Chromium or Chrome found; SDCDSL_BROWSER can name one"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as one:
        yield one


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A suppressed table, an adjusted one and a hostile one, for inside and outside."""
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for name in ("csp", "cta"):
        outcomes, provenance = made(folder, name)
        for public in (False, True):
            path = folder / f"{name}.{'public' if public else 'internal'}.html"
            write_page(path, outcomes, provenance, public=public)
            found[path.stem] = path
    return found


@pytest.fixture(scope="module")
def large_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    outcomes, provenance = large(folder)
    assert outcomes[0].problem.n > 100_000
    write_page(folder / "large.html", outcomes, provenance, public=False)
    return folder / "large.html"


@pytest.fixture
def tab(browser: Browser, pages: dict[str, Path]) -> Iterator[Tab]:
    """The internal page of the suppressed table, with its table in sight."""
    with opened(browser, pages["csp.internal"]) as one:
        show(one)
        yield one


def show(tab: Tab, selector: str = "[data-fill=table]") -> None:
    tab.run(f"document.querySelector('{selector}').scrollIntoView({{behavior: 'instant'}})")
    tab.until(f"!!document.querySelector('{selector} .browser')")
    tab.settle()


def heads(tab: Tab) -> list[str]:
    """Codes of the rows in sight, from top to bottom."""
    return tab.run(
        "[...document.querySelectorAll('.grid .row:not(.top)')].sort((a, b) => a.dataset.row - b.dataset.row)"
        ".map((row) => row.querySelector('.code').textContent)"
    )


def focused(tab: Tab) -> list[str]:
    """Row, column and text of what has the focus."""
    return tab.run(
        "(() => { const e = document.activeElement; const row = e.closest('.row'); return [row?.dataset.row ?? 'top',"
        " e.dataset.column, e.textContent]; })()"
    )


def quiet(tab: Tab, path: Path) -> None:
    tab.listen()
    assert tab.complaints == []
    assert set(tab.requests) <= {path.resolve().as_uri(), "data:,"}


@pytest.mark.parametrize("name", ["csp.internal", "csp.public", "cta.internal", "cta.public"])
@pytest.mark.parametrize("width", [1280, 390])
def test_opens_without_a_word_and_without_a_request(
    browser: Browser, pages: dict[str, Path], name: str, width: int
) -> None:
    with opened(browser, pages[name], width=width, dark=width == 390) as tab:
        for i in range(tab.run("document.querySelectorAll('.place').length")):
            tab.run(f"document.querySelectorAll('.place')[{i}].scrollIntoView({{behavior: 'instant'}})")
            tab.settle()
        assert tab.run("[...document.querySelectorAll('.place')].every((p) => p.querySelector('.browser'))")
        assert tab.run("document.documentElement.scrollWidth <= innerWidth")
        quiet(tab, pages[name])


def test_folding(tab: Tab) -> None:
    every = ["Total", "industry", "mining", "steel", "services"]
    assert heads(tab) == every
    assert tab.run("document.querySelector('[data-row=\"1\"]').getAttribute('aria-expanded')") == "true"
    tab.click('[data-row="1"] .fold')
    assert heads(tab) == ["Total", "industry", "services"]
    assert tab.run("document.querySelector('[data-row=\"1\"]').getAttribute('aria-expanded')") == "false"
    assert tab.run("document.querySelector('.grid').getAttribute('aria-rowcount')") == "4"
    tab.run("[...document.querySelectorAll('.folds button')][1].click()")
    assert heads(tab) == ["Total"]
    tab.run("[...document.querySelectorAll('.folds button')][0].click()")
    assert heads(tab) == every


def test_keyboard(tab: Tab) -> None:
    tab.run("document.querySelector('.grid [tabindex=\"0\"]').focus()")
    assert focused(tab)[:2] == ["0", "-1"]
    tab.press("ArrowDown")
    tab.press("ArrowLeft")  # folds industry
    assert heads(tab) == ["Total", "industry", "services"]
    assert focused(tab)[:2] == ["1", "-1"]
    tab.press("ArrowRight")
    assert heads(tab) == ["Total", "industry", "mining", "steel", "services"]
    tab.press("ArrowDown")
    tab.press("ArrowLeft")  # a leaf: up to its parent
    assert focused(tab)[:2] == ["1", "-1"]
    tab.press("End", control=True)
    assert focused(tab)[:2] == ["4", "3"]
    tab.press("Home")
    assert focused(tab)[0] == "4"
    tab.press("Home", control=True)
    tab.press("ArrowUp")
    assert focused(tab)[0] == "top"
    assert tab.run("document.querySelectorAll('.grid [tabindex=\"0\"]').length") == 1


def test_the_focus_is_seen(tab: Tab) -> None:
    tab.press("Tab")
    assert tab.run("document.activeElement.className") == "skip"
    assert tab.run("document.activeElement.getBoundingClientRect().top >= 0")
    tab.run("document.querySelector('.grid [tabindex=\"0\"]').focus()")
    tab.press("ArrowRight")
    assert tab.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_search(tab: Tab) -> None:
    said = "document.querySelector('.find .said').textContent"
    tab.run("document.querySelector('.find input').focus()")
    tab.type("steel C")
    tab.until(f"{said} === '1 of 1'")
    assert (
        tab.run("document.querySelector('.cell.found').closest('.row').querySelector('.code').textContent") == "steel"
    )
    assert "22\u202f651" in tab.run("document.querySelector('.details').textContent")  # the internal page
    assert "Mustermann" in tab.run("document.querySelector('.details').textContent")
    tab.press("Escape")
    tab.type("i")  # industry, mining, services
    tab.until(f"{said} === '1 of 3'")
    tab.press("Enter")
    assert tab.run(said) == "2 of 3"
    tab.press("Enter", shift=True)
    assert tab.run(said) == "1 of 3"
    tab.press("Escape")
    tab.type("zzz")
    tab.until(f"{said} === 'Nothing matches “zzz”.'")
    assert tab.run("document.querySelectorAll('.found').length") == 0


def test_search_unfolds_what_it_finds(tab: Tab) -> None:
    tab.run("[...document.querySelectorAll('.folds button')][1].click()")
    tab.run("document.querySelector('.find input').focus()")
    tab.type("steel")
    tab.until("!!document.querySelector('.head.found')")
    assert "steel" in heads(tab)


def test_filter_by_status(tab: Tab) -> None:
    tab.run("document.querySelector('[data-kind=sensitive]').click()")
    assert heads(tab) == ["Total", "industry", "steel"]
    bright = "[...document.querySelectorAll('.grid .cell:not(.dim)')].length"
    assert tab.run(bright) == 1
    assert tab.run("document.querySelector('.browser > .said').textContent") == "1 cell sensitive here."
    tab.run("document.querySelector('[data-kind=x]').click()")
    hidden = tab.run(
        "JSON.parse(document.getElementById('data').textContent).blocks[0].tables[0].status.split('x').length - 1"
    )
    assert tab.run(bright) == hidden
    tab.run("document.querySelector('[data-kind=\"\"]').click()")
    assert len(heads(tab)) == 5


def test_rows_and_columns_change_places(tab: Tab) -> None:
    choose = (
        "(() => { const s = document.querySelectorAll('.controls select')[0]; s.value = '1:0';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    tab.run(choose)
    assert heads(tab) == ["Total", "A", "B", "C"]
    columns = tab.run("[...document.querySelectorAll('.grid .top .column .code')].map((e) => e.textContent)")
    assert columns == ["Total", "industry", "mining", "steel", "services"]


def test_true_values_beside_published_ones(tab: Tab) -> None:
    cell = "[...document.querySelectorAll('[data-row=\"3\"] .cell')].pop()"  # steel, C
    assert tab.run(f"{cell}.querySelector('.figure').textContent") == "×"
    tab.run(
        "(() => { const s = document.querySelectorAll('.controls select')[2]; s.value = 'both';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    assert tab.run(f"{cell}.querySelector('.truth').textContent") == "22\u202f651"


def test_pairs_are_listed_and_drawn(tab: Tab) -> None:
    show(tab, "[data-fill=pairs]")
    assert tab.run("document.querySelectorAll('.pairs .size .pair').length") == 1
    label = tab.run("document.querySelector('.pairs svg').getAttribute('aria-label')")
    assert label.startswith("True value 22\u202f651, needed 18\u202f540 – 26\u202f984, feasibility interval at least")
    assert label.endswith(": protected")
    tab.run("document.querySelector('[data-fill=pairs] input').focus()")
    tab.type("nobody")
    tab.until("document.querySelector('[data-fill=pairs] .said').textContent === 'No pair matches.'")


def test_the_public_page_shows_no_confidential_figure(browser: Browser, tmp_path: Path) -> None:
    for name in ("csp", "cta"):
        outcomes, provenance = made(tmp_path, name)
        path = tmp_path / f"{name}.html"
        write_page(path, outcomes, provenance, public=True)
        with opened(browser, path) as tab:
            show(tab)
            text = tab.run("document.documentElement.outerHTML + document.body.innerText")
            for x in confidential(outcomes[0]):
                assert not [
                    s for s in spellings(x) if s in text and re.search(rf"(?<![\d.]){re.escape(s)}(?!\d)", text)
                ], x
            assert tab.run("document.querySelectorAll('.truth, .dot, [data-kind=sensitive]').length") == 0
            published = outcomes[0].pattern.value[0]  # type: ignore[union-attr]
            assert f"{published:,.0f}".replace(",", "\u202f") in text


def test_hostile_codes_are_texts(browser: Browser, tmp_path: Path) -> None:
    codes = ["</script><script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "a&lt;b", "it's `${1}`"]
    rows = "".join(f'    | "{code}" | {20 + i} |\n' for i, code in enumerate(codes))
    listed = ", ".join(json.dumps(code).replace("{", "{{").replace("}", "}}") for code in codes)  # no parameter
    (tmp_path / "p.sdc").write_text(
        f'sdc 1\npolicy "{codes[1]}"\ndimension d {{\n  codes {listed}\n'
        f"  total all\n}}\ntable t {{\n  by d\n  values\n    | d | value |\n{rows}}}\n"
        f'sensitive t at (d: "{codes[0]}") because "{codes[1]}"\nattacker external {{\n  bounds 0 .. inf\n}}\n'
        "protect t {\n  lpl 1\n  upl 1\n  against external\n  method csp\n}\n"
    )
    outcomes, provenance = outcomes_of(tmp_path / "p.sdc")
    for public in (False, True):
        path = tmp_path / f"{public}.html"
        write_page(path, outcomes, provenance, public=public)
        with opened(browser, path) as tab:
            show(tab)
            assert heads(tab) == ["all", *codes]
            tab.run("document.querySelector('.find input').focus()")
            tab.type("<img")
            tab.until("document.querySelector('.find .said').textContent === '1 of 1'")
            tab.click('[data-row="1"] .cell')
            assert codes[0] in tab.run("document.querySelector('.details').textContent")
            assert tab.run("window.hit") is None
            assert tab.run("document.querySelectorAll('img').length") == 0
            quiet(tab, path)


def test_prints(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["csp.internal"]) as tab:
        made = tab.pdf()
        assert made.startswith(b"%PDF") and len(re.findall(rb"/Type\s*/Page\b", made)) >= 2
        tab.run("dispatchEvent(new Event('beforeprint'))")
        assert tab.run("document.querySelectorAll('.on-paper table tbody tr').length") == 5 + 1  # cells, then pairs
        tab.run("dispatchEvent(new Event('afterprint'))")
        assert tab.run("document.querySelectorAll('.on-paper').length") == 0


def test_reads_without_colours(tab: Tab) -> None:
    """Statuses have signs and words, headings have an order, landmarks are there, and everything has a name."""
    assert tab.run("document.querySelector('.cell.kind-hidden .mark').getAttribute('aria-label')") == "hidden"
    for landmark in ("header", "nav[aria-label]", "main", "footer"):
        assert tab.run(f"document.querySelectorAll('{landmark}').length") >= 1
    nameless = (
        "[...document.querySelectorAll('input, select, button, [role=img], [role=treegrid], [role=table]')]"
        ".filter((e) => !(e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim())).length"
    )
    assert tab.run(nameless) == 0


@pytest.mark.parametrize("dark", [False, True])
def test_contrast(browser: Browser, pages: dict[str, Path], dark: bool) -> None:
    """Every text colour of the page on every ground it stands on, by the formula of WCAG: 4.5 to 1 at least."""
    pairs = [("ink", "ground"), ("ink", "paper"), ("ink", "raised"), ("soft", "ground"), ("soft", "paper"),
             ("soft", "raised"), ("accent", "paper"), ("accent", "raised"), ("accent", "ground"),
             ("accent", "accent-soft"), ("good", "good-soft"), ("mild", "mild-soft"), ("bad", "bad-soft"),
             ("hidden", "paper"), ("interval", "interval-soft"), ("changed", "changed-soft"), ("own", "paper"),
             ("ink", "interval-soft"), ("ink", "changed-soft")]  # fmt: skip
    with opened(browser, pages["csp.public"], dark=dark) as tab:
        style = "getComputedStyle(document.documentElement)"
        colours = {n: tab.run(f"{style}.getPropertyValue('--{n}').trim()") for n in {x for pair in pairs for x in pair}}
    poor = {pair: round(contrast(*(colours[n] for n in pair)), 2) for pair in pairs}
    assert {pair: ratio for pair, ratio in poor.items() if ratio < 4.5} == {}


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dim = sorted((light(one), light(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


# ---- many cells --------------------------------------------------------------------------------------------

# How long this machine needs for some million simple steps: what bounds below are measured in.
MEASURE = """
const beat = () => {
  const t = performance.now();
  let x = 0;
  for (let i = 0; i < 5e6; i += 1) x = (x * 31 + i) % 65521;
  return x < 0 ? 0 : performance.now() - t;
};
const unit = Math.min(beat(), beat(), beat());
const took = (act) => { const t = performance.now(); act(); return (performance.now() - t) / unit; };
"""


def test_a_hundred_thousand_cells(browser: Browser, large_page: Path) -> None:
    with opened(browser, large_page) as tab:
        show(tab)
        assert tab.run("document.querySelector('[data-fill=table]').closest('section').textContent.includes('113')")
        tab.run("[...document.querySelectorAll('.folds button')][0].click()")
        assert tab.run("document.querySelector('.grid').getAttribute('aria-rowcount')") == str(1 + 25 * 11 + 1)
        assert tab.run(ROWS) < 60
        assert tab.run("document.querySelectorAll('.grid .cell').length") < 60 * 20
        most = 0
        for top in (0, 900, 5000, 8000, 100):
            tab.run(
                f"(() => {{ const g = document.querySelector('.grid'); g.scrollTop = {top}; g.scrollLeft = {top}; }})()"
            )
            tab.settle()
            most = max(most, tab.run("document.querySelectorAll('.grid .cell').length"))
            assert len(heads(tab)) < 60
        assert most < 60 * 20
        # The row in the middle of the window is the one that belongs there.
        tab.run("document.querySelector('.grid').scrollTop = 32 * 100")
        tab.settle()
        in_order = tab.run("JSON.parse(document.getElementById('data').textContent).dimensions[0]")
        code = in_order["codes"][in_order["trees"][0]["code"][105]]
        assert code in heads(tab)
        quiet(tab, large_page)


def test_work_is_bounded_by_what_is_seen(browser: Browser, large_page: Path) -> None:
    with opened(browser, large_page) as tab:
        show(tab)
        tab.run("[...document.querySelectorAll('.folds button')][0].click()")
        tab.run("document.querySelector('.grid').scrollTop = 3200")
        tab.settle()
        count = (
            "new Promise((done) => { let n = 0; const watch = new MutationObserver((list) => { for (const m of list)"
            " n += m.addedNodes.length; }); watch.observe(document.querySelector('.grid .size'), { childList: true });"
            " document.querySelector('.grid').scrollTop += 64; requestAnimationFrame(() => requestAnimationFrame(() =>"
            " setTimeout(() => { watch.disconnect(); done(n); }, 20))); })"
        )
        assert 0 < tab.run(count) <= 4  # two rows further: two rows more, not the table anew
        times = tab.run(
            "(() => {" + MEASURE + "const g = document.querySelector('.grid'); const out = {};"
            "const frame = window.requestAnimationFrame; window.requestAnimationFrame = (act) => act();"  # at once
            "out.scroll = took(() => { g.scrollTop = 4000; g.dispatchEvent(new Event('scroll')); });"
            "out.sideways = took(() => { g.scrollLeft = 1500; g.dispatchEvent(new Event('scroll')); });"
            "window.requestAnimationFrame = frame;"
            "out.fold = took(() => document.querySelector('.grid .row .fold').click());"
            "out.unfold = took(() => document.querySelectorAll('.folds button')[0].click());"
            "out.filter = took(() => document.querySelector('[data-kind=x]').click());"
            "out.all = took(() => document.querySelector('[data-kind=\"\"]').click());"
            "const f = document.querySelector('.find input'); f.value = 'area12-03 sector3.2';"
            "out.search = took(() => f.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' })));"
            "out.found = document.querySelector('.find .said').textContent; return out; })()"
        )
        assert times.pop("found") == "1 of 1"
        # The unit is five million steps, some ten milliseconds; all of these take a small multiple of it.
        assert tab.run("Number(document.querySelector('.grid .row:not(.top)').dataset.row)") > 0  # it was drawn
        assert {name: time for name, time in times.items() if time > 25} == {}, times

"""The page as a text: one file, always the same, safe whatever stands in it, and saying what the outcome says."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdcdsl.diagnostics import FilePlace, diagnostic
from sdcdsl.methods.result import Result
from sdcdsl.outcome import Attempt, Changes, Outcome
from sdcdsl.pattern import intervals
from sdcdsl.report.page import write_page
from sdcdsl.report.page.assembling import embedded, page
from sdcdsl.report.page.figures import column, decimals_of, figure, percent, tidy
from sdcdsl.report.page.losses import losses_of, totals_of
from sdcdsl.report.page.pairs import pairs_of, tightness
from sdcdsl.report.page.standardised import standardised
from sdcdsl.report.provenance import Provenance
from sdcdsl.status import INFEASIBLE
from tests.released.problems import JJ
from tests.report.outcomes import made, outcomes_of

Made = tuple[tuple[Outcome, ...], Provenance]
NASTY = "</script><img src=x onerror=alert(1)>'`&amp;\u2028"


@pytest.fixture(scope="module")
def csp(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made(tmp_path_factory.mktemp("csp"), "csp")


@pytest.fixture(scope="module")
def cta(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made(tmp_path_factory.mktemp("cta"), "method cta\n  assess B1 {\n    replications 2\n  }")


class Outline(HTMLParser):
    """Tags that never close aside, every tag closes in its order; ids are there once, and links lead somewhere."""

    VOID = frozenset({"meta", "link", "input", "br", "img"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.attributes: set[str] = set()
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.attributes |= set(named)
        if tag not in self.VOID:
            self.open.append(tag)
        if "id" in named:
            self.ids.append(named["id"] or "")
        self.links += [named[k] or "" for k in ("href", "src") if k in named]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, tag


@pytest.mark.parametrize("public", [False, True])
def test_is_one_well_formed_file_that_loads_nothing(csp: Made, cta: Made, public: bool) -> None:
    for outcomes, provenance in (csp, cta):
        text = page(outcomes, provenance, public=public)
        found = Outline(text)
        assert len(found.ids) == len(set(found.ids))
        inner = [link[1:] for link in found.links if link.startswith("#")]
        assert set(found.links) - {f"#{i}" for i in inner} == {"data:,"}
        assert set(inner) <= set(found.ids)
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
        assert found.headings[0] == 1 and found.headings.count(1) == 1
        assert all(b - a <= 1 for a, b in zip(found.headings, found.headings[1:], strict=False))
        assert "style" not in found.attributes  # the page's own policy for the browser would refuse them
        assert not [name for name in found.attributes if name.startswith("on")]


def test_the_browser_may_run_exactly_the_script_of_the_page(csp: Made) -> None:
    text = page(*csp, public=False)
    allowed = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert allowed is not None
    rules = allowed[1].replace("&#39;", "'")
    assert rules.startswith("default-src 'none';")
    assert "unsafe" not in rules and "http" not in rules
    for tag in ("script", "style"):
        [content] = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.S)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in rules


def test_the_same_outcomes_give_the_same_bytes(csp: Made, tmp_path: Path) -> None:
    for public in (False, True):
        for name in ("a", "b"):
            write_page(tmp_path / name, *csp, public=public)
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_internal_page_says_that_it_is_confidential(csp: Made) -> None:
    assert '<div class="banner"' in page(*csp, public=False)
    assert "<strong>Confidential</strong>" in page(*csp, public=False)
    assert '<div class="banner"' not in page(*csp, public=True)


def test_a_summary_in_plain_words(csp: Made) -> None:
    [outcome] = csp[0]
    text = page(*csp, public=False)
    hidden = len(outcome.touched)
    assert f"Of 20 cells {hidden} are hidden. They are 1 primary (sensitive)" in text
    assert "Protected" in text
    assert "proven to be the least" in text


def test_nothing_found_says_why(csp: Made) -> None:
    [outcome], provenance = csp
    wrong = diagnostic("SDC510", "no release can satisfy the policy", FilePlace("x.sdc"), notes=["22651 is too much"])
    failed = Outcome(outcome.name, outcome.problem, (Attempt("csp", Result(INFEASIBLE)),), found=(wrong,))
    text = page([failed], provenance, public=False)
    assert "No release possible" in text and "22651 is too much" in text
    assert "22651 is too much" not in page([failed], provenance, public=True)


def test_changes_against_the_previous_period(csp: Made) -> None:
    [outcome], provenance = csp
    changed = replace(outcome, changes=Changes(("last.csv",), np.array([1, 2]), np.array([5])))
    text = page([changed], provenance, public=False)
    assert "Newly not published (2)" in text and "Published again (1)" in text and "last.csv" in text
    assert "2 newly not published as they are, 1 published again" in page([changed], provenance, public=True)


def test_experiments_and_deviations_are_told(cta: Made) -> None:
    text = page(*cta, public=False)
    assert "Experiments" in text and "B1" in text
    assert "Histogram of deviations" in text and "Deviations by group" in text
    assert "No attacker was simulated" in text


def test_policy_with_lines_and_effects(csp: Made) -> None:
    outcomes, provenance = csp
    text = page(outcomes, provenance, public=False)
    source = provenance.policy.files[-1].parsed.source
    line = next(i for i in range(1, 60) if source.line(i).startswith("sensitive"))
    row = re.search(rf'<tr id="line-1-{line}".*?</tr>', text, re.S)
    assert row is not None and "marks 1 cell" in row[0] and "Mustermann" in row[0]
    assert text.count('scope="row">') >= len(source.text.splitlines())


def test_provenance(csp: Made) -> None:
    text = page(*csp, public=False)
    for digest in csp[1].inputs:
        assert digest["sha256"] in text
    assert "2026-01-01" in text and csp[1].versions["numpy"] in text


# ---- hostile texts -------------------------------------------------------------------------------------


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    code = "</script><script>alert(1)</script>"
    (tmp_path / "p.sdc").write_text(
        'sdc 1\npolicy "<img src=x onerror=alert(2)> </title>"\n'
        f'dimension d {{\n  codes "{code}", "a&b", "\'`$", "x\u202ey"\n  total "<b>"\n}}\n'
        f'table t {{\n  by d\n  values\n    | d | "value" |\n    | "{code}" | 20 |\n    | "a&b" | 30 |\n'
        '    | "\'`$" | 25 |\n    | "x\u202ey" | 5 |\n  unit "<i>"\n}\n'
        f'sensitive t at (d: "{code}") because "<svg onload=alert(3)>"\n'
        "attacker external {\n  bounds 0 .. inf\n}\n"
        "protect t {\n  lpl 1\n  upl 1\n  against external\n  method csp\n}\n",
        encoding="utf-8",
    )
    outcomes, provenance = outcomes_of(tmp_path / "p.sdc")
    noted = replace(
        outcomes[0], attempts=(replace(outcomes[0].attempts[0], result=replace(outcomes[0].result, notes=(NASTY,))),)
    )
    for public in (False, True):
        text = page([noted], provenance, public=public)
        found = Outline(text)
        assert text.count("<script") == 2 and "<img" not in text and "<svg onload" not in text
        assert "onerror" not in found.attributes


@given(st.recursive(st.text() | st.integers() | st.none(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_embedded_data_cannot_end_its_element_and_reads_back(data) -> None:
    text = embedded(data)
    assert not set("<>&\u2028\u2029") & set(text)
    assert text.isascii()
    assert json.loads(text) == data


# ---- tables --------------------------------------------------------------------------------------------


def test_numbered_tables_are_lists(tmp_path: Path) -> None:
    (tmp_path / "t.jj").write_text(JJ)
    path = tmp_path / "p.sdc"
    path.write_text('sdc 1\ntable t {\n  jj "t.jj"\n}\nprotect t {\n  method csp\n}\n')
    outcomes, provenance = outcomes_of(path)
    text = page(outcomes, provenance, public=False)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])  # type: ignore[index]
    [table] = data["blocks"][0]["tables"]
    assert table["numbers"] == [0, 1, 2, 3] and "dims" not in table
    assert dict(zip(table["true"]["at"], table["true"]["v"], strict=True)).get(1) == 10


def test_codes_are_written_once_however_many_tables_use_them(csp: Made) -> None:
    outcomes, provenance = csp
    again = replace(outcomes[0], name="again")
    embedded = re.search(r'id="data">(.*?)</script>', page([*outcomes, again], provenance, public=True), re.S)
    assert embedded is not None
    data = json.loads(embedded[1])
    assert [one["name"] for one in data["dimensions"]] == ["activity", "region"]
    tree = data["dimensions"][0]["trees"][0]
    codes = data["dimensions"][0]["codes"]
    above = {
        codes[c]: codes[tree["code"][p]] if p >= 0 else None for c, p in zip(tree["code"], tree["parent"], strict=True)
    }
    assert above == {"Total": None, "industry": "Total", "mining": "industry", "steel": "industry", "services": "Total"}


def test_pairs_say_what_is_needed_and_what_is_left(csp: Made) -> None:
    [outcome] = csp[0]
    found = pairs_of(outcome)
    assert found is not None and outcome.audit is not None
    assert found["cells"]["true"] == [22651] and found["lpl"] == [4111] and found["upl"] == [4333]
    assert found["low"][0] <= 22651 - 4111 and found["high"][0] >= 22651 + 4333
    expected = min((22651 - found["low"][0]) / 4111, (found["high"][0] - 22651) / 4333)
    assert found["tight"][0] == pytest.approx(expected) and found["verdict"] == "p"


def test_tightness_of_adjusted_figures_is_their_distance_in_levels(cta: Made) -> None:
    [outcome] = cta[0]
    assert outcome.audit is not None and outcome.pattern is not None
    cell = int(outcome.problem.sensitive[0])
    move = outcome.pattern.value[cell] - 22651
    expected = move / 4333 if move > 0 else -move / 4111
    assert tightness(outcome.audit)[0] == pytest.approx(expected) and expected >= 1 - 1e-9


def test_standardised_ranges_are_those_of_the_paper(csp: Made) -> None:
    """Five ranges with the truth at its five places, as in the columns of Table 4 of paper 000."""
    [outcome] = csp[0]
    a = outcome.problem.dataset["a"].values
    low, high = a.copy(), a.copy()
    for cell, (below, above) in enumerate(((100, 0), (60, 40), (50, 50), (30, 70), (0, 100))):
        low[cell] -= below
        high[cell] += above
    result = replace(outcome.result, pattern=intervals(low, high))
    found = standardised(replace(outcome, attempts=(Attempt("ip", result),)))
    assert found is not None
    assert [c["cells"] for c in found["classes"]] == ["1"] * 5
    corners = [float(point.split(",")[1]) for point in found["outline"].split()]
    lines = {line["text"]: line["y"] for line in found["lines"]}
    assert max(corners) == pytest.approx(lines["−100"]) and min(corners) == pytest.approx(lines["+100"])


# ---- figures ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "text"),
    [(0.0, "0"), (1234567.0, "1\u202f234\u202f567"), (-12.5, "−12.5"), (0.00012, "0.00012"),
     (43679.2463, "43\u202f679.2"), (float("inf"), "∞"), (float("nan"), "–"), (1e-9, "1e-09")],
)  # fmt: skip
def test_figures(x: float, text: str) -> None:
    assert figure(x) == text


def test_percentages() -> None:
    assert [percent(x) for x in (0.35054, 1.0, 0.00001, 0.0)] == [
        "35.1\u202f%",
        "100\u202f%",
        "under 0.01\u202f%",
        "0\u202f%",
    ]


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True)))
def test_columns_read_back_as_they_were(values: list[float]) -> None:
    back = json.loads(json.dumps(column(np.array(values)), allow_nan=False))
    assert [x if np.isfinite(x) else None for x in values] == back


@given(st.floats(-1e12, 1e12), st.floats(0, 1e12))
def test_tidying_moves_nothing_by_more_than_rounding(x: float, size: float) -> None:
    [found] = tidy(np.array([x]), np.array([size]))
    assert abs(found - x) <= 1e-11 * max(abs(x), size, 1e-280)


def test_decimals() -> None:
    assert decimals_of(np.array([1.0, 2.0, np.nan, np.inf])) == 0
    assert decimals_of(np.array([1.5, 2.25])) == 2
    assert decimals_of(np.array([1 / 3])) == 3
    assert decimals_of(np.array([123456.789123])) == 2


def test_losses_by_level_are_those_of_the_release(tmp_path: Path) -> None:
    """Total, industry, services, mining and steel, in three regions and their total: 20 cells, four of them hidden."""
    outcomes, _ = made(tmp_path, "csp")
    [table] = losses_of(outcomes[0])
    said = [(row["dimension"], row["level"], row["cells"], row["gone"]) for row in table["rows"]]
    assert said == [
        ("activity", "1, the total", "4", "0"),
        ("", "2", "8", "0"),
        ("", "3, the finest codes", "8", "4"),
        ("region", "1, the total", "5", "0"),
        ("", "2, the finest codes", "15", "4"),
    ]
    # All but the nine cells of mining, steel and services in A, B and C are sums of others.
    assert totals_of(outcomes[0]) == (11, 0)


# 62 668 is the least cost; what is known of it is another matter: a bound, a lower one, or none.
@pytest.mark.parametrize(
    ("bound", "kind", "word"),
    [(62668.0, "good", "Least cost"), (31334.0, "mild", "Gap 50"), (None, "open", "Gap not known")],
)
def test_the_gap_stands_beside_the_verdict(tmp_path: Path, bound: float | None, kind: str, word: str) -> None:
    outcomes, provenance = made(tmp_path, "csp")
    [attempt] = outcomes[0].attempts
    result = replace(attempt.result, bound=bound)
    outcome = replace(outcomes[0], attempts=(replace(attempt, result=result),))
    write_page(tmp_path / "page.html", [outcome], provenance, public=False)
    text = (tmp_path / "page.html").read_text(encoding="utf-8").replace("\N{NARROW NO-BREAK SPACE}", " ")
    card = text.partition('<div class="cards">')[2].partition("</article>")[0]
    pills = re.findall(r'<p class="verdict (\w+)"><span[^>]*>[^<]*</span>([^<]*)</p>', card)
    assert pills[0] == ("good", "Protected")
    assert pills[1][0] == kind and pills[1][1].startswith(word)
    write_page(tmp_path / "public.html", [outcome], provenance, public=True)
    assert word not in (tmp_path / "public.html").read_text(encoding="utf-8")

"""The public page is a function of what is released: nothing else can be read off it, whatever the true values are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from sdcdsl.outcome import Outcome
from sdcdsl.pattern.pattern import EXACT
from sdcdsl.released.write import write_release_csv
from sdcdsl.report.page.assembling import page
from sdcdsl.report.page.sentences import rules_in_words
from sdcdsl.report.provenance import Provenance
from tests.policy.reading import policy
from tests.report.outcomes import METHODS, made

Made = tuple[tuple[Outcome, ...], Provenance]


@pytest.fixture(scope="module", params=list(METHODS))
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made(tmp_path_factory.mktemp(request.param), request.param)


def data_of(text: str) -> dict:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert found is not None
    return json.loads(found[1])


def spellings(x: float) -> Iterator[str]:
    """A figure as anybody would write it."""
    whole = f"{x:.0f}"
    yield whole
    for gap in (",", ".", " ", "\u202f", "\u00a0", "'", "’", "&#39;", "&nbsp;", "\\u202f"):
        yield f"{x:,.0f}".replace(",", gap)
    yield repr(float(x))
    yield f"{x:.4g}"
    yield f"{x:e}"


def confidential(outcome: Outcome) -> set[float]:
    """True values of cells that are not published as they are, and of sensitive ones; levels and ends of ranges that
    follow from them. What is published somewhere else in the table is no secret."""
    data, pattern = outcome.problem.dataset, outcome.pattern
    assert pattern is not None
    a = data["a"].values
    secret = set(a[(pattern.status != EXACT) | (data["status"].values == "u")].tolist())
    cells, lpl, upl = data["cell_at"].values, data["lpl"].values, data["upl"].values
    secret |= set((a[cells] - lpl).tolist()) | set((a[cells] + upl).tolist()) | set(lpl.tolist()) | set(upl.tolist())
    told = np.concatenate([pattern.value, pattern.low, pattern.high])
    return {x for x in secret if not np.isclose(told[np.isfinite(told)], x, rtol=0, atol=1e-6).any()}


def test_no_confidential_figure_stands_anywhere_in_the_file(release: Made) -> None:
    outcomes, provenance = release
    text = page(outcomes, provenance, public=True)
    internal = page(outcomes, provenance, public=False)
    secrets = confidential(outcomes[0])
    assert len(secrets) >= 2
    found = {
        x: s for x in secrets for s in spellings(x) if s in text and re.search(rf"(?<![\d.]){re.escape(s)}(?!\d)", text)
    }
    assert not found
    # The search is not blind: the internal page has them.
    assert all(f"{x:.0f}" in internal for x in secrets & set(outcomes[0].problem.dataset["a"].values.tolist()))


def test_no_name_and_no_statement_of_the_policy_stands_in_the_file(release: Made) -> None:
    outcomes, provenance = release
    text = page(outcomes, provenance, public=True)
    for word in ("Mustermann", "external", "lpl", "sensitive investment", provenance.inputs[0]["sha256"]):
        assert word not in _own(text), word
    assert "Mustermann" in page(outcomes, provenance, public=False)


def _own(text: str) -> str:
    """Without the script and the styles, which are the same on every page."""
    return re.sub(r"<script>.*?</script>|<style>.*?</style>", "", text, flags=re.S)


def test_other_true_values_behind_the_same_release_give_the_same_page(release: Made) -> None:
    """The strongest form: of two tables with one release the pages are equal, byte by byte."""
    [outcome], provenance = release
    data, pattern = outcome.problem.dataset, outcome.pattern
    assert pattern is not None
    touched = pattern.status != EXACT
    if not pattern.claims:  # not even which cells are unchanged may be told
        touched |= data["status"].values != "z"
        status = np.where(pattern.status == "v", EXACT, "v")
        status[data["status"].values == "z"] = EXACT
        pattern = replace(pattern, status=status)
    shuffled = np.where(touched, data["a"].values * 3 + 13, data["a"].values)
    marked = data["status"].values.copy()
    marked[touched] = np.where(marked[touched] == "u", "s", "u")
    problem = replace(
        outcome.problem,
        dataset=data.assign(a=("cell", shuffled), status=("cell", marked), lpl=data["lpl"] * 3, upl=data["upl"] * 3),
    )
    result = replace(
        outcome.result,
        pattern=pattern,
        objective=17.0,
        bound=1.0,
        notes=("a note",),
        facts={"x": 1.0},
        seconds={"search": 99.0},
    )
    other = replace(
        outcome,
        problem=problem,
        attempts=(replace(outcome.attempts[0], method="csp"), replace(outcome.attempts[-1], result=result)),
        measures=None,
        seconds={"search": 99.0},
    )
    assert page([other], provenance, public=True) == page([outcome], provenance, public=True)
    assert page([other], provenance, public=False) != page([outcome], provenance, public=False)


def test_cells_are_told_as_in_the_released_file(release: Made, tmp_path: Path) -> None:
    [outcome], provenance = release
    assert outcome.pattern is not None
    write_release_csv(outcome.problem, outcome.pattern, "investment", tmp_path / "r.csv")
    frame = pl.read_csv(tmp_path / "r.csv", infer_schema=False)
    told = data_of(page([outcome], provenance, public=True))
    [table] = told["blocks"][0]["tables"]
    words = {".": "published", "x": "hidden", "i": "interval", "v": "changed", "a": "adjusted"}
    assert [words[letter] for letter in table["status"]] == frame["status"].to_list()
    for name in ("low", "high"):
        ends = dict(zip(table[name]["at"], table[name]["v"], strict=True))
        written = [None if x in (None, "") else float(x) for x in frame[name].to_list()]
        finite = [x if x is not None and np.isfinite(x) else None for x in written]
        assert [ends.get(i) for i in range(len(frame))] == finite
    assert table["value"] == [None if x in (None, "") else float(x) for x in frame["value"].to_list()]
    codes = [told["dimensions"][d]["codes"] for d in table["dims"]]
    assert [(x, y) for x in codes[0] for y in codes[1]] == frame.select("activity", "region").rows()
    assert set(table) == {"name", "unit", "size", "dims", "status", "value", "low", "high", "decimals", "enddecimals"}


def test_nothing_that_is_not_protected_is_shown(release: Made) -> None:
    [outcome], provenance = release
    failed = replace(outcome, audit=None)
    text = page([failed], provenance, public=True)
    assert "Not released" in text
    assert data_of(text)["blocks"][0]["tables"] == []
    assert all(s not in _own(text) for s in ("20731", "50413"))


def test_an_adjusted_table_does_not_count_its_changes(tmp_path: Path) -> None:
    outcomes, provenance = made(tmp_path, "cta")
    text = _own(page(outcomes, provenance, public=True))
    assert "changed" not in text
    assert "Sensitive" not in text
    assert set(data_of(page(outcomes, provenance, public=True))["blocks"][0]["tables"][0]["status"]) == {"a"}


TWO_BLOCKS = """sdc 1
policy "two"

data d {
  csv "d.csv"
}

dimension region {
  codes A, B
  total Total
}

table sales {
  from d
  by region
  sum sales
}

table staff {
  from d
  by region
  sum staff
}

sensitive sales by threshold(3)
sensitive staff by zero
sensitive staff at (region: A)

attacker external {
  bounds 0 .. inf
}

protect sales {
  lpl 1
  against external
  method csp
}

protect staff {
  lpl 1
  against external
  method csp
}
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sales", ["too few contributors"]),
        ("staff", ["all contributors report zero", "the office names cells that are confidential"]),
    ],
)
def test_a_block_names_the_rules_of_its_own_tables(name: str, said: list[str]) -> None:
    table = SimpleNamespace(name=name, given=None, status=None)
    outcome: Any = SimpleNamespace(problem=SimpleNamespace(tables=[table]))
    assert [words.split(",")[0] for words in rules_in_words(policy(TWO_BLOCKS), outcome)] == said

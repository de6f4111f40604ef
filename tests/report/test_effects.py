"""What statements did: counts that can be checked by hand against small tables."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import numpy as np
import pytest

from sdcdsl.report.effects import effects
from tests.conftest import ROOT
from tests.report.outcomes import DAY, made, outcomes_of

SEVERAL = """sensitive investment at (activity: steel, region: C)
sensitive where value < 11000
publish where activity = Total and region = Total because "everybody knows it"
suppress investment at (activity: services, region: A)
waive where value = 8329 until 2025-06-30 because "agreed"
require upl >= lpl because "rule book"
"""


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory):
    return made(tmp_path_factory.mktemp("several"), "csp", sensitive=SEVERAL)


def said(outcomes, provenance, day: datetime.date | None = DAY) -> dict[str, list[str]]:
    """By the first words of the statement."""
    out: dict[str, list[str]] = {}
    for effect in effects(provenance.policy, outcomes, day):
        out.setdefault(effect.span.text.split("\n")[0], []).append(effect.text)
    return out


def of(found: dict[str, list[str]], beginning: str) -> list[str]:
    [key] = [k for k in found if k.startswith(beginning)]
    return found[key]


def test_facts(several) -> None:
    found = said(*several)
    # Of the cells below 11 000 there are two: steel in A (8329) and mining in C (10957).
    assert of(found, "sensitive investment at") == ["marks 1 cell"]
    assert of(found, "sensitive where") == ["marks 2 cells, all by this alone"]
    assert of(found, "publish where") == ["keeps 1 cell published"]
    assert of(found, "suppress") == ["hides 1 cell"]
    assert of(found, "waive") == ["ended on 2025-06-30: protected like everybody else"]
    assert of(found, "require") == ["holds wherever it applies, among 3 sensitive cells"]


def test_levels_costs_attackers_and_files(several) -> None:
    found = said(*several)
    assert of(found, "lpl") == ["sets 3 levels"]
    assert of(found, "upl") == ["sets 3 levels"]
    assert of(found, "cost") == ["sets the cost of 20 cells"]
    assert of(found, "attacker external") == ["1 attacker, 3 pairs of attacker and sensitive cell"]
    assert of(found, "csp") == [several[0][0].result.status]
    assert of(found, "release csv") == ["investment.csv: 20 cells"]
    assert of(found, "table investment") == ["5 × 4 codes: 20 cells"]
    assert of(found, "dimension activity") == ["5 codes"]


def test_in_reading_order_and_inside_the_policy(several) -> None:
    outcomes, provenance = several
    found = effects(provenance.policy, outcomes, DAY)
    places = [effect.span.start for effect in found]
    assert places == sorted(places)
    assert all(effect.span.source is provenance.policy.files[-1].parsed.source for effect in found)


def test_a_statement_that_does_nothing_says_so(tmp_path: Path) -> None:
    text = "sensitive investment at (activity: steel, region: C)\nsensitive where value < 5\npublish where value < 5\n"
    found = said(*made(tmp_path, "csp", sensitive=text))
    assert of(found, "sensitive where") == ["marks no cell"]
    assert of(found, "publish where") == ["keeps no cell published"]


def test_overlaps_are_counted_once_for_each_and_alone_for_none(tmp_path: Path) -> None:
    text = "sensitive investment at (activity: steel, region: C)\nsensitive where value > 22000 and value < 33000\n"
    found = said(*made(tmp_path, "csp", sensitive=text))
    assert of(found, "sensitive investment at") == ["marks 1 cell"]
    assert of(found, "sensitive where") == ["marks 3 cells, 2 by this alone"]  # 22651, 27806, 28806 …


def test_of_several_blocks_each_has_its_own_effect(tmp_path: Path) -> None:
    path = ROOT / "examples" / "tiny" / "tiny.sdc"
    text = path.read_text()
    again = text[text.index("protect investment") :].replace("protect investment {", "protect investment as again {")
    again = "".join(line for line in again.splitlines(keepends=True) if "release" not in line)
    (tmp_path / "two.sdc").write_text(text + again.replace("lpl 10", "lpl 5"))
    found = said(*outcomes_of(tmp_path / "two.sdc"))
    assert of(found, "sensitive") == ["investment: marks 1 cell", "again: marks 1 cell"]
    assert of(found, "lpl 5") == ["again: sets 1 level"]


def test_counts_agree_with_the_problem(several) -> None:
    """The levels of all statements together are those of the pairs."""
    [outcome], provenance = several
    found = effects(provenance.policy, [outcome], DAY)
    levels = (re.fullmatch(r"sets (.*) levels?", e.text) for e in found)
    asked = sum(int(m[1].replace(" ", "")) for m in levels if m)
    data = outcome.problem.dataset
    assert asked == sum(int(np.count_nonzero(data[level].values)) for level in ("lpl", "upl", "spl"))

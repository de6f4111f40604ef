"""What weights mean to rules: as many units, or one contributor of that size. The example: contributions of 100 and 10
with weights 4 and 7."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdcdsl.bind.table import BoundTable
from tests.bind.policies import bind_text, problem_of

POLICY = """
sdc 1
policy "p"
data d {
  csv "d.csv"
  column unit = "id"
  column weight = "w"%s
}
dimension region { codes A, B; total T }
table t { from d; by region; sum x }
sensitive by %s
attacker e { bounds 0 .. inf }
protect t { lpl 0; upl 5; against e; cost 1; method csp }
"""
BOOK = "id,region,w,x\na,A,4,100\nb,A,7,10\nc,B,1,50\nd,B,1,40\ne,B,1,30\n"


def table(folder: Path, treatment: str, rule: str, data: str = BOOK) -> tuple[BoundTable, np.ndarray]:
    (folder / "d.csv").write_text(data, encoding="utf-8")
    problem = problem_of(POLICY.strip() % (treatment, rule), folder)
    [made] = problem.tables
    assert made.lattice is not None
    return made, problem.dataset["status"].values == "u"


def of(made: BoundTable, region: str) -> int:
    assert made.lattice is not None
    return made.lattice.cell({"region": region})


@pytest.mark.parametrize(
    ("treatment", "largest"),
    [(" counts units", [100.0, 100.0]), (" scales contributions", [400.0, 70.0]), ("", [400.0, 70.0])],
)
def test_the_example_of_the_book(tmp_path: Path, treatment: str, largest: list[float]) -> None:
    made, marked = table(tmp_path, treatment, "dominance(n: 2, k: 85%)")
    cell = of(made, "A")
    assert made.judged is not None
    assert made.value[cell] == 470  # 4 · 100 + 7 · 10, whatever rules make of it
    assert made.judged.largest[cell, :2].tolist() == largest
    assert marked[cell] == (sum(largest) > 0.85 * 470)


def test_without_weights_of_more_than_one_both_are_the_same(tmp_path: Path) -> None:
    for rule in ("dominance(n: 2, k: 70%)", "p_percent(90%)", "pq(90%, 95%)"):
        counted, one = table(tmp_path, " counts units", rule)
        scaled, other = table(tmp_path, " scales contributions", rule)
        cell = of(counted, "B")
        assert counted.judged is not None and scaled.judged is not None
        assert counted.judged.largest[cell].tolist() == scaled.judged.largest[cell].tolist()
        assert one[cell] == other[cell]


def test_p_percent_by_units(tmp_path: Path) -> None:
    """Whoever knows one of the four units of 100 knows nothing near the second: 470 - 200 remain."""
    made, marked = table(tmp_path, " counts units", "p_percent(10%)")
    assert not marked[of(made, "A")]
    made, marked = table(tmp_path, " scales contributions", "p_percent(10%)")
    assert marked[of(made, "A")]  # 470 - 400 - 70 is less than a tenth of 400


@pytest.mark.parametrize("treatment", [" counts units", " scales contributions"])
def test_thresholds_count_those_who_answered(tmp_path: Path, treatment: str) -> None:
    made, marked = table(tmp_path, treatment, "threshold(3)")
    assert marked[of(made, "A")] and not marked[of(made, "B")]


def test_parts_of_units_and_everybody_is_one(tmp_path: Path) -> None:
    """1.6 units of 9 and one of 7: the second unit is 0.6 of the first record and 0.4 of the second."""
    made, _ = table(
        tmp_path, " counts units", "dominance(n: 3, k: 99%)", "id,region,w,x\na,A,1.6,9\nb,A,0.2,7\nc,A,0,99\n"
    )
    assert made.judged is not None
    assert made.judged.largest[of(made, "A")] == pytest.approx([9, 0.6 * 9 + 0.4 * 7, 0.6 * 7])


def test_a_unit_of_several_records_is_one_per_copy(tmp_path: Path) -> None:
    """Two records of one unit, of which one stands for two: together 30, and once more 20."""
    data = "id,region,w,x\na,A,2,20\na,A,1,10\nb,A,1,25\n"
    made, _ = table(tmp_path, " counts units", "dominance(n: 3, k: 99%)", data)
    assert made.judged is not None
    assert made.judged.largest[of(made, "A")].tolist() == [30, 25, 20]


def test_expressions_see_the_same_contributions(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(BOOK, encoding="utf-8")
    said = POLICY.strip().replace("upl 5", "upl largest(1)") % (" counts units", "threshold(3)")
    problem = problem_of(said, tmp_path)
    assert problem.dataset["upl"].values.tolist() == [100.0]


def test_only_a_weight_has_a_treatment(tmp_path: Path) -> None:
    said = POLICY.strip() % ("", "threshold(3)")
    with pytest.raises(AssertionError, match="SDC112"):
        bind_text(said.replace('"id"', '"id" counts units'), tmp_path)


def test_the_unit_may_be_its_own_holding(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(BOOK, encoding="utf-8")
    said = POLICY.strip().replace('column unit = "id"', 'column unit = "id"\n  column group = "id"')
    [made] = problem_of(said % (" counts units", "threshold(3)"), tmp_path).tables
    assert made.judged is not None
    assert made.judged.largest[of(made, "A"), :2].tolist() == [100, 100]

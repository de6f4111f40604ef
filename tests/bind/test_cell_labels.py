"""Cells by the codes of their dimensions, in data and in models."""

from pathlib import Path

import numpy as np
import pytest

from sdcdsl.bind.cell_labels import labels_of
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import labelled_model
from tests.bind.policies import bind_text
from tests.methods.known import bound

ROOT = Path(__file__).resolve().parents[2]
KNOWN = ROOT / "specs/known/three-by-three-5-8-csp.sdc"
LINKED = """sdc 1
dimension activity {
  codes I, II
  total T
}

dimension region {
  codes A, B
  total S
}

table both {
  by activity, region
  values
    | activity \\ region | A | B | S |
    | I                  | 1 | 2 | 3 |
    | II                 | 4 | 5 | 9 |
    | T                  | 5 | 7 | 12 |
}

table other {
  by activity
  values
    | activity | value |
    | I        | 30 |
    | II       | 40 |
    | T        | 70 |
}

sensitive both at (activity: II, region: B)

attacker external {
  bounds 0 .. inf
}

protect both, other as together {
  lpl 1
  upl 1
  against external
  cost value
  method csp
}
"""


@pytest.fixture(scope="module")
def problem():
    return bound(KNOWN)


def test_cells_are_chosen_by_one_code_several_and_lists(problem):
    d = problem.labelled
    assert d.sel(region="C")["a"].values.tolist() == [44, 10, 22, 12]  # Total, I, II, III
    assert d.sel(region="C", activity="II")["a"].values.tolist() == [22]
    assert d.sel(region=["A", "B"], activity="I")["a"].values.tolist() == [20, 50]
    assert d.sel(region="C").sel(activity="III")["region"].values.tolist() == ["C"]


def test_every_cell_has_the_codes_that_messages_name_it_by(problem):
    d = problem.labelled
    for cell in range(problem.n):
        assert problem.label(cell) == f"activity = {d['activity'].values[cell]}, region = {d['region'].values[cell]}"


def test_a_code_that_no_cell_has_is_named(problem):
    with pytest.raises(KeyError, match="no cell has the code `Z` in `region`"):
        problem.labelled.sel(region="Z")


def test_the_data_that_methods_get_carry_no_labels(problem):
    assert set(problem.dataset.coords) == set()


def test_variables_are_chosen_by_codes(problem):
    model = labelled_model(problem, "csp", SolveContext({}))
    x, f = model.variables["x"], model.variables["f"]
    expected = [i for i in range(problem.n) if problem.label(i).endswith("region = C")]
    assert x.sel(region="C").indexes["cell"].tolist() == expected
    assert f.sel(region="C", activity="II").sizes["cell"] == 1
    assert (x.sel(region="C") + x.sel(region="C")).nterm == 2


def test_cells_of_linked_tables_are_totals_of_what_a_table_leaves_out():
    problems, found = bind_text(LINKED)
    assert not found
    d = problems["together"].labelled
    assert sorted(d.sel(activity="II", region="S")["a"].values.tolist()) == [9, 40]
    assert d.sel(activity="II", region="S", table="other")["a"].values.tolist() == [40]
    assert set(np.unique(d["table"].values)) == {"both", "other"}


def test_parts_of_labels_are_equal_where_their_codes_are(problem):
    labels = labels_of(problem)
    part = labels.isel({"cell": slice(0, 4)})
    assert part.equals(labels.isel({"cell": np.arange(4)})) and not part.equals(labels)

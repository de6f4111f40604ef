"""Measures of releases, by hand and against the printed digits of paper 004."""

from __future__ import annotations

import json
from dataclasses import astuple

import numpy as np
import pytest

from sdcdsl.methods.cta.adjustment import adjustment
from sdcdsl.numerics.nearest.l2 import L2
from sdcdsl.pattern import adjusted, hidden, intervals, perturbed, rounded
from sdcdsl.utility import DeviationMeasures, Spread, measure
from tests.bind.policies import bind_file
from tests.conftest import ROOT
from tests.risk.tables import table

A = np.array([10.0, 20.0, 0.0, 30.0])
PROBLEM = table(A.tolist(), [{0: 1.0, 1: 1.0, 2: 1.0, 3: -1.0}], {0: (1.0, 2.0)})


def test_an_adjusted_table():
    v = np.array([12.0, 19.0, 0.0, 31.0])
    made = measure(PROBLEM, adjusted(v, v != A))
    assert (made.cells, made.sensitive, made.touched, made.changed, made.others_touched) == (4, 1, 3, 3, 2)
    assert made.touched_share == 75
    assert made.cost == 3
    assert made.value_touched == 100 and made.value_hidden == 0
    everything = made.all_cells
    assert everything is not None
    # |v - a| = 2, 1, 0, 1: mean 1, squares around it 1 + 0 + 1 + 0 over 3
    assert astuple(everything.absolute) == pytest.approx((1.0, np.sqrt(2 / 3), 2.0))
    # relative without the cell of value zero: 20, 5 and 10/3 per cent
    shares = np.array([20, 5, 10 / 3])
    assert everything.relative.mean == pytest.approx(shares.mean())
    assert everything.relative.sd == pytest.approx(shares.std(ddof=1))
    assert everything.relative.maximum == 20
    assert everything.two_norm == pytest.approx(np.sqrt(6))
    assert made.sensitive_cells == DeviationMeasures(1, Spread(2.0, 0.0, 2.0), Spread(20.0, 0.0, 20.0), 2.0)
    assert made.other_cells is not None and made.other_cells.cells == 3
    assert made.widths is None and made.attacker_width is None


def test_suppression():
    made = measure(PROBLEM, hidden(A, np.array([True, True, False, False])))
    assert (made.hidden, made.touched, made.others_touched, made.cost) == (2, 2, 1, 2)
    assert made.value_hidden == made.value_touched == 50
    assert made.all_cells is None and made.widths is None


def test_intervals():
    low, high = np.array([8.0, 19.0, 0.0, 30.0]), np.array([12.0, 25.0, 0.0, 30.0])
    made = measure(PROBLEM, intervals(low, high))
    assert (made.intervals, made.hidden, made.value_hidden) == (2, 0, 0)
    assert made.widths is not None
    assert (made.widths.cells, made.widths.total, made.widths.centred) == (2, 10, 1)
    assert astuple(made.widths.relative) == pytest.approx((35, np.std([40, 30], ddof=1), 40))
    assert made.widths.middle_error.maximum == pytest.approx(10)  # 22 in place of 20


def test_rounded_and_perturbed_figures_have_deviations_and_ranges():
    v, r = np.array([10.0, 20.0, 0.0, 35.0]), np.array([5.0, 5.0, 5.0, 5.0])
    for form in (rounded, perturbed):
        made = measure(PROBLEM, form(v, r))
        assert made.changed == 4
        assert made.all_cells is not None and made.all_cells.absolute.maximum == 5
        assert made.widths is not None and made.widths.total == 40


def test_attackers_of_an_audit():
    low, high = np.array([5.0, np.nan, np.nan, 10.0]), np.array([15.0, np.nan, np.nan, np.inf])
    made = measure(PROBLEM, hidden(A, np.array([True, True, False, False])), (low, high))
    assert made.attacker_width == Spread(100.0, 0.0, 100.0)
    assert made.attacker_unbounded == 1


def test_sums_that_nobody_publishes_do_not_count():
    rows = [{0: 1.0, 1: 1.0, 2: -1.0}, {0: 1.0, 1: 1.0, 3: -1.0}]
    problem = table([10, 20, 30, 30], rows, {0: (1.0, 2.0), 3: (1.0, 2.0)}, sums=(3,))
    v = np.array([12.0, 20.0, 32.0, 32.0])
    made = measure(problem, adjusted(v, np.array([True, False, True, True])))
    assert (made.cells, made.sensitive, made.changed) == (3, 1, 2)
    assert made.all_cells is not None and made.all_cells.two_norm == pytest.approx(np.sqrt(8))


def test_for_people_and_for_programs():
    v = np.array([12.0, 19.0, 0.0, 31.0])
    made = measure(PROBLEM, adjusted(v, v != A), (np.full(4, np.nan), np.full(4, np.nan)))
    rows = dict(made.rows())
    assert rows["touched"] == "3, 75 % of the cells; 3 changed"
    assert rows["deviation, sensitive"] == (
        "mean 2, sd 0, at most 2; relative mean 20 %, sd 0 %, at most 20 %; 2-norm 2"
    )
    document = json.loads(json.dumps(made.as_json()))
    assert document["touched"] == 3 and document["all_cells"]["absolute"]["maximum"] == 2
    plain = dict(measure(PROBLEM, hidden(A, np.zeros(4, dtype=bool))).rows())
    assert plain["touched"] == "0, 0 % of the cells; all published as they are"


# Paper 004, Table 3, L2: absolute mean, sd, maximum; relative mean, sd, maximum; 2-norm. All senses up, weights 1/a.
TABLE_3 = {
    "hier13": {
        "all_cells": ("33.9 33.7 313.4", "0.87 1.95 45.84", "2149.3"),
        "sensitive_cells": ("55.2 27.8 97.0", "6.18 2.19 9.97", "654.1"),
        "other_cells": ("32.7 33.6 313.4", "0.56 1.42 45.84", "2047.4"),
    },
    "hier16": {
        "all_cells": ("33.4 30.6 258.3", "0.90 1.81 10.00", "2706.3"),
        "sensitive_cells": ("48.3 27.4 131.0", "6.89 2.38 10.00", "830.2"),
        "other_cells": ("32.4 30.6 258.3", "0.50 0.75 7.59", "2575.9"),
    },
}


@pytest.mark.parametrize("name", TABLE_3)
def test_the_printed_digits_of_paper_004(shared_data, name):
    path = shared_data / "csplib" / f"{name}.jj"
    if not path.is_file():
        pytest.skip(f"{name} is not in {path.parent}")
    problem = bind_file(ROOT / "tests" / "data_policies" / "csplib.sdc", {"t": path})["t"]
    asked = adjustment(problem)
    found = L2(asked.M).solve(1 / asked.a, *asked.box(np.ones(asked.p, dtype=np.int8)))
    assert found.z is not None
    made = measure(problem, adjusted(asked.a + found.z, found.z != 0))
    for group, (absolute, relative, norm) in TABLE_3[name].items():
        of: DeviationMeasures = getattr(made, group)
        assert f"{of.absolute.mean:.1f} {of.absolute.sd:.1f} {of.absolute.maximum:.1f}" == absolute
        # hier13's mean of 6.175 is printed as 6.18
        assert f"{of.relative.mean + 1e-4:.2f} {of.relative.sd:.2f} {of.relative.maximum:.2f}" == relative
        assert f"{of.two_norm:.1f}" == norm

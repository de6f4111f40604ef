"""What is published beside a table must not tell its values."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.accelerate.perturb.driver import solve as perturb
from sdcdsl.accelerate.rounding.driver import solve as rounding
from sdcdsl.deadline import Deadline
from sdcdsl.methods.published_amounts import public, tells
from sdcdsl.methods.result import SolveContext
from tests.methods.known import bound
from tests.methods.tiny_tables import changed
from tests.test_known_answers import KNOWN
from tests.waiting import HANGS

SMALL = next(path for path in KNOWN if path.stem == "three-by-three-5-8-cta")


def test_amounts_of_a_few_kinds_stay():
    few = np.tile([2.0, 3.0, 7.0], 40)
    assert not tells(few)
    np.testing.assert_array_equal(public(few), few)


def test_amounts_that_follow_values_are_made_round():
    amounts = np.array([0.1, 0.11, 1.9, 2.0, 2.1, 37.0, 51.0, 0.0, np.inf])
    made = public(amounts)
    np.testing.assert_allclose(made, [0.1, 0.2, 2.0, 2.0, 5.0, 50.0, 100.0, 0.0, np.inf])


@pytest.mark.parametrize("method", ["rounding", "perturb"])
def test_a_share_of_the_value_does_not_give_it_away(method: str):
    """With a base or a range of a tenth of the value, ten times the published width would be the value."""
    problem = bound(SMALL)
    a = problem.dataset["a"].values
    problem = changed(problem, lpl=np.array([1.0]), upl=np.array([1.0]))
    if method == "rounding":
        result = rounding(problem, SolveContext({"base": 0.1 * a}, Deadline(HANGS)))
    else:
        result = perturb(problem, SolveContext({"range": (-0.1 * a, 0.1 * a), "end": "free"}, Deadline(HANGS)))
    assert result.pattern is not None, result
    width = result.pattern.high - result.pattern.low
    digits = width / 10.0 ** np.floor(np.log10(width))
    assert len(set(np.round(digits, 9))) <= 3  # of 1, 2 and 5, whatever multiple of them is published

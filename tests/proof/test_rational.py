"""Multipliers as whole numbers over one denominator, whatever the denominator."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.proof.bound import rational


@pytest.mark.parametrize("denominator", [1, 3, 7, 11, 13, 91])
def test_fractions_are_recognised(denominator: int):
    numbers = np.array([6.0, -6.0, -2.0, 1.0])
    found = rational(numbers / denominator * (1 + 1e-13))
    assert found is not None
    np.testing.assert_array_equal(found[0] * (denominator / found[1]), numbers)

"""Every way to solve a model comes to the same result, and no bound is above the cost of a valid release.

`CONFORMANCE=500` looks at so many cases of every method, `CONFORMANCE_FROM=1000` at others.
"""

from __future__ import annotations

import os

import pytest

from tests.conformance.cases import METHODS, case
from tests.conformance.judging import judged
from tests.tiers import short

EACH = int(os.environ.get("CONFORMANCE", "14"))
FIRST = int(os.environ.get("CONFORMANCE_FROM", "0"))
MODELS = 3  # one case in so many is solved by first models as well: they take most of the time


@pytest.mark.parametrize("seed", short(8, range(FIRST, FIRST + EACH)))
@pytest.mark.parametrize("method", METHODS)
def test_conformance(method: str, seed: int):
    made = judged(case(method, seed), models=seed % MODELS == 0)
    assert not made.complaints, "\n".join(made.complaints)

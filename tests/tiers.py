"""The two tiers of the tests: `make test` leaves out what is marked `long`, `make test-all` runs it as well.

Long is what takes more than about three CPU seconds, and what repeats with more cases what a short test shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

long = pytest.mark.long


def short(count: int, cases: Iterable[Any]) -> list[Any]:
    """The first cases belong to the short tier, the others to the long one."""
    return [case if i < count else _long(case) for i, case in enumerate(cases)]


def _long(case: Any) -> Any:
    return pytest.param(*case, marks=long) if isinstance(case, tuple) else pytest.param(case, marks=long)

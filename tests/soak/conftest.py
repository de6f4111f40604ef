"""What the cases share: their methods have four seconds, and come back by themselves, however busy the machine is."""

from __future__ import annotations

import pytest

from sdcdsl.pipeline import search
from tests.waiting import HANGS


@pytest.fixture(autouse=True)
def _only_what_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "GRACE", HANGS)

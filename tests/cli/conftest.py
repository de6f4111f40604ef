"""The folders with the table by hand that the tests of `audit` and `protect` run in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.investment import World
from tests.cli.protecting import Policies


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def policy(tmp_path: Path) -> Policies:
    return Policies(tmp_path)

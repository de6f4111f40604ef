"""The folder with the table by hand that the tests of `audit` run in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.investment import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)

"""A release whose intervals end exactly at the levels: the first table that a solver gives is 4·10⁻⁹ short of one."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli

FOLDER = Path(__file__).parent / "short_by_a_hair"


@pytest.mark.parametrize("more", [("--no-integer",), ("--no-integer", "--verdict-only")])
def test_a_table_at_the_end_itself_is_asked_for(more: tuple[str, ...]):
    released = str(FOLDER / "released.csv")
    result = CliRunner().invoke(cli, ["audit", str(FOLDER / "policy.sdc"), "--released", released, *more])
    assert result.exit_code == 0, result.output
    assert "PROTECTED" in result.output and "not proven  0" in result.output


def test_who_knows_that_they_are_counts_rounds_the_ends_inwards():
    """The table counts people, so whole numbers are what attackers know unless told otherwise."""
    released = str(FOLDER / "released.csv")
    result = CliRunner().invoke(cli, ["audit", str(FOLDER / "policy.sdc"), "--released", released, "--verdict-only"])
    assert result.exit_code == 6
    assert "EXPOSED" in result.output

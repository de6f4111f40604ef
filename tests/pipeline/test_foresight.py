"""What `plan` foresees of a run against contributors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sdcdsl.bind import pairs
from sdcdsl.cli import cli
from sdcdsl.pipeline.foresight import PROGRAM, foresight
from tests.audit.test_families import both, world


def test_it_grows_with_cells_and_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed, few = both(tmp_path, 0, monkeypatch)
    seen = foresight(few, "csp")
    assert seen is not None and seen.memory_bytes > PROGRAM and seen.seconds >= 0
    assert foresight(listed, "csp") is None and foresight(few, "ip") is None and foresight(few, None) is None
    assert few.families is not None
    left_out = few.families.without_attacker[:1]
    longer = few.with_listed(few.families.without_family[:1], left_out)
    more = foresight(longer, "csp")
    assert len(left_out) and more is not None and more.memory_bytes > seen.memory_bytes


def test_plan_says_what_would_make_it_cheaper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.sdc").write_text(world(tmp_path, 0), encoding="utf-8")
    file, run = str(tmp_path / "t.sdc"), CliRunner().invoke
    assert json.loads(run(cli, ["plan", file, "--json"]).stdout)["blocks"][0]["foreseen"] is None
    assert "foreseen" not in run(cli, ["plan", file]).stdout
    monkeypatch.setattr(pairs, "MOST_LISTED", 0)
    seen = json.loads(run(cli, ["plan", file, "--json"]).stdout)["blocks"][0]["foreseen"]
    assert set(seen) == {"memory_bytes", "seconds"}
    said = run(cli, ["plan", file]).stdout
    assert "until a release for all pairs is audited" in said and "fewer attackers, or fewer cells" in said

"""The tables of `specs/known`, whose best protection is known from a paper or by enumeration, from the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli
from sdcdsl.methods.run import available
from tests.conftest import ROOT

KNOWN = sorted((ROOT / "specs" / "known").glob("*.sdc"))
_EXPECT = re.compile(r'(\w+)=("[^"]*"|\S+)')
BACKENDS = ("highs", "scip")


def expected(path: Path) -> dict[str, str]:
    second = path.read_text(encoding="utf-8").splitlines()[1]
    return {key: value.strip('"') for key, value in _EXPECT.findall(second)}


def run(*arguments: object) -> dict[str, Any]:
    result = CliRunner().invoke(cli, [*map(str, arguments)], prog_name="sdcdsl")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return json.loads(result.stdout)


def hidden_in(path: Path) -> set[str]:
    table = pl.read_csv(path)
    codes = table.columns[: table.columns.index("value")]
    return {"·".join(row) for row in table.filter(pl.col("status") == "hidden").select(codes).rows()}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("path", KNOWN, ids=lambda p: p.stem)
def test_known_answer(path, backend, tmp_path):
    said = expected(path)
    if not available(said["method"]):
        pytest.skip(f"method {said['method']} does not run yet")
    if backend == "scip":
        pytest.importorskip("pyscipopt")
    policy = tmp_path / path.name
    text = path.read_text(encoding="utf-8")
    released = re.sub(rf"(  method {said['method']}\b.*)", r"\1" + '\n  release csv "out.csv"', text)
    policy.write_text(released, encoding="utf-8")
    [block] = run("protect", policy, "--json", "--backend", backend)["blocks"]
    assert (block["method"], block["status"], block["verdict"]) == (said["method"], "optimal", "protected")
    if "objective" in said:
        assert block["objective"] == pytest.approx(float(said["objective"]), rel=1e-6)
        assert block["bound"] == pytest.approx(float(said["objective"]), rel=1e-6)
    if "pattern" in said:
        assert hidden_in(tmp_path / "out.csv") == set(said["pattern"].split())
    audited = run("audit", policy, "--released", tmp_path / "out.csv", "--output", "json")
    assert audited["verdict"] == "protected"
    if "interval" in said:
        attacker, _, low, _, high = said["interval"].split()
        [pair] = [p for p in audited["pairs"] if p["attacker"] == attacker]
        assert (pair["low"], pair["high"]) == (float(low), float(high))

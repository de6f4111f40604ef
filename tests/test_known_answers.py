"""The tables of `specs/known`, whose best protection is known from a paper or by enumeration, from the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli
from sdcdsl.methods.solving import unavailable
from tests.conftest import ROOT
from tests.methods import known

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


def pieces(text: str) -> list[tuple[str, str]]:
    """`r1·c1 0, r2·c3 2` in pairs."""
    return [(cell, value) for cell, _, value in (part.strip().rpartition(" ") for part in text.split(",") if part)]


def labelled(cell: str, labels: Iterable[str]) -> str:
    """The label with these codes: `row = r1, column = c1` for `r1·c1`."""
    codes = cell.split("·")
    return next(x for x in labels if [part.partition(" = ")[2] for part in x.split(", ")] == codes)


def deviations(policy: Path, released: Path) -> dict[str, float]:
    """By the codes of the cell: what is released minus what the policy's own table says."""
    table = pl.read_csv(released, schema_overrides={"value": pl.Float64})
    codes = table.columns[: table.columns.index("value")]
    true = known.bound(policy)
    [made] = true.tables
    assert made.lattice is not None
    rows = {tuple(made.lattice.codes(i).values()): a for i, a in enumerate(made.value.tolist())}
    return {"·".join(row[:-1]): row[-1] - rows[row[:-1]] for row in table.select([*codes, "value"]).rows()}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("path", KNOWN, ids=lambda p: p.stem)
def test_known_answer(path, backend, tmp_path):
    said = expected(path)
    if unavailable(said["method"]) is not None:
        pytest.skip(f"method {said['method']} does not run yet")
    if backend == "scip":
        pytest.importorskip("pyscipopt")
    policy = tmp_path / path.name
    text = path.read_text(encoding="utf-8")
    released = re.sub(rf"(  method {said['method']}\b.*)", '  release csv "out.csv"\n' + r"\1", text)
    policy.write_text(released, encoding="utf-8")
    [block] = run("protect", policy, "--json", "--backend", backend)["blocks"]
    assert (block["method"], block["status"], block["verdict"]) == (said["method"], "optimal", "protected")
    assert block["facts"].get("steps", 0) == int(said.get("steps", 0))
    if "objective" in said:
        assert block["objective"] == pytest.approx(float(said["objective"]), rel=1e-6)
        assert block["bound"] == pytest.approx(float(said["objective"]), rel=1e-6)
    if "multipliers" in said:
        found = block["facts"]["multiplier of"]
        for cell, value in pieces(said["multipliers"]):
            assert found[labelled(cell, found)] == pytest.approx(float(value), abs=1e-6)
    if "deviations" in said or "norm2" in said:
        moved = deviations(policy, tmp_path / "out.csv")
        for cell, value in pieces(said.get("deviations", "")):
            digits = len(value.rstrip("…").partition(".")[2])
            near = 10.0**-digits if "…" in value else 1e-6  # `3.416…` is cut off, not rounded
            assert moved[cell] == pytest.approx(float(value.rstrip("…")), abs=near)
        if "norm2" in said:
            assert sum(z**2 for z in moved.values()) ** 0.5 == pytest.approx(float(said["norm2"]), abs=0.005)
    if "pattern" in said:
        assert hidden_in(tmp_path / "out.csv") == set(said["pattern"].split())
    audited = run("audit", policy, "--released", tmp_path / "out.csv", "--output", "json")
    assert audited["verdict"] == said.get("audit", "protected")
    if "interval" in said:
        attacker, _, low, _, high = said["interval"].split()
        [pair] = [p for p in audited["pairs"] if p["attacker"] == attacker]
        assert (pair["low"], pair["high"]) == (float(low), float(high))

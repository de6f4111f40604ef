"""The policies of `specs/known/csplib` with the real instances, from the command line: figures of papers and of two
solvers, to the digits they are given with."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli
from tests.conftest import ROOT

CSPLIB = ROOT.parent / "shared" / "data" / "csplib"
POLICIES = sorted((ROOT / "specs" / "known" / "csplib").glob("*.sdc"))


def cases() -> list[Any]:
    out = []
    for path in POLICIES:
        for line in re.findall(r"^#! expect (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE):
            said = dict(pair.split("=") for pair in line.split())
            out.append(pytest.param(path, said, id=f"{path.stem}-{said['data']}"))
    return out


def digits(text: str) -> float:
    """Half a unit of the last digit given."""
    return 0.51 * 10.0 ** -len(text.partition(".")[2])


@pytest.mark.parametrize(("path", "said"), cases())
def test_known_answer(path: Path, said: dict[str, str], tmp_path: Path):
    data = CSPLIB / f"{said['data']}.jj"
    if not data.is_file():
        pytest.skip(f"no {data.name}: the instances of CSPLIB are not here")
    result = CliRunner().invoke(
        cli, ["protect", str(path), "--data", f"t={data}", "--out", str(tmp_path), "--json"], prog_name="sdcdsl"
    )
    [block] = json.loads(result.stdout)["blocks"]
    assert (block["status"], block["verdict"]) == ("optimal", "protected")
    found = block["measures"]
    every, own, others = (found[name] for name in ("all_cells", "sensitive_cells", "other_cells"))
    figures = {
        "objective": block["objective"],
        "mean": every["relative"]["mean"],
        "norm2": every["two_norm"],
        "maximum": own["relative"]["maximum"],
        "maximum_others": others["relative"]["maximum"],
    }
    for key, figure in figures.items():
        if key in said:
            assert figure == pytest.approx(float(said[key]), abs=digits(said[key])), key
    if "recomputed" in said:
        for trial in block["assessment"]["experiments"]:
            assert trial["recomputed"] == pytest.approx(float(said["recomputed"])), trial["experiment"]

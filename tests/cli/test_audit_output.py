"""Blocks, formats and certificates."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from sdcdsl.cli import cli
from sdcdsl.proof.certificate import Certificate
from sdcdsl.proof.packed import unpacked
from tests.cli.investment import CELL, FOUR, document, run

TWO_BLOCKS = """
protect investment as strict {
  lpl 20
  upl 20
  against external
  method csp
}
"""


def test_blocks(world):
    policy = world.policy("lpl 17", "upl 8")
    policy.write_text(policy.read_text() + TWO_BLOCKS)
    released = ("--released", world.hidden(*FOUR))
    found = document(policy, *released)
    assert {b["name"]: b["verdict"] for b in found["blocks"]} == {"investment": "protected", "strict": "exposed"}
    assert (found["verdict"], found["exit"]) == ("exposed", 6)
    assert document(policy, *released, "--block", "investment")["exit"] == 0
    certificate = world.folder / "both.cert"
    found = document(policy, *released, "--certificate", certificate)
    assert (found["exit"], found["diagnostics"][0]["help"]) == (3, "--block investment")
    assert not certificate.exists()
    assert document(policy, *released, "--block", "strict", "--certificate", certificate)["exit"] == 6
    assert certificate.exists()


def test_csv(world):
    result = run(world.policy("lpl 10", "upl 12"), "--released", world.hidden(*FOUR), "--output", "csv")
    assert result.exit_code == 6
    [row] = csv.DictReader(io.StringIO(result.stdout))
    assert (row["block"], row["cell"], row["attacker"], row["verdict"]) == ("investment", CELL, "external", "exposed")
    assert (row["low"], row["high"], row["needed_low"], row["needed_high"]) == ("5", "30", "12", "34")
    assert row["given_away_by"] == "activity = II, region = Total; activity = II, region = B"


def test_documents_have_the_promised_keys(world):
    found = document(world.policy("lpl 10"), "--released", world.hidden(*FOUR))
    promised = {"verdict", "blocks", "pairs", "revealed", "pinned_sums", "certificate"}
    assert promised | {"schema", "diagnostics", "exit"} == set(found)
    wanted = {"cell", "attacker", "low", "high", "needed_low", "needed_high", "verdict"}
    assert wanted <= set(found["pairs"][0])


def verify(path: Path) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(cli, ["verify", str(path), "--json"])
    return result.exit_code, json.loads(result.stdout)


def test_certificates_name_what_they_are_about(world):
    certificate = world.folder / "investment.cert"
    result = run(world.policy("lpl 17", "upl 8"), "--released", world.hidden(*FOUR), "--certificate", certificate)
    assert (result.exit_code, "investment.cert" in result.stdout) == (0, True)
    code, found = verify(certificate)
    assert (code, found["ok"], found["protected"], found["exact"]) == (0, True, 1, True)
    assert [(i["what"], i["name"]) for i in found["inputs"]] == [
        ("policy", "investment.sdc"),
        ("released investment", "released.csv"),
    ]


def test_certificates_that_cannot_be_written(world):
    policy, released = world.policy("lpl 17"), world.hidden(*FOUR)
    before = released.read_bytes()
    for path in (world.folder / "nowhere" / "x.cert", released / "x.cert", released, policy):
        found = document(policy, "--released", released, "--certificate", path)
        assert (found["exit"], [d["code"] for d in found["diagnostics"]]) == (3, ["SDC408"])
    assert run(policy, "--certificate", world.folder).exit_code == 2
    assert released.read_bytes() == before


def test_nothing_is_left_of_a_certificate_that_was_broken_off(world, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Certificate, "verdicts", interrupted)
    policy, released = world.policy("lpl 17"), world.hidden(*FOUR)
    before = sorted(world.folder.iterdir())
    result = run(policy, "--released", released, "--certificate", world.folder / "investment.cert")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Aborted" in result.stderr
    assert sorted(world.folder.iterdir()) == before


def test_a_certificate_of_a_large_table(shared_data, tmp_path):
    certificate = tmp_path / "hier13.cert"
    found = document(shared_data / "csplib" / "hier13.jj", "--verdict-only", "--certificate", certificate)
    code, verified = verify(certificate)
    assert (code, verified["ok"]) == (found["exit"], True)
    assert verified["pairs"] == len(found["pairs"]) == 112
    assert verified["exposed"] == sum(pair["verdict"] == "exposed" for pair in found["pairs"])
    lines = certificate.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith('{"cells":'))
    ((name, text),) = json.loads(lines[at])["cells"].items()
    values = unpacked(name, text).tolist()
    values[values.index(max(values))] += 1
    lines[at] = json.dumps({"cells": values}) + "\n"
    certificate.write_text("".join(lines))
    code, verified = verify(certificate)
    assert (code, verified["ok"]) == (3, False)

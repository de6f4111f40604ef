"""The first hour: the starter for microdata, on a table as it comes."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from sdcdsl.cli import cli
from tests.cli.protecting import protect

# North holds one holding of 100 in A01 and one of 20 in A02: whoever is the first knows 100 of A's 120.
RECORDS = """enterprise_id,holding_id,nace,region,turnover
1,H1,A01,North,100
2,H2,A02,North,20
3,H3,A01,South,40
4,H4,A01,South,50
5,H5,A01,South,45
6,H6,A02,South,35
7,H7,A02,South,30
8,H8,A02,South,55
9,H9,B01,North,60
10,H10,B01,North,70
11,H11,B01,North,65
12,H12,B01,South,30
13,H13,B01,South,35
14,H14,B01,South,25
"""


def started(folder: Path) -> Path:
    path = folder / "first.sdc"
    made = CliRunner().invoke(cli, ["new", str(path), "--from", "microdata"])
    assert made.exit_code == 0
    (folder / "enterprises.csv").write_text(RECORDS, encoding="utf-8")
    (folder / "nace.hrc").write_text("A\n@A01\n@A02\nB\n@B01\n", encoding="utf-8")
    (folder / "region.hrc").write_text("North\nSouth\n", encoding="utf-8")
    return path


def test_the_starter_protects_a_table_with_a_dominant_contributor(tmp_path: Path) -> None:
    found = protect(started(tmp_path), "--no-report")
    [block] = found["blocks"]
    assert (found["exit"], block["verdict"]) == (0, "protected")


def test_levels_that_a_contributor_makes_impossible_are_cut_and_said(tmp_path: Path) -> None:
    """H1 knows A02 in the North within 10 of its 20, so that A there cannot be lower than by 10: 20 are required."""
    path = started(tmp_path)
    respondent = "knows own contribution\n  bounds 0 .. inf"
    text = path.read_text(encoding="utf-8")
    assert respondent in text
    knowing = text.replace(respondent, "knows own contribution\n  bounds 50% of value .. 150% of value")
    path.write_text(knowing, encoding="utf-8")
    found = protect(path, "--no-report")
    assert found["exit"] == 0
    [cut] = [said for said in found["diagnostics"] if said["code"] == "SDC332"]
    assert "1 cut" in cut["headline"]
    less = knowing.replace("  upl needed\n", "  upl needed\n  lpl 2% of value against respondent\n")
    path.write_text(less, encoding="utf-8")
    found = protect(path, "--no-report")
    assert found["exit"] == 0
    assert not any("1 cut" in said["headline"] for said in found["diagnostics"])

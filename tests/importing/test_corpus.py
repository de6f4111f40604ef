"""Batches of the statements that the manual of τ-ARGUS describes, each with what τ-ARGUS would do, and what is written
in its own layouts."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli
from tests.importing.worlds import MICRO, REGIONS, Unit, imported, micro_world, planned

GRC = "A:111,112,121\nB:211,212\n"


def protect(folder: Path) -> str:
    told = CliRunner().invoke(cli, ["protect", str(folder / "made.sdc"), "--no-report", "--no-lock"])
    assert told.exit_code == 0, told.output
    return told.output


def sums(units: list[Unit], key) -> dict[tuple[str, str], int]:
    out: dict[tuple[str, str], int] = defaultdict(int)
    for unit in units:
        for region, inside in [*REGIONS.items(), *((r, (r,)) for r in REGIONS["Land"])]:
            if unit.region in inside:
                for code in key(unit):
                    out[code, region] += unit.turnover
    return out


@pytest.mark.parametrize(
    ("write", "release"),
    [
        ('(1,1,AS+,"o.csv")', 'release cross_table "o.csv"'),
        ('(1,2,AS+SE+,"o.csv")', 'release pivot "o.csv" { status; leave_out_zeros }'),
        ('(1,2,QU-,"o.csv")', 'release pivot "o.csv" { quotes no }'),
        ('(1,3,FL+,"o.txt")', 'release code_value "o.txt" { names }'),
        ('(1,3,FL-QU+,"o.txt")', 'release code_value "o.txt"'),
        ('(1,5,AS+,"o.tab")', 'release argus "o.tab"'),
        ('(1,6,,"o.jj")', 'release jj "o.jj"'),
    ],
)
def test_layouts_and_their_options(tmp_path: Path, write: str, release: str):
    micro_world(tmp_path, MICRO.replace('(1,1,AS+,"out.csv")', write))
    text, talk = imported(tmp_path)
    assert release in " ".join(text.replace("{\n", "{ ").replace("\n  }", " }").split()).replace(
        " leave", "; leave"
    ).replace("{; ", "{ ")
    assert "counterpart" not in talk and "laid out" not in talk


def test_the_cross_table_has_the_sums_of_the_data(tmp_path: Path):
    units = micro_world(tmp_path, MICRO, records=60)
    imported(tmp_path)
    protect(tmp_path)
    rows = [line.split(",") for line in (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines() if line]
    heads = [word.strip('"') for word in rows[0][1:]]
    by_hand = sums(units, lambda u: ("Total", u.nace[0], u.nace[:2], u.nace))
    total = next(row[0].strip('"') for row in rows[1:])
    shown = 0
    for row in rows[1:]:
        code = row[0].strip('"')
        for region, figure in zip(heads, row[1:], strict=True):
            if figure != "x":
                shown += 1
                assert float(figure) == by_hand["Total" if code == total else code, region], (code, region)
    assert shown > 5
    assert any("x" in row for row in rows[1:])


def test_a_recode_file_makes_coarser_codes(tmp_path: Path):
    """`<RECODE>` comes before the table is read: in τ-ARGUS the codes of the table are those of the recode file."""
    batch = MICRO.replace("<READMICRODATA>\n", '<RECODE> "Nace","nace.grc"\n<READMICRODATA>\n')
    units = micro_world(tmp_path, batch, records=400)
    (tmp_path / "nace.grc").write_text(GRC, encoding="utf-8")
    text, talk = imported(tmp_path)
    assert 'recode Nace grc "nace.grc"' in text and "RECODE" not in talk
    assert planned(tmp_path)
    protect(tmp_path)
    rows = [line.split(",") for line in (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines() if line]
    codes = [row[0].strip('"') for row in rows[1:]]
    assert set(codes[1:]) == {"1", "A", "2", "B"}  # the merged codes, and what is above them
    by_hand = sums(units, lambda u: ("AB"[int(u.nace[0]) - 1], u.nace[0]))
    heads = [word.strip('"') for word in rows[0][1:]]
    for row in rows[2:]:
        for region, figure in zip(heads, row[1:], strict=True):
            assert figure == "x" or float(figure) == by_hand[row[0].strip('"'), region]


@pytest.mark.parametrize(
    ("lines", "status"),
    [("111;N1;u\n111;N1;s\n", "published"), ("111;N1;s\n111;N1;u\n", "hidden"), ("111;N1;u\n", "hidden")],
)
def test_the_a_priori_status_has_the_last_word(tmp_path: Path, lines: str, status: str):
    batch = MICRO.replace("P(15,1)|NK(2,80)|FREQ(4,30)", "MAN(20)").replace(
        "<SUPPRESS>", '<APRIORI> "known.hst",1,";"\n<SUPPRESS>'
    )
    micro_world(tmp_path, batch.replace("(1,1,AS+", "(1,3,"), records=400)
    (tmp_path / "known.hst").write_text(lines, encoding="utf-8")
    imported(tmp_path)
    protect(tmp_path)
    [line] = [x for x in (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines() if x.startswith('"111","N1"')]
    assert line.endswith(",x") == (status == "hidden")

"""Batches of the statements that the manual of τ-ARGUS describes, each with what τ-ARGUS would do, and what is written
in its own layouts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli
from tests.bind.policies import problem_of
from tests.importing.worlds import MICRO, REGIONS, Unit, contributions, imported, micro_world, planned
from tests.tiers import short

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


@pytest.mark.parametrize(
    ("rule", "unsafe"),
    [
        # The manual's words: the remainder without the two largest is less than p % of the largest.
        ("P(15,1)", lambda x: x[0] * 0.15 > sum(x[2:])),
        ("P(15,2)", lambda x: x[0] * 0.15 > sum(x[3:])),
        # The n largest are more than k % of the cell.
        ("NK(1,60)", lambda x: x[0] > 0.6 * sum(x)),
        ("NK(2,80)", lambda x: sum(x[:2]) > 0.8 * sum(x)),
        # Fewer contributors than the least frequency.
        ("FREQ(4,30)", lambda x: len(x) < 4),
        # Any rule makes a cell unsafe.
        ("NK(1,60)|FREQ(3,30)", lambda x: len(x) < 3 or x[0] > 0.6 * sum(x)),
    ],
)
def test_safety_rules_mark_the_cells_that_tau_argus_marks(
    tmp_path: Path, rule: str, unsafe: Callable[[list[int]], bool]
):
    units = micro_world(tmp_path, MICRO.replace("P(15,1)|NK(2,80)|FREQ(4,30)", rule))
    text, _ = imported(tmp_path)
    problem = problem_of(text, tmp_path)
    [table] = problem.tables
    assert table.lattice is not None
    by_hand = {
        table.lattice.cell(dict(zip(("Nace", "Region"), cell, strict=True)))
        for cell, parts in contributions(units).items()
        if unsafe(sorted(parts, reverse=True))
    }
    published = problem.dataset["published"].values
    assert {int(cell) for cell in problem.sensitive if published[cell]} == by_hand and by_hand


@pytest.mark.parametrize(
    "command", short(1, ["MOD(1,5,1,1,1)", "OPT(1,7)", "GH(1,0,1)", "NET(1)", "RND(1,1000,1,2)", "CTA(1)"])
)
def test_methods_do_what_tau_argus_does_to_unsafe_cells(tmp_path: Path, command: str):
    """Suppression hides them, rounding leaves multiples of its base, adjustment moves them as far as their levels."""
    batch = MICRO.replace("OPT(1,7)", command)
    units = micro_world(tmp_path, batch.replace("P(15,1)|NK(2,80)|FREQ(4,30)", "FREQ(4,30)"), records=120)
    text, _ = imported(tmp_path)
    (tmp_path / "made.sdc").write_text(text.replace('cross_table "out.csv"', 'csv "out.csv"'), encoding="utf-8")
    protect(tmp_path)
    released = {(r["Nace"], r["Region"]): r for r in pl.read_csv(tmp_path / "out.csv", infer_schema=False).to_dicts()}
    parts = contributions(units)
    unsafe = {cell for cell, those in parts.items() if len(those) < 4}
    assert unsafe
    for cell, row in released.items():
        true = sum(parts.get(cell, ()))
        if command.startswith("RND"):
            assert float(row["value"]) % 1000 == 0 and abs(float(row["value"]) - true) <= 2000, cell
        elif command.startswith("CTA"):
            moved = abs(float(row["value"]) - true)
            assert moved >= 0.3 * true - 1e-6 if cell in unsafe else row["value"] is not None, cell
        elif cell in unsafe:
            assert row["status"] == "hidden" and not row["value"], cell
        else:
            assert row["status"] == "hidden" or float(row["value"]) == true, cell

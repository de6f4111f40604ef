"""The examples: their data is made anew, their policies are right, their pages show what the commands print."""

from __future__ import annotations

import csv
import importlib.util
import json
import subprocess
import sys
from collections import defaultdict
from itertools import product
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli
from tests.conftest import ROOT
from tests.waiting import HANGS

EXAMPLES = ROOT / "examples"
NAMES = ("tiny", "turnover", "quarterly", "enterprises", "hospital", "linked", "series")
WALKS = ("classification", "periods", "tau-argus")
POLICIES = sorted([*EXAMPLES.rglob("*.sdc"), *(ROOT / "tests" / "data_policies").glob("*.sdc")])


def run(*arguments: str):
    result = CliRunner().invoke(cli, list(arguments), prog_name="sdcdsl")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def generator(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"make_{name}", EXAMPLES / name / "make_data.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", POLICIES, ids=lambda p: p.name)
def test_policies_are_right_and_in_canonical_form(path):
    for arguments in (("check", str(path)), ("fmt", "--check", str(path)), ("lint", str(path))):
        result = run(*arguments)
        assert result.exit_code == 0, result.output
        assert "error[" not in result.output


@pytest.mark.parametrize("name", NAMES)
def test_policies_plan(name):
    result = run("plan", str(EXAMPLES / name / f"{name}.sdc"), "--today", "2026-01-01")
    assert result.exit_code == 0, result.output
    assert "protect " in result.output


@pytest.mark.parametrize("name", ["turnover", "enterprises", "hospital", "linked", "series", *WALKS])
def test_data_is_made_anew(name, tmp_path):
    generator(name).write(tmp_path)
    made = sorted(path.name for path in tmp_path.iterdir())
    assert len(made) >= 2
    for file in made:
        assert (tmp_path / file).read_bytes() == (EXAMPLES / name / file).read_bytes(), file


def test_the_quarterly_data_is_made_anew(tmp_path):
    generator("quarterly").write(tmp_path)
    kept = EXAMPLES / "quarterly"
    assert (tmp_path / "fuel.hrc").read_bytes() == (kept / "fuel.hrc").read_bytes()
    # Rows, not bytes: how Parquet packs them depends on the version that writes.
    assert pl.read_parquet(tmp_path / "plants.parquet").equals(pl.read_parquet(kept / "plants.parquet"))


def test_data_files_are_small():
    assert all(p.stat().st_size < 300_000 for p in EXAMPLES.rglob("*") if p.is_file())


@pytest.mark.long
def test_the_demo_walks(tmp_path):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "demo.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("$ sdcdsl") >= 10
    assert "investment: EXPOSED" in done.stdout and "investment: PROTECTED" in done.stdout
    assert "the certificate holds" in done.stdout
    assert "turnover: PROTECTED" in done.stdout and "the lock holds" in done.stdout
    out = tmp_path / "demo-output"
    assert len(list(out.glob("turnover-2025-*.csv"))) == 2
    assert str(out / "internal" / "enterprises.internal.html") in done.stdout
    assert (out / "internal" / "enterprises.internal.html").stat().st_size > 10_000


# ---- the plan of the turnover example against the CSV ------------------------------------------------------


def hrc(path: Path, total: str) -> dict[str, tuple[str, ...]]:
    """What lies above each leaf, itself included, from a file of two levels."""
    out, group = {}, ""
    for line in path.read_text().split():
        if not line.startswith("@"):
            group = line
        else:
            out[line[1:]] = (line[1:], group, total)
    return out


def cells_by_hand() -> dict[tuple[str, str, str], dict[str, tuple[float, float]]]:
    """By nace, nuts and size (totals where a table lacks one): what each holding gives, and what is waived of it."""
    folder = EXAMPLES / "turnover"
    nace, nuts = hrc(folder / "nace.hrc", "B-N"), hrc(folder / "nuts.hrc", "XA")
    out: dict = defaultdict(dict)
    with (folder / "enterprises.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            x = float(row["turnover"]) * float(row["design_weight"])
            who = row["holding_id"] or row["enterprise_id"]
            keys = {(a, r, "all") for a, r in product(nace[row["nace"]], nuts[row["nuts"]])}
            keys |= {(a, "XA", s) for a, s in product(nace[row["nace"]], (row["size"], "all"))}
            for key in keys:
                amount, waived = out[key].get(who, (0.0, 0.0))
                free = x if row["enterprise_id"] == "XA-0000742" else 0.0
                out[key][who] = (amount + x, waived + free)
    return out


def judged(parts: dict[str, tuple[float, float]], division: bool, by_size: bool) -> set[str]:
    """Which rules mark the cell; the waived enterprise counts for none of them."""
    count = len(parts)
    xs = sorted((x - waived for x, waived in parts.values() if x - waived > 0 or waived == 0), reverse=True)
    total, top = sum(xs), [*xs, 0.0, 0.0]
    out = set()
    if 0 < len(xs) < 3:
        out.add("threshold")
    if count >= 3 and total - top[0] - top[1] < 0.1 * top[0] - 1e-9 * total:
        out.add("p_percent")
    if by_size and division and top[0] + top[1] > 0.85 * total + 1e-9 * total:
        out.add("dominance")
    return out


def test_the_plan_counts_what_the_csv_holds():
    path = EXAMPLES / "turnover" / "turnover.sdc"
    result = run("plan", str(path), "--json", "--today", "2026-01-01")
    document = json.loads(result.stdout)
    assert document.keys() == {"schema", "title", "blocks", "diagnostics", "exit"}
    assert document["exit"] == result.exit_code == 0
    [block] = document["blocks"]
    cells = cells_by_hand()
    codes = [
        {c for above in hrc(path.parent / f"{d}.hrc", t).values() for c in above}
        for d, t in (("nace", "B-N"), ("nuts", "XA"))
    ]
    sizes = {"0-9", "10-49", "50-249", "250+", "all"}
    regional = set(product(codes[0], codes[1], ["all"]))
    sized = set(product(codes[0], ["XA"], sizes))
    assert {t["name"]: t["cells"] for t in block["tables"]} == {
        "turnover_by_region": len(regional),
        "turnover_by_size": len(sized),
    }
    assert block["counts"]["cells"] == len(regional | sized)
    groups = {"nace": 7, "nuts": 4, "size": 1}  # codes that sum up others
    regions, activities = len(codes[1]), len(codes[0])
    relations = groups["nace"] * (regions + 5 - 1)  # the line of activities stands in both tables, and counts once
    relations += groups["nuts"] * activities + groups["size"] * activities
    assert block["counts"]["relations"] - block["counts"]["unions"] == relations
    divisions = {c for c in codes[0] if c.isdigit()}
    marks = {key: judged(cells[key], key[0] in divisions, key in sized) for key in regional | sized if cells.get(key)}
    for mark, rule in zip(block["marked"], ("threshold", "p_percent", "dominance"), strict=True):
        assert rule in mark["by"]
        chosen = {key for key, rules in marks.items() if rule in rules}
        by_table = {"turnover_by_region": len(chosen & regional), "turnover_by_size": len(chosen & sized)}
        assert mark["cells"] == by_table
        assert mark["only_here"] == sum(marks[key] == {rule} for key in chosen)
    assert block["counts"]["sensitive"] == sum(map(bool, marks.values()))
    empty = sum(not sum(x for x, _ in cells.get(key, {}).values()) for key in regional | sized)
    assert block["counts"]["fixed"] == empty + 1  # and the grand total, which is published
    strong = {
        who
        for parts in (cells[key] for key in regional | sized if key in cells)
        for who, (x, _) in parts.items()
        if x >= 0.05 * sum(y for y, _ in parts.values())
    }
    assert block["attackers"]["external"] == 1
    assert block["attackers"]["respondent"] + block["merged_attackers"] == len(strong)
    assert block["writes"] == [f"turnover-2025-{name}.csv" for name in ("turnover_by_region", "turnover_by_size")]
    assert [m["method"] for m in block["methods"]] == ["csp", "ip", "cta"]
    assert block["memory_bytes"] > 0

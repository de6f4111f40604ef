"""Small old worlds: batch files with their metadata, data and hierarchies, and what is true of them, counted slowly."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from click.testing import CliRunner, Result

from sdcdsl.cli import cli

MICRO = """\
// turnover of enterprises
<OPENMICRODATA> "x.asc"
<OPENMETADATA>  "x.rda"
<SPECIFYTABLE>  "Nace""Region"|"Turnover"||"-2"
<SAFETYRULE>    P(15,1)|NK(2,80)|FREQ(4,30)
<READMICRODATA>
<SUPPRESS>      OPT(1,7)
<WRITETABLE>    (1,1,AS+,"out.csv")
"""
TABLE = """\
<OPENTABLEDATA> "t.tab"
<OPENMETADATA>  "t.rda"
<SPECIFYTABLE>  "Size""Region"|"Value"||"Price"
<SAFETYRULE>    P(20,1)|FREQ(3,10)
<READTABLE>     1
<SUPPRESS>      MOD(1,5,1,1,1)
<WRITETABLE>    (1,5,AS+,"out.tab")
"""
MICRO_RDA = """\
Nace 1 3 "999"
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERLEVELS> 1 2
Region 5 2 "99"
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERCODELIST> "region.hrc"
  <HIERLEADSTRING> "."
  <TOTCODE> "Land"
Size 8 1
  <RECODEABLE>
  <TOTCODE> "all sizes"
Turnover 10 6
  <NUMERIC>
Wage 17 6
  <NUMERIC>
  <DECIMALS> 1
"""
HRC = "Nr\n.N1\n.N2\nOs\n.O1\n.O2\n"
REGIONS = {"Land": ("N1", "N2", "O1", "O2"), "Nr": ("N1", "N2"), "Os": ("O1", "O2")}
NACE = ("111", "112", "121", "211", "212")
SIZES = ("2", "4", "9")


@dataclass(frozen=True)
class Unit:
    nace: str
    region: str
    size: str
    turnover: int
    wage: float


def micro_world(folder: Path, commands: str, *, seed: int = 7, records: int = 90) -> list[Unit]:
    """Writes `x.arb` and all it names into the folder."""
    chance = random.Random(seed)
    units = [
        Unit(
            chance.choice(NACE),
            chance.choice(REGIONS["Land"]),
            chance.choice(SIZES),
            chance.randint(1, 900),
            chance.randint(0, 500) / 10,
        )
        for _ in range(records)
    ]
    lines = (f"{u.nace} {u.region} {u.size} {u.turnover:6d} {u.wage:6.1f}\n" for u in units)
    (folder / "x.asc").write_text("".join(lines), encoding="utf-8")
    (folder / "x.rda").write_text(MICRO_RDA, encoding="utf-8")
    (folder / "region.hrc").write_text(HRC, encoding="utf-8")
    (folder / "x.arb").write_text(commands, encoding="utf-8")
    return units


def contributions(units: list[Unit], *, size: bool = False) -> dict[tuple[str, ...], list[int]]:
    """Turnover of each contributor to every cell of nace × region (× size), totals included."""
    out: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for u in units:
        naces = {u.nace, u.nace[0], "Total"}
        regions = {u.region, "Land", *(r for r, inside in REGIONS.items() if u.region in inside)}
        sizes = {u.size, "all sizes"}
        for cell in product(naces, regions, sizes) if size else product(naces, regions):
            out[cell].append(u.turnover)
    return out


TABLE_RDA = """\
  <SEPARATOR> ";"
  <SAFE> "ok"
  <UNSAFE> "secret"
  <PROTECT> "open"
Size
  <RECODEABLE>
  <TOTCODE> "T"
Region
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERLEVELS> 1 1
Value
  <NUMERIC>
N
  <FREQUENCY>
Top1
  <MAXSCORE>
Top2
  <MAXSCORE>
Price
  <NUMERIC> <COST>
St
  <STATUS>
"""
GROUPS = {"1": ("11", "12"), "2": ("21", "22"), "Total": ("11", "12", "21", "22")}


@dataclass(frozen=True)
class Row:
    value: int
    n: int
    top: tuple[int, int]
    status: str


def table_world(folder: Path, commands: str, *, seed: int = 3, rda: str = TABLE_RDA) -> dict[tuple[str, str], Row]:
    chance = random.Random(seed)
    leaves: dict[tuple[str, ...], list[int]] = {
        (s, r): sorted((chance.randint(1, 99) for _ in range(chance.randint(1, 6))), reverse=True)
        for s in ("S", "M", "L")
        for r in GROUPS["Total"]
    }
    rows: dict[tuple[str, str], Row] = {}
    for s in ("S", "M", "L", "T"):
        for r in (*GROUPS["Total"], *GROUPS):
            inside = product(("S", "M", "L") if s == "T" else (s,), GROUPS.get(r, (r,)))
            parts = sorted((x for cell in inside for x in leaves[cell]), reverse=True)
            status = "secret" if (s, r) in leaves and len(parts) < 3 else "open" if (s, r) == ("T", "Total") else "ok"
            rows[s, r] = Row(sum(parts), len(parts), (parts[0], parts[1] if len(parts) > 1 else 0), status)
    text = "".join(
        f"{s};{r};{x.value};{x.n};{x.top[0]};{x.top[1]};{x.n + 1};{x.status}\n" for (s, r), x in rows.items()
    )
    (folder / "t.tab").write_text(text, encoding="utf-8")
    (folder / "t.rda").write_text(rda, encoding="utf-8")
    (folder / "t.arb").write_text(commands, encoding="utf-8")
    return rows


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(cli, [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def imported(folder: Path, name: str = "x.arb", *more: str) -> tuple[str, str]:
    """The policy and the talk; the policy passes `check` and is in canonical form."""
    target = folder / "made.sdc"
    result = run("import", folder / name, "-o", target, "--force", *more)
    assert result.exit_code == 0, result.output
    checked = run("check", target)
    assert (checked.exit_code, checked.output) == (0, "")
    assert run("fmt", "--check", target).exit_code == 0
    return target.read_text(encoding="utf-8"), result.stderr


def planned(folder: Path) -> list[dict]:
    result = run("plan", folder / "made.sdc", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 0, document["diagnostics"]
    return document["blocks"]


def marked(block: dict, rule: str) -> int:
    (cells,) = [sum(m["cells"].values()) for m in block["marked"] if f"by {rule}(" in m["by"]]
    return cells

"""All the common data, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli
from tests.bind.test_shared_data import wide
from tests.cli.investment import POLICIES, document
from tests.conftest import SHARED_DATA

RTAUARGUS, SSB, BENCH = SHARED_DATA / "tables" / "rtauargus", SHARED_DATA / "tables" / "ssbtools", SHARED_DATA / "bench"
TABLES = {
    "ACTIVITY": RTAUARGUS / "activity_corr_table.csv",
    "NUTS": RTAUARGUS / "nuts23_fr_corr_table.csv",
    **{name: RTAUARGUS / f"turnover_{name}.csv" for name in ("act_size", "act_cj", "nuts_size", "act_nuts_size")},
}
DATA: dict[str, tuple[str, dict[str, Path]]] = {
    **{path.stem: ("csplib", {"t": path}) for path in sorted(SHARED_DATA.glob("csplib/*.jj"))},
    "tables": ("rtauargus-tables", TABLES),
    "linked": ("rtauargus-linked", {name: path for name, path in TABLES.items() if name != "act_nuts_size"}),
    "microdata": ("rtauargus-microdata", dict.fromkeys(("ACTIVITY", "enterprises"), RTAUARGUS / "indiv_dt.csv")),
    "z1": ("z1", {"people": SSB / "z1.csv"}),
    **{
        name: (name, dict.fromkeys(("people", "region", "region.kind", "mnd"), SSB / f"{name}.csv"))
        for name in ("z2", "z3", "sosialFiktiv")
    },
    **{
        f"{size} {kind}": (
            f"bench-{kind}",
            {d: BENCH / size / f"{d}.hrc" for d in ("REG", "IND", "SIZE")} | {"source": BENCH / size / f"{kind}.csv"},
        )
        for size in ("small", "mid")
        for kind in ("micro", "table")
    },
}


def cox3(folder: Path) -> Path:
    """The files have a column for each column of the table; the policy wants a row for each cell."""
    values, levels = (wide(SHARED_DATA / "tables" / "cox3" / f"{name}.csv") for name in ("values", "protection"))
    path = folder / "cells.csv"
    rows = [f"{','.join(c)},{v or 0},{'u' if levels[c] else 's'},{levels[c] or 0}" for c, v in values.items()]
    path.write_text("\n".join(["plane,row,column,VALUE,STATUS,LEVEL", *rows]) + "\n")
    return path


@pytest.mark.parametrize("name", [*DATA, "cox3"])
def test_the_common_data_with_only_sensitive_cells_hidden(shared_data, tmp_path, name):
    policy, files = DATA[name] if name in DATA else ("cox3", {"cells": cox3(tmp_path)})
    path = POLICIES / f"{policy}.sdc"
    text = path.read_text()
    used = {what: file for what, file in files.items() if what.rpartition(".")[2] in text}
    data = [word for what, file in used.items() for word in ("--data", f"{what}={file}")]
    planned = CliRunner().invoke(cli, ["plan", str(path), "--json", *data])
    assert planned.exit_code == 0, planned.output
    pairs = {block["name"]: block["counts"]["pairs"] for block in json.loads(planned.stdout)["blocks"]}
    found = document(path, "--verdict-only", *data)
    assert found["exit"] in (0, 6)
    audited = {b["name"]: sum(b["counts"].values()) for b in found["blocks"]}
    # A release may tell sums that no cell of the plan stands for; `narrow` is what the audit adds for them.
    narrow = len(found["pairs"]) - sum(pairs.values())
    assert audited.keys() == pairs.keys() and all(audited[name] >= pairs[name] for name in pairs)
    assert sum(audited.values()) - sum(pairs.values()) == narrow >= 0
    assert sum(" + " in p["cell"] or " - " in p["cell"] for p in found["pairs"] if p["verdict"] == "exposed") >= narrow
    assert all(pair["given_away_by"] for pair in found["pairs"] if pair["verdict"] == "exposed")

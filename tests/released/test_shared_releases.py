"""Releases of the common data, where it is at hand: tables with a made-up suppression, and the files of CSPLIB."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from sdcdsl.pattern import hidden
from sdcdsl.released import Layout, pattern_of_jj, read_release, write_release_csv
from sdcdsl.released.rows import cells_by_table
from tests.bind.policies import bind_file
from tests.released.problems import same

POLICIES = Path(__file__).resolve().parent.parent / "data_policies"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        out.writerows(rows)
    return path


def test_a_benchmark_table(shared_data, tmp_path):
    folder = shared_data / "bench" / "small"
    names = ("REG", "IND", "SIZE")
    instead = {"source": folder / "table.csv"} | {n: folder / f"{n}.hrc" for n in names}
    problem = bind_file(POLICIES / "bench-table.sdc", instead)["t"]
    rows = rows_of(folder / "table.csv")
    lattice = problem.tables[0].lattice
    assert lattice is not None
    cells = [lattice.cell({n: r[n] for n in names}) for r in rows]
    mask = np.isin(np.arange(problem.n), cells[5::7])
    expected = hidden(problem.dataset["a"].values, mask)
    crossed = [{**r, "value": "x" if mask[c] else r["value"]} for r, c in zip(rows, cells, strict=True)]
    kept = [{n: r[n] for n in (*names, "value")} for r in crossed]
    made, found = read_release(problem, {"t": write(tmp_path / "csv.csv", kept)})
    assert found == []
    assert made is not None and same(made, expected)
    statuses = [
        {**{n: r[n] for n in names}, "Freq": r["freq"], "val": r["value"], "sdcStatus": "x" if mask[c] else "s"}
        for r, c in zip(rows, cells, strict=True)
    ]
    made, found = read_release(problem, {"t": write(tmp_path / "sdctable.csv", statuses)})
    assert found == []
    assert made is not None and same(made, expected)
    argus = tmp_path / "argus.txt"
    argus.write_text(
        "".join(
            f"{r['REG']};{r['IND']};{r['SIZE']};{r['value']};{r['freq']};{r['value']};{'M' if mask[c] else 'S'};0;0\n"
            for r, c in zip(rows, cells, strict=True)
        )
    )
    made, found = read_release(problem, {"t": argus})
    assert found == []
    assert made is not None and same(made, expected)


def test_linked_business_tables_with_their_statuses(shared_data, tmp_path):
    """Files as rtauargus returns them, without the empty cells, their totals rounded to four decimals."""
    folder = shared_data / "tables" / "rtauargus"
    data = ("act_size", "act_cj", "nuts_size")
    instead = {name: folder / f"turnover_{name}.csv" for name in data}
    instead |= {"ACTIVITY": folder / "activity_corr_table.csv", "NUTS": folder / "nuts23_fr_corr_table.csv"}
    problem = bind_file(POLICIES / "rtauargus-linked.sdc", instead)["turnover"]
    files = {}
    for table, name in (("by_size", data[0]), ("by_form", data[1]), ("by_region", data[2])):
        rows = [{**r, "Status": "A" if int(float(r["N_OBS"])) < 3 else "V"} for r in rows_of(instead[name])]
        files[table] = write(tmp_path / f"{table}.csv", rows)
    made, found = read_release(problem, files, absent="zero", layout=Layout(columns={"value": "TOT"}))
    assert found == []
    assert made is not None and made.claims
    few = np.zeros(problem.n, dtype=bool)
    maps = cells_by_table(problem)
    for table in problem.tables:
        assert table.lattice is not None
        for row in rows_of(files[table.name]):
            if row["Status"] == "A":
                few[maps[table.name][table.lattice.cell({d: row[d] for d in table.dimensions})]] = True
    assert (made.status[problem.dataset["published"].values] == "x").sum() == few.sum()
    assert set(made.status[few]) == {"x"}


@pytest.mark.parametrize("name", ["targus", "table8", "hier13", "osorio"])
def test_csplib(shared_data, tmp_path, name):
    path = shared_data / "csplib" / f"{name}.jj"
    problem = bind_file(POLICIES / "csplib.sdc", {"t": path})["t"]
    expected = pattern_of_jj(problem)
    assert (expected.status == "x").sum() == np.isin(problem.dataset["status"].values, ("u", "m")).sum()
    made, found = read_release(problem, {"t": path})
    assert found == []
    assert made is not None and same(made, expected)
    write_release_csv(problem, expected, "t", tmp_path / "t.csv")
    made, found = read_release(problem, {"t": tmp_path / "t.csv"})
    assert found == []
    assert made is not None and same(made, expected)

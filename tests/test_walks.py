"""The walks of examples/: pages show what the commands print, and what is released is what `expected.toml` says.

`pytest --bless` writes both anew, for review in the diff. What a release must hold whatever the program says is worked
out here from the data alone.
"""

from __future__ import annotations

import csv
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli
from tests.conftest import ROOT
from tests.waiting import HANGS

pytestmark = pytest.mark.long
EXAMPLES = ROOT / "examples"
WALKS = sorted(page.parent.name for page in EXAMPLES.glob("*/README.md"))
CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
SUMMARY = ("name", "method", "status", "objective", "cells", "sensitive", "attackers", "pairs", "touched", "verdict")


def run(line: str) -> str:
    """What a command of a page prints."""
    program, *arguments = shlex.split(line)
    if program == "python":
        done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=HANGS, check=True)
        return done.stdout
    assert program == "sdcdsl", line
    result = CliRunner().invoke(cli, arguments, prog_name="sdcdsl")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result.stdout


def machine_blind(text: str) -> str:
    """Without how far floating point was off, which depends on the processor."""
    return re.sub(r"within \S+ of the levels", "within … of the levels", text)


def summary() -> list[dict]:
    """What the locks say of the blocks that were released, without what may differ from machine to machine."""
    locks = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(Path().rglob("*.sdc.lock"))]
    blocks = [{key: block[key] for key in SUMMARY} for lock in locks for block in lock["blocks"]]
    return [block | {"objective": float(f"{block['objective']:.6g}")} for block in blocks]


def as_toml(blocks: list[dict]) -> str:
    lines = ["# What `sdcdsl protect` releases here, in short: from the locks. A test compares.\n"]
    for block in blocks:
        entries = (f'{k} = "{v}"\n' if isinstance(v, str) else f"{k} = {v}\n" for k, v in block.items())
        lines += ["\n[[blocks]]\n", *entries]
    return "".join(lines)


@pytest.mark.parametrize("name", WALKS)
def test_the_page_shows_what_the_commands_print(name, tmp_path, monkeypatch, request):
    shutil.copytree(EXAMPLES / name, tmp_path / name)
    monkeypatch.chdir(tmp_path / name)
    page = EXAMPLES / name / "README.md"
    text = page.read_text(encoding="utf-8")
    assert CONSOLE.search(text)
    ran = CONSOLE.sub(lambda block: COMMAND.sub(lambda c: f"$ {c[1]}\n{run(c[1])}", block[0]), text)
    if request.config.getoption("--bless"):
        page.write_text(ran, encoding="utf-8")
    assert machine_blind(page.read_text(encoding="utf-8")) == machine_blind(ran)
    released = summary()
    if not released:
        return
    expected = EXAMPLES / name / "expected.toml"
    if request.config.getoption("--bless"):
        expected.write_text(as_toml(released), encoding="utf-8")
    told = tomllib.loads(expected.read_text(encoding="utf-8"))["blocks"]
    assert [{**b, "objective": None} for b in told] == [{**b, "objective": None} for b in released]
    assert [b["objective"] for b in told] == pytest.approx([b["objective"] for b in released], rel=1e-5)
    if name in BY_HAND:
        BY_HAND[name]()


def test_all_walks_that_protect_say_what_they_release():
    assert {page.parent.name for page in EXAMPLES.glob("*/expected.toml")} >= {
        "enterprises",
        "hospital",
        "linked",
        "series",
        "classification",
        "periods",
        "tau-argus",
    }


# ---- what must hold, from the data alone -------------------------------------------------------------------


def rows(path: str) -> list[dict[str, str]]:
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def above(path: str, total: str) -> dict[str, list[str]]:
    """Of each leaf of a .hrc file of at most two levels: itself and what it counts for."""
    out, group = {}, ""
    for line in Path(path).read_text(encoding="utf-8").split():
        if line.startswith("@"):
            out.pop(group, None)
            out[line[1:]] = [line[1:], group, total]
        else:
            group = line
            out[line] = [line, total]
    return out


def patients() -> Counter:
    diagnosis, hospital = above("diagnosis.hrc", "all"), above("hospital.hrc", "country")
    count: Counter = Counter()
    for row in rows("patients.csv"):
        count.update(product(diagnosis[row["diagnosis"]], hospital[row["hospital"]], (row["age"], "every age")))
    return count


def the_hospital_is_right() -> None:
    true = patients()
    keys = ("diagnosis", "hospital", "age")
    rounded = {tuple(r[k] for k in keys): float(r["value"]) for r in rows("rounded/patients-rounded.csv")}
    assert all(value % 3 == 0 for value in rounded.values())
    assert max(abs(rounded[cell] - true[cell]) for cell in rounded) < 6
    assert all(value == 0 for cell, value in rounded.items() if not true[cell])
    hospital = above("hospital.hrc", "country")
    for (a, h, g), value in rounded.items():
        if h == "country":
            parts = [rounded[a, leaf, g] for leaf in hospital]
            assert value == sum(parts)
    hidden = {tuple(r[k] for k in keys): r for r in rows("hidden/patients-hidden.csv")}
    small = {cell for cell, count in true.items() if 0 < count < 3}
    assert small and all(hidden[cell]["status"] == "hidden" and not hidden[cell]["value"] for cell in small)
    shown = {cell: float(r["value"]) for cell, r in hidden.items() if r["status"] != "hidden"}
    assert all(value == true[cell] for cell, value in shown.items())


def the_tables_agree() -> None:
    """What both tables have is hidden in both or in none, but not where each was protected alone."""

    def line(prefix: str) -> list[dict[str, str]]:
        tables = (("by_activity", "nace", "C-I"), ("by_product", "product", "sales"))
        return [{r["nuts"]: r["value"] for r in rows(f"{prefix}-{t}.csv") if r[d] == total} for t, d, total in tables]

    together, alone = line("release/together"), line("release/alone")
    assert together[0] == together[1]
    assert alone[0] != alone[1]


def last_quarter_stays_hidden() -> None:
    def gaps(path: str) -> set[tuple[str, str]]:
        return {(r["nace"], r["nuts"]) for r in rows(path) if r["status"] == "hidden"}

    before, steady = gaps("turnover-q1.csv"), gaps("release/turnover-q2.csv")
    afresh = gaps("comparison/turnover-q2-afresh.csv")
    assert before and len(before - steady) < len(before - afresh)


def few_contributors_are_hidden() -> None:
    nace, nuts = above("nace.hrc", "C-N"), above("nuts.hrc", "XA")
    who: dict[tuple[str, str], set[str]] = {}
    weight: Counter = Counter()
    for row in rows("enterprises.csv"):
        for cell in product(nace[row["nace"]], nuts[row["nuts"]]):
            who.setdefault(cell, set()).add(row["holding_id"] or row["enterprise_id"])
            weight[cell] += int(row["design_weight"])
    released = {(r["nace"], r["nuts"]): r for r in rows("release/turnover-2025-by_region.csv")}
    alone = {cell for cell, names in who.items() if len(names) == 1 and weight[cell] < 3}
    assert alone and all(released[cell]["status"] == "hidden" for cell in alone)


def each_quarter_has_its_own_sums() -> None:
    nace, nuts = above("nace.hrc", "C-G"), above("nuts.hrc", "XA")
    for quarter in ("2026q2", "2026q3"):
        contributed: dict[tuple[str, str], list[int]] = {}
        for row in rows(f"enterprises-{quarter}.csv"):
            for cell in product(nace[row["nace"]], nuts[row["nuts"]]):
                contributed.setdefault(cell, []).append(int(row["turnover"]))
        released = {(r["nace"], r["nuts"]): r for r in rows(f"published/turnover-{quarter}.csv")}
        assert any(r["status"] == "hidden" for r in released.values())
        for cell, row in released.items():
            if row["status"] == "published":
                assert float(row["value"]) == sum(contributed.get(cell, ()))
                assert len(contributed.get(cell, ())) not in (1, 2)
    lock = tomllib.loads(Path("published/internal/turnover.sdc.lock").read_text(encoding="utf-8"))
    assert lock["policy"]["parameters"] == {"quarter": "2026q3", "before": "2026q2"}


def classes_are_not_published() -> None:
    division = {r["class"]: r["division"] for r in rows("activity.csv")}
    section = {r["division"]: r["section"] for r in rows("activity.csv")}
    value: Counter = Counter()
    for row in rows("enterprises.csv"):
        two = division[row["activity"]]
        value.update(dict.fromkeys(product((two, section[two], "B-I"), (row["region"], "All")), int(row["turnover"])))
    released = rows("release/turnover.csv")
    assert {r["activity"] for r in released} == {*section, *section.values(), "B-I"}
    assert {r["status"] for r in released} == {"published", "hidden"}
    assert all(float(r["value"]) == value[r["activity"], r["region"]] for r in released if r["status"] == "published")
    names = {r["code"]: (r["en"], r["de"]) for r in rows("labels.csv")}
    assert all((r["activity_label_en"], r["activity_label_de"]) == names[r["activity"]] for r in released)


def the_layouts_say_the_same() -> None:
    groups = {"Nr": ("N1", "N2"), "Os": ("O1", "O2"), "We": ("W1", "W2", "W3")}
    part_of = {leaf: group for group, parts in groups.items() for leaf in parts}
    value: Counter = Counter()
    for line in Path("turnover.asc").read_text(encoding="utf-8").splitlines():
        code, region, _, figure = line.split()
        cells = product(("Total", code[0], code[:2], code), ("Land", part_of[region], region))
        value.update(dict.fromkeys(cells, int(figure)))
    stem = "release/by-region-Turnover_by_Activity_Region"

    def table(path: str, delimiter: str = ",") -> list[list[str]]:
        with Path(path).open(newline="", encoding="utf-8") as file:
            return [row for row in csv.reader(file, delimiter=delimiter) if row]

    head, *body = table(f"{stem}.csv")
    across = {(row[0], region): figure for row in body for region, figure in zip(head[1:], row[1:], strict=True)}
    listed = {(code, region): figure for code, region, figure in table(f"{stem}.txt")[1:]}
    again = {(code, region): (figure, mark) for code, region, figure, mark in table(f"{stem}.tab", ";")}
    assert across == listed and len(across) == 14 * 11
    hidden = {cell for cell, figure in across.items() if figure == "x"}
    assert hidden and hidden == {cell for cell, (_, mark) in again.items() if mark != "S"}
    assert all(float(figure) == value[cell] for cell, figure in across.items() if cell not in hidden)


BY_HAND = {
    "classification": classes_are_not_published,
    "periods": each_quarter_has_its_own_sums,
    "tau-argus": the_layouts_say_the_same,
    "enterprises": few_contributors_are_hidden,
    "hospital": the_hospital_is_right,
    "linked": the_tables_agree,
    "series": last_quarter_stays_hidden,
}

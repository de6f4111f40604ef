"""Blocks that publish the same figures: never released together, and never contradicting each other."""

from __future__ import annotations

import csv
import datetime
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.diagnostics import has_errors
from sdcdsl.outcome import End
from sdcdsl.pattern import hidden, intervals
from sdcdsl.pipeline.protect import BlockTasks, planned, prepare, search
from sdcdsl.pipeline.release import release
from sdcdsl.pipeline.request import ProtectRequest
from sdcdsl.pipeline.shared_cells import BlockRelease, contradicting
from sdcdsl.policy.read import read_policy
from tests.cli.investment import document
from tests.cli.protecting import codes, files, protect, run

DAY = datetime.date(2026, 1, 1)
DATA = """unit,region,kind,year,sales
A,N,a,1,100
B,N,b,1,30
C,N,b,2,31
D,N,b,2,32
E,S,a,1,50
F,S,a,1,51
G,S,a,2,52
H,S,b,1,60
I,S,b,1,61
J,S,b,2,62
"""
HEAD = """sdc 1
policy "Sales"
data firms {
  csv "firms.csv"
  column unit = "unit"
}
dimension region {
  codes N, S
  total All
}
dimension kind {
  codes a, b
  total every
}
dimension year {
  codes "1", "2"
  total both
}
table t {
  from firms
  by region, kind
  sum sales
}
table u {
  from firms
  by region, kind, year
  sum sales
}
sensitive t by threshold(3)
attacker external {
  bounds 0 .. inf
}
"""
BLOCK = """protect TABLES {
  lpl needed
  upl needed
  against external
  cost value
  method csp
  release csv "FILE.csv"
}
"""


def block(tables: str, file: str) -> str:
    return BLOCK.replace("TABLES", tables).replace("FILE", file)


def written(folder: Path, *blocks: str, head: str = HEAD) -> Path:
    (folder / "firms.csv").write_text(DATA, encoding="utf-8")
    path = folder / "sales.sdc"
    path.write_text(head + "".join(blocks), encoding="utf-8")
    return path


def asked(path: Path) -> ProtectRequest:
    policy, found = read_policy(path, str(path))
    assert not has_errors(found), found
    return ProtectRequest(policy, path, RecordedLocations(path.parent), DAY, path.parent)


def cells(path: Path) -> dict[tuple[str, ...], str]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name not in ("value", "low", "high", "status")]
    return {tuple(row[name] for name in names): row["value"] for row in rows}


@pytest.mark.parametrize("second", ["u", "t as again", "t, u as both"])
def test_one_run_never_releases_the_same_figures_twice(tmp_path, second):
    path = written(tmp_path, block("t", "t"), block(second, "second"))
    found = protect(path)
    assert (found["exit"], codes(found), found["blocks"]) == (1, ["SDC514"], [])
    assert files(tmp_path) == {"sales.sdc", "firms.csv"}
    said = run(path).stdout
    assert "protect t {" in said and f"protect {second} {{" in said  # both statements are shown


def test_one_block_of_them_alone_is_released_with_a_warning(tmp_path):
    path = written(tmp_path, block("t", "t"), block("u", "u"))
    found = protect(path, "--block", "t")
    assert (found["exit"], codes(found)) == (0, ["SDC217"])
    assert "t.csv" in files(tmp_path) and "u.csv" not in files(tmp_path)


def test_blocks_that_publish_nothing_are_no_danger(tmp_path):
    silent = "".join(line for line in block("u", "u").splitlines(keepends=True) if "release" not in line)
    found = protect(written(tmp_path, block("t", "t"), silent))
    assert (found["exit"], len(found["blocks"])) == (0, 2)


def test_one_block_hides_in_both_what_they_share(tmp_path):
    found = protect(written(tmp_path, block("t, u as both", "sales")))
    assert found["exit"] == 0
    t, u = cells(tmp_path / "sales-t.csv"), cells(tmp_path / "sales-u.csv")
    assert t["N", "a"] == ""
    assert all(u[region, kind, "both"] == value for (region, kind), value in t.items())


def test_a_part_that_another_table_shows_by_a_dimension_is_the_same_figure(tmp_path):
    part = HEAD.replace("  by region, kind\n  sum sales\n", "  by region, kind\n  sum sales\n  only where year = 1\n")
    assert codes(protect(written(tmp_path, block("t", "t"), block("u", "u"), head=part))) == ["SDC514"]
    other = part.replace("by region, kind, year", "by region, kind").replace("year = 1", 'unit != "A"')
    assert "SDC514" not in codes(protect(written(tmp_path, block("t", "t"), block("u", "u"), head=other)))


def test_two_tables_of_one_jj_file(tmp_path):
    """The file is never read."""
    text = 'sdc 1\npolicy "x"\n'
    for name in "ab":
        text += f'table {name} {{\n  jj "x.jj"\n}}\nprotect {name} {{\n  method csp\n  release jj "{name}.jj"\n}}\n'
    path = tmp_path / "x.sdc"
    path.write_text(text, encoding="utf-8")
    assert codes(protect(path)) == ["SDC514"]


# ---- the same without a word of the policy: what would be released is laid side by side ---------------------


def bound(path: Path) -> tuple[ProtectRequest, dict]:
    request = asked(path)
    binding = Binding(request.policy, request.places, DAY)
    return request, {name: bind_protect(binding, p)[0] for name, p in request.policy.protects.items()}


def test_what_differs_between_two_releases_stops_both(tmp_path, monkeypatch):
    """As if nothing had been said beforehand."""
    monkeypatch.setattr("sdcdsl.pipeline.preflight.refused_together", lambda request: [])
    request = asked(written(tmp_path, block("t", "t"), block("u", "u")))
    prepared = prepare(request)
    assert prepared.end is End.EXPOSED
    assert [found.code for found in prepared.diagnostics if found.code.startswith("SDC5")] == ["SDC515"]
    with pytest.raises(ValueError, match="not to be released"):
        release(prepared, request)


def test_a_run_whose_blocks_agree_is_released(tmp_path, monkeypatch):
    monkeypatch.setattr("sdcdsl.pipeline.preflight.refused_together", lambda request: [])
    request = asked(written(tmp_path, block("t", "t"), block("t as again", "again")))
    made = planned(request)
    assert isinstance(made, BlockTasks) and made.wrong is None
    assert search(made, request).end is End.DONE


def test_narrower_intervals_and_other_figures_differ(tmp_path):
    request, problems = bound(written(tmp_path, block("t", "t"), block("t as again", "again")))
    t = problems["t"]
    a = t.dataset["a"].values
    inner = a == 100.0  # A alone, and what it is hidden with
    assert inner.sum() == 1

    def differ(one, other) -> list[str]:
        said = [BlockRelease("t", t, one), BlockRelease("again", problems["again"], other)]
        return [found.code for found in contradicting(request.policy, said)]

    none = hidden(a, inner & False)
    wide, narrow = (intervals(a - room * inner, a + room * inner) for room in (50.0, 40.0))
    assert differ(none, none) == differ(hidden(a, inner), hidden(a, inner)) == differ(wide, wide) == []
    for one, other in ((hidden(a, inner), none), (wide, none), (wide, narrow), (hidden(a, inner), wide)):
        assert differ(one, other) == differ(other, one) == ["SDC515"]
    changed = replace(wide, value=a + 3.0 * inner, status=np.where(inner, "v", "."))
    moved = replace(changed, value=a + 4.0 * inner)
    assert differ(changed, changed) == [] and differ(changed, moved) == ["SDC515"]


def test_an_audit_of_both_files_sees_it_too(tmp_path):
    path = written(tmp_path, block("t", "t"), block("u", "u"))
    for name in "tu":
        assert protect(path, "--block", name)["exit"] == 0
    given = [x for name in "tu" for x in ("--released", f"{name}={tmp_path / name}.csv")]
    found = document(path, *given)
    assert (found["exit"], found["verdict"]) == (6, "exposed")
    assert "SDC515" in codes(found)

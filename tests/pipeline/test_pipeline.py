"""The pipeline from inside: what methods are handed, that releases are all or nothing, that nothing heavy is loaded."""

from __future__ import annotations

import datetime
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.methods.result import Clash, Result
from sdcdsl.outcome import End
from sdcdsl.pipeline.conflicts import nothing_found
from sdcdsl.pipeline.method_plan import context_of, plan_of
from sdcdsl.pipeline.protect import prepare
from sdcdsl.pipeline.release import Written, release
from sdcdsl.pipeline.request import ProtectRequest
from sdcdsl.policy import document as d
from sdcdsl.policy.meaning import files_by_table
from sdcdsl.policy.read import read_policy
from sdcdsl.status import INFEASIBLE
from tests.cli.investment import TRUTH
from tests.cli.protecting import Policies, files
from tests.conftest import ROOT
from tests.pipeline.others import others  # noqa: F401

DAY = datetime.date(2026, 1, 1)


@pytest.fixture
def policy(tmp_path: Path) -> Policies:
    return Policies(tmp_path)


def asked(path: Path, **instead: object) -> ProtectRequest:
    read, found = read_policy(path, str(path))
    assert not found
    return ProtectRequest(read, path, RecordedLocations(path.parent), DAY, path.parent, instead=instead)


def bound(request: ProtectRequest, name: str = "investment"):
    protect = request.policy.protects[name]
    problem, found = bind_protect(Binding(request.policy, request.places, DAY), protect)
    assert problem is not None, found
    return problem, protect


def planned(request: ProtectRequest):
    problem, protect = bound(request)
    [engine] = protect.the(d.MethodChain).engines
    return problem, *plan_of(engine, protect, problem, request)


def by_label(problem, array) -> dict[str, float]:
    """`II·C` → what the array has there."""
    codes = [problem.label(i).replace("activity = ", "").replace(", region = ", "·") for i in range(problem.n)]
    return dict(zip(codes, array.tolist(), strict=True))


# ---- options -------------------------------------------------------------------------------------------------


def test_amounts_are_worked_out_cell_by_cell(policy):
    said = """method ip {
    min_width 10% of value
    min_width 3 where activity = II and region != Total
    cap_width 2 * upl where activity = II
    gap 1%
  }"""
    problem, plan, found = planned(asked(policy(said)))
    assert not found
    least, most = by_label(problem, plan.options["min_width"]), by_label(problem, plan.options["cap_width"])
    inner = {f"II·{region}" for region in "ABC"}
    assert least == pytest.approx({cell: 3 if cell in inner else value / 10 for cell, value in TRUTH.items()})
    # Only II·C has a level; elsewhere twice its 0 is 0, and no statement speaks of the other rows.
    in_row = {"II·C": 16.0, "II·A": 0.0, "II·B": 0.0, "II·Total": 0.0}
    assert most == {cell: in_row.get(cell, np.inf) for cell in TRUTH}
    assert (plan.options["gap"], plan.options["cap_intervals"]) == (0.01, None)


def test_amounts_that_have_no_value_or_are_below_zero_name_the_cells(policy):
    said = "method ip {\n    min_width 10 - value\n    cap_width 1 / (value - 8)\n  }"
    _, _, found = planned(asked(policy(said)))
    assert [f.code for f in found] == ["SDC321", "SDC321"]
    assert "below zero in 14 cells" in found[0].headline  # all but II·A (8) and I·C (10)
    assert "activity = II, region = A" in found[1].notes[0]


def test_options_of_the_command_line_win(policy):
    request = asked(policy("method csp {\n    gap 1%\n    time_limit 1 h\n  }"), gap=0.25, threads=2)
    _, plan, _ = planned(request)
    assert (plan.options["gap"], plan.options["time_limit"], plan.options["threads"]) == (0.25, 3600, 2)
    order = context_of(plan, 7, lambda progress: None)
    assert (order.deadline.limit, order.seed, order.before) == (3600, 7, None)


def test_last_periods_cells(policy, tmp_path):
    rows = "Total,Total,180\nI,A,x\nII,A,\nII,B,4..9\nII,C,22\nIII,A,-\nIII,B,30\n"
    (tmp_path / "last.csv").write_text(f"activity,region,value\n{rows}", encoding="utf-8")
    problem, plan, found = planned(asked(policy('method csp {\n    previous "last.csv"\n  }')))
    assert not found
    assert {cell for cell, before in by_label(problem, plan.before).items() if before} == {"I·A", "II·A", "II·B"}
    (tmp_path / "last.csv").write_text("activity,region,value\nIV,A,1\n", encoding="utf-8")
    _, _, found = planned(asked(policy('method csp {\n    previous "last.csv"\n  }')))
    assert [f.code for f in found] == ["SDC304"]


def test_files_of_blocks_with_several_tables():
    assert files_by_table("out/t.csv", ["a"]) == {"a": "out/t.csv"}
    assert files_by_table("out/t.csv", ["a", "b"]) == {"a": "out/t-a.csv", "b": "out/t-b.csv"}


def test_linked_tables_are_released_a_file_each(tmp_path, others):  # noqa: F811
    tables = "".join(
        f"""
dimension {name} {{
  codes p, q
  total all
}}
"""
        for name in ("x", "y", "z")
    )
    tables += """
table xy {
  by x, y
  measure turnover
  values
    | x \\ y | p | q | all |
    | p | 4 | 5 | 9 |
    | q | 6 | 7 | 13 |
    | all | 10 | 12 | 22 |
}

table xz {
  by x, z
  measure turnover
  values
    | x \\ z | p | q | all |
    | p | 3 | 6 | 9 |
    | q | 8 | 5 | 13 |
    | all | 11 | 11 | 22 |
}

sensitive xy at (x: p, y: p)

attacker external {
  bounds 0 .. inf
}

protect xy, xz {
  lpl 1
  upl 1
  against external
  cost value
  method enumeration
  release csv "out.csv"
}
"""
    path = tmp_path / "linked.sdc"
    path.write_text(f"sdc 1\n{tables}", encoding="utf-8")
    request = asked(path)
    prepared = prepare(request)
    assert prepared.end is End.DONE, prepared.diagnostics
    written, problems = release(prepared, request)
    assert not problems
    assert written.released == {"xy": [str(tmp_path / "out-xy.csv"), str(tmp_path / "out-xz.csv")]}
    assert files(tmp_path) == {"linked.sdc", "out-xy.csv", "out-xz.csv"}
    assert "p,p,,,,hidden" in (tmp_path / "out-xy.csv").read_text()
    assert "p,p,3,,,published" in (tmp_path / "out-xz.csv").read_text()


# ---- releasing -----------------------------------------------------------------------------------------------


def test_only_what_is_protected_can_be_released(policy, tmp_path, others):  # noqa: F811
    request = asked(policy("method careless", 'release csv "out.csv"'))
    prepared = prepare(request)
    assert prepared.end is End.EXPOSED
    with pytest.raises(ValueError, match="not to be released"):
        release(prepared, request)
    assert files(tmp_path) == {"investment.sdc"}


def test_a_file_that_cannot_be_written_takes_the_others_with_it(policy, tmp_path, others):  # noqa: F811
    request = asked(policy("method enumeration", 'release csv "one.csv"', 'release csv "two.csv"'))
    prepared = prepare(request)
    (tmp_path / "two.csv").mkdir()  # meanwhile
    written, problems = release(prepared, request)
    assert (written, [p.code for p in problems]) == (Written(), ["SDC503"])
    assert files(tmp_path) == {"investment.sdc"}


# ---- what clashes --------------------------------------------------------------------------------------------


def clashing(path: Path, side: int | None, need: float, reach: float) -> list[str]:
    """The statements that the diagnostic marks, as they stand in the policy."""
    request = asked(path)
    problem, plan, _ = planned(request)
    result = Result(INFEASIBLE, clashes=(Clash(0, side, need, reach),))
    [found] = nothing_found(problem, request.policy.protects["investment"], plan, result, request.policy)
    assert found.code == "SDC510"
    assert f"{need:g}; at most {reach:g} is feasible" in found.notes[0]
    return [mark.place.text for mark in found.marks]  # type: ignore[union-attr]


def test_published_margins_clash_with_a_level(policy):
    """II·C is 22 and its column sums to 44: with margins published it rises by at most 22."""
    fact = "publish where activity = Total or region = Total"
    path = policy("method csp", levels=("lpl 5", "upl 28"), fact=f"fix where value = 8\n{fact}")
    assert clashing(path, 1, 28, 22) == ["upl 28", fact]


def test_what_attackers_know_clashes_with_a_level(policy):
    """`informed` knows II·C within 17.6 .. 26.4, and that its row, 49, is at most 58.8 and the others at least 21.6."""
    path = policy("method csp", levels=("lpl 1", "upl 4.4 against external", "spl 9"))
    path.write_text(path.read_text().replace("against external\n  cost", "against informed\n  cost"))
    path.write_text(path.read_text().replace("  upl 4.4 against external\n", ""))
    marked = clashing(path, None, 9, 8.8)
    assert marked == ["spl 9", "bounds 80% of value .. 120% of value"]


def test_caps_clash_with_levels(policy):
    marked = clashing(policy("method ip {\n    cap_width 3\n    cap_intervals 9\n  }"), 1, 8, 3)
    assert marked == ["upl 8", "cap_width 3", "cap_intervals 9"]


# ---- what is loaded ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "specs/known/three-by-three-5-8-csp.sdc"],
        ["audit", "specs/known/three-by-three-5-8-csp.sdc"],
        ["plan", "specs/known/three-by-three-5-8-csp.sdc"],
        ["protect", "--help"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_commands_that_model_nothing_load_no_modelling_library(arguments):
    code = (
        "import sys\nfrom sdcdsl.cli import cli\n"
        "try:\n    cli(sys.argv[1:], prog_name='sdcdsl')\nexcept SystemExit:\n    pass\n"
        "sys.exit(' '.join({'linopy', 'pyscipopt'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-200:]

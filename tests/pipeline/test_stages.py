"""Every stage as a function of its request, without the command line: what it gives for the table by hand, that it
writes nothing of its own accord, and that all of them bind alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.deadline import Deadline
from sdcdsl.diagnostics import Diagnostic
from sdcdsl.outcome import End, Prepared
from sdcdsl.pipeline.assess import AssessRequest, assess_blocks
from sdcdsl.pipeline.audit import AuditRequest, audit_blocks
from sdcdsl.pipeline.bind import bind
from sdcdsl.pipeline.cell_names import parse_cell
from sdcdsl.pipeline.compile import CompileRequest, compile_block
from sdcdsl.pipeline.diff import changes
from sdcdsl.pipeline.explain import ExplainRequest, explain_cells
from sdcdsl.pipeline.plan import plan
from sdcdsl.pipeline.protect import prepare
from sdcdsl.pipeline.released_tables import ReleasedTables
from sdcdsl.pipeline.request import Inputs, ProtectRequest, Watch, writing_nothing
from sdcdsl.pipeline.time_shares import FOR_EXPERIMENTS
from sdcdsl.policy.read import read_policy
from tests.bind.test_only_with_data import FILED, ROWS
from tests.cli.investment import CELL, FOUR
from tests.cli.protecting import Policies, files
from tests.pipeline.test_pipeline import DAY

RELEASED = "activity,region,value\nI,A,20\nI,B,50\nI,C,10\nI,Total,80\nII,A,x\nII,B,19\nII,C,x\nII,Total,49\n"
RELEASED += "III,A,x\nIII,B,32\nIII,C,x\nIII,Total,61\nTotal,A,45\nTotal,B,101\nTotal,C,44\nTotal,Total,190\n"


def fields(path: Path) -> dict[str, Any]:
    """What every request begins with."""
    policy, found = read_policy(path, str(path))
    assert not found
    return {"policy": policy, "source": path, "places": RecordedLocations(path.parent), "day": DAY}


@pytest.fixture
def by_hand(tmp_path: Path) -> Path:
    return Policies(tmp_path)("method csp", 'release csv "out.csv"')


@pytest.fixture
def released(by_hand: Path) -> ReleasedTables:
    path = by_hand.with_name("theirs.csv")
    path.write_text(RELEASED, encoding="utf-8")
    return ReleasedTables({"investment": path})


def test_audit(by_hand: Path, released: ReleasedTables) -> None:
    before = files(by_hand.parent)
    made = audit_blocks(AuditRequest(**fields(by_hand), released=released))
    assert (made.verdict, made.wrong, made.found) == ("protected", False, ())
    audit = made.audits["investment"]
    assert (audit.low.tolist(), audit.high.tolist()) == ([5.0], [30.0])  # II·C, by hand
    assert files(by_hand.parent) == before


def test_blocks_that_were_bound_are_not_bound_again(by_hand: Path, released: ReleasedTables) -> None:
    bound = bind(Inputs(**fields(by_hand)))
    request = AuditRequest(**fields(by_hand), released=released)
    made = audit_blocks(request, bound=bound)
    assert made.audits["investment"].problem is bound.problems["investment"]
    assert not request.places.read


def test_explain(by_hand: Path, released: ReleasedTables) -> None:
    name, _ = parse_cell(CELL)
    assert name is not None
    made = explain_cells(ExplainRequest(**fields(by_hand), cells=[name], released=released))
    assert made.end is End.DONE and not made.unknown
    [explanation] = made.explanations
    assert explanation.sensitive and explanation.kind == "hidden" and explanation.by.endswith("theirs.csv")
    [inferred] = explanation.inferred
    assert (inferred.interval.low, inferred.interval.high) == (5.0, 30.0)


def test_explain_makes_the_release_where_none_is_given(by_hand: Path) -> None:
    name, _ = parse_cell(CELL)
    assert name is not None
    asked: list[ProtectRequest] = []

    def preparing(request: ProtectRequest):
        asked.append(request)
        return prepare(request)

    before = files(by_hand.parent)
    made = explain_cells(ExplainRequest(**fields(by_hand), cells=[name], time_limit=600.0), preparing)
    [explanation] = made.explanations
    assert explanation.by == "csp" and explanation.kind == "hidden"
    assert [(one.instead, one.lock, one.report) for one in asked] == [({"time_limit": 600.0}, None, None)]
    assert files(by_hand.parent) == before


def test_compile(by_hand: Path) -> None:
    model = by_hand.with_name("m.lp")
    made = compile_block(CompileRequest(**fields(by_hand), block="investment", output=model))
    assert made.end is End.DONE and made.block is not None
    assert made.block.method == "csp" and made.block.size.binaries == 16  # one for each cell
    assert made.block.trial is None and model.is_file()


def test_a_solution_that_cannot_be_read_is_refused_before_anything_is_bound(by_hand: Path) -> None:
    request = CompileRequest(**fields(by_hand), block="investment", solution=by_hand.with_name("none.sol"))
    made = compile_block(request)
    assert made.block is None and made.end is End.WRONG_DATA
    assert [one.code for one in made.found] == ["SDC505"] and not request.places.read


def test_plan(by_hand: Path) -> None:
    [block] = plan(Inputs(**fields(by_hand))).blocks()
    assert (block["name"], block["counts"]["cells"], block["counts"]["sensitive"]) == ("investment", 16, 1)
    assert block["writes"] == ["out.csv"]


def test_diff(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    old = Policies(tmp_path / "old")("method csp")
    new = Policies(tmp_path / "new")("method csp", levels=("lpl 10", "upl 12"))
    before = files(tmp_path)
    made, found = changes(Inputs(**fields(old)), Inputs(**fields(new)), prepare)
    assert not found
    [block] = made
    assert {level.level for level in block.levels if len(level.tighter)} == {"lpl", "upl"}
    assert block.protection is not None
    costs = block.protection.old.result.objective, block.protection.new.result.objective
    assert costs == (pytest.approx(59), pytest.approx(85))  # paper 003
    assert files(tmp_path) == before


def test_assess_refuses_what_adjusts_nothing(by_hand: Path) -> None:
    made = assess_blocks(AssessRequest(**fields(by_hand), seed=1))
    assert made.end is End.WRONG_POLICY and [one.code for one in made.found] == ["SDC139"]


ADJUSTING = "method cta {\n    sense up\n    time_limit 100 s\n  }"


def test_search_and_experiments_of_protect_share_one_deadline(tmp_path: Path) -> None:
    class Deadlines(Watch):
        def __init__(self) -> None:
            self.of: dict[str, Deadline] = {}

        def searching(self, block: str, method: str, deadline: Deadline) -> None:
            self.of[method] = deadline

    path, watch = Policies(tmp_path)(ADJUSTING, "assess B1", fact="seed 1"), Deadlines()
    request = replace(writing_nothing(Inputs(**fields(path))), policy=fields(path)["policy"])
    [outcome] = prepare(request, watch).outcomes
    assert outcome.assessment is not None and outcome.assessment.complete
    assert watch.of["experiments"] is watch.of["cta"] and watch.of["cta"].limit == 100


def test_table_and_experiments_of_assess_share_one_limit(tmp_path: Path) -> None:
    limits: list[object] = []

    def preparing(request: ProtectRequest) -> Prepared:
        limits.append(request.instead.get("time_limit"))
        return prepare(request)

    given = fields(Policies(tmp_path)(ADJUSTING))
    for limit in (None, 60.0, 0.0):
        made = assess_blocks(AssessRequest(**given, seed=1, time_limit=limit), preparing=preparing)
        if limit == 0.0:
            assert made.end is End.LIMIT or not made.assessments["investment"][0].complete
        else:
            assert made.assessments["investment"][0].complete
    assert limits == [None, (1 - FOR_EXPERIMENTS) * 60.0, 0.0]


def test_writing_nothing_leaves_the_protection_as_it_is(by_hand: Path) -> None:
    [outcome] = prepare(writing_nothing(Inputs(**fields(by_hand)))).outcomes
    hidden = {outcome.problem.label(int(cell)) for cell in outcome.touched}
    assert len(hidden) == len(FOUR) and outcome.result.objective == pytest.approx(59)


# ---- one way to bind ---------------------------------------------------------------------------------------


def _bound(path: Path) -> tuple[Diagnostic, ...]:
    return bind(Inputs(**fields(path))).found


def _planned(path: Path) -> tuple[Diagnostic, ...]:
    return plan(Inputs(**fields(path))).found


def _prepared(path: Path) -> list[Diagnostic]:
    return prepare(ProtectRequest(**fields(path), folder=path.parent)).diagnostics


def _audited(path: Path) -> tuple[Diagnostic, ...]:
    return audit_blocks(AuditRequest(**fields(path))).found


def _explained(path: Path) -> tuple[Diagnostic, ...]:
    return explain_cells(ExplainRequest(**fields(path), cells=[])).found


def _compiled(path: Path) -> tuple[Diagnostic, ...]:
    return compile_block(CompileRequest(**fields(path), block="t", output=path.with_name("m.lp"))).found


def _compared(path: Path) -> list[Diagnostic]:
    inputs = Inputs(**fields(path))
    return changes(inputs, inputs)[1]


STAGES: tuple[Callable[[Path], Any], ...] = (
    *(_bound, _planned, _prepared, _audited),
    *(_explained, _compiled, _compared),
)


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_refuses_codes_that_the_data_does_not_have(tmp_path: Path, stage: Callable[[Path], Any]) -> None:
    path = tmp_path / "p.sdc"
    path.write_text(FILED + "publish where a = ZZ\n", encoding="utf-8")
    (tmp_path / "d.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "a.hrc").write_text("A\nB\n", encoding="utf-8")
    assert [one.code for one in stage(path)].count("SDC116") == 1
    assert not (tmp_path / "m.lp").exists()


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_says_which_file_is_missing(tmp_path: Path, stage: Callable[[Path], Any]) -> None:
    path = tmp_path / "p.sdc"
    path.write_text(FILED, encoding="utf-8")
    (tmp_path / "a.hrc").write_text("A\nB\n", encoding="utf-8")
    assert "SDC302" in [one.code for one in stage(path)]

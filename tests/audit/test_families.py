"""Contributors as attackers, by families and listed one by one: verdicts, costs and certificates say the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import linprog
from scipy.sparse import csr_array

from sdcdsl.audit import Audit, audit_release
from sdcdsl.audit.certify import write_certificate
from sdcdsl.bind import pairs
from sdcdsl.bind.problem import TableProblem
from sdcdsl.cli import cli
from sdcdsl.pattern import hidden
from sdcdsl.pipeline.protect import prepare
from sdcdsl.pipeline.replay import same_problem
from sdcdsl.proof.checking import stated_problem, verify
from tests.bind.policies import problem_of
from tests.pipeline.test_pipeline import asked

POLICY = """sdc 1
policy "contributors of a small table"

data m {
  csv "micro.csv"
  column unit = "unit"
}

dimension r {
  codes R1, R2, R3
  total RT
}

dimension c {
  codes C1, C2, C3
  total CT
}

table t {
  from m
  by r, c
  sum value
}

sensitive by threshold(3)

attacker respondent {
  each unit
  knows own contribution
  bounds BOUNDS
}

attacker external {
  bounds 0 .. inf
}

protect t {
  lpl max(1, 10% of value)
  upl max(1, 10% of value)
  against external, respondent
  cost value
  method csp {
    unions UNIONS
  }
  release csv "out.csv"
}
"""
BOUNDS = ("0 .. inf", "50% of value .. 200% of value")
SEEDS = range(4)


def world(folder: Path, seed: int, units: int = 22, unions: str = "off") -> str:
    """Microdata in a folder, and the policy about them. Every cell has somebody."""
    rng = np.random.default_rng(seed)
    cells = [(r, c) for r in ("R1", "R2", "R3") for c in ("C1", "C2", "C3")]
    where = [*range(9), *rng.integers(0, 9, units - 9).tolist()]
    rows = [f"{cells[at][0]},{cells[at][1]},{rng.integers(1, 60)},u{i:02d}" for i, at in enumerate(where)]
    rows += [f"{cells[rng.integers(0, 9)][0]},C2,{rng.integers(1, 60)},u{i:02d}" for i in range(0, units, 5)]
    (folder / "micro.csv").write_text("r,c,value,unit\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return POLICY.replace("BOUNDS", BOUNDS[seed % 2]).replace("UNIONS", unions)


@pytest.fixture
def by_families(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "MOST_LISTED", 0)


def both(folder: Path, seed: int, monkeypatch: pytest.MonkeyPatch, **said) -> tuple[TableProblem, TableProblem]:
    """The problem with all pairs in the list, and with families."""
    text = world(folder, seed, **said)
    listed = problem_of(text, folder)
    monkeypatch.setattr(pairs, "MOST_LISTED", 0)
    return listed, problem_of(text, folder)


def named(problem: TableProblem) -> dict[tuple[str, int], tuple[float, ...]]:
    """Levels by label of the attacker and cell, of the pairs in the list."""
    d = problem.dataset
    who = [problem.attackers[k] for k in d["attacker_at"].values]
    levels = zip(*(d[name].values.tolist() for name in ("lpl", "upl", "spl")), strict=True)
    return dict(zip(zip(who, d["cell_at"].values.tolist(), strict=True), levels, strict=True))


def spelled_out(problem: TableProblem) -> dict[tuple[str, int], tuple[float, ...]]:
    """The same with every member of every family, and without the pairs that stand for them."""
    families = problem.families
    assert families is not None
    out = {key: levels for key, levels in named(problem).items() if key[0] != "respondent"}
    left_out = set(zip(families.without_family.tolist(), families.without_attacker.tolist(), strict=True))
    for family in range(len(families)):
        for member in np.flatnonzero(families.class_of == families.of[family]).tolist():
            if (family, member) not in left_out:
                key = problem.attackers[member], int(families.cell[family])
                assert key not in out
                out[key] = float(families.lpl[family]), float(families.upl[family]), 0.0
    return out


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("unions", ["on", "off"])
def test_families_stand_for_the_pairs_that_a_list_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, unions: str
):
    listed, few = both(tmp_path, seed, monkeypatch, unions=unions)
    assert spelled_out(few) == named(listed)
    assert (few.cut_pairs, few.merged_attackers) == (listed.cut_pairs, listed.merged_attackers)
    assert few.summary()["pairs"] == listed.summary()["pairs"]
    assert few.dataset.sizes["pair"] < listed.dataset.sizes["pair"] / 3


def patterns(problem: TableProblem, seed: int) -> Iterator[np.ndarray]:
    """Random cells that are hidden beside the sensitive ones, few and many."""
    rng = np.random.default_rng(100 + seed)
    must = (problem.dataset["status"].values == "u") | ~problem.dataset["published"].values
    for share in (0.3, 0.6, 0.8, 1.0):
        yield must | (rng.random(problem.n) < share)


def judged(made: Audit) -> dict[tuple[str, int], str]:
    """Verdicts by label and cell. A member without a row shares the one of the pair that stands for its family."""
    proved = made.proofs.problem
    who = [made.problem.attackers[k] for k in proved.pairs.attacker]
    rows = dict(zip(zip(who, proved.pairs.cell.tolist(), strict=True), made.verdicts.tolist(), strict=True))
    families = proved.families
    if families is None:
        return rows
    out = {key: verdict for key, verdict in rows.items() if key[0] != "respondent"}
    left_out = set(zip(families.without_family.tolist(), families.without_attacker.tolist(), strict=True))
    for family, cell in enumerate(families.cell.tolist()):
        for member in np.flatnonzero(families.class_of == families.of[family]).tolist():
            if (family, member) not in left_out:
                out.setdefault((made.problem.attackers[member], cell), rows["respondent", cell])
    return out


@pytest.mark.parametrize("seed", SEEDS)
def test_verdicts_are_those_of_the_pairs_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int):
    listed, few = both(tmp_path, seed, monkeypatch)
    seen = set()
    for cells in patterns(listed, seed):
        one, other = (audit_release(p, hidden(p.dataset["a"].values, cells), exact=False) for p in (listed, few))
        assert judged(other) == judged(one)
        assert other.verdict == one.verdict
        seen |= set(one.verdicts.tolist())
    assert "e" in seen


@pytest.mark.parametrize("seed", SEEDS)
def test_verdicts_are_those_of_linear_programs(tmp_path: Path, by_families: None, seed: int):
    problem = problem_of(world(tmp_path, seed), tmp_path)
    d, families = problem.dataset, problem.families
    assert families is not None
    shape = (problem.m, problem.n)
    relations = csr_array((d["coefficient"].values, (d["equation_of"].values, d["cell_of"].values)), shape=shape)
    cells = list(patterns(problem, seed))[2]
    a = d["a"].values
    verdicts = judged(audit_release(problem, hidden(a, cells), exact=False))
    for (label, cell), (lpl, upl, _) in spelled_out(problem).items():
        who = problem.attackers.index(label)
        low, high = (d[end].values[d["view_of"].values[who]] for end in ("low", "high"))
        low, high = np.where(cells, low, a), np.where(cells, high, a)
        mine = d["known_attacker"].values == who
        np.maximum.at(low, d["known_cell"].values[mine], d["known_low"].values[mine])
        ends = []
        for sign in (1.0, -1.0):
            cost = np.zeros(problem.n)
            cost[cell] = sign
            made = linprog(cost, A_eq=relations, b_eq=d["b"].values, bounds=np.stack([low, high], axis=1))
            ends.append(-np.inf if made.status == 3 else made.fun)
        protected = ends[0] <= a[cell] - lpl + 1e-6 and -ends[1] >= a[cell] + upl - 1e-6
        assert verdicts[label, cell] == ("p" if protected else "e"), (label, problem.label(cell))


# ---- certificates --------------------------------------------------------------------------------------


def certified(folder: Path, seed: int) -> tuple[Audit, Path]:
    problem = problem_of(world(folder, seed), folder)
    cells = list(patterns(problem, seed))[3]
    made = audit_release(problem, hidden(problem.dataset["a"].values, cells), exact=False)
    write_certificate(made, folder / "c.jsonl")
    return made, folder / "c.jsonl"


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def resealed(path: Path, records: list[dict]) -> Path:
    """The records once more, with counts and digest that are right."""
    import hashlib  # noqa: PLC0415

    kinds = [next(iter(record)) for record in records]
    text = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records[:-1])
    names = {"witness": "witnesses", "claim": "claims", "bound": "bounds"}
    end: dict[str, int | str] = {name: kinds.count(kind) for kind, name in names.items()}
    end["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(text + json.dumps({"end": end}) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("seed", SEEDS)
def test_certificates_hold_and_state_the_problem(tmp_path: Path, by_families: None, seed: int):
    made, path = certified(tmp_path, seed)
    found = verify(path)
    assert found.ok, found.reasons
    assert found.pairs == len(made.verdicts)
    assert found.protected == (made.verdicts == "p").sum()
    assert found.unlisted > found.pairs
    _, stated = stated_problem(path)
    assert stated is not None
    assert same_problem(stated, made.proofs.problem)


def test_a_member_who_knows_more_than_was_proved_is_noticed(tmp_path: Path, by_families: None):
    made, path = certified(tmp_path, 0)
    assert made.verdict == "protected"
    records = lines(path)
    families = made.proofs.problem.families
    assert families is not None
    member = int(np.flatnonzero(families.class_of >= 0)[0])
    for record in records:  # one member is said to know every cell it has a part in, exactly
        if "known" in record:
            body = record["known"]
            who = body["attackers"]
            who = who if isinstance(who, list) else np.repeat(who["runs"][::2], who["runs"][1::2]).tolist()
            body["attackers"] = who
            a = made.proofs.problem.system.a
            low = body["low"]
            low = low if isinstance(low, list) else np.repeat(low["runs"][::2], low["runs"][1::2]).tolist()
            body["low"] = [a[c] if k == member else x for k, c, x in zip(who, body["cells"], low, strict=True)]
            high = [None] * len(who)
            body["high"] = [a[c] if k == member else x for k, c, x in zip(who, body["cells"], high, strict=True)]
    found = verify(resealed(path, records))
    assert not found.ok
    assert any("no claim serves the member" in reason for reason in found.reasons), found.reasons


def test_a_family_without_claims_is_not_protected(tmp_path: Path, by_families: None):
    made, path = certified(tmp_path, 2)
    of_families = set(np.flatnonzero(made.proofs.served.of_pair >= 0).tolist())  # type: ignore[union-attr]
    records = lines(path)
    kept, dropped = [], 0
    for record in records:
        claim = record.get("claim")
        if claim is not None and set(np.cumsum(claim["up"] or [0]).tolist() + np.cumsum(claim["down"] or [0]).tolist()):
            about = set(np.cumsum(claim["up"]).tolist()) | set(np.cumsum(claim["down"]).tolist())
            if about & of_families and dropped < 3:
                dropped += 1
                continue
        kept.append(record)
    assert dropped
    assert not verify(resealed(path, kept)).ok


@pytest.mark.parametrize(
    ("kind", "name", "value", "reason"),
    [
        ("class", "anyone", 0, "stands for a class"),
        ("families", "lpl", {"runs": [0, 0]}, "families"),
        ("class", "members", [10**6], "members of a class"),
    ],
)
def test_families_that_are_none_are_malformed(
    tmp_path: Path, by_families: None, kind: str, name: str, value: object, reason: str
):
    _, path = certified(tmp_path, 0)
    records = lines(path)
    for record in records:
        if kind in record:
            record[kind][name] = value
    found = verify(resealed(path, records))
    assert not found.readable


def test_other_levels_than_those_of_its_pair_are_malformed(tmp_path: Path, by_families: None):
    _, path = certified(tmp_path, 0)
    records = lines(path)
    for record in records:
        if "families" in record:
            count = len(record["families"]["cells"])
            record["families"]["lpl"] = [0.5] * count
    found = verify(resealed(path, records))
    assert not found.readable
    assert "other levels" in found.reasons[0]


# ---- releases ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_releases_cost_what_they_cost_with_all_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int):
    text = world(tmp_path, seed)
    costs = []
    for most in (10**9, 0):
        monkeypatch.setattr(pairs, "MOST_LISTED", most)
        (tmp_path / "t.sdc").write_text(text, encoding="utf-8")
        [outcome] = prepare(asked(tmp_path / "t.sdc")).outcomes
        result = outcome.attempts[-1].result
        costs.append((result.status, None if result.objective is None else round(result.objective, 6)))
        if most == 0 and outcome.audit is not None:
            assert outcome.audit.verdict == "protected"
    assert costs[0] == costs[1]


def test_commands_say_how_many_pairs_the_list_stands_for(tmp_path: Path, by_families: None):
    (tmp_path / "t.sdc").write_text(world(tmp_path, 0), encoding="utf-8")
    file, proof = str(tmp_path / "t.sdc"), str(tmp_path / "c.jsonl.gz")
    run = CliRunner().invoke
    counts = json.loads(run(cli, ["plan", file, "--json"]).stdout)["blocks"][0]["counts"]
    assert counts["listed_pairs"] < counts["pairs"] / 3
    assert f"{counts['listed_pairs']} in the list" in run(cli, ["plan", file]).stdout
    made = run(cli, ["protect", file, "--certificate", proof])
    assert made.exit_code == 0, made.output
    assert "that they stand for, all protected" in made.stdout
    stated = json.loads(run(cli, ["verify", proof, "--json"]).stdout)
    assert stated["ok"]
    # A member that got a row, and the pair that stands for a family, are no pairs of the families any more.
    families = json.loads(run(cli, ["plan", file, "--json"]).stdout)["blocks"][0]["counts"]["pairs"]
    assert stated["unlisted"] <= families < stated["unlisted"] + stated["pairs"]
    assert f"and {stated['unlisted']} that they stand for" in run(cli, ["verify", proof]).stdout
    replayed = run(cli, ["verify", "--replay", file + ".lock"])
    assert replayed.exit_code == 0, replayed.output

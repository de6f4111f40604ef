"""Certificates: what is written comes back, and nothing is half-written."""

from __future__ import annotations

import gzip
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from sdcdsl.proof import reading
from sdcdsl.proof.allowance import Allowance
from sdcdsl.proof.certificate import Certificate
from sdcdsl.proof.checking import verify
from sdcdsl.proof.problem_reader import ProblemReader
from sdcdsl.proof.system import ProofProblem
from sdcdsl.proof.witness import Claim, Witness
from tests.proof.plain_checker import Checker
from tests.proof.worlds import (
    HIDDEN,
    INVESTMENT,
    SWAP,
    Case,
    grid,
    hidden,
    indices,
    investment,
    pairs,
    records,
    regions,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return investment().write(tmp_path / "investment.jsonl")


def test_holds(path: Path):
    got = verify(path)
    assert (got.ok, got.reasons, got.exact, got.largest_tolerance) == (True, [], True, 0.0)
    assert (got.pairs, got.protected, got.exposed, got.not_proven) == (4, 2, 2, 0)
    assert got.header["name"] == "Investment"
    assert "confidential" in got.header["notice"]
    assert Checker(path).run() == (True, "peep")


def test_compressed_is_the_same(tmp_path: Path, path: Path):
    packed = investment().write(tmp_path / "investment.jsonl.gz")
    assert gzip.decompress(packed.read_bytes()) == path.read_bytes()
    assert verify(packed) == verify(path)


def stated(path: Path) -> tuple[ProofProblem, list[str]]:
    lines = iter(reading.CertificateLines(path))
    made = ProblemReader(next(lines)[1], Allowance(path.stat().st_size))
    for kind, body in lines:
        if kind in ("witness", "claim", "bound", "verdicts", "end"):
            break
        made.take(kind, body)
    return made.problem(), made.labels


def arrays(problem: ProofProblem) -> dict[str, np.ndarray]:
    system, seen, asked = problem.system, problem.regions, problem.pairs
    order = np.lexsort((system.cell_of, system.equation_of))
    return {
        "a": system.a,
        "entries": np.array([system.equation_of[order], system.cell_of[order], system.coefficient[order]]),
        "b": system.b,
        "low": seen.low,
        "high": seen.high,
        "view_of": seen.view_of,
        "known": np.array([seen.known.cell, seen.known.low, seen.known.high]),
        "start": seen.known.start,
        "pairs": np.array([asked.cell, asked.attacker, asked.lpl, asked.upl, asked.spl]),
    }


def large_problem() -> tuple[ProofProblem, list[str]]:
    """More of everything than one line takes, views that resemble each other, entries in no order."""
    rng = np.random.default_rng(2)
    rows, columns = 61, 401
    leaf = rng.integers(0, 99, (rows - 1, columns - 1)) / 10
    leaf = np.vstack([leaf, leaf.sum(axis=0)])
    a = np.hstack([leaf, leaf.sum(axis=1, keepdims=True)]).ravel()
    system = grid(a, rows, columns)
    order = rng.permutation(len(system.coefficient))
    for name in ("coefficient", "cell_of", "equation_of"):
        object.__setattr__(system, name, getattr(system, name)[order])
    first = hidden(a, np.flatnonzero(rng.random(len(a)) < 0.95))
    second = first[0].copy(), first[1].copy()
    second[1][5:9] = a[5:9] + 7.5
    third = hidden(a, indices(7), -np.inf)
    who = np.sort(rng.integers(0, 30_000, 50_000))
    known = [(int(k), int(rng.integers(len(a))), 0.0, float(rng.choice([np.inf, 1e6]))) for k in who]
    seen = regions([first, second, third], [k % 3 for k in range(30_000)], known)
    asked = pairs(*((int(i), int(i) % 30_000, 1.5, 2.0, float(i % 3)) for i in rng.integers(0, len(a), 45_000)))
    return ProofProblem(system, seen, asked), [f"unit {k}" for k in range(30_000)]


def test_a_problem_comes_back_as_it_was(tmp_path: Path):
    problem, labels = large_problem()
    case = Case(problem, labels, verdicts="n" * len(problem.pairs))
    path = case.write(tmp_path / "large.jsonl.gz")
    again, labels_again = stated(path)
    assert labels_again == labels
    for name, expected in arrays(problem).items():
        assert np.array_equal(arrays(again)[name], expected), name
    got = verify(path)
    assert (got.ok, got.reasons, got.not_proven) == (True, [], len(problem.pairs))
    # Views that differ in a few cells cost a few numbers.
    with gzip.open(path, "rt", encoding="utf-8") as file:
        sizes = [len(line) for line in file if line.startswith('{"view":{"number":1') or '"number":2' in line]
    assert len(sizes) == 2
    assert max(sizes) < 200


def test_cells_that_a_witness_leaves_alone_are_not_written(tmp_path: Path):
    case = investment()
    case.witnesses = [Witness(np.append(HIDDEN, 12), np.append(SWAP, 0.0))]
    path = case.write(tmp_path / "zeros.jsonl")
    assert records(path)[10] == {"witness": {"cells": [4, 2, 2, 2], "move": [1, -1, -1, 1]}}
    assert verify(path).ok


def test_claims_in_any_order_stand_behind_their_witness(tmp_path: Path):
    case = investment()
    case.witnesses = [Witness(HIDDEN[::-1], 2 * SWAP[::-1]), Witness(HIDDEN, 3 * SWAP), case.witnesses[0]]
    up, down = case.claims[1], case.claims[0]
    case.claims = [
        Claim(2, up.step, up.up, up.down),
        Claim(0, down.step / 2, down.up, down.down),
        *(Claim(2, c.step, c.up, c.down) for c in case.claims[2:]),
    ]
    path = case.write(tmp_path / "order.jsonl")
    assert [next(iter(r)) for r in records(path)][10:-2] == ["witness", "claim", "witness", "claim", "claim"]
    got = verify(path)
    assert (got.ok, got.reasons, got.exact) == (True, [], True)
    assert Checker(path).run() == (True, "peep")


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_nothing_half_written(tmp_path: Path, error: type[BaseException], name: str):
    (tmp_path / name).write_text("before")
    case = investment()
    problem = case.problem

    def interrupted() -> None:
        with Certificate(tmp_path / name, "x") as out:
            out.problem(problem.system, problem.regions, case.labels, problem.pairs)
            out.witness(case.witnesses[0])
            raise error

    with pytest.raises(error):
        interrupted()
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "before"


def test_no_file_without_verdicts(tmp_path: Path):
    case = investment()
    problem = case.problem
    with pytest.raises(ValueError, match="without verdicts"), Certificate(tmp_path / "x", "x") as out:
        out.problem(problem.system, problem.regions, case.labels, problem.pairs)
    case.verdicts = "p"
    with pytest.raises(ValueError, match="1 verdicts for 4 pairs"):
        case.write(tmp_path / "x")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="modes of files are a matter of POSIX")
def test_only_the_owner_reads_it(path: Path):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_true_value_that_is_off_by_rounding_is_accepted(tmp_path: Path):
    values = INVESTMENT * 0.1
    problem = ProofProblem(grid(values), regions([hidden(values, HIDDEN)], [0]), pairs((6, 0, 1.7, 0.8, 0)))
    claims = [Claim(0, 1.7, indices(), indices(0)), Claim(0, -0.8, indices(0), indices())]
    case = Case(problem, ["external"], [Witness(HIDDEN, SWAP)], claims, [], "p")
    path = case.write(tmp_path / "decimals.jsonl")
    got = verify(path)
    assert (got.ok, got.reasons) == (True, [])
    assert got.largest_tolerance < 1e-15
    assert Checker(path).run() == (True, "p")

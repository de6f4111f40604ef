"""Certificates in which somebody changed a number, with the old digest and with a new one."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sdcdsl.proof.checking import verify
from sdcdsl.proof.system import ProofProblem
from tests.proof.plain_checker import Checker
from tests.proof.worlds import Case, investment, pairs, records, rewrite


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return investment().write(tmp_path / "investment.jsonl")


def numbers_in(record: Any, path: tuple = ()) -> Iterator[tuple]:
    """The way to every number in a record."""
    if isinstance(record, dict):
        for key, value in record.items():
            yield from numbers_in(value, (*path, key))
    elif isinstance(record, list):
        for i, value in enumerate(record):
            yield from numbers_in(value, (*path, i))
    elif isinstance(record, (int, float)) and not isinstance(record, bool):
        yield path


def changed_at(found: list[Any], line: int, way: tuple, by: float) -> list[Any]:
    out = copy.deepcopy(found)
    place = out[line]
    for key in way[:-1]:
        place = place[key]
    place[way[-1]] += by
    return out


def every_change(found: list[Any], by: float) -> Iterator[tuple[int, tuple, list[Any]]]:
    for line, record in enumerate(found):
        for way in numbers_in(record):
            yield line, way, changed_at(found, line, way, by)


@pytest.mark.parametrize("by", [1, -1])
def test_any_number_changed_is_seen_by_the_digest(path: Path, by: int):
    found = records(path)
    kinds = set()
    for line, way, changed in every_change(found, by):
        kinds.add(next(iter(found[line])))
        got = verify(rewrite(path, changed, digest=False))
        assert not got.ok, (line, way)
        assert got.reasons
    assert len(kinds) == 12  # every kind of record


def test_numbers_changed_with_a_new_digest_are_judged_by_arithmetic(path: Path):
    """Whatever another checker finds, this one must find, and the other way round: every number of every record."""
    found = records(path)
    refused: dict[str, int] = {}
    for by in (1, -1, 7, -100):
        for line, way, changed in every_change(found, by):
            kind = next(iter(found[line]))
            got = verify(rewrite(path, changed, digest=True))
            if got.readable:
                assert (got.ok, kind, way) == (Checker(path).run()[0], kind, way)
            refused[kind] = refused.get(kind, 0) + (not got.ok)
    assert set(refused) == {next(iter(record)) for record in found}
    assert all(refused.values()), refused


WRONG = [
    # what, the line, the way to the number, by how much, what is said
    ("a true value", 1, ("cells", 4), 1, "the true values do not satisfy relation 1"),
    ("a coefficient", 2, ("relations", "coefficients", 4), 1, "the true values do not satisfy relation 1"),
    ("a lower end", 3, ("view", "low", 2), 1, "outside the box of attacker 0 in cell 8"),
    ("what is known", 5, ("known", "low", 0), 1, "outside the box of attacker 1 in cell 6"),
    ("a level below", 6, ("pairs", "lpl", 0), 1, "pair 0 (cell 6, attacker external) is called protected"),
    ("a level above", 6, ("pairs", "upl", 0), 1, "drive it 8 up, and 9 is required"),
    ("a range", 6, ("pairs", "spl", 0), 1, "drive it 25 up and down together, and 26 is required"),
    (
        "a level of an exposed pair",
        6,
        ("pairs", "lpl", 1),
        -1,
        "is called exposed; its bounds allow inf up and 12 down",
    ),
    ("a multiplier", 8, ("bound", "gamma", 0), 1, "pair 2 (cell 6, attacker external) is called exposed"),
    ("a relation of a bound", 8, ("bound", "equations", 0), 1, "its bounds allow inf up"),
    ("a denominator", 9, ("bound", "denominator"), 1, "is called exposed"),
    ("a move", 10, ("witness", "move", 0), 1, "breaks relation 1 by"),
    ("a cell of a witness", 10, ("witness", "cells", 0), 1, "breaks relation"),
    ("a step", 11, ("claim", "step"), 1, "outside the box of attacker 0 in cell 8"),
    ("a shorter step", 11, ("claim", "step"), -1, "drive it 16 down, and 17 is required"),
    ("a pair of a claim", 11, ("claim", "down", 0), 1, "outside the box of attacker 1"),
    ("a count", 15, ("end", "claims"), 1, "counts 4 claims, the file has 3"),
]


@pytest.mark.parametrize(("line", "way", "by", "said"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_reasons(path: Path, line: int, way: tuple, by: int, said: str):
    got = verify(rewrite(path, changed_at(records(path), line, way, by), digest=True))
    assert not got.ok
    assert got.readable
    assert any(said in reason for reason in got.reasons), got.reasons


def test_a_side_or_a_verdict_changed(path: Path):
    found = records(path)
    found[7]["bound"]["side"] = "up"
    assert "called exposed" in verify(rewrite(path, found, digest=True)).reasons[0]
    found[7]["bound"]["side"] = "down"
    found[14]["verdicts"] = ["p", 4]
    got = verify(rewrite(path, found, digest=True))
    assert [reason[:6] for reason in got.reasons] == ["pair 1", "pair 1", "pair 2"]
    found[14]["verdicts"] = ["p", 1, "n", 3]
    got = verify(rewrite(path, found, digest=True))
    assert (got.ok, got.not_proven) == (True, 3)


def test_many_reasons_are_counted(tmp_path: Path):
    problem = investment().problem
    asked = pairs(*((6, 0, 1, 1, 0) for _ in range(50)))
    path = Case(ProofProblem(problem.system, problem.regions, asked), ["a", "b"], verdicts="p" * 50).write(
        tmp_path / "x"
    )
    got = verify(path)
    assert len(got.reasons) == 21
    assert got.reasons[-1] == "and 80 more"

"""Checkpoints: what is written is read again, anything else is not used, and nothing in them is believed."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdcdsl.accelerate.cutting.capacities import Capacities
from sdcdsl.accelerate.cutting.kept_cuts import KeptCuts, read_cuts
from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.cutting.separation import Separation
from sdcdsl.accelerate.ip import all_levels
from sdcdsl.deadline import Deadline
from sdcdsl.methods.checkpoint import Checkpointer, CheckpointState, about, read, write
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.pattern.digest import digest
from tests.by_search import by_search
from tests.executing.cubes import cube, problem_of


@pytest.fixture
def searched() -> Iterator[None]:
    """Models keep no checkpoints."""
    with by_search():
        yield


@pytest.fixture(scope="module")
def problem(tmp_path_factory):
    return problem_of(cube(tmp_path_factory.mktemp("cube") / "cube.jj", 3, 4))


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "a.checkpoint"
    state = CheckpointState(
        {"phase": "bound", "tries": [1, 2]}, {"hidden": np.array([True, False]), "z": np.array([1.5, np.inf])}
    )
    write(path, "this", state)
    found, why = read(path, "this")
    assert why is None and found is not None
    assert found.facts == state.facts
    assert {k: v.tolist() for k, v in found.arrays.items()} == {k: v.tolist() for k, v in state.arrays.items()}
    assert path.stat().st_mode & 0o777 == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["a.checkpoint"]


def _compressed(path: Path) -> None:
    made = io.BytesIO()
    np.savez_compressed(made, heading=np.zeros(10**6, dtype=np.uint8))
    path.write_bytes(made.getvalue())


class Trap:
    def __reduce__(self):
        return (os.mkdir, ("trapped",))


def _pickled(path: Path) -> None:
    made = io.BytesIO()
    heading = np.frombuffer(json.dumps({"form": "sdcdsl-checkpoint/1"}).encode(), dtype=np.uint8)
    np.savez(made, heading=heading, _hidden=np.array([Trap()], dtype=object))
    path.write_bytes(made.getvalue())


def _cut_short(path: Path) -> None:
    write(path, "this", CheckpointState({}, {"hidden": np.zeros(1000, dtype=bool)}))
    path.write_bytes(path.read_bytes()[:500])


def _other_version(path: Path) -> None:
    heading = {"form": "sdcdsl-checkpoint/1", "version": "0.0.0", "about": "this", "facts": {}}
    np.savez(path.open("wb"), heading=np.frombuffer(json.dumps(heading).encode(), dtype=np.uint8))


def _raw_pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps(Trap()))


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("heading.npy", "nonsense")


def _rewritten(path: Path, change) -> None:
    """Another `hidden.npy`, in a file whose sums fit."""
    write(path, "this", CheckpointState({}, {"hidden": np.zeros(3, dtype=bool)}))
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["_hidden.npy"] = change(parts["_hidden.npy"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, raw in parts.items():
            archive.writestr(name, raw)


def _unclosed(path: Path) -> None:
    _rewritten(path, lambda raw: raw.replace(b"(3,)", b"(3,("))


def _large(path: Path) -> None:
    """A terabyte, by its heading."""
    _rewritten(path, lambda raw: raw.replace(b"(3,), }" + b" " * 12, b"(1000000000000,), }"))


def _overlapping(path: Path) -> None:
    """The same megabyte a thousand times: the directory of a ZIP file may name a part as often as it likes."""
    write(path, "this", CheckpointState({}, {"x": np.zeros(10**6, dtype=np.uint8)}))
    raw = path.read_bytes()
    end = raw.rindex(b"PK\x05\x06")
    first = raw.index(b"PK\x01\x02")
    entry = raw[raw.rindex(b"PK\x01\x02", 0, end) : end]
    directory = raw[first:end] + entry * 1000
    last = bytearray(raw[end:])
    last[8:10] = last[10:12] = (1002).to_bytes(2, "little")
    last[12:16] = len(directory).to_bytes(4, "little")
    path.write_bytes(raw[:first] + directory + bytes(last))


def _link(path: Path) -> None:
    other = path.with_name("other")
    write(other, "this", CheckpointState())
    path.symlink_to(other)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: write(path, "something else", CheckpointState()), "other data"),
        (_compressed, "not one of ours"),
        (_cut_short, "cannot be read"),
        (_other_version, "version 0.0.0"),
        (_raw_pickle, "cannot be read"),
        (_zip, "cannot be read"),
        (_link, "cannot be read"),
        (_unclosed, "cannot be read"),
        (_large, "cannot be read: ValueError"),
        (_overlapping, "not one of ours"),
        (lambda path: path.write_bytes(b""), "cannot be read"),
    ],
)
def test_what_is_not_used(tmp_path, monkeypatch, make, why):
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "a.checkpoint")
    checkpointer = Checkpointer(tmp_path / "a.checkpoint", "this")
    checkpointer.resume()
    assert checkpointer.found is None and checkpointer.why is not None and why in checkpointer.why
    assert not (tmp_path / "trapped").exists()


def test_an_object_in_it_is_not_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _pickled(tmp_path / "a.checkpoint")
    assert read(tmp_path / "a.checkpoint", "this")[0] is None
    assert not (tmp_path / "trapped").exists()


def test_what_a_search_is_about(problem):
    first = about(problem, "csp", {"gap": 0.0, "time_limit": 5.0}, 1, None)
    assert about(problem, "csp", {"gap": 0.0, "time_limit": 9.0}, 1, None) == first  # more time, the same search
    hidden = np.zeros(problem.n, dtype=bool)
    others = [("ip", 0.0, 1, None), ("csp", 0.1, 1, None), ("csp", 0.0, 2, None), ("csp", 0.0, 1, hidden)]
    assert all(about(problem, m, {"gap": g}, s, b) != first for m, g, s, b in others)


def test_nothing_is_written_before_its_time(tmp_path):
    checkpointer = Checkpointer(tmp_path / "a", "this", every=1000)
    assert not checkpointer.due
    assert not Checkpointer().due


# ---- cuts -------------------------------------------------------------------------------------------------


def _separated(problem) -> tuple[Separation, KeptCuts]:
    separation = Separation(CutRequirements(Instance(problem)))
    n = separation.demands.classes.count
    made = separation.round(Capacities(separation.demands, np.zeros(n), np.zeros(n)))
    assert made.found
    kept = KeptCuts()
    kept.add(made.found, np.arange(2.0 * n))
    return separation, kept


def _holds(separation: Separation, identity) -> bool:
    """sign · D_p = Σ c_i D_i for a basis of all D with M D = 0, by linear algebra that the program does not use."""
    dense = separation.demands.classes.matrix.sparse.toarray()
    _, s, v = np.linalg.svd(dense)
    null = v[(s > 1e-9).sum() :]
    p, sign, _, _ = separation.target(identity.level)
    c = np.zeros(dense.shape[1])
    c[identity.up[0]] += identity.up[1]
    c[identity.down[0]] -= identity.down[1]
    return bool(np.allclose(null @ c, sign * null[:, p], atol=1e-7))


def test_cuts_come_back_as_they_were(problem):
    separation, kept = _separated(problem)
    width = 2 * separation.demands.classes.count
    again = list(read_cuts(kept.arrays(separation), separation, width))
    assert len(again) == len(kept)
    for (identity, point), (before, _) in zip(again, kept._cuts, strict=True):
        assert _holds(separation, identity)
        assert point is not None and point.tolist() == list(range(width))
        for now, then in ((identity.up, before.up), (identity.down, before.down)):
            assert dict(zip(now[0].tolist(), now[1].tolist(), strict=True)) == pytest.approx(
                dict(zip(then[0].tolist(), then[1].tolist(), strict=True))
            )


def test_a_forged_cut_becomes_a_true_one(problem):
    """Coefficients that no relation gives: what is read holds all the same."""
    separation, kept = _separated(problem)
    arrays = kept.arrays(separation)
    arrays["cut_value"] = np.random.default_rng(3).normal(0, 5, len(arrays["cut_value"]))
    again = list(read_cuts(arrays, separation))
    assert again and all(_holds(separation, identity) for identity, _ in again)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cut_cell", np.array([10**9])),
        ("cut_level", np.array([-1])),
        ("cut_value", np.array([np.nan])),
        ("cut_start", np.array([5, 1])),
        ("cut_level", np.array(["a"])),
        ("points", np.zeros(3)),
    ],
)
def test_nonsense_gives_no_cuts(problem, name, value):
    separation, kept = _separated(problem)
    assert list(read_cuts({**kept.arrays(separation), name: value}, separation, 4)) == []
    assert list(read_cuts({}, separation)) == []


# ---- searches ---------------------------------------------------------------------------------------------


class Ended(Exception):
    pass


class Ending(Checkpointer):
    """Ends the search from outside, once it has been kept so often."""

    def __init__(self, path: Path, times: int) -> None:
        super().__init__(path, "this")
        self.times = times

    @property
    def due(self) -> bool:
        return True

    def keep(self, state: CheckpointState) -> None:
        super().keep(state)
        if self.written >= self.times:
            raise Ended


@pytest.mark.parametrize(
    ("sensitive", "method", "options", "times"),
    [
        (4, "csp", {"gap": 0.0}, 2),
        pytest.param(4, "csp", {"gap": 0.0}, 8, marks=pytest.mark.long),
        (12, "ip", {"gap": 0.0}, 1),
        (3, "rounding", {"base": 60.0, "gap": 0.0}, 1),
        (3, "combined", {"suppress": True, "gap": 0.0}, 1),
        (3, "combined", {"suppress": True, "gap": 0.0}, 3),
        (4, "ecta", {"alpha": 0.5, "tries": 20}, 1),
        (4, "ecta", {"alpha": 0.5, "tries": 20}, 4),
    ],
)
def test_a_search_goes_on_and_finds_the_same(searched, tmp_path, monkeypatch, sensitive, method, options, times):
    # Small tables have all their intervals at once: there would be nothing to keep.
    monkeypatch.setattr(all_levels, "TUNING", replace(all_levels.TUNING, most=0.0))
    problem = problem_of(cube(tmp_path / "cube.jj", 3 if sensitive < 10 else 4, sensitive))
    whole = run(problem, method, SolveContext(options, Deadline(), seed=5))
    path = tmp_path / "a.checkpoint"
    with pytest.raises(Ended):
        run(problem, method, SolveContext(options, Deadline(), seed=5, checkpointer=Ending(path, times)))
    checkpointer = Checkpointer(path, "this", every=1000)
    checkpointer.resume()
    assert checkpointer.found is not None
    resumed = run(problem, method, SolveContext(options, Deadline(), seed=5, checkpointer=checkpointer))
    assert resumed.status == whole.status
    assert resumed.pattern is not None and whole.pattern is not None
    assert resumed.objective == pytest.approx(whole.objective, rel=1e-6)
    if method != "ip":  # where several intervals are the best, which of them is found depends on the way
        assert digest(resumed.pattern) == digest(whole.pattern)


@pytest.mark.long
def test_a_forged_release_is_not_believed(searched, problem, tmp_path):
    """Nothing hidden but what must be: attackers see through that, so it does not count."""
    whole = run(problem, "csp", SolveContext({"gap": 0.0}, Deadline()))
    checkpointer = Checkpointer(tmp_path / "a", "this", every=1000)
    checkpointer.found = CheckpointState({"phase": "bound"}, {"hidden": Instance(problem).sensitive})
    made = run(problem, "csp", SolveContext({"gap": 0.0}, Deadline(), checkpointer=checkpointer))
    assert whole.pattern is not None and made.pattern is not None and made.objective == whole.objective
    assert digest(made.pattern) == digest(whole.pattern)


def test_forged_tries_are_not_believed(problem):
    checkpointer = Checkpointer()
    checkpointer.found = CheckpointState({"rounds": [[["protected", 0.0, []]] * 3]})
    made = run(problem, "ecta", SolveContext({"alpha": 0.5, "tries": 3}, Deadline(), seed=5, checkpointer=checkpointer))
    whole = run(problem, "ecta", SolveContext({"alpha": 0.5, "tries": 3}, Deadline(), seed=5))
    assert made.status == whole.status == "feasible"
    assert made.objective is not None and made.objective > 0.0

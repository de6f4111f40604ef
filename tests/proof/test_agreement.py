"""The checker against one that was written from docs/certificates.md alone: made-up certificates, right and wrong ones,
must get the same answer from both."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.proof.bound import Bound
from sdcdsl.proof.checking import verify
from sdcdsl.proof.system import ProofProblem
from sdcdsl.proof.witness import Claim, Witness
from tests.proof.plain_checker import Checker
from tests.proof.worlds import Case, grid, hidden, indices, pairs, regions

INNER = indices(0, 1, 3, 4)
CYCLE = np.array([1.0, -1.0, -1.0, 1.0])
# Errors far from the edge of the tolerance, on both sides of it: there the checkers may round differently.
NOISE = st.sampled_from([0.0, 0.0, 0.0, 1e-16, 1e-13, 1e-7, 0.1])
LEVEL = st.sampled_from([0.0, 1.0, 2.0, 3.0, 0.1, 0.7, 5.0])


@st.composite
def cases(draw) -> Case:
    unit = draw(st.sampled_from([1.0, 0.1, 0.01, 1 / 3]))
    leaf = np.array(draw(st.lists(st.integers(1, 9), min_size=4, max_size=4)), dtype=float).reshape(2, 2) * unit
    leaf = np.vstack([leaf, leaf.sum(axis=0)])
    a = np.hstack([leaf, leaf.sum(axis=1, keepdims=True)]).ravel()
    views = [hidden(a, INNER, 0.0, draw(st.sampled_from([np.inf, 10 * unit]))), hidden(a, INNER, -np.inf)]
    lows = st.integers(0, 9).map(lambda n: n * unit)
    known = [(1, draw(st.sampled_from(INNER.tolist())), draw(lows), draw(st.sampled_from([np.inf, 20 * unit])))]
    seen = regions(views, [0, 0, 1], known)
    rows = [
        (draw(st.sampled_from(INNER.tolist())), draw(st.integers(0, 2)), *(draw(LEVEL) * unit for _ in range(3)))
        for _ in range(draw(st.integers(1, 4)))
    ]
    asked = pairs(*rows)
    factor = draw(st.sampled_from([1.0, 3.0, unit]))
    move = CYCLE * factor
    move[0] += draw(NOISE)
    claims, verdicts = [], ""
    for pair, (cell, _, lpl, upl, spl) in enumerate(rows):
        sign = float(CYCLE[np.flatnonzero(cell == INNER)[0]])
        letter = draw(st.sampled_from("ppppen"))
        verdicts += letter
        if letter == "p":
            far_up, far_down = max(upl, spl / 2), max(lpl, spl / 2)
            if far_up:
                claims.append(Claim(0, sign * (far_up + draw(NOISE)) / factor, indices(pair), indices()))
            if far_down:
                claims.append(Claim(0, -sign * (far_down + draw(NOISE)) / factor, indices(), indices(pair)))
    bounds = []
    for pair, letter in enumerate(verdicts):
        if letter == "e":
            for up in (True, False):
                gamma = np.array(draw(st.lists(st.sampled_from([-1.0, 0.0, 1.0, 0.5, 1 / 3]), min_size=6, max_size=6)))
                bounds.append(Bound(pair, up, np.arange(6), gamma, draw(st.sampled_from([1, 1, 2, 3]))))
            bounds.append(Bound(pair, True, indices(rows[pair][0] // 3), np.array([1.0])))
            bounds.append(Bound(pair, False, indices(), np.array([])))
    return Case(
        ProofProblem(grid(a, 3, 3), seen, asked), ["x", "y", "z"], [Witness(INNER, move)], claims, bounds, verdicts
    )


SEEN = {True: 0, False: 0}


@given(cases(), st.sampled_from([1, 64]))
@settings(max_examples=400, deadline=None)
def test_both_checkers_agree(case: Case, few: int):
    with tempfile.TemporaryDirectory() as folder, patch("sdcdsl.proof.packed.FEW", few):
        path = case.write(Path(folder) / "made-up.jsonl")
        mine, (theirs, letters) = verify(path), Checker(path).run()
        assert mine.readable
        assert (mine.ok, letters) == (theirs, case.verdicts), mine.reasons
        SEEN[theirs] += 1


def test_both_answers_came_up():
    """Runs behind the test above: made-up certificates that are all wrong would prove little."""
    if sum(SEEN.values()):
        assert min(SEEN.values()) > 20, SEEN

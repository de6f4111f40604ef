"""Probabilities of noise: the constraints they keep, the entropy that nothing exceeds, and files of ptable."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from sdcdsl.methods.cellkey.ptable import NoPTable, PTable, made, most_entropy, read, spread

CASES = [(5, 3.0, 3), (5, 3.0, 1), (2, 1.0, 1), (3, 1.5, 2), (10, 8.0, 4), (10, 2.0, 1)]


@pytest.mark.parametrize(("deviation", "variance", "smallest"), CASES)
def test_mean_variance_and_support(deviation, variance, smallest):
    table = made(deviation, variance, smallest)
    assert table.rows[0] == ((0,), (1.0,))
    for n, (noise, share) in enumerate(table.rows[1:], 1):
        v, p = np.array(noise), np.array(share)
        assert (p > 0).all() and p.sum() == pytest.approx(1)
        assert v @ p == pytest.approx(0, abs=1e-9) and v**2 @ p == pytest.approx(variance)
        assert np.abs(v).max() <= deviation
        assert all(n + one == 0 or n + one >= smallest for one in noise)
    last = table.rows[-1]
    assert len(last[0]) == 2 * deviation + 1  # and so of all larger counts
    assert np.allclose(last[1], last[1][::-1])  # no other distribution of mean zero has as much entropy


@pytest.mark.parametrize("seed", range(10))
def test_no_distribution_near_it_has_more_entropy(seed):
    """Steps that keep sum, mean and variance, at random."""
    random = np.random.default_rng(seed)
    noise = np.array([-2, -1, 1, 2, 3, 4, 5])
    p = most_entropy(noise, 3.0, 2)
    kept = np.stack([np.ones(7), noise, noise**2])
    step = random.normal(size=7)
    step -= np.linalg.pinv(kept) @ (kept @ step)
    step *= 1e-3 / np.abs(step).max()

    def entropy(p: np.ndarray) -> float:
        return -float(p @ np.log(p))

    assert max(entropy(p + step), entropy(p - step)) < entropy(p)


def test_one_step_to_either_side_is_known_by_hand():
    assert made(1, 0.5).rows[1] == ((-1, 0, 1), pytest.approx((0.25, 0.5, 0.25)))


@pytest.mark.parametrize("noise", [(-1, 2, 3), (-2, -1, 0, 4), (-3, 1, 5)])
def test_the_range_of_variances_is_that_of_linear_programs(noise):
    v = np.array(noise, dtype=float)
    ends = [
        linprog(sign * v**2, A_eq=np.stack([np.ones(len(v)), v]), b_eq=[1, 0], bounds=(0, 1)).fun * sign
        for sign in (1, -1)
    ]
    assert spread(np.array(noise)) == pytest.approx(tuple(ends))


def test_variances_that_no_noise_has():
    with pytest.raises(NoPTable, match="a count of 1 has a variance of more than 0 and less than 2"):
        made(2, 2.5)
    with pytest.raises(NoPTable, match="more than 2"):
        made(5, 1.0, 3)  # a count of 1 becomes 0, or 3 at least


FILE = """i;j;p;v;p_int_lb;p_int_ub;type
0;0;1;0;0;1;all
1;0;0.5;-1;0;0.5;all
1;1;0.1;0;0.5;0.6;all
1;2;0.4;1;0.6;1;all
2;1;0.25;-1;0;0.25;all
2;2;0.5;0;0.25;0.75;all
2;3;0.25;1;0.75;1;all
"""


def test_a_file_of_ptable(tmp_path):
    path = tmp_path / "ptable.csv"
    path.write_text(FILE)
    table = read(path)
    keys = np.array([0.49, 0.5, 0.59, 0.61, 0.0, 0.26, 0.99]) * 2.0**64
    counts = np.array([1, 1, 1, 1, 2, 7, 7])
    assert table.noise(counts, keys.astype(np.uint64)).tolist() == [-1, 0, 0, 1, -1, 0, 1]
    assert table.noise(np.zeros(2), np.array([1, 2**63], dtype=np.uint64)).tolist() == [0, 0]
    # Written by R with spaces, decimal commas, row names, or without a header.
    bare = "\n".join(line.rsplit(";", 1)[0] for line in FILE.splitlines()[1:])
    for text in (FILE.replace(";", ","), FILE.replace(".", ","), bare, bare.replace(";", " ")):
        path.write_text(text)
        assert read(path) == table
    lines = FILE.splitlines()
    path.write_text("\n".join([lines[0], *(f"{n};{line}" for n, line in enumerate(lines[1:], 1))]))
    assert read(path) == table


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("1;0;0.5;-1", "1;0;0.6;-1", "add up to 1.1"),
        ("0;0;1;0;0;1;all\n", "0;0;0.5;0;0;0.5;all\n0;1;0.5;1;0.5;1;all\n", "nobody is there to have a key"),
        ("2;1;0.25;-1", "2;1;0.25;-2", "column v is not j - i"),
        ("0.75;1;all\n", "0.75;0.9;all\n", "not as long as"),
        ("i;j;p", "i;k;p", "no column j"),
        ("2;2;0.5", "2;2;a", "no number in column p"),
        ("1;1;0.1;0", "1;1.5;0.1;0", "something else than counts"),
    ],
)
def test_files_that_are_none(tmp_path, old, new, why):
    path = tmp_path / "ptable.csv"
    assert old in FILE
    path.write_text(FILE.replace(old, new))
    with pytest.raises(NoPTable, match=why):
        read(path)
    path.write_text("")
    with pytest.raises(NoPTable, match="empty"):
        read(path)


def test_ends_are_the_counts_that_may_be_published_so():
    table = made(4, 2.5, 3)
    published = np.array([0, 3, 4, 9, 25])
    low, high = table.ends(published)
    for at, v in enumerate(published):
        able = [n for n in range(40) if table.probability(n, int(v)) > 0]
        assert (low[at], high[at]) == (able[0], able[-1])
    assert isinstance(table, PTable)


def test_moments_of_what_is_drawn():
    """A million keys: mean and variance within five standard errors, and every noise as often as it should be."""
    random = np.random.default_rng(20261)
    table, n = made(5, 3.0, 3), 250_000
    for count in (1, 3, 50):
        noise = table.noise(np.full(n, count), random.integers(0, 2**64, n, dtype=np.uint64))
        assert abs(noise.mean()) < 5 * np.sqrt(3 / n)
        fourth = sum(v**4 * p for v, p in zip(*table.rows[min(count, table.last)], strict=True))
        assert abs(noise.var() - 3) < 5 * np.sqrt((fourth - 9) / n)
        values, p = table.rows[min(count, table.last)]
        seen = np.array([(noise == v).sum() for v in values])
        expected = n * np.array(p)
        assert ((seen - expected) ** 2 / expected).sum() < 40  # χ² of ten degrees of freedom: once in 60 000 times

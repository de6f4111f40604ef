"""Tables in three dimensions, as large as one wants: the sums of a cube of random numbers, some of them sensitive."""

from __future__ import annotations

import datetime
from itertools import product
from pathlib import Path

import numpy as np

from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.diagnostics import has_errors
from sdcdsl.policy.read import read_any


def cube(path: Path, size: int, sensitive: int, seed: int = 1) -> Path:
    """A JJ file; place 0 of every dimension is its total."""
    rng = np.random.default_rng(seed)
    inner = rng.integers(10, 1000, (size, size, size))
    whole = np.zeros((size + 1,) * 3, dtype=int)
    whole[1:, 1:, 1:] = inner
    for axis in range(3):
        total = whole.sum(axis=axis)
        index: list[int | slice] = [slice(None)] * 3
        index[axis] = 0
        whole[tuple(index)] = total
    number = {at: i for i, at in enumerate(product(range(size + 1), repeat=3))}
    chosen = {tuple(int(i) + 1 for i in np.unravel_index(k, inner.shape)) for k in _some(rng, inner.size, sensitive)}
    lines = ["0", str(len(number))]
    for at, i in number.items():
        value = int(whole[at])
        level = max(value // 10, 1) if at in chosen else 0
        weight = value if at not in chosen else 0
        lines.append(f"{i} {value} {max(weight, 1)} {'u' if level else 's'} 0 {10 * value} {level} {level} 0")
    sums = [(at, axis) for at in number for axis in range(3) if at[axis] == 0]
    lines.append(str(len(sums)))
    for at, axis in sums:
        parts = [number[(*at[:axis], k, *at[axis + 1 :])] for k in range(1, size + 1)]
        row = " ".join(f"{part} (1)" for part in parts)
        lines.append(f"0 {size + 1} : {number[at]} (-1) {row}")
    path.write_text("\n".join(lines) + "\n")
    return path


def _some(rng: np.random.Generator, of: int, count: int) -> np.ndarray:
    return rng.choice(of, count, replace=False)


def problem_of(path: Path) -> TableProblem:
    policy, found = read_any(path, True)
    assert not has_errors(found)
    binding = Binding(policy, RecordedLocations(path.parent, {}, True), datetime.date(2026, 1, 1))
    [protect] = policy.protects.values()
    problem, found = bind_protect(binding, protect)
    assert problem is not None and not has_errors(found)
    return problem

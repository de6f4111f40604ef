"""Tables made from a seed: trees, sums, and table problems of any size. The same seed gives the same table.

    magnitude(levels)      k dimensions with hierarchies: skewed whole numbers, some zeros, small cells sensitive
    frequency(levels)      the same shape with counts: mostly 0, 1 and 2 in the leaves, sensitive where 1 or 2
    respondents(…)         a business table of hierarchical dimensions from records of its respondents, who may attack
    linked(records)        two tables of one set of records, which share a classification and its margins
    million()              three dimensions of 100 codes: 1 000 000 cells
    cubic(n)               three dimensions with about n cells in all: the family of the scaling curves

`levels` has for each dimension the number of codes at each level below the total: `((4, 20), (3,))` is a dimension of
25 codes in three levels, crossed with one of 4. In every table nothing is negative, one outsider knows that and no
more, and costs are values. Levels asked for are shares of the value of a sensitive cell, below and above.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path

import numpy as np
import polars as pl
import xarray as xr

from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.hierarchy import CodeTree, DimensionCodes
from sdcdsl.bind.lattice import Lattice, lattice
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.relations import relations
from sdcdsl.bind.tables import Binding
from sdcdsl.diagnostics import Source, has_errors
from sdcdsl.policy.read import read_text

Levels = Sequence[Sequence[int]]
SYMMETRIC, ASYMMETRIC = (0.2, 0.2), (0.05, 0.2)  # levels below and above, as a share of the value


# ---- trees and sums ------------------------------------------------------------------------------------------------


def hierarchy(name: str, levels: Sequence[int]) -> DimensionCodes:
    """A total and evenly filled levels below it."""
    codes, parent = ["Total"], [-1]
    above = [0]
    for depth, n in enumerate(levels, 1):
        here = list(range(len(codes), len(codes) + n))
        codes += [f"{name}{depth}{i:05d}" for i in range(n)]
        parent += [above[i * len(above) // n] for i in range(n)]
        above = here
    return dimension(name, tree(codes, parent))


def random_tree(name: str, codes: int, inner: int, rng: np.random.Generator) -> DimensionCodes:
    """The inner codes first, each below an earlier one; the leaves last, at least two below every inner code."""
    parent = [-1, *(int(rng.integers(0, i)) for i in range(1, inner))]
    leaves = codes - inner
    assert leaves >= 2 * inner
    extra = rng.integers(0, inner, leaves - 2 * inner)
    parent += np.sort(np.concatenate([np.repeat(np.arange(inner), 2), extra])).tolist()
    return dimension(name, tree(["Total", *(f"{name}{i:05d}" for i in range(1, codes))], parent))


def tree(codes: Sequence[str], parent: Sequence[int]) -> CodeTree:
    return CodeTree(tuple(codes), np.array(parent, dtype=np.int32), np.ones(len(codes), dtype=np.int8))


def dimension(name: str, *trees: CodeTree) -> DimensionCodes:
    return DimensionCodes(name, tuple(dict.fromkeys(code for one in trees for code in one.codes)), trees)


def cells_over(dimensions: Sequence[DimensionCodes]) -> Lattice:
    cells, found = lattice(list(dimensions))
    assert cells is not None, found
    return cells


def added_up(leaves: np.ndarray, dimensions: Sequence[DimensionCodes]) -> np.ndarray:
    """All sums of a table that has values in its leaves only; parts stand behind what they add up to in every tree."""
    table = leaves
    for axis, side in enumerate(dimensions):
        parts = np.moveaxis(table, axis, 0)
        sums = np.zeros_like(parts)
        for one in side.trees:
            mine = [side.index[code] for code in one.codes]
            added = parts[mine]
            for node in range(len(mine) - 1, 0, -1):
                added[one.parent[node]] += added[node]
            sums[mine] = added
        table = np.moveaxis(sums, 0, axis)
    return np.ascontiguousarray(table)


def in_leaves(values: np.ndarray, dimensions: Sequence[DimensionCodes]) -> np.ndarray:
    """A table of zeros with these values in its leaves, which are the last codes of every dimension."""
    table = np.zeros([len(d.codes) for d in dimensions])
    table[tuple(slice(-n, None) for n in values.shape)] = values
    return table


# ---- table problems ------------------------------------------------------------------------------------------------


def problem(cells: Lattice, a: np.ndarray, sensitive: np.ndarray, lpl: np.ndarray, upl: np.ndarray) -> TableProblem:
    """One outsider who knows that nothing is negative; costs are the values."""
    adding = relations(cells)
    n, zero = cells.size, np.zeros(cells.size)
    status = np.full(n, "s", dtype="<U1")
    status[sensitive] = "u"
    lpl = np.minimum(lpl, a[sensitive])
    needed = zero.copy(), zero.copy()
    needed[0][sensitive], needed[1][sensitive] = lpl, upl
    dataset = xr.Dataset(
        {
            **{name: ("cell", v) for name, v in {"a": a, "lb": zero, "ub": zero + np.inf, "w": a}.items()},
            "needed_lower": ("cell", needed[0]),
            "needed_upper": ("cell", needed[1]),
            "status": ("cell", status),
            "published": ("cell", np.ones(n, dtype=bool)),
            "coefficient": ("entry", adding.coefficient),
            "cell_of": ("entry", adding.cell_of),
            "equation_of": ("entry", adding.equation_of),
            "b": ("equation", adding.rhs),
            **{name: ("pair", v) for name, v in {"lpl": lpl, "upl": upl, "spl": 0 * lpl}.items()},
            "cell_at": ("pair", sensitive),
            "attacker_at": ("pair", np.zeros(len(sensitive), dtype=np.int64)),
            "low": (("view", "cell"), zero[None]),
            "high": (("view", "cell"), zero[None] + np.inf),
            "view_of": ("attacker", np.zeros(1, dtype=np.int64)),
            **{name: ("known", np.empty(0, dtype=np.int64)) for name in ("known_attacker", "known_cell")},
            **{name: ("known", np.empty(0)) for name in ("known_low", "known_high")},
        },
        attrs={"integer": 1, "name": "made"},
    )
    return TableProblem("made", dataset, cells.label, (), adding, ("external",))


def bound(text: str, folder: Path) -> TableProblem:
    """What the only protect block of a policy asks for, with data of this folder."""
    policy, found = read_text(Source("benchmark.sdc", text), folder / "benchmark.sdc")
    assert not has_errors(found), found
    (block,) = policy.protects.values()
    made, found = bind_protect(Binding(policy, FileLocations(folder), None), block)  # pyright: ignore[reportArgumentType]
    assert made is not None, found
    return made


def magnitude(
    levels: Levels,
    asked: tuple[float, float] = SYMMETRIC,
    *,
    share: float = 0.1,
    zeros: float = 0.05,
    seed: int = 0,
) -> TableProblem:
    """Lognormal whole numbers in the leaves (of which `zeros` are 0); sensitive is this share of the cells, drawn from
    the smaller half of those that are not 0."""
    rng = np.random.default_rng(seed)
    dimensions = _sides(levels)
    shape = tuple(level[-1] for level in levels)
    leaves = np.ceil(rng.lognormal(4, 1.2, shape)) * (rng.random(shape) >= zeros)
    return _with_small_ones(dimensions, leaves, share, asked, rng)


def frequency(levels: Levels, *, mean: float = 1.0, share: float = 0.1, seed: int = 0) -> TableProblem:
    """Counts of people who fall unevenly over the leaves; sensitive is this share of the cells, of those with 1 or 2,
    with a level of 1 below and above."""
    rng = np.random.default_rng(seed)
    dimensions = _sides(levels)
    leaves = rng.poisson(mean * rng.gamma(0.5, 2.0, tuple(level[-1] for level in levels))).astype(float)
    a = added_up(in_leaves(leaves, dimensions), dimensions).ravel()
    small = np.flatnonzero((a > 0) & (a < 3))
    sensitive = np.sort(rng.choice(small, min(int(share * len(a)), len(small)), replace=False))
    one = np.ones(len(sensitive))
    return problem(cells_over(dimensions), a, sensitive, one, one)


def million(seed: int = 0) -> TableProblem:
    """100 × 100 × 100 codes, each dimension a total, nine groups and ninety leaves; 5 % of the cells sensitive."""
    return magnitude(((9, 90),) * 3, share=0.05, seed=seed)


def cubic(n: int, asked: tuple[float, float] = SYMMETRIC, seed: int = 0) -> TableProblem:
    """About n cells in three dimensions, the first with groups of about five leaves."""
    side = max(4, round(n ** (1 / 3)))
    groups = round((side - 1) / 6)
    first = (groups, side - 1 - groups) if groups > 1 else (side - 1,)
    return magnitude((first, (side - 1,), (side - 1,)), asked, seed=seed)


def _sides(levels: Levels) -> list[DimensionCodes]:
    return [hierarchy(chr(ord("a") + at), level) for at, level in enumerate(levels)]


def _with_small_ones(
    dimensions: list[DimensionCodes],
    leaves: np.ndarray,
    share: float,
    asked: tuple[float, float],
    rng: np.random.Generator,
) -> TableProblem:
    a = added_up(in_leaves(leaves, dimensions), dimensions).ravel()
    small = np.flatnonzero((a > 0) & (a <= np.median(a[a > 0])))
    sensitive = np.sort(rng.choice(small, min(int(share * len(a)), len(small)), replace=False))
    return problem(
        cells_over(dimensions), a, sensitive, np.ceil(asked[0] * a[sensitive]), np.ceil(asked[1] * a[sensitive])
    )


# ---- business tables -----------------------------------------------------------------------------------------------

_RESPONDENTS = """sdc 1
policy "a business table of respondents"

data records {
  csv "records.csv"
  column unit = "unit"
}

DIMENSIONS
table t {
  from records
  by NAMES
  sum turnover
}

sensitive by threshold(3)
sensitive by p_percent(10%)

attacker respondent {
  each unit
  knows own contribution
  bounds 50% of value .. 200% of value
}

attacker external {
  bounds 0 .. inf
}

protect t {
  lpl max(1, needed)
  upl max(1, needed)
  against AGAINST
  cost value
  method csp
}
"""


def respondents(folder: Path, groups: Sequence[tuple[int, int]], seed: int = 0) -> TableProblem:
    """Twelve respondents for each combination of leaves of the first two dimensions; `groups` says for region, industry
    and size how many codes there are below the total, and how many parts each has (0: none)."""
    sides = [tuple(n for n in group if n) for group in groups]
    units = 12 * prod(prod(side) for side in sides[:2])
    path = respondents_policy(folder, sides, units, seed)
    return bound(path.read_text(encoding="utf-8"), folder)


def respondents_policy(
    folder: Path, sides: Sequence[Sequence[int]], units: int, seed: int = 0, attack: bool = False
) -> Path:
    """Records of respondents unevenly over the leaves, with lognormal turnover, and a policy about them: `sides` has
    for region, industry and size how many parts a code of each level has. `attack`: every respondent attacks."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    names = ("region", "industry", "size")[: len(sides)]
    columns: dict[str, object] = {"unit": np.arange(1, units + 1)}
    for name, levels in zip(names, sides, strict=True):
        lines, leaves = [], [name[0].upper()]
        for depth, parts in enumerate(levels):
            leaves = [f"{code}{k:02d}" for code in leaves for k in range(parts)]
            lines += ["@" * depth + code for code in leaves]
        lines.sort(key=lambda line: line.lstrip("@"))  # each code behind the one it is a part of
        (folder / f"{name}.hrc").write_text("\n".join(lines) + "\n", encoding="utf-8")
        share = rng.gamma(1.2, 1.0, len(leaves))
        columns[name] = rng.choice(leaves, units, p=share / share.sum())
    columns["turnover"] = np.round(rng.lognormal(3, 1.1, units)) + (2 if attack else 1)
    pl.DataFrame(columns).write_csv(folder / "records.csv")
    dimensions = "\n".join(f'dimension {name} {{\n  hierarchy hrc "{name}.hrc"\n  total Total\n}}\n' for name in names)
    text = _RESPONDENTS.replace("DIMENSIONS", dimensions).replace("NAMES", ", ".join(names))
    path = folder / "respondents.sdc"
    path.write_text(text.replace("AGAINST", "external, respondent" if attack else "external"), encoding="utf-8")
    return path


# ---- linked tables -------------------------------------------------------------------------------------------------

_LINKED = """sdc 1
policy "two tables of the same records"

data records {
  csv "records.csv"
  column unit = "unit"
}

dimension activity {
  hierarchy prefix 2, 3
  total Total
}

dimension region {
  hierarchy prefix 2, 3
  total Total
}

dimension size {
  codes S1, S2, S3, S4
  total Total
}

table by_region {
  from records
  by activity, region
  sum turnover
}

table by_size {
  from records
  by activity, size
  sum turnover
}

sensitive by threshold(3)
sensitive by p_percent(10%)

attacker external {
  bounds 0 .. inf
}

protect by_region, by_size {
  lpl 20% of value
  upl 20% of value
  against external
  cost value
  method csp {
    unions off
  }
}
"""


def linked(folder: Path, records: int = 2000, seed: int = 0) -> TableProblem:
    """Turnover by activity and region, and by activity and size: what they share are the activities and their totals.

    Written to the folder as a CSV file and a policy, and bound from there, so that linking is the program's own.
    """
    return bound(linked_policy(folder, records, seed).read_text(encoding="utf-8"), folder)


def linked_policy(folder: Path, records: int, seed: int = 0) -> Path:
    rng = np.random.default_rng(seed)
    activity = [f"A{group}{i}" for group in range(6) for i in range(4)]
    region = [f"R{group}{i}" for group in range(5) for i in range(4)]
    sides = {"activity": activity, "region": region, "size": ["S1", "S2", "S3", "S4"]}
    columns: dict[str, object] = {"unit": np.arange(1, records + 1)}
    for name, codes in sides.items():
        columns[name] = rng.choice(codes, records, p=rng.dirichlet(np.full(len(codes), 1.5)))
    columns["turnover"] = np.ceil(rng.lognormal(3, 1.4, records))
    folder.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(columns).write_csv(folder / "records.csv")
    path = folder / "linked.sdc"
    path.write_text(_LINKED, encoding="utf-8")
    return path

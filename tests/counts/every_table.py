"""Literal checks on tiny tables of counts: every table of whole numbers that an attacker cannot rule out."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import numpy as np

AREAS, ILLS = ("A", "B"), ("x", "y", "z")
POLICY = """sdc 1
policy "tiny counts"
seed 3
<data>
dimension area {
  codes A, B
  total All
}
dimension illness {
  codes x, y, z
  total Any
}
table t {
  <from>
  by area, illness
  <cells>
  attribute illness
}
sensitive by group_disclosure(coalition: <k>)
attacker e {
  <attacker>
  bounds 0 .. inf
}
protect t {
  lpl needed
  upl needed
  against e
  <method>
  release csv "t.csv"
}
"""


def typed(counts: np.ndarray, method: str, k: int) -> str:
    rows = "\n".join(f"    | {a} | {' | '.join(map(str, row))} |" for a, row in zip(AREAS, counts, strict=True))
    cells = f"values\n    | area \\ illness | x | y | z |\n{rows}\n  integer"
    return _filled(data="", cells=cells, attacker="", k=str(k), method=method, **{"from": ""})


def recorded(method: str, k: int) -> str:
    data = 'data people {\n  csv "people.csv"\n  column unit = "id"\n}'
    given = {"from": "from people", "attacker": "each unit\n  knows own contribution"}
    return _filled(data=data, cells="count", k=str(k), method=method, **given)


def _filled(**said: str) -> str:
    text = POLICY
    for name, words in said.items():
        text = text.replace(f"<{name}>", words)
    return text


def people(counts: np.ndarray) -> str:
    cells = [(a, i) for (r, a), (c, i) in product(enumerate(AREAS), enumerate(ILLS)) for _ in range(counts[r, c])]
    return "id,area,illness\n" + "".join(f"P{n},{a},{i}\n" for n, (a, i) in enumerate(cells))


def consistent(released: Path, most: int) -> np.ndarray:
    """[table, area, illness]: all tables of counts up to `most` that agree with a released file."""
    codes = {**{a: r for r, a in enumerate(AREAS)}, "All": slice(None)}
    ills = {**{i: c for c, i in enumerate(ILLS)}, "Any": slice(None)}
    values = np.arange(most + 1)
    tables = np.stack(np.meshgrid(*[values] * 6, indexing="ij"), axis=-1).reshape(-1, 2, 3).astype(np.int16)
    kept = np.ones(len(tables), dtype=bool)
    for row in csv.DictReader(released.open()):
        value = tables[:, codes[row["area"]], ills[row["illness"]]].reshape(len(tables), -1).sum(axis=1)
        if row["status"] == "published":
            kept &= value == float(row["value"])
        elif row["low"] or row["high"]:
            low, high = float(row["low"] or "-inf"), float(row["high"] or "inf")
            kept &= (value >= low) & (value <= high)
    return tables[kept]


def groups(tables: np.ndarray) -> dict[str, np.ndarray]:
    """[table, illness] of every group."""
    return {"A": tables[:, 0], "B": tables[:, 1], "All": tables.sum(axis=1)}


def told_to_strangers(truth: np.ndarray, tables: np.ndarray, k: int) -> list[str]:
    """Groups of which everybody can tell that all but k of them, or fewer, are in a category with somebody in it."""
    out = []
    actual = groups(truth[None])
    for name, seen in groups(tables).items():
        elsewhere = seen.sum(axis=1, keepdims=True) - seen
        out += [f"{name} {ILLS[c]}" for c in range(3) if actual[name][0, c] > 0 and elsewhere[:, c].max() <= k]
    return out


def told_to_members(truth: np.ndarray, tables: np.ndarray) -> list[str]:
    """What single members learn for certain of some other member of a group, knowing only themselves."""
    out = []
    actual = groups(truth[None])
    for r, c in product(range(2), range(3)):
        if not truth[r, c]:
            continue
        left = groups(tables[tables[:, r, c] >= 1])
        for name in (AREAS[r], "All"):
            own = np.arange(3) == c
            others = left[name] - own
            for other in range(3):
                if actual[name][0, other] - own[other] > 0:
                    elsewhere = others.sum(axis=1) - others[:, other]
                    if elsewhere.max() <= 0:
                        out.append(f"{AREAS[r]} {ILLS[c]} of {name}: {ILLS[other]}")
    return out

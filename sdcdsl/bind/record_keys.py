"""Keys of records, and of cells: the sum of the keys of their records, in fractions of 2^64 and modulo 1.

A key is given (`column key`, a number from 0 to 1), or made of the unit's name and a secret: the first 64 bits of
HMAC-SHA256. It depends on nothing else, so a unit has the same key in every table and every year, and cells with the
same records have the same key wherever they stand. The secret comes from a file or from the environment; neither the
lock nor any report has it, or a digest of it.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.lattice import Lattice
from sdcdsl.bind.microdata import POSITION, Columns
from sdcdsl.bind.naming import cells, first_cells
from sdcdsl.bind.options import option_values
from sdcdsl.bind.out_of_core import MEASURE, Scan
from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Diagnostic, Place, Span, diagnostic
from sdcdsl.policy import document as d
from sdcdsl.policy.meaning import keyed_noise
from sdcdsl.policy.resolve import Policy
from sdcdsl.vocabulary.methods import METHODS

LEAST_SECRET = 16  # bytes: a shorter one can be guessed
UNIT = 2.0**53  # a key is kept to so many parts: what a double has


def cell_keys(
    policy: Policy,
    table: d.Block,
    frame: pl.LazyFrame,
    lattice: Lattice,
    columns: Columns,
    given: str | None,
    places: FileLocations,
) -> tuple[np.ndarray | None, list[Diagnostic]]:
    """uint64 [cell], where a method of the policy draws noise by keys; `given`: the column with the keys of records."""
    engines = list(keyed_noise(policy, table.name))
    if not engines:
        return None, []
    secret: bytes | None = None
    if given is None:
        if columns.unit is None:
            return None, []  # said before there are data
        secret, found = _secret(engines, places)
        if secret is None:
            return None, found
    only = Columns(columns.dimensions, measure=given) if given else Columns(columns.dimensions, unit=columns.unit)
    scan = Scan(frame, lattice, only)
    leaves = np.zeros(lattice.size, dtype=np.uint64)
    known: dict[str, int] = {}
    for part in scan.in_order():
        if scan.faulty(part):
            return None, [] if given is None else [_odd(given, engines[0])]
        if given is not None:
            key = part[MEASURE].to_numpy()
            if len(key) and not (key.min() >= 0 and key.max() < 1):
                return None, [_odd(given, engines[0])]
            made = fixed(key)
        else:
            assert secret is not None and columns.unit is not None
            unit = part[columns.unit].cast(pl.String).fill_null(pl.format("record {}", part[POSITION] + 1))
            names, of_record = np.unique(unit.to_numpy(), return_inverse=True)
            made = np.array([known.setdefault(n, key_of(secret, n)) for n in names], dtype=np.uint64)[of_record]
        np.add.at(leaves, scan.cells_of(part), made)
    return rolled(lattice, leaves), []


def key_of(secret: bytes, unit: str) -> int:
    return int.from_bytes(hmac.digest(secret, unit.encode(), "sha256")[:8], "big")


def fixed(keys: np.ndarray) -> np.ndarray:
    """Numbers from 0 to 1 as fractions of 2^64."""
    return np.floor(keys * UNIT).astype(np.uint64) << np.uint64(11)


def rolled(lattice: Lattice, leaves: np.ndarray) -> np.ndarray:
    """Keys of leaf cells added up the hierarchies, modulo 2^64. What is subtracted from a sum takes its key along."""
    total = leaves.copy()
    for dim, composition in enumerate(lattice.compositions):
        slabs = total.reshape(-1, lattice.shape[dim], lattice.stride[dim])
        for parents, children, sign in composition.steps:
            plus, minus = sign > 0, sign < 0
            slabs[:, parents[plus]] += slabs[:, children[plus]]
            if minus.any():
                slabs[:, parents[minus]] -= slabs[:, children[minus]]
    return total


def _secret(engines: Sequence[d.Engine], places: FileLocations) -> tuple[bytes | None, list[Diagnostic]]:
    """One secret for all: people who are in two tables have one key."""
    found: dict[bytes, d.Engine] = {}
    for engine in engines:
        secret, why = _secret_of(engine, places)
        if secret is None:
            return None, [diagnostic("SDC339", why, engine.span)]
        found[secret] = engine
    if len(found) > 1:
        headline = "two methods give the records of one table two secrets, and so two keys"
        return None, [diagnostic("SDC339", headline, list(found.values())[-1].span)]
    return next(iter(found)), []


def _secret_of(engine: d.Engine, places: FileLocations) -> tuple[bytes | None, str]:
    options = _options(engine)
    if (name := options.get("secret_variable")) is not None:
        said = os.environ.get(name, "").strip().encode()
        where = f"the variable `{name}` of the environment"
    else:
        path = Path(str(options.get("secret_file")))
        # Not `places.find`: that would put a digest of the secret into the lock.
        target = places.instead.get("secret", places.folder / path)
        inside = target.resolve().is_relative_to(places.folder.resolve())
        if not inside and not places.allow_outside and "secret" not in places.instead:
            return None, f'"{path}" leads out of the policy\'s folder: name the file when running, --data secret=PATH'
        try:
            said = target.read_bytes().strip()
        except OSError as error:
            return None, f'the secret in "{path}" cannot be read: {error.strerror or error}'
        where = f'the file "{path}"'
    if not said:
        return None, f"there is no secret in {where}"
    if len(said) < LEAST_SECRET:
        return None, f"the secret in {where} has fewer than {LEAST_SECRET} bytes, and can be guessed"
    return said, ""


def _options(engine: d.Engine) -> dict[str, Any]:
    return option_values(engine.options, METHODS[engine.name].options)


def _odd(column: str, engine: d.Engine) -> Diagnostic:
    headline = f"record keys are numbers from 0 on and below 1, and column `{column}` has others"
    return diagnostic("SDC339", headline, engine.span)


def given_keys(
    given: np.ndarray, a: np.ndarray, lattice: Lattice, place: Place
) -> tuple[np.ndarray | None, list[Diagnostic]]:
    """Keys of ready-made cells: those of leaves, which totals add up. Empty cells need none."""
    needed = lattice.is_leaf & (a != 0)
    odd = np.flatnonzero(needed & ~((given >= 0) & (given < 1)))
    if len(odd):
        headline = f"cell keys are numbers from 0 on and below 1, and {cells(odd)} have none"
        return None, [diagnostic("SDC339", headline, place, notes=[first_cells(odd, lattice.label)])]
    return rolled(lattice, fixed(np.where(needed, given, 0.0))), []


def keys_of(problem: TableProblem) -> tuple[np.ndarray, np.ndarray]:
    """The key of every cell of a block, and which cells have one."""
    keys, known = np.zeros(problem.n, dtype=np.uint64), np.zeros(problem.n, dtype=bool)
    for table, view in zip(problem.tables, problem.views, strict=False):
        if table.cell_keys is not None:
            keys[view.cells], known[view.cells] = table.cell_keys, True
    return keys, known


def without_keys(problem: TableProblem, span: Span | None) -> list[Diagnostic]:
    """Cells with somebody in them that no table gives a key."""
    d = problem.dataset
    lacking = np.flatnonzero(~keys_of(problem)[1] & d["published"].values & (d["a"].values != 0))
    if not len(lacking):
        return []
    headline = f"noise is drawn by keys, and {cells(lacking)} of `{problem.name}` have none"
    return [diagnostic("SDC339", headline, span, notes=[first_cells(lacking, problem.label)])]

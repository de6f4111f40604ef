"""Senses that follow from who contributes (`sense keyed`; paper 002 §2): a cell moves the same way in every table.

Every unit has a key, a whole number drawn from its name and the seed of the policy. The key of a cell is the sum of the
keys over its records, and its parity in the highest bit says up or down. Only the records of the cell matter, not the
table it stands in, so two tables that share a cell, released years apart, move it the same way.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import polars as pl

from sdcdsl.bind.lattice import Lattice
from sdcdsl.bind.microdata import POSITION, Columns
from sdcdsl.bind.naming import cells, first_cells
from sdcdsl.bind.out_of_core import Scan
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.tabulation import roll_sum
from sdcdsl.diagnostics import Diagnostic, Span, diagnostic
from sdcdsl.policy.meaning import keyed_senses
from sdcdsl.policy.resolve import Policy

BITS = 20  # sums over 2^33 records stay exact in a double


def wants_keys(policy: Policy) -> bool:
    """Does a method of the policy take senses from keys?"""
    return any(True for protect in policy.protects.values() for _ in keyed_senses(protect))


def cell_keys(frame: pl.LazyFrame, lattice: Lattice, columns: Columns, seed: int) -> np.ndarray | None:
    """The key of every cell, below 2^BITS; None where the data does not say who contributes, or has other faults."""
    if columns.unit is None:
        return None
    scan = Scan(frame, lattice, Columns(columns.dimensions, unit=columns.unit))
    salt = f"{seed}\0".encode()
    leaves = np.zeros(lattice.size)
    for part in scan.in_order():
        if scan.faulty(part):
            return None
        unit = part[columns.unit].cast(pl.String).fill_null(pl.format("record {}", part[POSITION] + 1))
        names, of_record = np.unique(unit.to_numpy(), return_inverse=True)
        key = np.array([_key(salt, name) for name in names], dtype=np.float64)
        np.add.at(leaves, scan.cells_of(part), key[of_record])
    return roll_sum(lattice, leaves, signed=False) % 2**BITS


def _key(salt: bytes, name: str) -> int:
    return int.from_bytes(blake2b(salt + name.encode(), digest_size=4).digest(), "big") % 2**BITS


def with_keys(problem: TableProblem, words: np.ndarray, span: Span | None) -> tuple[np.ndarray, list[Diagnostic]]:
    """`words` [cell], with `up` or `down` for `keyed`. A union of cells that nobody publishes keeps its choice."""
    words = np.where(words == None, "free", words).astype(object)  # noqa: E711  an array of objects
    keyed = words == "keyed"
    settled = ~keyed
    published = problem.dataset["published"].values
    for table, view in zip(problem.tables, problem.views, strict=False):
        if table.keys is None:
            continue
        here = keyed[view.cells]
        upwards = (table.keys >= 2 ** (BITS - 1)) | (table.value == 0)  # nothing is below zero
        words[view.cells[here]] = np.where(upwards, "up", "down")[here]
        settled[view.cells[here]] = True
    without = np.flatnonzero(~settled & published & (problem.dataset["status"].values == "u"))
    words[~settled] = "free"
    if not len(without):
        return words, []
    headline = f"`sense keyed` needs to know who contributes, and {cells(without)} of `{problem.name}` do not say"
    help = "tables from microdata with `column unit` say who contributes; elsewhere: sense free"
    notes = [first_cells(without, problem.label)]
    return words, [diagnostic("SDC333", headline, span, notes=notes, help=help)]

"""Rows of a master problem that come and go: what has been slack for long leaves, for good (`RowAges`), or until a
point breaks it again (`CutPool`).

In a tree the same cuts are needed at nodes far from each other. A relaxation with all of them takes several times as
long; to find them anew takes longer still. Whether one that waits is broken is a product of a matrix and a point.

What it buys: with most rows kept a tree of suppression takes twice as long.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, vstack

from sdcdsl.numerics.master import Master, Row
from sdcdsl.numerics.tuning import TUNING


class RowAges:
    """For how many relaxations each row of a master has been slack."""

    def __init__(self, master: Master, tolerance: float, longest: int):
        """A row is slack by more than `tolerance`, and leaves when it was that more than `longest` times."""
        self._master, self._tolerance, self._longest = master, tolerance, longest
        self._age = np.zeros(0, dtype=np.int64)  # [row of the master]

    def add(self, rows: list[Row], age: int = 0) -> int:
        """Rows of the master, as if they had been slack so often; how many."""
        before = np.zeros(self._master.rows - len(self._age), dtype=np.int64)
        self._age = np.concatenate([self._age, before, np.full(len(rows), age)])
        return self._master.add(rows)

    def slack_for_long(self, slack: np.ndarray, share: float, first: int = 0) -> np.ndarray:
        """After a relaxation: the rows that are to leave; none unless they are more than this share of all, and none
        before row `first`."""
        age = np.zeros(len(slack), dtype=np.int64)
        age[: len(self._age)] = self._age[: len(slack)]
        self._age = np.where(slack > self._tolerance, age + 1, 0)
        gone = self._age > self._longest
        gone[:first] = False
        return gone if gone.sum() > share * len(slack) else np.zeros(len(slack), dtype=bool)

    def drop(self, gone: np.ndarray) -> None:
        if gone.any():
            self._master.purge(gone)
            self._age = self._age[~gone]


class CutPool:
    """All rows of the master are a x ≥ 1."""

    def __init__(self, master: Master):
        self._master = master
        self._ages = RowAges(master, TUNING.slack, TUNING.slack_for)
        self._rows = csr_array((0, len(master.cost)))  # those that have ever left
        self._away = np.zeros(0, dtype=bool)  # [of them]: not in the master now
        self._number = np.zeros(0, dtype=np.int64)  # [row of the master]: among those that have left, or -1

    def leave(self, slack: np.ndarray) -> None:
        """After a relaxation."""
        self._catch_up()
        gone = self._ages.slack_for_long(slack, TUNING.leave_share)
        if not gone.any():
            return
        known = self._number[gone]
        self._away[known[known >= 0]] = True
        first = np.flatnonzero(gone & (self._number < 0))
        self._rows = csr_array(vstack([self._rows, self._master.matrix[first]]))
        self._away = np.concatenate([self._away, np.ones(len(first), dtype=bool)])
        self._ages.drop(gone)
        self._number = self._number[~gone]
        if (over := len(self._away) - TUNING.kept_rows) > 0:
            self._rows, self._away = csr_array(self._rows[over:]), self._away[over:]
            self._number = np.maximum(self._number - over, -1)

    def come_back(self, x: np.ndarray) -> int:
        """Those that x breaks most; how many."""
        given = np.where(self._away, self._rows @ x, 1.0)
        some = np.flatnonzero(given < 1 - TUNING.broken)
        if not len(some):
            return 0
        worst = some[np.argsort(given[some], kind="stable")[: TUNING.back]]
        self._catch_up()
        A = self._rows
        rows: list[Row] = []
        for r in worst.tolist():
            span = slice(A.indptr[r], A.indptr[r + 1])
            rows.append((A.indices[span], A.data[span], 1.0))
        self._away[worst] = False
        self._number = np.concatenate([self._number, worst])
        return self._ages.add(rows)

    def _catch_up(self) -> None:
        """With rows that others have added."""
        new = self._master.rows - len(self._number)
        self._number = np.concatenate([self._number, np.full(new, -1)])

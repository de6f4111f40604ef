"""What the audit was tuned by: the suite `audit` of the benchmarks, and business tables of 3 125 and 24 966 cells with
their contributors as attackers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    # Pairs of one component that are a task of their own, whoever does it. One move settles many verdicts: the fewer
    # pairs, the more is attacked again. Exact ends are required one by one in any case, and are what takes long.
    verdicts: int = 1000
    ends: int = 400
    often: float = 0.2  # seconds between two reports about how far a survey is
    few: int = 12  # pairs that the witnesses of a search leave over, for a general solver
    most_ends: int = 200  # ends that are left to a general solver, which takes its time
    # Families of pairs.
    beyond: float = 100.0  # times the cost of a move that is in everybody's box
    tried: int = 200  # moves for one family and side, if each of them leaves somebody out
    # Proofs.
    bundles: int = 64  # of moves that are checked as one
    small: int = 8  # a move over more than one cell in this many is left alone
    claims: int = 2000  # that are checked together
    patience: int = 5  # moves of a table that turn out to be no whole numbers, after which nobody tries any more


TUNING = Tuning()

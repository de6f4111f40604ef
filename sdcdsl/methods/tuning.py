"""How the time of a method is divided around its model, and when its rounds end: tuned on the tables of the conformance
tests and of `benchmarks/accelerators.py` (20 to 240 cells)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    first_model: float = 0.3  # of the time that is left, for a model that is solved before an accelerator is tried
    witness_rounds: int = 4  # of witness tables, each of the last one's
    conditional: int = 20_000  # pairs, beyond which nobody looks beforehand for those that can never have their level
    # Closest tables by the model.
    tangents: int = 200  # rounds of outer approximation
    closest: float = 0.9  # of the time for the model; the rest is for the table of its senses
    senses: float = 5.0  # seconds for that where nothing is left
    # Multiples of rounding that are as near as they may be, while there may be some further away.
    steps: int = 3  # tried beyond what is required, where nothing nearer exists
    nearest: float = 0.4  # of the time that is left,
    endless: float = 120.0  # and seconds where there is no limit


TUNING = Tuning()

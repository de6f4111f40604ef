"""What came of a try: a table, the β that is published with it, and who falls short."""

from __future__ import annotations

from dataclasses import dataclass

from sdcdsl.methods.ecta.deviations import Table
from sdcdsl.methods.result import Clash

PROTECTED, DOUBLED, EXPOSED, NONE = "protected", "protected after doubling", "not protected", "infeasible"
FIRST_BETA = 0.01  # with free sensitive cells, where no other cell has to move


@dataclass(frozen=True, eq=False)
class Try:
    outcome: str
    beta: float = 0.0  # as published
    table: Table | None = None
    short: tuple[Clash, ...] = ()

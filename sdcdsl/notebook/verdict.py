"""What an audit says, as a value to look at."""

from __future__ import annotations

import numpy as np
import polars as pl

from sdcdsl.audit import Audit
from sdcdsl.audit.audit import WORDS
from sdcdsl.notebook import html


class Verdict:
    """`word` is protected, exposed, not proven, or nothing to check: the worst of all pairs."""

    def __init__(self, audit: Audit):
        self.audit = audit

    @property
    def word(self) -> str:
        return self.audit.verdict

    @property
    def attacked(self) -> bool:
        """False for adjusted tables about which nothing is published: then only distances were checked."""
        return self.audit.distance is None

    @property
    def counts(self) -> dict[str, int]:
        """Pairs of attacker and cell, by verdict."""
        return {word: int((self.audit.verdicts == letter).sum()) for letter, word in WORDS.items()}

    def __bool__(self) -> bool:
        """True if the release may go out."""
        return self.word in ("protected", "not excluded", "nothing to check")

    def pairs(self) -> pl.DataFrame:
        """A row for each pair: how far the attacker's interval reaches, and how far it must. `low_is` and `high_is` say
        what is proved of the ends: `exact`, or that the interval reaches `at least` or `at most` so far."""
        made = self.audit
        stated, problem = made.proofs.problem.pairs, made.problem
        value = made.proofs.problem.system.a[stated.cell]
        open_ended = np.full(len(value), np.nan)
        kinds = made.intervals.kind.tolist() if self.attacked else [[None] * len(value)] * 2
        return pl.DataFrame(
            {
                "cell": [problem.label(int(cell)) for cell in stated.cell],
                "attacker": [problem.attackers[int(attacker)] for attacker in stated.attacker],
                "value": value,
                "low": made.low if self.attacked else open_ended,
                "high": made.high if self.attacked else open_ended,
                "low_is": kinds[0],
                "high_is": kinds[1],
                "needed_low": value - stated.lpl,
                "needed_high": value + stated.upl,
                "needed_width": np.asarray(stated.spl, dtype=float),
                "verdict": [WORDS[letter] for letter in made.verdicts.tolist()],
            }
        )

    def __repr__(self) -> str:
        return f"<verdict {self.audit.problem.name}: {self.word}>"

    def _repr_html_(self) -> str:
        said = ", ".join(f"{number:,} {word}" for word, number in self.counts.items() if number) or "no pairs"
        about = said if self.attacked else f"{said} by distance; no attacker was simulated"
        pairs = self.pairs()
        worst = pairs.sort("verdict") if len(pairs) else pairs  # exposed comes before protected
        rows = worst.head(html.MOST_ROWS).rows()
        names = ["cell", "attacker", "value", "from", "to", "which is", "and", "needed from", "needed to"]
        names += ["needed width", "verdict"]
        return html.heading(f"{self.audit.problem.name}: {self.word}", about) + html.table(names, rows, len(pairs))

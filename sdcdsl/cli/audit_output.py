"""What `audit` prints: one document, one table, or a text for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sdcdsl.audit.audit import WORDS
from sdcdsl.audit.distance import NOT_CLAIMED
from sdcdsl.cli import exits
from sdcdsl.cli.audit_rows import Rows
from sdcdsl.cli.audit_text import text_of
from sdcdsl.diagnostics import Diagnostic
from sdcdsl.diagnostics.render.json import as_json
from sdcdsl.pipeline.audit import AuditedBlocks
from sdcdsl.released.formula_guard import guarded_rows

COLUMNS = (
    *("block", "cell", "attacker", "value", "low", "high", "low_is", "high_is"),
    *("needed_low", "needed_high", "needed_width", "short_below", "short_above", "short_width"),
    *("released", "verdict", "given_away_by"),
)


@dataclass(frozen=True)
class AuditReport:
    audited: AuditedBlocks
    released: bool = True  # a released table was given; otherwise the statuses of the data were taken
    certificate: str | None = None  # where it was written
    problems: Sequence[Diagnostic] = ()  # of writing it

    @property
    def found(self) -> list[Diagnostic]:
        return [*self.audited.found, *self.problems]

    @property
    def exit(self) -> int:
        if self.audited.wrong or self.problems:
            return exits.WRONG_DATA
        return exits.EXPOSED if self.audited.verdict in ("exposed", "not proven") else exits.DONE

    def render(self, output: str) -> str:
        return self.table() if output == "csv" else self.text()

    def document(self) -> dict[str, Any]:
        blocks = [Rows(name, made) for name, made in self.audited.audits.items()]
        return {
            "verdict": self.audited.verdict,
            "blocks": [_block(rows) for rows in blocks],
            "pairs": [row for rows in blocks for row in rows.all_pairs()],
            "revealed": [row for rows in blocks for row in rows.revealed()],
            "pinned_sums": [row for rows in blocks for row in rows.pinned_sums()],
            "certificate": self.certificate,
            "diagnostics": [as_json(d) for d in self.found],
            "exit": self.exit,
        }

    def table(self) -> str:
        pairs = (row for name, made in self.audited.audits.items() for row in Rows(name, made).all_pairs())
        rows = ({**row, "given_away_by": "; ".join(row["given_away_by"])} for row in pairs)
        return guarded_rows(COLUMNS, rows, "\n")

    def text(self) -> str:
        parts = [] if self.released else ["No released table was given: cells that are sensitive or already hidden"]
        parts = [f"{part} count as hidden, all others as published.\n" for part in parts]
        parts += [text_of(Rows(name, made)) for name, made in self.audited.audits.items()]
        if self.certificate is not None:
            parts.append(f"wrote {self.certificate}, as confidential as the microdata; `sdcdsl verify` checks it\n")
        return "\n".join(parts)


def _block(rows: Rows) -> dict[str, Any]:
    made = rows.made
    counts = {word.replace(" ", "_"): int((made.verdicts == letter).sum()) for letter, word in WORDS.items()}
    return {
        "name": rows.name,
        "verdict": made.verdict,
        "method": "attack" if rows.attacked else "distance",
        "counts": counts,
        "exact_intervals": made.exact,
        "inexact_ends": rows.inexact,
        "whole_numbers": made.integer,
        "largest_tolerance": made.proofs.tolerance,
        "published": list(made.pattern.about),
        "not_claimed": None if rows.attacked else NOT_CLAIMED,
        "broken_relations": rows.broken(),
        "outside_bounds": rows.outside(),
        "solver_failures": list(made.failures),
    }

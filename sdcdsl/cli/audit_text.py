"""What an audit says, as text, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdcdsl.audit import Audit
from sdcdsl.audit.audit import WORDS
from sdcdsl.audit.distance import NOT_CLAIMED
from sdcdsl.cli import exits

SHOWN = 10  # cells, pairs or sums that text lists before it only counts
WORST = ("exposed", "not proven", "protected", "nothing to check")


@dataclass(frozen=True)
class Result:
    audits: dict[str, Audit]
    released: bool  # a released table was given; otherwise the statuses of the data were taken

    @property
    def verdict(self) -> str:
        found = {made.verdict for made in self.audits.values()}
        return next(word for word in WORST if word in found)

    @property
    def exit(self) -> int:
        return exits.EXPOSED if self.verdict in ("exposed", "not proven") else exits.DONE

    def render(self, output: str) -> str:
        if output == "json":
            return json.dumps(self.document(), indent=2, ensure_ascii=False) + "\n"
        return self.table() if output == "csv" else self.text()

    # ---- machines ----------------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "blocks": [_block(name, made) for name, made in self.audits.items()],
            "pairs": [row for name, made in self.audits.items() for row in _pairs(name, made)],
            "revealed": [row for name, made in self.audits.items() for row in _revealed(name, made)],
            "pinned_sums": [row for name, made in self.audits.items() for row in _pinned(name, made)],
            "exit": self.exit,
        }

    def table(self) -> str:
        out = io.StringIO()
        columns = ["block", "cell", "attacker", "low", "high", "needed_low", "needed_high", "needed_width", "verdict"]
        writer = csv.DictWriter(out, [*columns, "given_away_by"], lineterminator="\n")
        writer.writeheader()
        for name, made in self.audits.items():
            for row in _pairs(name, made):
                writer.writerow({**row, "given_away_by": "; ".join(row["given_away_by"])})
        return out.getvalue()

    # ---- people ------------------------------------------------------------------------------------

    def text(self) -> str:
        lines: list[str] = []
        if not self.released:
            lines += ["No released table was given: cells marked sensitive or hidden are taken as hidden.", ""]
        for name, made in self.audits.items():
            lines += [*_text(name, made), ""]
        return "\n".join(lines)


def _block(name: str, made: Audit) -> dict[str, Any]:
    letters = made.verdicts
    return {
        "name": name,
        "verdict": made.verdict,
        "method": "distance" if made.distance is not None else "attack",
        "counts": {word.replace(" ", "_"): int((letters == letter).sum()) for letter, word in WORDS.items()},
        "exact_intervals": made.exact and made.distance is None,
        "largest_tolerance": made.proofs.tolerance,
        "published": list(made.pattern.about),
        "not_claimed": NOT_CLAIMED if made.distance is not None else None,
        "broken_relations": _broken(made),
        "outside_bounds": _outside(made),
        "solver_failures": list(made.failures),
    }


def _pairs(name: str, made: Audit) -> list[dict[str, Any]]:
    problem, pairs = made.problem, made.proofs.problem.pairs
    a = made.proofs.problem.system.a
    attack = made.distance is None
    out = []
    for i, letter in enumerate(made.verdicts):
        value = a[pairs.cell[i]]
        out.append(
            {
                "block": name,
                "cell": problem.label(int(pairs.cell[i])),
                "attacker": problem.attackers[int(pairs.attacker[i])],
                "low": _number(made.low[i]) if attack else None,
                "high": _number(made.high[i]) if attack else None,
                "needed_low": _number(value - pairs.lpl[i]),
                "needed_high": _number(value + pairs.upl[i]),
                "needed_width": _number(pairs.spl[i]),
                "verdict": WORDS[str(letter)],
                "given_away_by": [problem.label(int(c)) for c in made.betrayed_by(i)] if letter == "e" else [],
            }
        )
    return out


def _revealed(name: str, made: Audit) -> list[dict[str, Any]]:
    a, regions = made.proofs.problem.system.a, made.proofs.problem.regions
    out = []
    for cell, view in zip(made.revealed, made.revealed_by, strict=True):
        who = int(np.flatnonzero(regions.view_of == view)[0]) if (regions.view_of == view).any() else 0
        label = made.problem.attackers[who] if made.problem.attackers else ""
        out.append({"block": name, "cell": made.problem.label(int(cell)), "value": _number(a[cell]), "attacker": label})
    return out


def _pinned(name: str, made: Audit) -> list[dict[str, Any]]:
    out = []
    system, regions = made.proofs.problem.system, made.proofs.problem.regions
    for equation in made.pinned:
        _, cells, _ = system.by_equation.of(np.array([equation]))
        members = cells[regions.low[0, cells] < regions.high[0, cells]]
        out.append({"block": name, "cells": [made.problem.label(int(c)) for c in members], "relation": int(equation)})
    return out


def _broken(made: Audit) -> list[str]:
    if made.distance is None:
        return []
    return [str(made.problem.relations.label(int(e)) or f"relation {e}") for e in made.distance.broken]


def _outside(made: Audit) -> list[str]:
    return [made.problem.label(int(c)) for c in made.distance.outside] if made.distance is not None else []


def _number(x) -> float | int | None:
    """JSON has no infinity; whole numbers look better without a point."""
    if not math.isfinite(x):
        return None
    return int(x) if float(x).is_integer() and abs(x) < 2**53 else float(x)


def _text(name: str, made: Audit) -> list[str]:
    rows = _pairs(name, made)
    counts = {word: sum(row["verdict"] == word for row in rows) for word in WORDS.values()}
    lines = [f"{name}: {made.verdict.upper()}"]
    if not rows:
        lines.append("  no pair of attacker and sensitive cell: nothing was checked, and nothing is claimed")
    else:
        told = ", ".join(f"{n} {word}" for word, n in counts.items() if n or word != "not proven")
        lines.append(f"  {len(rows)} pairs of attacker and sensitive cell: {told}")
    if made.distance is not None:
        lines += _wrapped("no attack: " + NOT_CLAIMED)
        lines += _listed("  relations that do not hold", _broken(made))
        lines += _listed("  values outside the bounds that every table keeps", _outside(made))
    else:
        intervals = "exact" if made.exact else "at least as wide as shown"
        sums = "exact" if made.proofs.tolerance == 0 else f"within {made.proofs.tolerance:.1g} of the levels"
        lines.append(f"  intervals: {intervals}; proofs re-checked by arithmetic: {sums}")
    if made.pattern.about:
        lines.append(f"  published with the table: {', '.join(made.pattern.about)}")
    for verdict in ("exposed", "not proven"):
        chosen = [row for row in rows if row["verdict"] == verdict]
        if chosen:
            lines += ["", f"  {verdict}:", *(f"    {line}" for row in chosen[:SHOWN] for line in _pair(row))]
            lines += [f"    … and {len(chosen) - SHOWN} more (--output csv lists all)"] if len(chosen) > SHOWN else []
    revealed = [f"{row['cell']} = {row['value']}" for row in _revealed(name, made)]
    lines += _listed("  hidden cells that nobody marked and anybody can compute", revealed)
    pinned = [" + ".join(row["cells"]) for row in _pinned(name, made)]
    lines += _listed("  sums of sensitive cells that the published cells tell exactly", pinned, 5)
    lines += _listed("  solvers failed", list(made.failures))
    return lines


def _pair(row: dict[str, Any]) -> list[str]:
    low = "-inf" if row["low"] is None else f"{row['low']:.10g}"
    high = "inf" if row["high"] is None else f"{row['high']:.10g}"
    needed = f"{row['needed_low']:.10g} .. {row['needed_high']:.10g}"
    if row["needed_width"]:
        needed += f", {row['needed_width']:.10g} wide"
    out = [f"{row['cell']}, against {row['attacker']}"]
    interval = f"exactly {low}" if low == high else f"between {low} and {high}"
    out.append(f"  {interval}; needed {needed}")
    by = row["given_away_by"]
    if by:
        more = f" and {len(by) - 4} more" if len(by) > 4 else ""
        out.append(f"  given away by {'; '.join(by[:4])}{more}")
    return out


def _listed(what: str, items: list[str], shown: int = SHOWN) -> list[str]:
    if not items:
        return []
    more = [f"    … and {len(items) - shown} more"] if len(items) > shown else []
    return ["", f"{what}: {len(items)}", *(f"    {item}" for item in items[:shown]), *more]


def _wrapped(text: str, width: int = 110) -> list[str]:
    import textwrap  # noqa: PLC0415

    return textwrap.wrap(text, width, subsequent_indent="    ", initial_indent="  ")

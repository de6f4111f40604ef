"""The explanation of a cell for programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdcdsl.cli.audit_rows import tidy
from sdcdsl.pipeline.cell_facts import Statement
from sdcdsl.pipeline.explain import Explanation
from sdcdsl.pipeline.inferences import FeasibleTable, Inferred
from sdcdsl.pipeline.publication_effect import Interval, Loss


def document(made: Explanation) -> dict[str, Any]:
    label = made.problem.label
    return {
        "block": made.block,
        "cell": made.label,
        "value": _number(made.value),
        "tables": [
            {
                "table": seat.table,
                "codes": seat.codes,
                "contributors": seat.contributors,
                "largest": [{"amount": _number(amount), "who": who} for amount, who in seat.largest],
                "waived": seat.waived,
                "waivers": [_statement(w) for w in seat.waivers],
            }
            for seat in made.seats
        ],
        "relations": [
            {"relation": m.name, "total": m.total, "others": m.others, "not_published": m.unpublished}
            for m in made.memberships
        ],
        "sums": [label(union) for union in made.sums],
        "sensitive": made.sensitive,
        "rules": [
            {
                **_statement(f.statement),
                "marks": f.marks,
                "figures": f.figures,
                "table": f.table,
                "needed_lower": _number(f.lower),
                "needed_upper": _number(f.upper),
            }
            for f in made.findings
        ],
        "stated": [{"word": t.word, **_statement(t.statement)} for t in made.touches],
        "costs": [
            {"price": p.what, "amount": _number(p.amount), **(_statement(p.why) if p.why is not None else {})}
            for p in made.prices
        ],
        "known_before": [
            {"attacker": k.attacker, "why": k.why, **(_statement(k.statement) if k.statement is not None else {})}
            for k in made.foreknown
        ],
        "release": _release(made),
        "attackers": [_inferred(one, made) for one in made.inferred],
        "outsider": _inferred(made.outsider, made) if made.outsider is not None else None,
        "if_published": _publishing(made),
    }


def _release(made: Explanation) -> dict[str, Any] | None:
    pattern, cell = made.pattern, made.cell
    if pattern is None:
        return None
    return {
        "kind": made.kind,
        "value": _number(float(pattern.value[cell])),
        "low": _number(float(pattern.low[cell])) if made.attacked else None,
        "high": _number(float(pattern.high[cell])) if made.attacked else None,
        "by": made.by,
        "attacked": made.attacked,
    }


def _inferred(one: Inferred, made: Explanation) -> dict[str, Any]:
    slack = one.slack(made.value)
    return {
        "attacker": one.attacker,
        **_interval(one.interval, made.value),
        "lpl": _number(one.lpl),
        "upl": _number(one.upl),
        "spl": _number(one.spl),
        "asked_by": {level: _statement(s) for level, s in one.required_by.items()},
        "slack": {side: _number(left, made.value) for side, left in slack.items()},
        "conditional": one.conditional,
        "cut": one.cut,
        "possible_tables": [_table(other, made) for other in one.others],
    }


def _table(other: FeasibleTable, made: Explanation) -> dict[str, Any]:
    moves = [
        {"cell": made.problem.label(m.cell), "true": _number(m.true), "there": _number(m.there, m.true)}
        for m in other.moves
    ]
    return {"value": _number(other.value, made.value), "moves": moves, "moved": other.moved}


def _publishing(made: Explanation) -> dict[str, Any] | None:
    """Nothing where the cell is published as it is, or where nothing is released that could be attacked."""
    found = made.publishing
    if found is None:
        return None
    return {
        "value": _number(made.value),
        "exposes_itself": made.sensitive and any(i.lpl or i.upl or i.spl for i in made.inferred),
        "connected_pairs": len(found.connected),
        "lost_pairs": len(found.lost),
        "lost_cells": found.cells,
        "exposed_anyway": found.exposed_anyway,
        "needed_for": [_loss(loss, made) for loss in found.losses],
        "worse": [_loss(loss, made) for loss in found.worse],
    }


def _loss(loss: Loss, made: Explanation) -> dict[str, Any]:
    return {
        "cell": made.problem.label(loss.cell),
        "attacker": loss.attacker,
        "attackers": loss.attackers,
        "value": _number(loss.value),
        "lpl": _number(loss.lpl),
        "upl": _number(loss.upl),
        "spl": _number(loss.spl),
        "now": _interval(loss.before, loss.value),
        "then": _interval(loss.after, loss.value),
        "left_below": _number(loss.below, loss.value),
        "left_above": _number(loss.above, loss.value),
    }


def _interval(one: Interval, value: float) -> dict[str, Any]:
    ends = {"low": _number(one.low, value), "high": _number(one.high, value)}
    return {**ends, "low_is": one.low_is, "high_is": one.high_is, "verdict": one.verdict}


def _statement(one: Statement) -> dict[str, Any]:
    return {"statement": one.text, "at": one.at}


def _number(x: float, size: float = 0.0) -> float | int | None:
    """Nothing for what has no end. What is small beside `size` is rounding."""
    return tidy(x, abs(size)) if np.isfinite(x) else None

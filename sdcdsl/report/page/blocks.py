"""One protect block as the page tells it: in ten seconds, and then in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sdcdsl.diagnostics import Diagnostic, Span
from sdcdsl.diagnostics.diagnostic import for_reading
from sdcdsl.outcome import End, Outcome
from sdcdsl.pattern.pattern import CHANGED, HIDDEN, INTERVAL
from sdcdsl.policy.resolve import Policy
from sdcdsl.report.page import deviations
from sdcdsl.report.page.experiments import experiments_of
from sdcdsl.report.page.figures import count, figure, percent, plural
from sdcdsl.report.page.losses import losses_of, totals_of
from sdcdsl.report.page.sentences import (
    attackers_in_words,
    method_words,
    public_verdict,
    rules_in_words,
    verdict_of,
)
from sdcdsl.report.page.standardised import standardised

LISTED = 20  # cells that are named before the rest is counted
ROUNDING = 1e-9  # of a cost: less than that is no gap
_KINDS = {HIDDEN: "hidden", INTERVAL: "shown as intervals", CHANGED: "changed"}


def public_block(outcome: Outcome, policy: Policy, number: int) -> dict[str, Any]:
    """A function of what is released: no figure of it depends on a value that is not published."""
    pattern, released = outcome.pattern, outcome.end is End.DONE
    cells = int(outcome.problem.dataset["published"].values.sum())
    shown = {
        "name": outcome.name,
        "id": f"block-{number}",
        "number": number - 1,
        "verdict": public_verdict(outcome),
        "method": method_words(outcome.method) if released else "",
        "rules": rules_in_words(policy, outcome),
        "attackers": attackers_in_words(policy, outcome) if pattern is not None and pattern.claims else [],
        "about": list(pattern.about) if pattern is not None and released else [],
        "changes": None,
        "gap": None,
        "tiles": [],
        "losses": [],
        "totals": "",
    }
    if pattern is None or not released:
        return shown
    shown["tiles"] = [_tile("Cells", count(cells))]
    if not pattern.claims:
        kept = int(((outcome.problem.dataset["status"].values == "z") & (pattern.status != HIDDEN)).sum())
        shown["sentence"] = "Figures may differ from the true ones."
        shown["tiles"].append(_tile("Published as they are", count(kept), "all others may be adjusted"))
        return shown
    shown["sentence"] = _touched_sentence(outcome, cells)
    shown |= {"losses": losses_of(outcome), "totals": _totals_sentence(outcome)}
    shown["tiles"] += [_tile(word.capitalize(), count(n), percent(n / max(cells, 1))) for word, n in _touched(outcome)]
    if outcome.changes is not None:
        shown["changes"] = {"newly": count(len(outcome.changes.newly)), "again": count(len(outcome.changes.again))}
    return shown


def internal_block(outcome: Outcome, policy: Policy, number: int, anchors: Any) -> dict[str, Any]:
    summary = outcome.problem.summary()
    made = outcome.audit
    return {
        "name": outcome.name,
        "id": f"block-{number}",
        "number": number - 1,
        "verdict": verdict_of(outcome),
        "method": method_words(outcome.method),
        "status": outcome.result.status,
        "sentence": _touched_sentence(outcome, summary["cells"], summary["sensitive"]),
        "gap": _gap(outcome),
        "tiles": list(_tiles(outcome, summary)),
        "losses": losses_of(outcome),
        "totals": _totals_sentence(outcome),
        "found": diagnostics_of(outcome.found, anchors),
        "about": list(outcome.pattern.about) if outcome.pattern is not None else [],
        "attempts": [_attempt(a) for a in outcome.attempts],
        "notes": list(outcome.result.notes),
        "facts": list(_facts(outcome.result.facts)),
        "cost": _cost(outcome),
        "seconds": _seconds(outcome.seconds),
        "changes": _changes(outcome),
        "audit": None if made is None else _audit(outcome),
        "histogram": deviations.histogram(outcome),
        "groups": deviations.groups(outcome),
        "widths": deviations.widths(outcome),
        "standardised": standardised(outcome),
        "experiments": experiments_of(outcome.assessment),
        "unions": count(summary["unions"]) if summary["unions"] else "",
        "relations": count(summary["relations"]),
    }


# ---- in ten seconds -----------------------------------------------------------------------------------


def _tile(label: str, value: str, note: str = "") -> dict[str, str]:
    return {"label": label, "value": value, "note": note}


def _tiles(outcome: Outcome, summary: dict[str, int]) -> Iterator[dict[str, str]]:
    cells, made = summary["cells"], outcome.audit
    yield _tile("Cells", count(cells), plural(len(outcome.problem.tables), "table"))
    yield _tile("Sensitive", count(summary["sensitive"]), percent(summary["sensitive"] / max(cells, 1)))
    if outcome.pattern is not None:
        touched = _touched(outcome)
        total = len(outcome.touched)
        what = touched[0][0].capitalize() if len(touched) == 1 else "Not published as they are"
        yield _tile(what, count(total), percent(total / max(cells, 1)))
        if (totals := totals_of(outcome)) is not None:
            yield _tile("Totals among them", count(totals[1]), f"of {plural(totals[0], 'total')}")
    cost = _cost(outcome)
    if cost is not None:
        yield _tile("Cost", cost["objective"], cost["short"])
    pairs = plural(len(made.verdicts), "pair") + " checked" if made is not None else ""
    if made is not None and made.distance is not None:
        pairs = "none was simulated"
    yield _tile("Attackers", count(summary["attackers"]), pairs)


def _touched(outcome: Outcome) -> list[tuple[str, int]]:
    assert outcome.pattern is not None
    status = outcome.pattern.status[outcome.touched]
    return [(word, int((status == kind).sum())) for kind, word in _KINDS.items() if (status == kind).any()]


def _touched_sentence(outcome: Outcome, cells: int, sensitive: int | None = None) -> str:
    if outcome.pattern is None:
        return "There is no release to show."
    kinds = _touched(outcome)
    if not kinds:
        return f"All {count(cells)} cells are published as they are."
    listed = ", ".join(f"{count(n)} {'is' if n == 1 else 'are'} {word}" for word, n in kinds)
    text = f"Of {plural(cells, 'cell')} {listed}."
    if sensitive is None:
        return text
    data = outcome.problem.dataset
    own = int((data["status"].values[outcome.touched] == "u").sum())
    more = len(outcome.touched) - own
    primary, secondary = f"{count(own)} primary (sensitive)", f"{count(more)} secondary (to protect those)"
    return (
        f"{text} They are {primary} and {secondary}."
        if own and more
        else f"{text} They are {primary if own else secondary}."
    )


def _totals_sentence(outcome: Outcome) -> str:
    """Totals are what most readers look for first."""
    totals = totals_of(outcome)
    if totals is None:
        return ""
    every, gone = totals
    return f"Of {plural(every, 'total')} {'all' if not gone else count(every - gone)} are published as they are."


def _gap(outcome: Outcome) -> dict[str, str] | None:
    """As large as the verdict: a release may be protected and dearer than it has to be."""
    cost = _cost(outcome)
    if cost is None or outcome.pattern is None:
        return None
    if not cost["gap"]:
        return {"kind": "open", "mark": "?", "word": "Gap not known"}
    if (outcome.result.gap or 0.0) <= ROUNDING:
        return {"kind": "good", "mark": "✓", "word": "Least cost"}
    return {"kind": "mild", "mark": "±", "word": f"Gap {cost['gap']}"}


def _cost(outcome: Outcome) -> dict[str, str] | None:
    result = outcome.result
    if result.objective is None:
        return None
    out = {"objective": figure(result.objective), "bound": "", "gap": ""}
    if result.bound is None:
        return {**out, "short": "least cost not known", "long": "How far this is from the least is not known."}
    gap = result.gap or 0.0
    out |= {"bound": figure(result.bound), "gap": percent(gap)}
    if gap <= ROUNDING:
        return {**out, "short": "proven to be the least", "long": "This is proven to be the least possible cost."}
    long = f"The least possible cost is {out['bound']} or more: a gap of {out['gap']}."
    return {**out, "short": f"gap {out['gap']}", "long": long}


# ---- in full ---------------------------------------------------------------------------------------------


def _attempt(attempt: Any) -> dict[str, str]:
    result = attempt.result
    took = sum(result.seconds.values())
    return {
        "method": attempt.method,
        "about": method_words(attempt.method),
        "status": result.status,
        "objective": figure(result.objective) if result.objective is not None else "–",
        "bound": figure(result.bound) if result.bound is not None else "–",
        "seconds": f"{took:.1f} s",
    }


def _facts(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Those that are single figures or words; the rest is for programs."""
    for name, value in facts.items():
        plain = value.item() if hasattr(value, "item") and getattr(value, "size", 1) == 1 else value
        if isinstance(plain, bool):
            yield name.replace("_", " "), "yes" if plain else "no"
        elif isinstance(plain, int | float):
            yield name.replace("_", " "), figure(float(plain))
        elif isinstance(plain, str):
            yield name.replace("_", " "), plain


def _seconds(seconds: dict[str, float]) -> list[dict[str, Any]]:
    total = max(sum(seconds.values()), 1e-9)
    rows, at = [], 0.0
    for phase, passed in seconds.items():
        rows.append(
            {
                "phase": phase,
                "seconds": f"{passed:.1f} s" if passed >= 0.05 else f"{passed * 1000:.0f} ms",
                "share": percent(passed / total),
                "x": round(100 * at / total, 2),
                "width": round(100 * passed / total, 2),
            }
        )
        at += passed
    return rows


def _changes(outcome: Outcome) -> dict[str, Any] | None:
    made = outcome.changes
    if made is None:
        return None
    label = outcome.problem.label
    return {
        "files": list(made.files),
        "newly": _listed([label(int(cell)) for cell in made.newly[:LISTED]], len(made.newly)),
        "again": _listed([label(int(cell)) for cell in made.again[:LISTED]], len(made.again)),
    }


def _listed(names: Sequence[str], total: int) -> dict[str, Any]:
    return {
        "names": list(names),
        "count": count(total),
        "more": count(total - len(names)) if total > len(names) else "",
    }


def _audit(outcome: Outcome) -> dict[str, Any]:
    made, problem = outcome.audit, outcome.problem
    assert made is not None
    numbers = {letter: int((made.verdicts == letter).sum()) for letter in "pen"}
    revealed = [problem.label(int(cell)) for cell in made.revealed[:LISTED]]
    return {
        "pairs": plural(len(made.verdicts), "pair"),
        "any": len(made.verdicts) > 0,
        "protected": count(numbers["p"]),
        "exposed": count(numbers["e"]),
        "unproven": count(numbers["n"]),
        "distance": made.distance is not None,
        "exact": made.exact,
        "revealed": _listed(revealed, len(made.revealed)),
        "pinned": count(len(made.pinned)) if len(made.pinned) else "",
        "failures": list(made.failures),
        "tolerance": "exact" if made.proofs.tolerance == 0 else f"within {made.proofs.tolerance:.2g} of the levels",
        "merged": count(problem.merged_attackers) if problem.merged_attackers else "",
        "cut": count(problem.cut_pairs) if problem.cut_pairs else "",
    }


def diagnostics_of(found: Sequence[Diagnostic], anchors: Any) -> list[dict[str, Any]]:
    """`anchors` gives the place on the page for a line of the policy."""
    out = []
    for one in for_reading(found):
        place = one.place
        out.append(
            {
                "severity": str(one.severity),
                "code": one.code,
                "headline": one.headline,
                "place": str(place) if place is not None else "",
                "anchor": anchors(place) if isinstance(place, Span) else "",
                "labels": [mark.label for mark in one.marks if mark.label],
                "notes": list(one.notes),
                "help": one.help or "",
            }
        )
    return out

"""What an audit says to people: the verdict, what is exposed to whom and by how much, and why."""

from __future__ import annotations

import textwrap

import numpy as np

from sdcdsl.audit.audit import WORDS, Audit
from sdcdsl.audit.distance import NOT_CLAIMED
from sdcdsl.audit.intervals import spelled
from sdcdsl.cli.audit_rows import Reason, Rows, Term, tidy

SHOWN = 10  # cells that are listed before the rest is only counted
SUMS = 5
TERMS = 6  # of a computation
WIDTH = 110


def text_of(rows: Rows) -> str:
    lines = [f"{rows.name}: {_headline(rows)}", *_summary(rows)]
    for letter in "en":
        lines += _cells(rows, letter)
    lines += _listed("readers can tell that the table is wrong: sums that do not hold", rows.broken())
    lines += _listed("readers can tell that the table was changed: values outside known bounds", rows.outside())
    lines += _listed("hidden, not sensitive, and known to attackers exactly", _revealed(rows))
    lines += _listed("sums of sensitive cells that the published ones give away", _sums(rows), SUMS)
    lines += _listed("what solvers said instead of an answer", list(rows.made.failures))
    return "\n".join(lines) + "\n"


def stand_for(made: Audit) -> str:
    """Behind a number of pairs: those of contributors who are served by the same tables, and have no row."""
    return f", and {count(made.unlisted)} that they stand for" if made.unlisted else ""


def _headline(rows: Rows) -> str:
    if rows.attacked or not len(rows):
        return rows.made.verdict.upper()
    if rows.made.distance is not None and rows.made.distance.wrong:
        return "WRONG, and readers can tell"
    return "FAR ENOUGH from the truth, not attacked" if rows.made.verdict == "protected" else "TOO NEAR the truth"


def _summary(rows: Rows) -> list[str]:
    made = rows.made
    if not len(rows):
        return ["  no cell is sensitive to any attacker: nothing was checked, and nothing is claimed"]
    counts = {word: int((made.verdicts == letter).sum()) for letter, word in WORDS.items()}
    lines = [
        f"  pairs       {count(len(rows))} of attacker and sensitive cell{stand_for(made)}",
        f"  {'possible ' if made.pattern.random else 'protected'}   {count(counts['protected'])}",
        f"  exposed     {count(counts['exposed'])}{_extent(rows)}",
        f"  not proven  {count(counts['not proven'])}",
    ]
    if rows.attacked:
        whole = ", with whole numbers as ends" if made.integer else ""
        lines.append(f"  intervals   {_ends(rows)}{whole}")
        used = made.proofs.tolerance
        lines.append(f"  arithmetic  {'exact' if used == 0 else f'within {used:.2g} of the levels'}")
    else:
        names = ("far enough", "too near  ")
        lines[1:] = [f"  {name}  {count(counts[w])}" for name, w in zip(names, ("protected", "exposed"), strict=True)]
        lines += textwrap.wrap(NOT_CLAIMED, WIDTH, initial_indent="  not done    ", subsequent_indent=" " * 14)
    if made.pattern.about:
        lines.append(f"  published   {', '.join(made.pattern.about)}")
    return lines


def _ends(rows: Rows) -> str:
    """What is proved of the ends of intervals."""
    if not rows.made.exact_required:
        return "worked out as far as the verdict needs"
    left = rows.inexact
    return "exact" if not left else f"exact but for {plural(left, 'end')}, of which it is said how far they are proved"


def _extent(rows: Rows) -> str:
    """In how many cells, to how many attackers."""
    exposed = rows.made.verdicts == "e"
    if not exposed.any() or not rows.attacked:
        return ""
    cells, who = (len(np.unique(of[exposed])) for of in (rows.pairs.cell, rows.pairs.attacker))
    exactly = int((exposed & rows.known_exactly).sum())
    known = f"; {count(exactly)} known exactly" if exactly else ""
    return f": {plural(cells, 'cell')}, to {plural(who, 'attacker')}{known}"


# ---- cells ------------------------------------------------------------------------------------------


def _cells(rows: Rows, letter: str) -> list[str]:
    """Cells with this verdict, the worst first, each with the attacker who comes nearest."""
    chosen = np.flatnonzero(rows.made.verdicts == letter)
    if not len(chosen):
        return []
    order = chosen[np.argsort(-rows.missing[chosen], kind="stable")]
    by_cell: dict[int, list[int]] = {}
    for pair in order.tolist():
        by_cell.setdefault(int(rows.pairs.cell[pair]), []).append(pair)
    lines = ["", f"  {_title(rows, letter)}"]
    for pairs in list(by_cell.values())[:SHOWN]:
        others = f" and {plural(len(pairs) - 1, 'more attacker')}" if len(pairs) > 1 else ""
        lines.append(f"    {rows.cell(pairs[0])}, against {rows.attacker(pairs[0])}{others}")
        lines += [f"      {line}" for line in _pair(rows, pairs[0])]
    if len(by_cell) > SHOWN:
        lines.append(f"    … and {count(len(by_cell) - SHOWN)} more; --output csv lists every pair")
    return lines


def _title(rows: Rows, letter: str) -> str:
    if not rows.attacked:
        return "too near, whoever reads it"
    return {"e": "exposed, the worst first", "n": "not proven: neither a proof of protection nor one of exposure"}[
        letter
    ]


def _pair(rows: Rows, pair: int) -> list[str]:
    value, pairs = rows.value[pair], rows.pairs
    low, high = (shown(x, value) for x in (value - pairs.lpl[pair], value + pairs.upl[pair]))
    if not rows.attacked:
        figure = shown(rows.released[pair], value)
        return [f"{figure} is released, {shown(value, value)} is true; needed {low} or less, or {high} or more"]
    needed = [f"{low} .. {high}"] if pairs.lpl[pair] > 0 or pairs.upl[pair] > 0 else []
    needed += [f"{shown(pairs.spl[pair], value)} wide"] if pairs.spl[pair] > 0 else []
    lines = [f"{_interval(rows, pair)}; needed {', '.join(needed)}{_shortfall(rows, pair)}"]
    for reason in rows.reasons(pair):
        lines += _computation(rows, reason, bool(rows.known_exactly[pair]), float(value))
    return lines


def _interval(rows: Rows, pair: int) -> str:
    if rows.known_exactly[pair]:
        return f"exactly {shown(rows.value[pair], rows.value[pair])}"
    low, high = (shown(x, rows.value[pair]) for x in (rows.low[pair], rows.high[pair]))
    return f"feasible {spelled(low, high, rows.low_is(pair), rows.high_is(pair))}"


def _shortfall(rows: Rows, pair: int) -> str:
    sides = (("below", rows.short_below), ("above", rows.short_above), ("in width", rows.short_width))
    reasons = [f"{shown(short[pair], rows.value[pair])} short {where}" for where, short in sides if short[pair] > 0]
    return f": {', '.join(reasons)}" if reasons else ""


def _computation(rows: Rows, reason: Reason, exactly: bool, size: float) -> list[str]:
    """The attacker's sum, the largest terms first; those that are zero go without saying."""
    what = "" if exactly else "at most " if reason.up else "at least "
    terms = [term for term in reason.terms if shown(term.amount, size) != "0"]
    numbers = [(shown(abs(t.amount), size), t.amount < 0, _named(rows, t, reason.up)) for t in terms[:TERMS]]
    rest = sum(term.amount for term in terms[TERMS:])
    if len(terms) == TERMS + 1:
        numbers.append((shown(abs(rest), size), rest < 0, _named(rows, terms[TERMS], reason.up)))
    elif len(terms) > TERMS:
        numbers.append((shown(abs(rest), size), rest < 0, f"{count(len(terms) - TERMS)} more cells"))
    if reason.constant:
        numbers.append((shown(abs(reason.constant), size), reason.constant < 0, "a constant of the relations"))
    if not numbers:
        return [f"{what}0, whatever is published"]
    width = max(len(number) for number, _, _ in numbers)
    lead = f"{what}{shown(reason.end, size)} ="
    out = []
    for i, (number, negative, name) in enumerate(numbers):
        sign = "−" if negative else "+" if i else " "
        out.append(f"{lead if not i else ' ' * len(lead)} {sign} {number:>{width}}  {name}")
    return out


def _named(rows: Rows, term: Term, up: bool) -> str:
    name = rows.label(term.cell)
    if abs(abs(term.factor) - 1) > 1e-9:
        name = f"{abs(term.factor):.6g} × {name}"
    status, end = rows.made.pattern.status[term.cell], shown(term.end, term.end)
    if status == ".":
        return name
    side = "at most" if (term.factor > 0) == up else "at least"
    figure = rows.made.pattern.value[term.cell]
    said = "hidden" if term.hidden else f"released as {shown(figure, figure)}" if np.isfinite(figure) else "an interval"
    return f"{name} ({said}: {side} {end})"


# ---- beside the pairs -------------------------------------------------------------------------------


def _revealed(rows: Rows) -> list[str]:
    several = rows.made.proofs.problem.regions.views > 1
    return [
        f"{row['cell']}: {row['value']:.{12}g}{', to ' + row['attacker'] if several else ''}" for row in rows.revealed()
    ]


def _sums(rows: Rows) -> list[str]:
    out = []
    for row in rows.pinned_sums():
        cells = row["cells"]
        more = f" + {count(len(cells) - TERMS)} more" if len(cells) > TERMS else ""
        out.append(f"{row['value']:.12g} = {' + '.join(f'({cell})' for cell in cells[:TERMS])}{more}")
    return out


def _listed(what: str, items: list[str], most: int = SHOWN) -> list[str]:
    if not items:
        return []
    more = [f"    … and {count(len(items) - most)} more; --output json lists all"] if len(items) > most else []
    return ["", f"  {what}: {count(len(items))}", *(f"    {item}" for item in items[:most]), *more]


def shown(x: float, size: float) -> str:
    """A figure without the noise of the last bits."""
    if np.isinf(x):
        return "inf" if x > 0 else "-inf"
    found = tidy(float(x), float(abs(size)))
    return "nothing" if found is None else f"{found:.12g}"


def count(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def plural(number: int, noun: str) -> str:
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"

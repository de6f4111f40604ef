"""The explanation of a cell for people."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator

import numpy as np

from sdcdsl.audit.intervals import spelled
from sdcdsl.cli.audit_rows import tidy
from sdcdsl.cli.audit_text import count, plural
from sdcdsl.pattern.pattern import CHANGED, EXACT, HIDDEN
from sdcdsl.pipeline.cell_facts import CellPosition, Finding, Foreknown, Membership, Statement
from sdcdsl.pipeline.explain import Explanation
from sdcdsl.pipeline.inferences import FeasibleTable, Inferred
from sdcdsl.pipeline.publication_effect import Loss
from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy
from sdcdsl.vocabulary.methods import METHODS

SHOWN = 5  # of a list, before the rest is only counted
HEAD = 14  # where the second column begins
WIDTH = 118
DIGITS = 10  # of figures that a solver had a hand in


def text_of(made: Explanation, policy: Policy) -> str:
    lines = [f"{made.block}: {made.label}"]
    lines += _section("value", [f"{_figure(made.value, made)}{_unit(made, policy)}"])
    for seat in made.seats:
        lines += _section("in" if seat is made.seats[0] else "", _seat(seat, made))
    lines += _section("relations", [_membership(m) for m in made.memberships])
    lines += _section("sums", [f"part of the protected sum {made.problem.label(u)}" for u in made.sums])
    lines += _section("sensitive", _sensitive(made))
    said = [f"{touch.statement.text}{_at(touch.statement)}" for touch in made.touches]
    said += [f"{w.text}{_at(w)}" for seat in made.seats for w in seat.waivers]
    lines += _section("statements", list(dict.fromkeys(said)))
    lines += _section("cost", _prices(made))
    lines += _section("known before", [_known(one) for one in made.foreknown])
    lines += _section("released", _released(made))
    for i, (one, more) in enumerate(_nearest(made.inferred)):
        lines += _section("" if i else "attackers", _attacker(one, more, made))
    if made.outsider is not None:
        lines += _section("attackers", _outsider(made.outsider, made))
    lines += _section("needed for", _needed_for(made))
    lines += _section("if published", _if_published(made))
    return "\n".join(lines) + "\n"


def _section(title: str, items: Iterable[str]) -> Iterator[str]:
    """A title, and what belongs to it; what is indented stays so."""
    for i, item in enumerate(items):
        inner = len(item) - len(item.lstrip())
        first = f"  {title if not i else '':<{HEAD - 2}}  " + " " * inner
        later = " " * (HEAD + 2 + inner + 2)
        yield from textwrap.wrap(item.strip(), WIDTH, initial_indent=first, subsequent_indent=later) or [first]


def _prices(made: Explanation) -> Iterator[str]:
    """What hiding it costs, and what moving it does where that is said apart."""
    unsaid = "its value" if made.problem.dataset["w"].values[made.cell] == abs(made.value) else "as any other"
    for price in made.prices:
        amount = f"{_figure(price.amount, made)} {price.what}"
        if price.why is not None:
            yield f"{amount}: {price.why.text}{_at(price.why)}"
        elif price.what == "to hide":
            given = any(table.given is not None for table in made.problem.tables)
            yield f"{amount}: {'the weight of the file' if given else unsaid}, since no `cost` is stated for it"


def _unit(made: Explanation, policy: Policy) -> str:
    units = {policy.tables[seat.table].last(d.UnitOf) for seat in made.seats if seat.table in policy.tables}
    said = {unit.text for unit in units if unit is not None}
    return f" {said.pop()}" if len(said) == 1 else ""


def shown(x: float, size: float) -> str:
    """Without the noise of the last digits, as small as it is beside `size`."""
    if np.isinf(x):
        return "inf" if x > 0 else "-inf"
    largest = max(abs(x), abs(size))
    rounded = round(x, DIGITS - 1 - math.floor(math.log10(largest))) if largest > 0 else 0.0
    return f"{tidy(rounded, largest):.12g}"


def _figure(x: float, made: Explanation) -> str:
    return shown(x, made.value)


def _at(statement: Statement) -> str:
    return f" ({statement.at})" if statement.at is not None else ""


# ---- the cell itself -------------------------------------------------------------------------------


def _seat(seat: CellPosition, made: Explanation) -> Iterator[str]:
    where = f"{seat.table} ({', '.join(f'{name}: {code}' for name, code in seat.codes.items())})"
    if seat.contributors is None:
        yield where
    else:
        yield f"{where}; {plural(seat.contributors, 'contributor')}{_waived(seat)}"
    if seat.largest:
        parts = [f"{_figure(amount, made)}{f' ({who})' if who else ''}" for amount, who in seat.largest]
        yield f"  the largest contributions: {', '.join(parts)}"


def _waived(seat: CellPosition) -> str:
    return f", {count(seat.waived)} of them waived protection and do not count for rules" if seat.waived else ""


def _membership(one: Membership) -> str:
    role = "the total" if one.total else "a part"
    open_ones = "" if one.unpublished is None else f", {count(one.unpublished)} not published"
    return f"{one.name}: {role}; {plural(one.others, 'other cell')}{open_ones}"


def _sensitive(made: Explanation) -> Iterator[str]:
    marking = [f for f in made.findings if f.marks]
    if made.sensitive:
        yield "yes"
    elif marking:
        yield "no longer: marked by a statement, and waived by another"
    else:
        yield "no: no statement marks it"
    for finding in marking:
        yield f"  {finding.statement.text}{_at(finding.statement)}"
        if finding.figures is not None:
            yield f"    {finding.figures}{_requirement(finding, made)}"
    silent = [f for f in made.findings if not f.marks and f.figures is not None]
    said = [f"  not by `{f.statement.text}`{_at(f.statement)}: {f.figures}" for f in silent]
    yield from list(dict.fromkeys(said))[:SHOWN]


def _requirement(finding: Finding, made: Explanation) -> str:
    lower, upper = _figure(finding.lower, made), _figure(finding.upper, made)
    if not finding.lower and not finding.upper:
        return ""
    return f"; gives a level of {lower} below and " + (f"{upper} above" if lower != upper else "above")


def _known(one: Foreknown) -> str:
    by = f", by `{one.statement.text}`{_at(one.statement)}" if one.statement is not None else ""
    return f"exactly, to {one.attacker}: {one.why}{by}"


def _released(made: Explanation) -> Iterator[str]:
    pattern, cell = made.pattern, made.cell
    if pattern is None:
        yield "nothing: no release was found"
        return
    low, high = float(pattern.low[cell]), float(pattern.high[cell])
    status = pattern.status[cell]
    if status == EXACT:
        said = f"published as it is: {_figure(made.value, made)}"
    elif status == HIDDEN:
        said = "hidden"
    elif status == CHANGED:
        figure = float(pattern.value[cell])
        by = figure - made.value
        moved = f"{'+' if by > 0 else '-'}{_figure(abs(by), made)}" if _figure(by, made) != "0" else "the true value"
        said = f"changed to {_figure(figure, made)} ({moved})"
        if np.isfinite(low) or np.isfinite(high):
            said += f", which tells readers {_figure(low, made)} .. {_figure(high, made)}"
    else:
        said = f"an interval: {_figure(low, made)} .. {_figure(high, made)}"
    yield f"{said}, {'by' if METHODS.get(made.by) is not None else 'in'} {made.by}" if made.by else said


# ---- attackers -------------------------------------------------------------------------------------


def _nearest(inferred: Iterable[Inferred]) -> list[tuple[Inferred, int]]:
    """Of every declared attacker the one who comes nearest, and how many there are besides."""
    kinds: dict[str, list[Inferred]] = {}
    for one in inferred:
        kinds.setdefault(one.attacker.split(" ", 1)[0], []).append(one)
    return [(members[0], len(members) - 1) for members in kinds.values()]


def _attacker(one: Inferred, more: int, made: Explanation) -> Iterator[str]:
    yield f"{one.attacker} infers {_range(one, made)}: {one.interval.verdict}{_conditions(one)}"
    slack = one.slack(made.value)
    sides = (("lpl", "below", one.lpl), ("upl", "above", one.upl), ("spl", "width", one.spl))
    for level, side, amount in sides:
        if side not in slack:
            continue
        left = slack[side]
        rest = f"{_figure(left, made)} to spare" if _figure(left, made)[0] != "-" else f"{_figure(-left, made)} missing"
        words = f"{_figure(amount, made)} {'wide' if side == 'width' else side} needed"
        statement = one.required_by.get(level)
        by = f", by `{statement.text}`{_at(statement)}" if statement is not None else ""
        yield f"  {words}{by}: {rest}"
    yield from _tables(one, made)
    if more:
        yield f"  {plural(more, 'more attacker')} of this kind, none of whom comes nearer"


def _conditions(one: Inferred) -> str:
    parts = ["a level for cells that are not published" if one.conditional else ""]
    parts.append("its own part leaves less than the level, which was cut" if one.cut else "")
    said = "; ".join(part for part in parts if part)
    return f" ({said})" if said else ""


def _outsider(one: Inferred, made: Explanation) -> Iterator[str]:
    yield f"no requirement applies to it; {one.attacker} infers {_range(one, made)}"
    yield from _tables(one, made)


def _range(one: Inferred, made: Explanation) -> str:
    low, high = _figure(one.interval.low, made), _figure(one.interval.high, made)
    if one.interval.point:
        return f"exactly {low}"
    return spelled(low, high, one.interval.low_is, one.interval.high_is)


def _tables(one: Inferred, made: Explanation) -> Iterator[str]:
    for other in one.others:
        yield f"  cannot rule out {_figure(other.value, made)} here{_moves(other)}"
        for move in other.moves:
            label = made.problem.label(move.cell)
            yield f"    {shown(move.there, move.true)} instead of {shown(move.true, move.true)} in {label}"


def _moves(other: FeasibleTable) -> str:
    if not other.moves:
        return ", with all other cells as they are"
    more = other.moved - len(other.moves)
    return f", with these and {plural(more, 'more cell')} changed" if more > 0 else ", with"


# ---- what it is for --------------------------------------------------------------------------------


def _needed_for(made: Explanation) -> Iterator[str]:
    if made.pattern is None or made.kind == "published":
        return
    if not made.attacked:
        yield "cannot be said: nothing is published about how values were changed, so no attacker can be simulated"
        return
    found = made.publishing
    if found is None:
        return
    if not len(found.connected):
        yield ("nothing but itself" if made.sensitive else "nothing") + ": no sensitive cell is connected with it"
    elif found.needed:
        yield f"{plural(found.cells, 'sensitive cell')}, which would lose protection if it were published:"
        yield from _losses(found.losses, found.cells, made)
    elif not found.exposed_anyway:
        others = "other sensitive cells" if made.sensitive else "sensitive cells"
        yield f"nothing: all {others} connected with it stay protected without it"
    if found.exposed_anyway:
        pairs = plural(found.exposed_anyway, "pair")
        yield f"{pairs} of attacker and sensitive cell connected with it exposed as it is{':' if found.worse else ''}"
        yield from _losses(found.worse, len(found.worse), made)


def _losses(losses: tuple[Loss, ...], total: int, made: Explanation) -> Iterator[str]:
    for loss in losses[:SHOWN]:
        after, before = (
            spelled(shown(one.low, loss.value), shown(one.high, loss.value), one.low_is, one.high_is)
            for one in (loss.after, loss.before)
        )
        point = shown(loss.after.low, loss.value)
        then = f"known to be {point}" if loss.after.point else f"known to lie in {after}"
        yield f"  {_named(loss, made)}: {then}, now {before}{_short(loss)}"
    if total > SHOWN:
        yield f"  … and {plural(total - SHOWN, 'more cell')}; --json has them"


def _named(loss: Loss, made: Explanation) -> str:
    what = "" if made.problem.dataset["published"].values[loss.cell] else "the sum "
    others = f" and {plural(loss.attackers - 1, 'more attacker')}" if loss.attackers > 1 else ""
    return f"{what}{made.problem.label(loss.cell)}, against {loss.attacker}{others}"


def _short(loss: Loss) -> str:
    sides = (
        ("below", loss.lpl, loss.below),
        ("above", loss.upl, loss.above),
        ("in width", loss.spl, loss.below + loss.above),
    )
    notes = [
        f"{shown(level, loss.value)} {side} needed, {shown(left, loss.value)} left"
        for side, level, left in sides
        if level > 0 and left < level * (1 - 1e-9)
    ]
    return "".join(f"; {one}" for one in notes)


def _if_published(made: Explanation) -> Iterator[str]:
    if made.pattern is None or made.kind == "published":
        return
    value = _figure(made.value, made)
    found = made.publishing
    if found is None:
        yield f"{value} would stand in the table, whose other changed values then no longer add up with it"
        return
    required = [one for one in made.inferred if not one.conditional]
    if required:
        yield f"everybody reads {value}, and it must be protected against {plural(len(required), 'attacker')}: exposed"
    elif found.needed:
        yield f"everybody reads {value}, and the release no longer protects what it is needed for"
    elif made.status == "m":
        yield f"everybody reads {value}; a statement wants it hidden all the same"
    elif found.exposed_anyway:
        yield f"everybody reads {value}; the release does not protect what is connected with it either way"
    else:
        yield f"everybody reads {value}, and everything stays protected: it could be published by itself"

"""An a-priori file (`.hst`): its lines about single cells become statements about single cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sdcdsl.bind.readers.hst import APriori, read_hst
from sdcdsl.bind.readers.wording import FIRST, plural
from sdcdsl.diagnostics import Diagnostic
from sdcdsl.importing.draft import Draft, cell_at, cell_is, number
from sdcdsl.policy import document as d
from sdcdsl.policy.parameters import as_it_is
from sdcdsl.policy.write import statement

_STATUS = {"protect": "publish", "hidden": "suppress"}


def counting(entries: Sequence[APriori]) -> set[int]:
    """Lines with a status that τ-ARGUS acts on, in their order.

    Safe (`s`) is possible for every cell, sensitive (`u`) for those that no line protects or hides, and these two
    (`p`, `m`) for safe cells only. So `s` and then `p` publishes a cell that a rule calls sensitive, and `u` after `s`
    has the last word.
    """
    kept: dict[tuple[str, ...], list[APriori]] = {}
    for e in entries:
        before = kept.setdefault(e.codes, [])
        last = before[-1].status if before else None
        if e.status == "safe" or (e.status == "unsafe" and last in (None, "safe", "unsafe")):
            kept[e.codes] = [e]
        elif e.status in ("protect", "hidden") and last in (None, "safe"):
            before.append(e)
    return {e.line for lines in kept.values() for e in lines}


@dataclass
class Statements:
    """What the lines of a file say, by where it stands in a policy."""

    facts: list[tuple[APriori, d.Fact]] = field(default_factory=list)
    protect: list[tuple[APriori, d.Cost | d.Level]] = field(default_factory=list)
    attacker: list[tuple[APriori, d.Bounds]] = field(default_factory=list)
    overruled: list[APriori] = field(default_factory=list)  # a later line gives the cell another status


def statements_of(entries: Sequence[APriori], dimensions: Sequence[str], table: str | None, file: str) -> Statements:
    out = Statements()
    counted = counting(entries)
    for e in entries:
        where = cell_is(dimensions, e.codes)
        cells = d.Cells(table, (cell_at(dimensions, e.codes),))
        if e.status is not None and e.line not in counted:
            out.overruled.append(e)
        elif e.status == "unsafe":
            out.facts.append((e, d.Sensitive(cells)))
        elif e.status == "safe":
            out.facts.append((e, d.Waive(f"safe in line {e.line} of {file}", cells=cells)))
        elif e.status is not None:
            out.facts.append((e, d.Status(_STATUS[e.status], cells)))
        elif e.cost is not None:
            out.protect.append((e, d.Cost(number(e.cost), where=where)))
        elif e.levels is not None:
            for level, amount in zip(("lpl", "upl"), e.levels, strict=True):
                out.protect.append((e, d.Level(level, number(amount), where=where)))
        elif e.bounds is not None:
            low, high = map(number, e.bounds)
            out.attacker.append((e, d.Bounds(low, high, where)))
    return out


def policy_from_hst(
    source: Path, dimensions: Sequence[str], table: str | None = None, encoding: str | None = None
) -> tuple[str | None, list[Diagnostic]]:
    """Facts for another policy to `use`: the file itself knows neither a table nor its dimensions."""
    entries, found = read_hst(source, dimensions=len(dimensions), encoding=encoding)
    if entries is None:
        return None, found
    draft = Draft(str(source), found=list(found))
    made = statements_of(entries, dimensions, table, draft.file)
    draft.add(d.Title(f"A-priori information from {draft.file}"))
    draft.gap()
    for _, fact in made.facts:
        draft.add(fact)
    if made.protect:
        draft.gap()
        draft.remark("TODO: these belong into the protect block of the table:")
        draft.remark(*(f"  {statement(as_it_is(s))}" for _, s in made.protect))
    if made.attacker:
        draft.gap()
        draft.remark("TODO: these belong into the attacker who knows it, below its other bounds:")
        draft.remark(*(f"  {statement(as_it_is(s))}" for _, s in made.attacker))
    _say(draft, [e for e, s in made.protect if isinstance(s, d.Cost)], "a cost", "protect")
    _say(draft, [e for e, s in made.protect if isinstance(s, d.Level) and s.level == "lpl"], "levels", "protect")
    _say(draft, [e for e, _ in made.attacker], "bounds", "attacker")
    say_overruled(draft, made)
    text, wrong = draft.text()
    return text, draft.found + wrong


def _say(draft: Draft, entries: Sequence[APriori], what: str, block: str) -> None:
    if entries:
        draft.left_behind(
            f"{plural(len(entries), 'line')} with {what}: such statements stand in a block, not on their own",
            entries[0].line,
            notes=[f"lines {_lines(entries)}"] if len(entries) > 1 else (),
            help=f"copy the remarks at the end of the policy into the {block} block",
        )


def say_overruled(draft: Draft, made: Statements) -> None:
    if made.overruled:
        draft.left_behind(
            "a cell is given several statuses: as in τ-ARGUS, a line that cannot follow another does not count",
            made.overruled[0].line,
            notes=[f"overruled: lines {_lines(made.overruled)}"],
        )


def _lines(entries: Sequence[APriori]) -> str:
    shown = ", ".join(str(e.line) for e in entries[:FIRST])
    return shown if len(entries) <= FIRST else f"{shown} and {len(entries) - FIRST} more"


def needed_beside_the_file(entries: Sequence[APriori]) -> list[APriori]:
    """Lines that `sensitive from hst` does not act on: costs, bounds, safe cells, levels of cells it does not mark."""
    counted = counting(entries)
    unsafe = {e.codes for e in entries if e.status == "unsafe"}
    return [
        e
        for e in entries
        if (e.status == "safe" and e.line in counted)
        or e.cost is not None
        or e.bounds is not None
        or (e.levels and e.codes not in unsafe)
    ]

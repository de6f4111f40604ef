"""`<SAFETYRULE>`: each rule as a call of ours, with the level it requires."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sdcdsl.bind.readers.arb import SafetyRuleCall
from sdcdsl.importing.batch import TableJob
from sdcdsl.importing.draft import Draft, figure, percent
from sdcdsl.policy import expressions as x

MARGIN = 20.0  # what τ-ARGUS proposes where a level has to be stated


@dataclass
class TableRules:
    """What the rules of one table come to."""

    calls: list[tuple[x.Call, int]] = field(default_factory=list)  # with the line each comes from
    weighted: bool = False
    missing_is_safe: int | None = None  # the line that says so
    manual: float | None = None  # MAN: the level of cells marked by a file, in percent
    only_given: bool = True  # no rule of its own: the statuses of the file count
    requested: bool = False


def judged(table: TableJob, draft: Draft) -> TableRules:
    out = TableRules()
    seen: dict[str, int] = {}
    for safety in table.rules:
        for rule in safety.rules:
            seen[rule.name] = seen.get(rule.name, 0) + 1
            _one(rule, safety.line, table, out, draft)
    _holdings(table, out, seen, draft)
    return out


def _one(rule: SafetyRuleCall, line: int, table: TableJob, out: TableRules, draft: Draft) -> None:
    first = rule.figures[0]
    match rule.name:
        case "WGT":
            out.weighted = first == 1
        case "MIS":
            out.missing_is_safe = line if first == 1 else None
        case "MAN":
            out.manual = first
        case _:
            out.only_given = False
            if table.spec.response is None and rule.name != "FREQ":
                draft.left_behind(
                    f"{rule.name} looks at contributions, and the table counts", line, help="sensitive by threshold(3)"
                )
                return
            for call, largest in _call(rule, line, draft):
                if _has_data(rule, call, largest, line, table, draft) and all(call != known for known, _ in out.calls):
                    out.calls.append((call, line))
                    out.requested |= call.name == "request"


def _call(rule: SafetyRuleCall, line: int, draft: Draft) -> Iterator[tuple[x.Call, int]]:
    """The call and how many largest contributions it reads. A rule of zeros only fills a place, so that another comes
    third or second: that is how a batch file speaks of holdings."""
    f = rule.figures
    match rule.name:
        case "P" if f[0] > 0:
            q, n = (f[1], f[2]) if len(f) == 3 else (100.0, f[1] if len(f) == 2 else 1.0)
            together = max(1, math.ceil(n))
            if 0 < q < 100 and f[0] < q and together == 1:
                yield _named("pq", p=percent(f[0]), q=percent(q)), 2
                return
            # q·R < p·x₁ is R < (p/q)·x₁: with several attackers p_percent says it, in other numbers.
            share = f[0] if not 0 < q < 100 else 100 * f[0] / q
            arguments = {"n": _whole(together)} if together > 1 else {}
            yield x.Call("p_percent", (x.Argument(None, percent(share)), *_arguments(arguments))), together + 1
        case "NK" if f[0] >= 1 and 0 < f[1] < 100:
            n = math.ceil(f[0])
            yield _named("dominance", n=_whole(n), k=percent(f[1])), n
        case "NK" if f[1] >= 100:
            draft.left_behind(
                f"NK({figure(f[0])},{figure(f[1])}) marks no cell: no contributor has more than all", line
            )
        case "FREQ" if f[0] > 0:
            level = _level(f[1], "FREQ", line, draft)
            yield x.Call("threshold", (x.Argument(None, _whole(math.ceil(f[0]))), *_arguments({"level": level}))), 0
        case "ZERO":
            if f[0] <= 0:
                draft.left_behind("ZERO gives no level: 1 is put in its place", line, help="sensitive by zero(LEVEL)")
            yield x.Call("zero", (x.Argument(None, x.Number(figure(f[0] if f[0] > 0 else 1))),)), 0
        case "REQ" if max(f[:2]) > 0:
            yield _request(f, line, draft), 0
        case "P" | "NK" | "FREQ" | "REQ" if min(f) < 0:
            draft.left_behind(f"{rule.name} with a negative number marks no cell", line)


def _request(f: tuple[float, ...], line: int, draft: Draft) -> x.Call:
    shares = [share for share in f[:2] if share > 0]
    if len(set(shares)) > 1:
        draft.left_behind(
            f"REQ has two shares, {figure(f[0])} % and {figure(f[1])} %: the smaller one is carried over",
            line,
            help="one rule, one share: sensitive by request(SHARE, level: LEVEL)",
        )
    if len(f) == 4 and f[2] > 0:
        draft.left_behind("REQ looks at cells with a smallest count only: that count is not carried over", line)
    level = _level(f[-1], "REQ", line, draft)
    return _named("request", share=percent(min(*shares, 99.0)), level=level)


def _level(margin: float, rule: str, line: int, draft: Draft) -> x.Percent:
    if margin > 0:
        return percent(margin)
    headline = f"{rule} gives no level: {figure(MARGIN)} % is put in its place"
    draft.left_behind(headline, line, help="level: SHARE in the rule")
    return percent(MARGIN)


def _named(name: str, **arguments: x.Expression) -> x.Call:
    return x.Call(name, _arguments(arguments))


def _arguments(named: Mapping[str, x.Expression]) -> tuple[x.Argument, ...]:
    return tuple(x.Argument(name, value) for name, value in named.items())


def _whole(value: int) -> x.Number:
    return x.Number(str(value))


# ---- does the data give what a rule reads? -------------------------------------------------------------------------


def _has_data(rule: SafetyRuleCall, call: x.Call, largest: int, line: int, table: TableJob, draft: Draft) -> bool:
    metadata = table.data.metadata
    if call.name == "request":
        # Who asked is known by the record, who contributes by the holding: the .rda has no word for single units.
        known = metadata is not None and metadata.with_role("request") and metadata.with_role("holding")
        if table.data.is_table or not known:
            draft.left_behind(
                "REQ needs to know who contributes, and nothing in the metadata says it",
                line,
                help='column unit = "…" and column request = "…" in the data, and: sensitive by request(SHARE)',
            )
        return not table.data.is_table and bool(known)
    if not table.data.is_table or metadata is None:
        # Without metadata nobody knows the columns of a table: the table gets the usual ones, and a remark.
        return not table.data.is_table or _unknown(rule, line, draft)
    if call.name in ("threshold", "zero") and not metadata.with_role("count"):
        draft.left_behind(f"{rule.name} needs the number of contributors, and no variable is <FREQUENCY>", line)
        return False
    known = len(metadata.with_role("largest"))
    if largest > known:
        headline = f"{rule.name} looks at the {largest} largest contributions, and the table has {known} (<MAXSCORE>)"
        draft.left_behind(headline, line, help=f"largest({largest}) COLUMN in the table")
        return False
    return True


def _unknown(rule: SafetyRuleCall, line: int, draft: Draft) -> bool:
    headline = f"{rule.name} reads columns of the table, and without metadata nobody knows them"
    draft.left_behind(headline, line, help="count COLUMN, largest(1) COLUMN in the table, and: sensitive by RULE(…)")
    return False


def _holdings(table: TableJob, out: TableRules, seen: dict[str, int], draft: Draft) -> None:
    """In τ-ARGUS the first rules count records and later ones holdings; here everything counts holdings."""
    metadata = table.data.metadata
    if table.data.is_table or metadata is None or not out.calls:
        return
    by_holding = seen.get("P", 0) > 2 or seen.get("NK", 0) > 2 or seen.get("FREQ", 0) > 1 or seen.get("REQ", 0) > 1
    line = out.calls[0][1]
    if metadata.with_role("holding"):
        draft.left_behind(
            "rules that count single records count holdings here",
            line,
            help="without `column group` in the data they count records",
        )
    elif by_holding:
        draft.left_behind("rules about holdings, and no variable is <HOLDING>: they count records", line)

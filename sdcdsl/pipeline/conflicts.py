"""Why a method found nothing, in terms of the policy: which statements require more than others leave open.

A method that proves that nothing can be done names pairs that even the most generous release of its kind does not
protect. Three things can be in the way, and the audit tells which: with every cell hidden that may be, the pairs are
protected (then an option of the method caps too much); with every cell hidden, whether it may be or not (then `publish`
and `fix` want too much); not even then (then attackers know too much already).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sdcdsl.audit import audit
from sdcdsl.audit.problem import stated_pairs
from sdcdsl.bind.naming import SHOWN
from sdcdsl.bind.problem import PublishedCells, TableProblem
from sdcdsl.diagnostics import Diagnostic, Span, diagnostic
from sdcdsl.diagnostics.confidential import secret
from sdcdsl.methods.result import Clash, Result
from sdcdsl.pattern import hidden
from sdcdsl.pipeline.method_plan import Plan
from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy
from sdcdsl.proof.exact import TOLERANCE
from sdcdsl.status import FAILED, INFEASIBLE

_LEVEL = {0: "lpl", 1: "upl", None: "spl"}
_MOVES = {0: "fall by", 1: "rise by", None: "move within"}
_CAPS = (
    *("cap_hidden", "cap_intervals", "cap_width", "min_width", "cap_changed", "keep_totals", "sense"),
    *("base", "steps", "range", "end", "exact", "perturb", "round", "interval", "suppress"),
)


def nothing_found(
    problem: TableProblem, protect: d.Block, plan: Plan, result: Result, policy: Policy, stopped: bool = False
) -> list[Diagnostic]:
    engine = plan.engine
    if result.status == INFEASIBLE:
        return [_infeasible(problem, protect, engine, result, policy)]
    if result.status == FAILED:
        headline = f"`{engine.name}` found no release of `{problem.name}`: the solver did not answer"
        return [diagnostic("SDC512", headline, engine.span, notes=result.notes)]
    if stopped:
        headline = f"`{engine.name}` had no valid release of `{problem.name}` when it was stopped"
        return [diagnostic("SDC511", headline, engine.span, notes=result.notes)]
    if not result.timed:
        headline = f"`{engine.name}` found no valid release of `{problem.name}`, and ended before its time was up"
        help = "more time does not help; another method may: `method … else …`"
        return [diagnostic("SDC511", headline, engine.span, notes=result.notes, help=help)]
    headline = f"`{engine.name}` found no valid release of `{problem.name}` before its limit"
    help = "more time: time_limit 1 h, or --time-limit 1h"
    return [diagnostic("SDC511", headline, engine.span, notes=result.notes, help=help)]


def _infeasible(
    problem: TableProblem, protect: d.Block, engine: d.Engine, result: Result, policy: Policy
) -> Diagnostic:
    headline = f"no release of `{problem.name}` by `{engine.name}` can satisfy the policy"
    clashes = result.clashes or _clashes(problem)
    found = diagnostic("SDC510", headline, notes=_notes(problem, clashes), help=_way_out(problem, clashes, policy))
    for span, label in (*_asking(problem, clashes), *_leaving(problem, engine, clashes, policy)):
        found = found.mark(span, label)
    if not found.marks:
        found = found.mark(protect.heading, "nothing that is allowed here is enough")
    return found.note(*result.notes)


def _way_out(problem: TableProblem, clashes: Sequence[Clash], policy: Policy) -> str:
    attacker = problem.dataset["attacker_at"].values
    names = {problem.attackers[int(attacker[clash.pair])].split(" ", 1)[0] for clash in clashes}
    alone = [name for name in sorted(names) if name in policy.attackers and policy.attackers[name].last(d.Each)]
    if not alone or len(alone) < len(names):
        return "relax one of these statements"
    # Who contributes much of a cell knows it better than anybody else, and cannot be left as uncertain.
    return (
        f"relax one of these statements, or lower the levels against contributors: lpl 2% of value against {alone[0]}"
    )


def _clashes(problem: TableProblem) -> tuple[Clash, ...]:
    """For methods that do not say what they failed at: pairs that are exposed with everything hidden that may be."""
    pattern = hidden(problem.dataset["a"].values, _may_be_hidden(problem))
    made = audit(problem, pattern, exact=False)
    down, up = made.proofs.most_down, made.proofs.most_up
    numbers = np.arange(problem.dataset.sizes["pair"])[stated_pairs(problem, pattern)]
    out: list[Clash] = []
    for at in np.flatnonzero(made.verdicts == "e").tolist():
        pair = int(numbers[at])
        if "conditional" in problem.dataset and problem.dataset["conditional"].values[pair]:
            continue  # such a cell may just be left alone
        for side, most in ((0, down[at]), (1, up[at]), (None, down[at] + up[at])):
            need = float(problem.dataset[_LEVEL[side]].values[pair])
            if most < need * (1 - TOLERANCE):
                out.append(Clash(pair, side, need, float(most)))
    return tuple(out)


def _may_be_hidden(problem: TableProblem) -> np.ndarray:
    return (problem.dataset["status"].values != "z") | ~problem.dataset["published"].values


def _notes(problem: TableProblem, clashes: Sequence[Clash]) -> list[str]:
    cell, attacker = (problem.dataset[name].values for name in ("cell_at", "attacker_at"))
    out: list[str] = []
    for clash in clashes[:SHOWN]:
        who = problem.attackers[int(attacker[clash.pair])]
        where = f"{problem.label(int(cell[clash.pair]))}, against {who}"
        need, most = secret(f"{clash.need:.9g}"), secret(f"{max(clash.reach, 0.0):.9g}")
        out.append(f"{where}: must be able to {_MOVES[clash.side]} {need}; at most {most} is feasible")
    return [*out, *([f"and {len(clashes) - SHOWN:,} more"] if len(clashes) > SHOWN else [])]


def _asking(problem: TableProblem, clashes: Sequence[Clash]) -> Iterator[tuple[Span, str]]:
    """The statements that require the levels, each with how many pairs it cannot have them in."""
    counts: dict[Span, int] = {}
    by_name = {one.attacker: one for one in problem.attacker_levels}
    cell, attacker = (problem.dataset[name].values for name in ("cell_at", "attacker_at"))
    for clash in clashes:
        levels = by_name.get(problem.attackers[int(attacker[clash.pair])].split(" ", 1)[0])
        if levels is None:
            continue
        statement = int(levels.spans[_LEVEL[clash.side]][cell[clash.pair]])
        span = levels.statements[statement] if statement >= 0 else None
        if span is not None:
            counts[span] = counts.get(span, 0) + 1
    for span, count in counts.items():
        yield span, "requires too much" if count == 1 else f"requires too much, {count:,} times"


def _leaving(
    problem: TableProblem, engine: d.Engine, clashes: Sequence[Clash], policy: Policy
) -> Iterator[tuple[Span, str]]:
    """The statements that leave too little open for that."""
    caps = [option for option in engine.options if option.name in _CAPS]
    pairs = np.unique([clash.pair for clash in clashes]).astype(np.int64)
    narrow = replace(problem, dataset=problem.dataset.isel(pair=pairs))
    if not len(pairs) or (caps and _enough(narrow, _may_be_hidden(problem))):
        yield from ((option.span, "allows too little") for option in caps if option.span is not None)
        return
    if _enough(narrow, np.ones(problem.n, dtype=bool)):
        for fixed in _to_blame(narrow):
            if fixed.span is not None:
                yield fixed.span, f"wants {len(fixed.cells):,} cell{'s' if len(fixed.cells) > 1 else ''} published"
        yield from _known_before(narrow)
        return
    names = {problem.attackers[int(a)].split(" ", 1)[0] for a in narrow.dataset["attacker_at"].values}
    for name in sorted(names & set(policy.attackers)):
        for known in (*policy.attackers[name].all(d.Bounds), *policy.attackers[name].all(d.Knows)):
            if known.span is not None:
                yield known.span, f"`{name}` knows this beforehand"


def _known_before(problem: TableProblem) -> Iterator[tuple[Span, str]]:
    """`knows` statements without which everything that may be hidden would be enough."""
    data, views = problem.dataset, [one.attacker for one in problem.attacker_levels]
    low, high = data["low"].values.copy(), data["high"].values.copy()
    counts: dict[Span, int] = {}
    for name, one in problem.known_before:
        cells = one.cells & (data["status"].values != "z")
        view = views.index(name)
        low[view, cells], high[view, cells] = data["lb"].values[cells], data["ub"].values[cells]
        if one.span is not None and cells.any():
            counts[one.span] = counts.get(one.span, 0) + int(cells.sum())
    ignorant = data.assign(low=(("view", "cell"), low), high=(("view", "cell"), high))
    if counts and _enough(replace(problem, dataset=ignorant), _may_be_hidden(problem)):
        for span, count in counts.items():
            yield span, f"gives away {count:,} cell{'s' if count > 1 else ''} beforehand"


def _enough(problem: TableProblem, cells: np.ndarray) -> bool:
    """Are all pairs protected when these cells are hidden? Of cells that must be published attackers are told the value
    beforehand: if they are hidden here, then nobody knows more of them than that every table keeps its bounds."""
    data = problem.dataset
    shown = cells & (data["status"].values == "z")
    low, high = (
        np.where(shown, data[end].values, data[known].values) for end, known in (("lb", "low"), ("ub", "high"))
    )
    freed = data.assign(low=(("view", "cell"), low), high=(("view", "cell"), high))
    return audit(replace(problem, dataset=freed), hidden(data["a"].values, cells), exact=False).verdict == "protected"


def _to_blame(problem: TableProblem) -> list[PublishedCells]:
    """One statement if it is enough to be in the way, otherwise all of them."""
    for fixed in problem.fixed:
        cells = np.ones(problem.n, dtype=bool)
        cells[fixed.cells] = False
        if not _enough(problem, cells):
            return [fixed]
    return list(problem.fixed)

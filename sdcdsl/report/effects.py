"""What every statement of a policy did, beside the statement itself: cells it marked, levels it asked for, cells it
keeps published, files it writes.

Counts come from the problem where it remembers them; where it does not, the statement's condition is evaluated once
more. A statement that speaks to several protect blocks has an effect in each.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.evaluate import Clause, last_match, select
from sdcdsl.bind.from_microdata import in_force
from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Span
from sdcdsl.outcome import Outcome
from sdcdsl.policy import document as d
from sdcdsl.policy.meaning import LEVELS, attackers_of, files_by_table
from sdcdsl.policy.resolve import Policy


@dataclass(frozen=True)
class Effect:
    span: Span
    text: str


def effects(policy: Policy, outcomes: Sequence[Outcome], day: datetime.date | None = None) -> list[Effect]:
    """In the order in which the statements are read. `day` judges waivers, as in the run."""
    found: dict[Span, list[str]] = {}
    for outcome in outcomes:
        said = [*_facts(policy, outcome.problem, day), *_block(policy, outcome)]
        for span, text in said:
            if span is not None:
                where = f"{outcome.name}: " if len(outcomes) > 1 else ""
                found.setdefault(span, []).append(where + text)
    for span, text in _declared(policy, outcomes):
        if span is not None:
            found.setdefault(span, []).insert(0, text)
    files = {id(file.parsed.source): number for number, file in enumerate(policy.files)}
    order = sorted(found, key=lambda span: (files.get(id(span.source), -1), span.start, span.end))
    return [Effect(span, text) for span in order for text in dict.fromkeys(found[span])]


_Said = Iterator[tuple[Span | None, str]]


# ---- facts -------------------------------------------------------------------------------------------


def _facts(policy: Policy, problem: TableProblem, day: datetime.date | None) -> _Said:
    status = problem.dataset["status"].values
    for marked in problem.marked:
        alone = f", {_number(marked.only_here)} by this alone" if 0 < marked.only_here < len(marked.at) else ""
        alone = ", all by this alone" if len(marked.at) > 1 and marked.only_here == len(marked.at) else alone
        yield marked.span, f"marks {_cells(len(marked.at))}{alone}" if len(marked.at) else "marks no cell"
    kept = {fixed.span: len(fixed.cells) for fixed in problem.fixed}
    for fact in policy.facts:
        match fact:
            case d.Sensitive() if fact.together:
                yield fact.span, f"protects the sum of these {_number(len(fact.cells.at))} cells"
            case d.Status("suppress"):
                yield fact.span, f"hides {_cells(int((_chosen(problem, fact.cells) & (status == 'm')).sum()))}"
            case d.Status():
                count = kept.get(fact.span, 0)
                yield fact.span, f"keeps {_cells(count)} published" if count else "keeps no cell published"
            case d.Waive():
                yield fact.span, _waiver(problem, fact, day)
            case d.Require():
                count = int((status == "u").sum())
                yield fact.span, f"holds wherever it applies, among {_number(count)} sensitive {_noun(count)}"


def _waiver(problem: TableProblem, fact: d.Waive, day: datetime.date | None) -> str:
    if day is not None and not in_force(fact, day):
        return f"ended on {fact.until}: protected like everybody else"
    if fact.cells is not None:
        return f"{_cells(int(_chosen(problem, fact.cells).sum()))} need no protection"
    return f"rules do not count this {fact.role}"


def _chosen(problem: TableProblem, cells: d.Cells) -> np.ndarray:
    """The cells of the problem that a fact is about, bool [cell]."""
    if not cells.at:
        views = [view for view in problem.views if view.is_table]
        return select(views, cells.where, problem.n, problem.label, cells.table)[0]
    mask = np.zeros(problem.n, dtype=bool)
    for view in problem.views:
        for address in cells.at if cells.table in (None, view.table) else ():
            codes = {name: code.text for name, code in address.coordinates}
            if view.lattice is not None and {dim.name for dim in view.lattice.dimensions} == set(codes):
                if all(codes[dim.name] in dim.index for dim in view.lattice.dimensions):
                    mask[view.cells[view.lattice.cell(codes)]] = True
            elif view.numbers is not None and codes.get("cell", "").isdigit():
                mask[view.cells[view.numbers == int(codes["cell"])]] = True
    return mask


# ---- a protect block -----------------------------------------------------------------------------------


def _block(policy: Policy, outcome: Outcome) -> _Said:
    protect = policy.protects.get(outcome.name)
    if protect is None:
        return
    yield from _levels(outcome.problem, protect)
    yield from _attackers(policy, outcome.problem, protect)
    yield from _costs(outcome.problem, protect)
    tried = {attempt.method: attempt.result.status for attempt in outcome.attempts}
    for engine in protect.the(d.MethodChain).engines:
        yield engine.span, tried.get(engine.name, "not needed")
    if outcome.assessment is not None:
        for assess in protect.all(d.Assess):
            yield assess.span, f"{_number(len(outcome.assessment.trials))} experiments: {outcome.assessment.verdict}"
    for release in protect.all(d.Release):
        files = files_by_table(release.file.path, protect.tables)
        sizes = {table.name: table.size for table in outcome.problem.tables}
        yield release.span, ", ".join(f"{path}: {_cells(sizes.get(table, 0))}" for table, path in files.items())


def _levels(problem: TableProblem, protect: d.Block) -> _Said:
    counts: dict[Span, int] = {}
    for one in problem.attacker_levels:
        for level in LEVELS:
            used = np.bincount(one.spans[level][one.spans[level] >= 0], minlength=len(one.statements))
            for span, count in zip(one.statements, used.tolist(), strict=True):
                if span is not None:
                    counts[span] = counts.get(span, 0) + count
    for span, count in counts.items():
        yield span, f"sets {_number(count)} level{'' if count == 1 else 's'}" if count else "sets no level"


def _attackers(policy: Policy, problem: TableProblem, protect: d.Block) -> _Said:
    of_pair = problem.dataset["attacker_at"].values
    family = np.array([label.split(" ", 1)[0] for label in problem.attackers])
    for name in attackers_of(policy, protect):
        members = np.flatnonzero(family == name)
        pairs = int(np.isin(of_pair, members).sum())
        who = "1 attacker" if len(members) == 1 else f"{_number(len(members))} attackers"
        if name in policy.attackers:
            yield (
                policy.attackers[name].heading,
                f"{who}, {_number(pairs)} {'pair' if pairs == 1 else 'pairs'} of attacker and sensitive cell",
            )


def _costs(problem: TableProblem, protect: d.Block) -> _Said:
    published = problem.dataset["published"].values
    said = protect.all(d.Cost)
    for price in dict.fromkeys(s.price for s in said):
        mine = [s for s in said if s.price == price]
        clauses = [Clause(s.amount, s.where, s.span) for s in mine]
        _, by, _ = last_match(problem.views, clauses, published, problem.label)
        for index, statement in enumerate(mine):
            yield statement.span, f"sets the cost of {_cells(int((by == index).sum()))}"


# ---- what the data made of declarations ----------------------------------------------------------------


def _declared(policy: Policy, outcomes: Sequence[Outcome]) -> _Said:
    tables = {table.name: table for outcome in outcomes for table in outcome.problem.tables}
    dimensions: dict[str, int] = {}
    for name, table in tables.items():
        if name not in policy.tables:
            continue
        shape = ""
        if table.lattice is not None:
            dimensions |= {one.name: len(one.codes) for one in table.lattice.dimensions}
            shape = " × ".join(map(_number, table.lattice.shape)) + " codes: " if len(table.lattice.shape) > 1 else ""
        yield policy.tables[name].heading, f"{shape}{_cells(table.size)}"
    for name, count in dimensions.items():
        if name in policy.dimensions:
            yield policy.dimensions[name].heading, f"{_number(count)} codes"


def _cells(count: int) -> str:
    return f"{_number(count)} {_noun(count)}"


def _noun(count: int) -> str:
    return "cell" if count == 1 else "cells"


def _number(count: int) -> str:
    return f"{count:,}".replace(",", " ")

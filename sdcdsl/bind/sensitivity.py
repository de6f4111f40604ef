"""Which cells are sensitive, and why; which must be published, hidden or left alone."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sdcdsl.bind.cell_lists import cells_from_file
from sdcdsl.bind.evaluate import Evaluator, View, select, undecided
from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.from_microdata import in_force
from sdcdsl.bind.groups import Elsewhere, disclosing, group_cells
from sdcdsl.bind.naming import first_cells
from sdcdsl.bind.problem import SensitiveCells, StatementCells
from sdcdsl.bind.rules.cells import Judgement, RuleCells, malformed
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, Span, diagnostic
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.plain import rule_called
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.write import fact as written
from sdcdsl.registry import PluginFailed
from sdcdsl.vocabulary.rules import RULES, Rule, RuleArguments, find_rule


@dataclass(eq=False)
class Marks:
    """What the facts of a policy say about every common cell."""

    n: int
    name: Callable[[int], str]
    sensitive: np.ndarray = field(init=False)
    lower: np.ndarray = field(init=False)  # needed below
    upper: np.ndarray = field(init=False)  # needed above
    status: np.ndarray = field(init=False)  # "" or publish, suppress, fix: the last one that matches
    by: np.ndarray = field(init=False)  # which of `facts` set the status
    together: list[tuple[int, list[int], d.Sensitive]] = field(default_factory=list)  # table, cells, why
    elsewhere: list[tuple[int, Elsewhere, d.Sensitive]] = field(default_factory=list)  # table, common cells, why
    masks: list[tuple[d.Fact | None, str, np.ndarray]] = field(default_factory=list)
    stated: list[StatementCells] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sensitive = np.zeros(self.n, dtype=bool)
        self.lower, self.upper = np.zeros(self.n), np.zeros(self.n)
        self.status = np.full(self.n, "", dtype="<U8")
        self.by = np.full(self.n, -1, dtype=np.int64)

    def mark(
        self,
        fact: d.Fact | None,
        what: str,
        mask: np.ndarray,
        lower: np.ndarray | float = 0.0,
        upper: np.ndarray | float = 0.0,
    ) -> None:
        self.sensitive |= mask
        self.lower = np.where(mask, np.maximum(self.lower, lower), self.lower)
        self.upper = np.where(mask, np.maximum(self.upper, upper), self.upper)
        self.masks.append((fact, what, mask))

    def note(self, word: str, fact: d.Fact | None, mask: np.ndarray, what: str = "") -> None:
        """Somebody said this of cells: kept for those who ask why."""
        if mask.any():
            span = fact.span if fact is not None else None
            self.stated.append(
                StatementCells(word, span, written(fact) if fact is not None else what, np.flatnonzero(mask))
            )


def mark_cells(
    policy: Policy,
    views: Sequence[View],
    tables: Sequence[BoundTable],
    n: int,
    name: Callable[[int], str],
    places: FileLocations,
    today: datetime.date,
) -> Marks:
    marks = Marks(n, name)
    for view, table in zip(views, tables, strict=True):
        _given(marks, view, table)
    waived = np.zeros(n, dtype=bool)
    for index, fact in enumerate(policy.facts):
        match fact:
            case d.Sensitive():
                _sensitive(marks, fact, index, views, tables, places)
            case d.Status(status):
                chosen = _chosen(marks, fact.cells, views)
                _opposites(marks, policy, chosen, status, fact, name)
                marks.status[chosen], marks.by[chosen] = status, index
                marks.note(status, fact, chosen)
            case d.Waive() if fact.cells is not None and in_force(fact, today):
                chosen = _chosen(marks, fact.cells, views)
                marks.note("waive", fact, chosen)
                waived |= chosen
    marks.sensitive &= ~waived
    for fact in policy.facts_of(d.Sensitive):
        if fact.rule is not None and (rule := find_rule(fact.rule.name)) is not None and rule.judges_groups:
            _by_group_rule(marks, fact, fact.rule, views, tables, waived)
    _contradictions(marks, policy, name)
    return marks


def _given(marks: Marks, view: View, table: BoundTable) -> None:
    """What a JJ file or a status column says on its own."""
    if table.status is None:
        return
    for letter, word in (("z", "fix"), ("m", "suppress")):
        said = np.zeros(marks.n, dtype=bool)
        said[view.cells[table.status == letter]] = True
        marks.status[said] = word
        marks.note(word, None, said, f"the status in {table.place}")
    if table.given is not None:
        mask = np.zeros(marks.n, dtype=bool)
        mask[view.cells[table.status == "u"]] = True
        lower, upper = np.zeros(marks.n), np.zeros(marks.n)
        lower[view.cells], upper[view.cells] = table.given.lpl, table.given.upl
        marks.mark(None, f"the status in {table.place}", mask, lower, upper)


def _sensitive(
    marks: Marks,
    fact: d.Sensitive,
    index: int,
    views: Sequence[View],
    tables: Sequence[BoundTable],
    places: FileLocations,
) -> None:
    what = written(fact)
    if fact.rule is not None:
        _by_rule(marks, fact, fact.rule, views, tables)
    elif fact.together:
        for at, view in enumerate(views):  # a sum in each table the addresses fit, never across tables
            cells = {c for address in fact.cells.at for c in _at(marks, fact.cells, address, [view])}
            if len(cells) > 1:
                marks.together.append((at, sorted(cells), fact))
    elif fact.file is not None:
        chosen = [v for v in views if fact.cells.table in (None, v.table)]
        listed, found = cells_from_file(fact.file, chosen, places, marks.n)
        marks.diagnostics += found
        if listed is not None:
            marks.mark(fact, what, listed.sensitive)
            # Levels hold for the cells they name, whoever marks them.
            marks.lower, marks.upper = np.maximum(marks.lower, listed.lower), np.maximum(marks.upper, listed.upper)
            for status, mask in (("suppress", listed.hidden), ("fix", listed.fixed)):
                marks.status[mask], marks.by[mask] = status, index
                marks.note(status, fact, mask)
    else:
        marks.mark(fact, what, _chosen(marks, fact.cells, views))


def _by_rule(
    marks: Marks, fact: d.Sensitive, call: x.Call, views: Sequence[View], tables: Sequence[BoundTable]
) -> None:
    rule = find_rule(call.name)
    if rule is None or rule.judges_groups:
        return
    mask, lower, upper = np.zeros(marks.n, dtype=bool), np.zeros(marks.n), np.zeros(marks.n)
    for view, table in zip(views, tables, strict=True):
        if fact.cells.table not in (None, table.name) or not view.has(fact.cells.where):
            continue
        local = np.arange(table.size)
        where, unknown = Evaluator(view, local).holds(fact.cells.where)
        marks.diagnostics += undecided(fact.cells.where, view.cells[unknown], marks.name)
        if rule.reads_status:
            if table.status is not None:
                mask[view.cells[where & (table.status == "u")]] = True
            continue
        if table.judged is None:
            continue  # a JJ file says itself what is sensitive
        judgement, found = judge(call, table.judged, table.known_largest, fact)
        marks.diagnostics += found
        if judgement is not None:
            hit = where & judgement.sensitive
            mask[view.cells[hit]] = True
            lower[view.cells[hit]] = np.maximum(lower[view.cells[hit]], judgement.lower[hit])
            upper[view.cells[hit]] = np.maximum(upper[view.cells[hit]], judgement.upper[hit])
    marks.mark(fact, written(fact), mask, lower, upper)


def _by_group_rule(
    marks: Marks,
    fact: d.Sensitive,
    call: x.Call,
    views: Sequence[View],
    tables: Sequence[BoundTable],
    waived: np.ndarray,
) -> None:
    """Said of a category, for a condition as for a waiver; last of all facts, since what is fixed is no secret."""
    for at, (view, table) in enumerate(zip(views, tables, strict=True)):
        seen = group_cells(table)
        if seen is None or fact.cells.table not in (None, table.name) or not view.has(fact.cells.where):
            continue
        where, unknown = Evaluator(view, np.arange(table.size)).holds(fact.cells.where)
        marks.diagnostics += undecided(fact.cells.where, view.cells[unknown], marks.name)
        judgement, found = judge(call, seen, table.known_largest, fact)
        marks.diagnostics += found
        if judgement is not None:
            known = marks.status[view.cells] == "fix"
            told = disclosing(table, judgement, where & ~waived[view.cells], known)
            cells = replace(told, group=view.cells[told.group], category=view.cells[told.category])
            marks.elsewhere.append((at, cells, fact))


def judge(call: x.Call, cells: RuleCells, known: int, fact: d.Sensitive) -> tuple[Judgement | None, list[Diagnostic]]:
    """What a rule says about cells, if they carry what it looks at."""
    described, rule = find_rule(call.name), rule_called(call)
    assert described is not None and rule is not None
    try:
        return _judged(described, rule, cells, known, call, call.span or fact.span)
    except PluginFailed as error:
        return None, [diagnostic("SDC148", str(error), call.span or fact.span)]


def _judged(
    described: Rule, rule: RuleArguments, cells: RuleCells, known: int, call: x.Call, span: Span | None
) -> tuple[Judgement | None, list[Diagnostic]]:
    faults = RULES.call(described.name, rule.faults)
    if faults:
        return None, [diagnostic("SDC114", f"rule `{call.name}`: {faults[0]}", span)]
    if rule.largest_needed > known:
        headline = f"rule `{call.name}` looks at the {rule.largest_needed} largest contributions, {known} are known"
        help = f"largest({rule.largest_needed}) COLUMN in the table"
        return None, [diagnostic("SDC303", headline, span, help=help)]
    if "units" in described.needs and cells.requested is None:
        headline = "the data does not say who asked for protection"
        return None, [diagnostic("SDC303", headline, span, help='column request = "…"')]
    judgement = RULES.call(described.name, rule.judge, cells)
    if (wrong := malformed(judgement, len(cells.value))) is not None:  # of somebody else's rule
        return None, [diagnostic("SDC148", f"rule `{call.name}` {wrong}", span)]
    return judgement, []


def _chosen(marks: Marks, cells: d.Cells, views: Sequence[View]) -> np.ndarray:
    if not cells.at:
        chosen, found = select(views, cells.where, marks.n, marks.name, cells.table)
        marks.diagnostics += found
        return chosen
    mask = np.zeros(marks.n, dtype=bool)
    for address in cells.at:
        mask[list(_at(marks, cells, address, views))] = True
    return mask


def _at(marks: Marks, cells: d.Cells, address: d.Address, views: Sequence[View]) -> set[int]:
    """The common cells an address names: one in each table that has exactly its dimensions."""
    given = {name: code.text for name, code in address.coordinates}
    found: set[int] = set()
    fitting = False
    for view in views:
        if cells.table not in (None, view.table):
            continue
        if view.lattice is not None and {dim.name for dim in view.lattice.dimensions} == set(given):
            fitting = True
            if all(given[dim.name] in dim.index for dim in view.lattice.dimensions):
                found.add(int(view.cells[view.lattice.cell(given)]))
        elif view.numbers is not None and set(given) == {"cell"}:
            fitting = True
            where = np.flatnonzero(view.numbers == int(given["cell"])) if given["cell"].isdigit() else []
            found.update(int(view.cells[i]) for i in where)
    if fitting and not found:
        marks.diagnostics.append(
            diagnostic(
                "SDC326", "there is no such cell", address.span, ", ".join(f"{k}: {v}" for k, v in given.items())
            )
        )
    return found


def _opposites(
    marks: Marks, policy: Policy, chosen: np.ndarray, status: str, fact: d.Status, name: Callable[[int], str]
) -> None:
    """Cells that one fact shows and another hides (S25); what a file says on its own, a fact may change."""
    opposite = (marks.status == "suppress") != (status == "suppress")
    both = np.flatnonzero(chosen & (marks.by >= 0) & opposite)
    for index in np.unique(marks.by[both]):
        cells = both[marks.by[both] == index]
        headline = f"{len(cells):,} cell{'s are' if len(cells) > 1 else ' is'} both hidden and shown"
        found = diagnostic("SDC137", headline, fact.span, f"{status} here", notes=[first_cells(cells, name)])
        marks.diagnostics.append(found.mark(policy.facts[index].span, f"{marks.status[cells[0]]} here"))


def _contradictions(marks: Marks, policy: Policy, name: Callable[[int], str]) -> None:
    both = np.flatnonzero(marks.sensitive & np.isin(marks.status, ("publish", "fix")))
    for index in np.unique(marks.by[both]):
        cells = both[marks.by[both] == index]
        fact = policy.facts[index] if index >= 0 else None
        found = diagnostic(
            "SDC329",
            f"{len(cells):,} sensitive {'cell' if len(cells) == 1 else 'cells'} must be published",
            fact.span if fact is not None else None,
            "by this statement",
            notes=[first_cells(cells, name)],
            help='waive where … because "…" says that these cells need no protection',
        )
        why = next((f for f, _, mask in marks.masks if f is not None and mask[cells].any()), None)
        marks.diagnostics.append(found.mark(why.span, "sensitive by this one") if why else found)


def report(marks: Marks, views: Sequence[View]) -> tuple[SensitiveCells, ...]:
    """How many cells each statement marked, by table, and how many nobody else did."""
    times = np.zeros(marks.n, dtype=np.int64)
    for _, _, mask in marks.masks:
        times += mask
    out = []
    for fact, what, mask in marks.masks:
        counts = {view.table: int(mask[view.cells].sum()) for view in views}
        only = int((mask & (times == 1)).sum())
        out.append(
            SensitiveCells(fact.span if fact is not None else None, what, counts, only, np.flatnonzero(mask), fact)
        )
    return tuple(out)

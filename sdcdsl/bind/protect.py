"""A protect block meets its data: tables linked, cells marked, attackers and levels worked out, one problem made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

import numpy as np
import xarray as xr

from sdcdsl.bind import naming
from sdcdsl.bind.attackers import ROUNDING, Knowledge, know
from sdcdsl.bind.block_cells import BlockCells, CellNames, linked_cells, view_of
from sdcdsl.bind.evaluate import Clause, Evaluator, View, last_match
from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.labels import unspoken
from sdcdsl.bind.levels import LEVELS, AttackerLevels, levels
from sdcdsl.bind.naming import first_cells
from sdcdsl.bind.options import option_values
from sdcdsl.bind.pairs import PairBuilder
from sdcdsl.bind.problem import PublishedCells, TableProblem
from sdcdsl.bind.sensitivity import Marks, mark_cells, report
from sdcdsl.bind.table import BoundTable
from sdcdsl.bind.unions import Unions, find_unions, further_unions, judges
from sdcdsl.diagnostics import Diagnostic, Severity, Span, diagnostic, has_errors
from sdcdsl.diagnostics.confidential import secret
from sdcdsl.policy import document as d
from sdcdsl.policy.meaning import attackers_of, counts_contributors
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.write import expression
from sdcdsl.policy.write import fact as written
from sdcdsl.vocabulary.methods import Limits

MOST_PAIRS = 50_000_000


class Tables(Protocol):
    """A policy and its tables: `Binding`, or tables with other values."""

    @property
    def policy(self) -> Policy: ...

    @property
    def places(self) -> FileLocations: ...

    @property
    def today(self) -> date: ...

    def table(self, name: str) -> BoundTable | None: ...


def bind_protect(binding: Tables, protect: d.Block) -> tuple[TableProblem | None, list[Diagnostic]]:
    """The problem of one block, or why there is none. Diagnostics of tables stay with the binding."""
    tables = [binding.table(name) for name in protect.tables]
    if any(t is None for t in tables):
        return None, []
    cells, found = linked_cells([t for t in tables if t is not None])
    found = [*found, *unspoken(protect, cells.tables)]
    if has_errors(found):
        return None, found
    views = [view_of(table, cells.maps[i]) for i, table in enumerate(cells.tables)]
    marks = mark_cells(binding.policy, views, cells.tables, len(cells.a), cells.label, binding.places, binding.today)
    found += marks.diagnostics
    if has_errors(found):
        return None, found
    automatic = _automatic(protect)
    unions = find_unions(binding.policy, cells.tables, cells.maps, cells.a, marks, automatic)
    making = _Making(binding.policy, protect, cells, views, marks, unions)
    made, found = making.problem(found)
    if made is None or not automatic or not any(judges(binding.policy, table) for table in cells.tables):
        return made, found
    return replace(made, sums=_Sums(binding.policy, protect, cells, views, marks, unions, len(unions))), found


@dataclass(frozen=True, eq=False)
class _Sums:
    """What a problem was made from, so that further sums of cells can be added when a release hides their parts."""

    policy: Policy
    protect: d.Block
    cells: BlockCells
    views: Sequence[View]
    marks: Marks
    unions: Unions
    before: int  # unions that the problem had before any search

    def beyond(self, hidden: np.ndarray) -> Unions:
        """Sensitive sums that the problem does not have yet. `hidden` [cell]: what a release does not publish as it
        is."""
        known, base = self.unions, len(self.cells.a)
        return further_unions(self.policy, self.cells.tables, self.cells.maps, self.cells.a, hidden[:base], known)

    def extended(self, more: Unions) -> TableProblem:
        """The problem with these sums to protect as well: cells after all others."""
        unions = self.unions.with_more(more)
        made = _Making(self.policy, self.protect, self.cells, self.views, self.marks, unions, self.before).remade()
        return replace(made, sums=replace(self, unions=unions))


def _automatic(protect: d.Block) -> bool:
    """Sums are looked for unless the first method of the block says `unions off`."""
    chain = protect.last(d.MethodChain)
    return chain is None or option_values(chain.engines[0].options, Limits)["unions"] == "on"


class _Making:
    """Puts the arrays of a problem together; unions come after the common cells."""

    def __init__(
        self,
        policy: Policy,
        protect: d.Block,
        cells: BlockCells,
        views: Sequence[View],
        marks: Marks,
        unions: Unions,
        before: int | None = None,
    ):
        self.policy, self.protect, self.cells, self.marks, self.unions = policy, protect, cells, marks, unions
        self.base = len(cells.a)
        self.late = self.base + (len(unions) if before is None else before)  # from here on, sums of one release
        self.n = self.base + len(unions)
        self.label = CellNames(cells.label, self.base, unions).label
        self.a = np.concatenate([cells.a, unions.value])
        self.sensitive = np.concatenate([marks.sensitive, np.ones(len(unions), dtype=bool)])
        self.lower = self._clipped(np.concatenate([marks.lower, unions.lower]))
        self.upper = np.concatenate([marks.upper, unions.upper])
        self.views = [self._with_needed(view, table) for view, table in zip(views, cells.tables, strict=True)]
        extra = np.arange(self.base, self.n)
        self.views.append(
            View(extra, self._needed(extra) | {"value": unions.value, "count": unions.count}, unions.largest, table="")
        )
        self.diagnostics: list[Diagnostic] = []

    def _clipped(self, lower: np.ndarray) -> np.ndarray:
        """A rule's symmetric level never requires less than nothing below a value that cannot be negative."""
        if (self.cells.a < 0).any():
            return lower
        plus = np.ones(self.n, dtype=bool)
        plus[self.base + self.unions.union_of[self.unions.coefficient < 0]] = False  # a difference may be negative
        return np.where(plus, np.minimum(lower, self.a), lower)

    def _needed(self, cells: np.ndarray) -> dict[str, np.ndarray]:
        lower, upper = self.lower[cells], self.upper[cells]
        both = np.maximum(lower, upper)
        return {"needed_lower": lower, "needed_upper": upper, "needed_sliding": both, "needed": both}

    def _with_needed(self, view: View, table: BoundTable) -> View:
        quantities = {**view.quantities, **self._needed(view.cells)}
        if table.given is not None:  # a JJ file gives sliding levels of its own (S31)
            quantities["needed_sliding"] = table.given.spl
        return View(view.cells, quantities, view.largest, view.lattice, view.numbers, view.table)

    # ---- the problem ------------------------------------------------------------------------------

    def problem(self, found: list[Diagnostic]) -> tuple[TableProblem | None, list[Diagnostic]]:
        found = [*found]
        fixed = np.zeros(self.n, dtype=bool)
        fixed[: self.base] = np.isin(self.marks.status, ("publish", "fix"))
        known, problems = self._attackers(fixed)
        found += problems
        names = [k.name for k in known]
        touchable = ~self.sensitive & ~fixed
        required, problems = levels(self.policy, self.protect, names, self.views, self.sensitive, touchable, self.label)
        found += problems if self.late == self.n else []  # said before there were any of these sums
        self._levels_of_sums(required)
        costs, problems = self._costs()
        found += problems
        found += self._requirements(required)
        if has_errors(found):
            return None, found
        pairs, more = self._pairs(known, required)
        found += more
        if not self.sensitive.any():
            headline = f"no cell of `{self.protect.name}` is sensitive"
            found.append(diagnostic("SDC331", headline, self.protect.heading, "there is nothing to protect"))
        if has_errors(found):
            return None, found
        dataset = self._dataset(fixed, costs, pairs)
        made = TableProblem(
            name=self.protect.name,
            dataset=dataset,
            label=self.label,
            tables=self.cells.tables,
            relations=self.unions.extended(self.cells.relations),
            attackers=pairs.labels,
            marked=report(self.marks, self.views[:-1]),
            cut_pairs=pairs.cut,
            merged_attackers=pairs.merged,
            views=tuple(self.views),
            attacker_levels=tuple(required),
            fixed=tuple(self._fixed()),
            stated=tuple(self.marks.stated),
            families=pairs.families(),
            known_before=tuple((one.name, fact) for one in known for fact in one.known_before if fact.cells.any()),
        )
        return made, found

    def remade(self) -> TableProblem:
        """The problem with sums that a release made necessary; a level that they cannot have is for the search and the
        audit to find out."""
        made, found = self.problem([])
        if made is None:
            raise ValueError("; ".join(one.headline for one in found if one.severity is Severity.ERROR))
        return made

    def _levels_of_sums(self, required: list[AttackerLevels]) -> None:
        """A sum of which the block's statements say nothing, being no cell of a table, gets what the rule requires."""
        late = np.arange(self.late, self.n)
        for one in required:
            for name in LEVELS:
                one.amounts[name][late] = np.nan_to_num(one.amounts[name][late], nan=0.0)
        unsaid = late[~np.any([one.amounts[name][late] > 0 for one in required for name in LEVELS], axis=0)]
        for one in required:
            one.amounts["lpl"][unsaid], one.amounts["upl"][unsaid] = self.lower[unsaid], self.upper[unsaid]

    def _fixed(self) -> Iterator[PublishedCells]:
        kept = np.isin(self.marks.status, ("publish", "fix"))
        for index in np.unique(self.marks.by[kept]):
            cells = np.flatnonzero(kept & (self.marks.by == index))
            fact = self.policy.facts[index] if index >= 0 else None
            what = written(fact) if fact is not None else "statuses in the data"
            yield PublishedCells(fact.span if fact is not None else None, what, cells)

    def _attackers(self, fixed: np.ndarray) -> tuple[list[Knowledge], list[Diagnostic]]:
        found: list[Diagnostic] = []
        known: list[Knowledge] = []
        names = attackers_of(self.policy, self.protect)
        blocks = [self.policy.attackers[n] for n in names]
        if not blocks:  # a JJ file brings its attacker along
            blocks = [d.Block("attacker", "external", (d.Bounds(None, None),))]
        for block in blocks:
            made, problems = know(block, self.views, self._tables(), self.a, fixed, self.label, self.unions, self.late)
            found += problems
            if made is not None:
                known.append(made)
        return known, found

    def _tables(self) -> list[BoundTable]:
        extra = BoundTable("", "", self.cells.tables[0].place, self.cells.relations, self.unions.value)
        return [*self.cells.tables, extra]

    def _costs(self) -> tuple[dict[str, np.ndarray], list[Diagnostic]]:
        found: list[Diagnostic] = []
        out: dict[str, np.ndarray] = {}
        every = np.ones(self.n, dtype=bool)
        every[self.base :] = False
        moving = np.ones(self.n)
        for view, table in zip(self.views, self.cells.tables, strict=False):
            if table.given is not None:
                moving[view.cells] = table.given.weight
        hiding = self._unpriced(moving)
        for price, letter in ((None, "w"), ("up", "w_up"), ("down", "w_down"), ("fixed", "w_fixed")):
            said = [s for s in self.protect.all(d.Cost) if s.price == price]
            stated = price is None or bool(said)
            if not stated and (price == "fixed" or np.array_equal(moving, out["w"])):
                continue
            clauses = [Clause(s.amount, s.where, s.span) for s in said]
            amount, by, problems = last_match(self.views, clauses, every, self.label)
            found += problems
            out[letter] = np.where(by >= 0, amount, hiding if price is None else moving)
            if price is None:
                moving = np.where(by >= 0, amount, moving)
            moving[self.base :] = out[letter][self.base :] = 0.0
            negative = np.flatnonzero(out[letter] < 0)
            if len(negative):
                headline = f"the cost of {len(negative):,} cells is below zero, such as {self.label(int(negative[0]))}"
                statement = int(by[negative[0]])
                span = said[statement].span if statement >= 0 else self.protect.heading
                found.append(diagnostic("SDC321", headline, span))
        return out, found

    def _unpriced(self, weights: np.ndarray) -> np.ndarray:
        """What hiding a cell costs where no statement says it: its value, so that totals are dear. In tables of counts,
        where the value says how many it is about, and in JJ files, which have weights, each cell costs the same."""
        out = weights.copy()
        for view, table in zip(self.views, self.cells.tables, strict=False):
            if table.given is None and not counts_contributors(self.policy.tables[table.name]):
                out[view.cells] = np.abs(self.a[view.cells])
        return out

    def _requirements(self, required: list[AttackerLevels]) -> list[Diagnostic]:
        """`require` must hold for the levels of every attacker in every sensitive cell it speaks of."""
        out = []
        for fact in self.policy.facts_of(d.Require):
            for one in required:
                broken: list[int] = []
                for view in self.views:
                    if not view.has(fact.condition) or not view.has(fact.where):
                        continue
                    local = np.flatnonzero(self.sensitive[view.cells] & (view.cells < self.late))
                    true, unknown = Evaluator(view, local).holds(fact.where)
                    local = local[true | unknown]  # in doubt it is required
                    more = {level: one.amounts[level][view.cells[local]] for level in LEVELS}
                    holds, _ = Evaluator(view, local, more).holds(fact.condition)
                    broken += [int(c) for c in view.cells[local[~holds]]]
                if broken:
                    out.append(self._broken(fact, one.attacker, sorted(set(broken))))
        return out

    def _broken(self, fact: d.Require, attacker: str, cells: list[int]) -> Diagnostic:
        condition = expression(fact.condition)
        return diagnostic(
            "SDC324",
            f"{naming.cells(cells)} of `{self.protect.name}` without the required {condition}",
            fact.span,
            fact.because,
            notes=[f"against {attacker}: {first_cells(cells, self.label)}"],
        )

    # ---- pairs -----------------------------------------------------------------------------------------

    def _pairs(self, known: list[Knowledge], required: list[AttackerLevels]) -> tuple[PairBuilder, list[Diagnostic]]:
        asking = np.any([amount > 0 for level in required for amount in level.amounts.values()], axis=0)
        cells = np.flatnonzero(self.sensitive | asking)  # conditional levels speak of others, too
        marked = self.sensitive[cells]
        stated = marked & (cells < self.late)
        out = PairBuilder(self.sensitive, self.unions.extended(self.cells.relations))
        found: list[Diagnostic] = []
        covered = np.zeros(self.n, dtype=bool)
        for one, level in zip(known, required, strict=True):
            amounts = {name: level.amounts[name][cells] for name in LEVELS}
            some = np.sum(list(amounts.values()), axis=0) > 0
            covered[cells[some]] = True
            below, above = self.a[cells] - one.low[cells], one.high[cells] - self.a[cells]
            given_away, problems = self._known(one, level, cells[stated & some])
            found += problems
            # A conditional level that cannot be had forbids no more than touching the cell.
            asking_for = stated & ~given_away[cells]
            for name, slack in (("lpl", below), ("upl", above)):
                found += self._impossible(level, name, cells, np.where(asking_for, amounts[name], 0.0), slack)
            listed = 0 if out.by_families(one, cells, amounts) else len(one.members) * int(some.sum())
            if out.size + listed > MOST_PAIRS:
                headline = f"more than {MOST_PAIRS:,} pairs of attackers and sensitive cells"
                help = "narrow the attackers: each unit where contribution >= 5% of value"
                return out, [diagnostic("SDC327", headline, self.protect.heading, help=help)]
            out.add(one, cells, amounts, self.a)
        bare = cells[~covered[cells] & stated]
        if len(bare):
            headline = f"a level of zero against everybody for {len(bare):,} sensitive {naming.noun(bare)}"
            help = "give such cells a level: lpl max(needed, 10% of value)"
            found.append(
                diagnostic("SDC330", headline, self.protect.heading, notes=[first_cells(bare, self.label)], help=help)
            )
        if out.cut or out.dropped:
            counts = f"{out.cut:,} cut to what their own part leaves, {out.dropped:,} dropped"
            headline = f"levels against contributors: {counts}"
            notes = [
                "who contributes nearly all of a cell knows it nearly exactly, and who contributes all of it knows it:",
                "nothing that is published or hidden changes that",
            ]
            found.append(diagnostic("SDC332", headline, self.protect.heading, notes=["\n".join(notes)]))
        return out, found

    def _known(self, one: Knowledge, level: AttackerLevels, cells: np.ndarray) -> tuple[np.ndarray, list[Diagnostic]]:
        """Of sensitive cells with a level, those that a `knows` statement gives away: no release hides them."""
        known, out = np.zeros(self.n, dtype=bool), []
        for fact in one.known_before:
            chosen = cells[fact.cells[cells] & ~known[cells]]
            known[chosen] = True
            if not len(chosen):
                continue
            headline = f"attacker `{one.name}` knows {naming.cells(chosen)} exactly that must stay uncertain"
            notes = [first_cells(chosen, self.label), f"{fact.why}: nothing that is published or hidden changes that"]
            help = f"leave out `knows {fact.what}` if they do not know that much, or require nothing in these cells"
            found = diagnostic("SDC337", headline, fact.span, "known from here", notes=notes, help=help)
            by = {int(b): None for name in LEVELS for b in level.spans[name][chosen] if b >= 0}
            for statement in by:
                found = found.mark(level.statements[statement], "requires uncertainty about it")
            out.append(found)
        return known, out

    def _impossible(
        self, level: AttackerLevels, name: str, cells: np.ndarray, amount: np.ndarray, slack: np.ndarray
    ) -> list[Diagnostic]:
        tolerance = ROUNDING * np.maximum(np.abs(self.a[cells]), amount)
        bad = np.flatnonzero(amount > slack + tolerance)
        out = []
        for statement in np.unique(level.spans[name][cells[bad]]):
            chosen = bad[level.spans[name][cells[bad]] == statement]
            span: Span | None = level.statements[statement] if statement >= 0 else None

            def asks(i: int) -> str:
                want, left = secret(f"{amount[i]:g}"), secret(f"{slack[i]:g}")
                return f"{self.label(int(cells[i]))} requires {want}, the bounds leave {left}"

            allowed = f"the bounds of attacker `{level.attacker}` allow in {naming.cells(chosen)}"
            headline = f"`{name}` requires more than {allowed}"
            out.append(diagnostic("SDC320", headline, span or self.protect.heading, notes=[first_cells(chosen, asks)]))
        return out

    # ---- the dataset --------------------------------------------------------------------------------------

    def _dataset(self, fixed: np.ndarray, costs: dict[str, np.ndarray], pairs: PairBuilder) -> xr.Dataset:
        made = self.unions.extended(self.cells.relations)
        status = np.full(self.n, "s", dtype="<U1")
        status[: self.base][self.marks.status == "suppress"] = "m"
        status[fixed] = "z"
        status[self.sensitive] = "u"
        lb, ub = self._own_bounds()
        published = np.ones(self.n, dtype=bool)
        published[self.base :] = False
        return xr.Dataset(
            {
                "a": ("cell", self.a),
                "lb": ("cell", lb),
                "ub": ("cell", ub),
                **{letter: ("cell", values) for letter, values in costs.items()},
                "status": ("cell", status),
                "needed_lower": ("cell", self.lower),
                "needed_upper": ("cell", self.upper),
                "published": ("cell", published),
                "coefficient": ("entry", made.coefficient),
                "cell_of": ("entry", made.cell_of),
                "equation_of": ("entry", made.equation_of),
                "b": ("equation", made.rhs),
                **pairs.variables(),
            },
            attrs={
                "integer": int(all(t.integer for t in self.cells.tables)),
                "whole": int(all(t.whole for t in self.cells.tables)),
                "name": self.protect.name,
            },
        )

    def _own_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds that any published table keeps: a JJ file's, or at least zero where no value is negative."""
        lb = np.zeros(self.n) if (self.cells.a >= 0).all() else np.full(self.n, -np.inf)
        ub = np.full(self.n, np.inf)
        for view, table in zip(self.views, self.cells.tables, strict=False):
            if table.given is not None:
                lb[view.cells], ub[view.cells] = table.given.low, table.given.high
        return lb, ub

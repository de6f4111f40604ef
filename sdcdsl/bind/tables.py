"""The tables of a policy with their values, from wherever they come."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from sdcdsl.bind.coarser import PublishedCodes, ambiguous, projected, published, unchanged
from sdcdsl.bind.dimensions import bind_dimension
from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.from_cells import from_cells
from sdcdsl.bind.from_inline import from_inline
from sdcdsl.bind.from_jj import from_jj
from sdcdsl.bind.from_microdata import from_microdata
from sdcdsl.bind.hierarchy import DimensionCodes
from sdcdsl.bind.lattice import lattice
from sdcdsl.bind.magnitude import too_large
from sdcdsl.bind.naming import cells, first_cells
from sdcdsl.bind.options import option_values
from sdcdsl.bind.readers.parquet_records import UNREADABLE
from sdcdsl.bind.reading import read_by
from sdcdsl.bind.sources import Sources
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, has_errors
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.coarser import Groups, groups_of, level_of, recode_of
from sdcdsl.policy.meaning import keyed_noise
from sdcdsl.policy.resolve import Policy
from sdcdsl.vocabulary.formats import READERS, RECODES
from sdcdsl.vocabulary.quantities import QUANTITIES, ROLES


@dataclass
class Binding:
    """One policy meeting its data. Tables and dimensions are bound once, when first asked for."""

    policy: Policy
    places: FileLocations
    today: datetime.date
    sources: Sources = field(init=False)
    dimensions: dict[str, DimensionCodes | None] = field(default_factory=dict)
    tables: dict[str, BoundTable | None] = field(default_factory=dict)
    recodes: dict[tuple[str, str], tuple[Groups | None, list[Diagnostic]]] = field(default_factory=dict)
    published: dict[str, dict[str, None]] = field(default_factory=dict)  # codes that some table has, by dimension
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sources = Sources(self.policy, self.places)
        for table in self.policy.tables.values():
            self._ask(table)

    def table(self, name: str) -> BoundTable | None:
        if name not in self.tables:
            block = self.policy.tables[name]
            with np.errstate(over="ignore", invalid="ignore"):  # sums are looked at when all are there
                made, found = self._table(block)
            if made is not None and (said := block.last(d.Attribute)) is not None:
                made = replace(made, attributes=said.dimensions)
                found = [*found, *_no_counts(made, said)]
            if made is not None and not has_errors(found):
                found = [*found, *too_large(made, block)]
            self.diagnostics += found
            self.tables[name] = None if has_errors(found) else made
        return self.tables[name]

    # ---- what the tables will want from the data -------------------------------------------------

    def _ask(self, table: d.Block) -> None:
        origin = table.last(d.From)
        if origin is None or origin.data not in self.policy.data:
            return
        data = origin.data
        by = table.the(d.By)
        self.sources.ask(data, codes=[self.sources.column(data, name) for name in by.dimensions])
        for role in ("unit", "group", "request"):
            column = self.sources.declared(data, role)
            if column is not None and is_microdata(table):
                self.sources.ask(data, codes=[column])
        weight = self.sources.declared(data, "weight")
        key = self.sources.declared(data, "key")
        if key is not None and any(keyed_noise(self.policy, table.name)):
            self.sources.ask(data, numbers=[key])
        numbers = [s.column for s in table.all(d.Sum)] + [s.column for s in table.all(d.Count) if s.column]
        numbers += [s.column for s in table.all(d.ColumnOf) if s.quantity != "status"]
        self.sources.ask(data, numbers=[self.sources.column(data, name) for name in numbers])
        self.sources.ask(data, codes=[s.column for s in table.all(d.ColumnOf) if s.quantity == "status"])
        if weight is not None and is_microdata(table):
            self.sources.ask(data, numbers=[weight])
        self.sources.ask(data, numbers=[self.sources.column(data, v) for v in self.variables(data)])
        for only in table.all(d.Only):
            codes, figures = columns_of_records(only.where, by.dimensions)
            self.sources.ask(
                data, [self.sources.column(data, c) for c in codes], [self.sources.column(data, c) for c in figures]
            )

    def variables(self, data: str) -> list[str]:
        """Columns that some expression of the policy uses by name."""
        used = {e.name for e in _expressions(self.policy) if isinstance(e, x.Name)}
        roles = [c.role for c in self.policy.data[data].all(d.Column) if c.rank is None]
        taken = {*QUANTITIES, *ROLES, *self.policy.dimensions}
        return [r for r in roles if r in used and r not in taken]

    # ---- tables ------------------------------------------------------------------------------------

    def _table(self, block: d.Block) -> tuple[BoundTable | None, list[Diagnostic]]:
        try:
            return self._made(block)
        except UNREADABLE:
            file = self._read_late(block)
            if file is None:
                raise
            headline = f"cannot read {file.path}: it is not a whole {READERS[file.format].about} file"
            return None, [diagnostic("SDC302", headline, file.span)]

    def _read_late(self, block: d.Block) -> d.FileReference | None:
        """The file of a table, if its rows are read when they are needed: a damaged page shows only now."""
        source = block.last(d.From)
        file = self.policy.data[source.data].the(d.Origin).file if source is not None else None
        return file if file is not None and READERS[file.format].late else None

    def _made(self, block: d.Block) -> tuple[BoundTable | None, list[Diagnostic]]:
        origin = block.last(d.Origin)
        if origin is not None:
            return from_jj(block, origin, self.places)
        chosen, found = self._codes(block)
        if chosen is None or has_errors(found):
            return None, found
        place = block.heading or FilePlace(f"table {block.name}")
        cells, more = lattice([one.codes for one in chosen], place=place)
        found = found + more
        if cells is None:
            return None, found
        if is_microdata(block):
            variables = self.variables(block.the(d.From).data)
            table, more = from_microdata(self.policy, block, cells, chosen, self.sources, self.today, variables)
            return table, found + more
        whole, more = lattice([one.whole or one.codes for one in chosen], place=place)
        if whole is None:
            return None, found + more
        values = block.last(d.Values)
        if values is not None:
            table, more = from_inline(self.policy, block, values, whole)
        else:
            table, more = from_cells(block, whole, self.sources, self.variables(block.the(d.From).data))
        if table is not None and any(one.moves for one in chosen):
            table = projected(table, cells)
        return table, found + more

    def _codes(self, block: d.Block) -> tuple[list[PublishedCodes] | None, list[Diagnostic]]:
        """The codes of the table's dimensions, as it publishes them."""
        by = block.the(d.By)
        found: list[Diagnostic] = []
        chosen: list[PublishedCodes] = []
        for name in by.dimensions:
            if name not in self.dimensions:
                dimension, problems = bind_dimension(
                    self.policy.dimensions[name], self.places, lambda name=name: self._leaves(block, name)
                )
                found += problems
                self.dimensions[name] = dimension
            bound = self.dimensions[name]
            if bound is not None:
                shown, problems = self._published(block, bound)
                found += problems
                if shown is not None:
                    self.published.setdefault(name, {}).update(dict.fromkeys(shown.codes.codes))
                    chosen.append(shown)
        return (chosen if len(chosen) == len(by.dimensions) else None), found

    def _published(self, block: d.Block, dimension: DimensionCodes) -> tuple[PublishedCodes | None, list[Diagnostic]]:
        level, recode = level_of(block, dimension.name), recode_of(block, dimension.name)
        if level is None and recode is None:
            return unchanged(dimension), []
        groups, found = self._groups(block, dimension)
        if groups is None:
            return None, found
        span = recode.span if recode is not None else block.the(d.By).span
        others = {
            other.name: self._groups(other, dimension)[0] or ()
            for other in self.policy.tables.values()
            if other is not block and any(dimension.name in by.dimensions for by in other.all(d.By))
        }
        made, problems = published(dimension, level, groups, span)
        problems += ambiguous(dimension, block.name, groups, others, span)
        if made is not None and made.whole is None and not is_microdata(block):
            headline = f"table `{block.name}` was made elsewhere: a new code cannot have the name of one it replaces"
            problems.append(diagnostic("SDC152", headline, span))
        return (None if has_errors(problems) else made), found + problems

    def _groups(self, block: d.Block, dimension: DimensionCodes) -> tuple[Groups | None, list[Diagnostic]]:
        """What the table merges, from the policy or from a file."""
        recode = recode_of(block, dimension.name)
        if recode is None or recode.file is None:
            return groups_of(recode), []
        key = block.name, dimension.name
        if key not in self.recodes:
            self.recodes[key] = self._from_file(recode.file, f"{block.name}.{dimension.name}", dimension)
            return self.recodes[key]
        return self.recodes[key][0], []

    def _from_file(
        self, file: d.FileReference, name: str, dimension: DimensionCodes
    ) -> tuple[Groups | None, list[Diagnostic]]:
        path, missing = self.places.find(name, file.path, file.span)
        if path is None:
            return None, missing
        options = option_values(file.options, RECODES[file.format].options)
        tree = dimension.trees[0]
        leaves = tuple(code for code, leaf in zip(tree.codes, tree.is_leaf, strict=True) if leaf)
        return read_by(RECODES, file.format, tuple, file.span, path, leaves, tree.codes, options)

    def _leaves(self, block: d.Block, dimension: str) -> tuple[str, ...]:
        """The codes that the data has, for hierarchies made of prefixes."""
        origin = block.last(d.From)
        if origin is None:
            return ()
        records, found = self.sources.records(origin.data)
        self.diagnostics += found
        if records is None:
            return ()
        column = self.sources.column(origin.data, dimension)
        total = self.policy.dimensions[dimension].last(d.Total)
        codes = records.frame.select(pl.col(column).unique()).collect(engine="streaming")[column]
        codes = codes.drop_nulls().sort().to_list()
        return tuple(c for c in codes if total is None or c != total.code.text)


def _no_counts(table: BoundTable, said: d.Attribute) -> list[Diagnostic]:
    """People are counted in whole numbers, and none of them is below zero."""
    odd = np.flatnonzero((table.value < 0) | (table.value != np.round(table.value)))
    if not len(odd):
        return []
    headline = f"table `{table.name}` has an attribute, and is no table of counts: {cells(odd)} with another value"
    return [diagnostic("SDC338", headline, said.span, notes=[first_cells(odd, table.label)])]


def is_microdata(table: d.Block) -> bool:
    return bool(table.all(d.Sum)) or any(c.column is None for c in table.all(d.Count))


def _expressions(policy: Policy) -> Iterator[x.Located]:
    """All expressions over cells; `only where` is about records."""
    for blocks in policy.blocks.values():
        for block in blocks.values():
            yield from x.walk(tuple(s for s in block.statements if not isinstance(s, d.Only)))
    yield from x.walk(policy.facts)


def columns_of_records(where: x.Expression, dimensions: Sequence[str]) -> tuple[set[str], set[str]]:
    """Columns that a condition on records reads: as codes beside texts and names, as numbers otherwise."""
    codes: set[str] = set()
    numbers: set[str] = set()
    for e in x.walk(where):
        match e:
            case x.Member(name) | x.Under(name):
                codes.add(name)
            case x.Compare("=" | "!=", x.Name(name), x.Name()):
                codes.add(name)  # `region = R11`: a column and a code of it
            case x.Compare(_, left, right):
                texts = any(isinstance(side, x.Text) for side in (left, right))
                for side in (left, right):
                    for inner in x.walk(side):
                        if isinstance(inner, x.Name):
                            (codes if texts or inner.name in dimensions else numbers).add(inner.name)
    return codes - set(dimensions), numbers - codes - set(dimensions)

"""The data of a policy, read once for all tables that use it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import polars as pl

from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.options import encoding_of, option_values
from sdcdsl.bind.readers.argus_data import read_argus_data
from sdcdsl.bind.readers.csv_records import read_csv
from sdcdsl.bind.readers.parquet_records import read_parquet
from sdcdsl.bind.readers.partitions import Read, read_several
from sdcdsl.bind.readers.rda import read_rda
from sdcdsl.bind.readers.records import ColumnSelection, Records
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, did_you_mean
from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy
from sdcdsl.vocabulary.plugins import find_reader

SUFFIX = {"csv": ".csv", "parquet": ".parquet"}  # of files that a folder gives


@dataclass
class Sources:
    """Reads each data block once, with every column any table asks for."""

    policy: Policy
    places: FileLocations
    asked: dict[str, tuple[set[str], set[str]]] = field(default_factory=dict)  # data -> code and number columns
    read: dict[str, tuple[Records | None, list[Diagnostic]]] = field(default_factory=dict)

    def column(self, data: str, name: str) -> str:
        """The column of the file for a role, a dimension or a variable: as declared, or of the same name."""
        for column in self.policy.data[data].all(d.Column):
            if column.role == name and column.rank is None:
                return column.column
        return name.rpartition(".")[2]  # a dimension of a used file: the file that holds the column knows no prefix

    def declared(self, data: str, role: str) -> str | None:
        return next((c.column for c in self.policy.data[data].all(d.Column) if c.role == role and c.rank is None), None)

    def ask(self, data: str, codes: Iterable[str] = (), numbers: Iterable[str] = ()) -> None:
        texts, figures = self.asked.setdefault(data, (set(), set()))
        texts.update(codes)
        figures.update(numbers)

    def records(self, data: str) -> tuple[Records | None, list[Diagnostic]]:
        """The records; what is wrong with them is said once, however many tables they feed."""
        if data not in self.read:
            records, found = self._records(data)
            nameless = [] if records is None else self._nameless(data, records)
            self.read[data] = records, [*found, *nameless]
            return self.read[data]
        return self.read[data][0], []

    def _nameless(self, data: str, records: Records) -> list[Diagnostic]:
        """Records that say neither unit nor group, where the policy says which column has the unit: they may be several
        of one contributor, and no rule would see it."""
        declared = {c.role: c for c in self.policy.data[data].all(d.Column) if c.role in ("unit", "group")}
        there = records.frame.collect_schema().names()
        if "unit" not in declared or any(c.column not in there for c in declared.values()):
            return []
        missing = pl.all_horizontal(pl.col(c.column).is_null() for c in declared.values()).sum()
        number = int(records.frame.select(missing).collect(engine="streaming").item())
        if not number:
            return []
        headline = (
            f"{number:,} record{'s say' if number > 1 else ' says'} no unit in column `{declared['unit'].column}`"
        )
        notes = ["each counts as a contributor of its own, whoever it belongs to"]
        return [diagnostic("SDC335", headline, declared["unit"].span, notes=notes)]

    def _records(self, data: str) -> tuple[Records | None, list[Diagnostic]]:
        origin = self.policy.data[data].the(d.Origin)
        file = origin.file
        codes, numbers = self.asked[data]
        options = option_values(file.options, _described(file.format))
        if file.format == "argus":
            path, missing = self.places.find(data, file.path, file.span)
            return self._argus(path, options, origin, data) if path is not None else (None, missing)
        paths, missing = self.places.find_all(data, file.path, file.span, SUFFIX[file.format])
        if not paths:
            return None, missing
        both = codes & numbers
        if both:
            headline = f"column `{sorted(both)[0]}` is used both as codes and as numbers"
            return None, [diagnostic("SDC306", headline, origin.span)]
        decimal, missing_word = options.get("decimal", "."), options.get("missing", "")
        asked = ColumnSelection(sorted(codes), sorted(numbers), decimal, (missing_word,) if missing_word else ())
        if file.format == "parquet":
            read: Read = read_parquet
        else:
            delimiter, encoding = options.get("delimiter"), encoding_of(options)
            read = partial(read_csv, delimiter=delimiter, encoding=encoding)
        if len(paths) == 1 and paths[0].name == Path(self.places.called(data, file.path)).name:
            return read(paths[0], asked)
        return read_several(
            paths, self.places.called(data, file.path), asked, read, self.places.folder_of(data, file.path)
        )

    def _argus(self, path: Path, options: dict, origin: d.Origin, data: str) -> tuple[Records | None, list[Diagnostic]]:
        if options["metadata"] is None:
            headline = "τ-ARGUS data needs its metadata file"
            return None, [diagnostic("SDC314", headline, origin.span, help='argus "x.asc" { metadata "x.rda" }')]
        described, missing = self.places.find(f"{path.stem}.rda", options["metadata"], origin.span)
        if described is None:
            return None, missing
        # Metadata of a table may hold no word that only tables have; then the policy tells.
        tables = [t for t in self.policy.tables.values() if any(f.data == data for f in t.all(d.From))]
        ready_made = any(s.quantity == "value" for t in tables for s in t.all(d.ColumnOf))
        metadata, found = read_rda(described, is_table=True if ready_made else None, encoding=encoding_of(options))
        if metadata is None:
            return None, found
        known = [v.name for v in metadata.variables]
        codes, numbers = self.asked[data]
        for column in sorted(codes | numbers):
            if column not in known:
                label = did_you_mean(column, known)
                place = FilePlace(str(described))
                found.append(diagnostic("SDC303", f"there is no variable `{column}`", place, label))
        if found:
            return None, found
        who = {c.column for c in self.policy.data[data].all(d.Column) if c.role in ("unit", "group")}
        return read_argus_data(path, metadata, contributors=who, encoding=encoding_of(options))


def _described(format: str) -> type:
    reader = find_reader(format)
    assert reader is not None, format
    return reader.options


def collected(records: Records) -> pl.DataFrame:
    return records.frame.collect(engine="streaming")

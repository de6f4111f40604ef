"""The data of a policy, read once for all tables that use it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from sdcdsl.bind.file_locations import Content, FileLocations
from sdcdsl.bind.options import option_values
from sdcdsl.bind.readers.content_digest import content_digest
from sdcdsl.bind.readers.file_kinds import another_kind, format_of
from sdcdsl.bind.readers.frames import read_frame
from sdcdsl.bind.readers.partitions import read_several
from sdcdsl.bind.readers.records import ColumnSelection, Reading, Records, malformed
from sdcdsl.bind.reading import read_by, unusable_reader
from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy
from sdcdsl.vocabulary.formats import READERS, Reader


@dataclass
class Sources:
    """Reads each data block once, with every column any table requires."""

    policy: Policy
    places: FileLocations
    columns: dict[str, tuple[set[str], set[str]]] = field(default_factory=dict)  # data -> code and number columns
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
        texts, figures = self.columns.setdefault(data, (set(), set()))
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
        reader, name = READERS[file.format], self.places.called(data, file.path)
        frame = self.places.frames.get(data)
        paths, missing = self._files(data, file, reader) if frame is None else ([], [])
        if missing:
            return None, missing
        codes, numbers = self.columns[data]
        both = codes & numbers
        if both:
            headline = f"column `{sorted(both)[0]}` is used both as codes and as numbers"
            return None, [diagnostic("SDC306", headline, origin.span)]
        options = option_values(origin.file.options, reader.options)
        if reader.no_file and paths and (other := READERS.get(format_of(paths[0]) or "")) is not None:
            reader, options = other, option_values((), other.options)  # a file instead of what is none
        decimal, missing_word = options.get("decimal", "."), options.get("missing", "")
        selection = ColumnSelection(sorted(codes), sorted(numbers), decimal, (missing_word,) if missing_word else ())
        reading = self._reading(data, origin, options)
        if frame is not None:
            return self._noted(data, "a data frame", *read_frame(frame, f"the data frame {data}", selection), selection)
        if not paths:
            made = read_data(reader, file.path, selection, reading)
            return self._noted(data, f"{reader.name} {file.path}", *made, selection)

        def read(path: Path, selection: ColumnSelection) -> tuple[Records | None, list[Diagnostic]]:
            if (other := another_kind(path, reader.name, reader.holds, origin.span)) is not None:
                return None, [other]
            return read_data(reader, path, selection, reading)

        if len(paths) == 1 and (reader.suffix is None or paths[0].name == Path(name).name):
            made = read(paths[0], selection)
            return (
                self._noted(data, f"{reader.name} {paths[0].name}", *made, selection)
                if reader.digest_of_records
                else made
            )
        return read_several(paths, name, selection, read, self.places.folder_of(data, file.path))

    def _noted(
        self, data: str, origin: str, records: Records | None, found: list[Diagnostic], selection: ColumnSelection
    ) -> tuple[Records | None, list[Diagnostic]]:
        """Of records that no file holds, the lock has the digest."""
        if records is not None:
            self.places.note(data, Content(origin, content_digest(records.frame, sorted(selection.columns))))
        return records, found

    def _files(self, data: str, file: d.FileReference, reader: Reader) -> tuple[list[Path], list[Diagnostic]]:
        """None and nothing said: the format needs no file."""
        if reader.no_file and data not in self.places.instead:
            return [], []
        if reader.suffix is not None:
            return self.places.find_all(data, file.path, file.span, reader.suffix)
        path, missing = self.places.find(data, file.path, file.span)
        return [path] if path is not None else [], missing

    def _reading(self, data: str, origin: d.Origin, options: dict[str, Any]) -> Reading:
        block = self.policy.data[data]
        tables = [t for t in self.policy.tables.values() if any(f.data == data for f in t.all(d.From))]
        return Reading(
            options,
            origin.span,
            lambda what, path: self.places.find(what, path, origin.span),
            frozenset(c.column for c in block.all(d.Column) if c.role in ("unit", "group")),
            any(s.quantity == "value" for t in tables for s in t.all(d.ColumnOf)),
        )


def read_data(
    reader: Reader, path: Path | str, selection: ColumnSelection, reading: Reading
) -> tuple[Records | None, list[Diagnostic]]:
    """The records of one file. Those of somebody else's reader are looked at before anybody relies on their form."""
    records, found = read_by(READERS, reader.name, Records, reading.span, path, selection, reading)
    if not READERS.is_plugin(reader.name) or records is None or (wrong := malformed(records, selection)) is None:
        return records, found
    return None, [*found, unusable_reader(reader.name, wrong, reading.span)]


def collected(records: Records) -> pl.DataFrame:
    return records.frame.collect(engine="streaming")

"""Data of SDMX as records, one for each observation: SDMX-CSV 1.0 and 2.0; SDMX-ML, structure-specific (2.1, 3.0) and
generic (2.1).

In SDMX-ML what a data set or a series says holds for each of its observations. What groups say is not read. Columns
have the identifiers of the components; the figure of a generic message is OBS_VALUE.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from sdcdsl.bind.readers.csv_records import read_csv
from sdcdsl.bind.readers.csv_text import find_header
from sdcdsl.bind.readers.file_kinds import kind_of
from sdcdsl.bind.readers.records import ROW, ColumnSelection, Reading, Records, missing_columns, records_of
from sdcdsl.bind.readers.text_files import unopenable
from sdcdsl.bind.readers.wording import clip
from sdcdsl.bind.readers.xml_events import NAMESPACE, Refused, read_xml
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic
from sdcdsl.ordinary_files import open_ordinary

LARGEST = 1 << 34  # bytes of a message: it is read in pieces, and only the columns of the policy are held
BATCH = 1 << 18
HEAD = 1 << 16
_MESSAGES = (
    "StructureSpecificData",
    "StructureSpecificTimeSeriesData",
    "GenericData",
    "GenericTimeSeriesData",
)
_FIRST_COLUMNS = ("DATAFLOW", "STRUCTURE")
_VALUE, _TIME = "OBS_VALUE", "TIME_PERIOD"
Answer = tuple[Records | None, list[Diagnostic]]


def read_sdmx_data(path: Path, selection: ColumnSelection, reading: Reading) -> Answer:
    return _from_xml(path, selection) if kind_of(path) == "xml" else _from_csv(path, selection, reading)


# ---- SDMX-CSV --------------------------------------------------------------------------------------------------


def _from_csv(path: Path, selection: ColumnSelection, reading: Reading) -> Answer:
    name = str(path)
    names, found = _columns(path)
    if found:
        return None, found
    if names and names[0] not in _FIRST_COLUMNS:
        headline = f"{name} is no SDMX-CSV: its first column is `{clip(names[0])}`, not DATAFLOW or STRUCTURE"
        return None, [diagnostic("SDC302", headline, FilePlace(name, line=1), help=f'csv "{path.name}"')]
    acted = "ACTION" in names and "ACTION" not in selection.columns
    wanted = ColumnSelection(
        [*selection.codes, "ACTION"] if acted else selection.codes,
        selection.numbers,
        selection.decimal,
        selection.missing,
    )
    records, found = read_csv(path, wanted)
    if records is None or "ACTION" not in names:
        return records, found
    gone = records.frame.filter(pl.col("ACTION") == "D").select(ROW).head(1).collect()[ROW].to_list()
    if gone:
        return None, [_deleting(name, records.place(gone[0], "ACTION"))]
    return Records(name, records.frame.drop("ACTION") if acted else records.frame, records.lines), []


def _columns(path: Path) -> tuple[list[str], list[Diagnostic]]:
    """Of SDMX-CSV: plain UTF-8 with a comma. What is packed or damaged is said by those who read it."""
    if problems := unopenable(path):
        return [], problems
    with open_ordinary(path) as file:
        head = file.read(HEAD).decode("utf-8-sig", errors="replace")
    try:
        header = find_header(head, (), ",") if "\0" not in head else None
    except csv.Error:
        header = None
    return [name.partition("[")[0] for name in header.names] if header is not None else [], []


def _deleting(name: str, place: FilePlace) -> Diagnostic:
    headline = f"{name} says which observations go, and not only which there are"
    return diagnostic("SDC302", headline, place, "its action is to delete", help="ask for the data set as it is")


# ---- SDMX-ML ---------------------------------------------------------------------------------------------------


def _from_xml(path: Path, selection: ColumnSelection) -> Answer:
    name, message = str(path), _Message(selection.columns)
    if found := read_xml(path, message.start, message.end, LARGEST):
        return None, found
    if message.deleted is not None:
        return None, [_deleting(name, FilePlace(name, line=message.deleted))]
    if missing := missing_columns(sorted(message.known), name, selection):
        return (None, missing) if message.count else (None, [_no_observations(name)])
    frame = message.frame().with_row_index(ROW, offset=1)
    return records_of(frame.lazy(), name, selection) if message.count else (None, [_no_observations(name)])


def _no_observations(name: str) -> Diagnostic:
    return diagnostic("SDC308", f"{name} has no observations", FilePlace(name))


class _Message:
    """What the elements of a message say, put together to one record for each observation."""

    def __init__(self, columns: Iterable[str]):
        self.columns = list(columns)
        self.known: set[str] = set()
        self.count = 0
        self.deleted: int | None = None  # the line of a data set that says what to delete
        self._root = ""
        self._across = _TIME  # the dimension of the observations in a series, of a generic message
        self._set: dict[str, str] = {}
        self._series: dict[str, str] = {}
        self._record: dict[str, str] | None = None
        self._into: dict[str, str] | None = None  # where a `Value` of a generic message belongs
        self._held: dict[str, list[str | None]] = {name: [] for name in self.columns}
        self._parts: list[pl.DataFrame] = []
        self._in_group = False

    def start(self, tag: str, attributes: dict[str, str], line: int) -> None:
        if not self._root:
            self._root = tag
            if tag not in _MESSAGES:
                raise Refused(f"it is no data message of SDMX: its root is `{clip(tag)}`")
        match tag:
            case "Structure" if "dimensionAtObservation" in attributes:
                self._across = attributes["dimensionAtObservation"]
            case "DataSet":
                self._set, self._series = self._said(attributes), {}
                action = next((v for k, v in attributes.items() if k.rpartition(NAMESPACE)[2] == "action"), "")
                self.deleted = line if action in ("Delete", "D") else self.deleted
            case "Series":
                self._series = self._said(attributes)
            case "Group":
                self._in_group = True
            case "Obs":
                self._record = {**self._set, **self._series, **self._said(attributes)}
            case "SeriesKey" | "Attributes" | "ObsKey" if not self._in_group:
                self._into = self._series if self._record is None else self._record
            case "ObsDimension" if self._record is not None:
                self._record[attributes.get("id", self._across)] = attributes.get("value", "")
            case "ObsValue" if self._record is not None:
                self._record[_VALUE] = attributes.get("value", "")
            case "Value" if self._into is not None:
                self._into[attributes.get("id", "")] = attributes.get("value", "")

    def end(self, tag: str, text: str) -> None:
        match tag:
            case "Series":
                self._series = {}
            case "Group":
                self._in_group = False
            case "SeriesKey" | "Attributes" | "ObsKey":
                self._into = None
            case "Obs" if self._record is not None:
                self._observed(self._record)
                self._record = None

    def _said(self, attributes: dict[str, str]) -> dict[str, str]:
        return {name: value for name, value in attributes.items() if NAMESPACE not in name}

    def _observed(self, record: dict[str, str]) -> None:
        self.count += 1
        self.known.update(record)
        for name, held in self._held.items():
            held.append(record.get(name))
        if self.count % BATCH == 0:
            self._parts.append(self._batch())

    def _batch(self) -> pl.DataFrame:
        # Without a column to read, a record still counts.
        rows = next((len(held) for held in self._held.values()), self.count)
        columns = {name: pl.Series(name, held, dtype=pl.String) for name, held in self._held.items()}
        self._held = {name: [] for name in self.columns}
        return pl.DataFrame(columns) if columns else pl.DataFrame({"": pl.zeros(rows, eager=True)})

    def frame(self) -> pl.DataFrame:
        return pl.concat([*self._parts, self._batch()])

"""The same few records as CSV and in the formats of other programs, written by their libraries."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyreadstat
import xlsxwriter

FRAME = pl.DataFrame(
    {
        "id": ["a", "b", "c", "d", "e", "f"],
        "nace": [4711, 4711, 4712, 4712, 10, 10],
        "region": ["Øst", "N", "Øst", "N", "Øst", "N"],
        "turnover": [10.5, 3.0, 8.0, None, 2.0, 0.25],
    }
)


def workbook(path: Path, sheet: str = "Data", above: int = 0, frame: pl.DataFrame = FRAME, about: bool = True) -> None:
    with xlsxwriter.Workbook(path) as book:
        if about:
            book.add_worksheet("About").write(0, 0, "what this is")
        page = book.add_worksheet(sheet)
        for column, name in enumerate(frame.columns):
            page.write(above, column, name)
            for row, value in enumerate(frame[name].to_list(), above + 1):
                if value is not None:
                    page.write(row, column, value)


def _zstd(text: bytes) -> bytes:
    return pa.compress(text, codec="zstd", asbytes=True)


def write(folder: Path, format: str) -> str:
    """Writes the records, and says how a policy names them."""
    text = FRAME.write_csv().encode()
    match format:
        case "csv":
            (folder / "d.csv").write_bytes(text)
            return 'csv "d.csv"'
        case "gzip":
            (folder / "d.csv.gz").write_bytes(gzip.compress(text))
            return 'csv "d.csv.gz"'
        case "zstd":
            (folder / "d.csv.zst").write_bytes(_zstd(text))
            return 'csv "d.csv.zst"'
        case "excel":
            workbook(folder / "d.xlsx")
            return 'excel "d.xlsx" { sheet "Data" }'
        case "spss":
            pyreadstat.write_sav(FRAME.cast({"nace": pl.Float64}), folder / "d.sav")
            return 'spss "d.sav"'
        case "stata":
            pyreadstat.write_dta(FRAME, folder / "d.dta")
            return 'stata "d.dta"'
        case "sas":
            pyreadstat.write_xport(FRAME.cast({"nace": pl.Float64}), folder / "d.xpt")
            return 'sas "d.xpt"'
        case "parquet":
            FRAME.write_parquet(folder / "d.parquet")
            return 'parquet "d.parquet"'
    raise ValueError(format)


FORMATS = ("csv", "gzip", "zstd", "excel", "spss", "stata", "sas", "parquet")

"""A release for τ-ARGUS: the table (codes ; value ; status), its metadata (`.rda`) and its hierarchies (`.hrc`).

The value is `x` where a cell is hidden and `5..30` where an interval is published; the status is S with a figure and U
without, whether the cell is sensitive or only hides one. Counts, costs, largest contributions and levels, which τ-ARGUS
puts behind them, are no part of a release.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.readers.hrc import hrc_text
from sdcdsl.bind.table import BoundTable
from sdcdsl.pattern import Pattern
from sdcdsl.released.columns import code_columns, written_columns
from sdcdsl.released.frame import FIGURES, bound_table, release_frame, texts
from sdcdsl.released.write import csv_bytes

SEPARATOR, SAFE, UNSAFE, HIDDEN = ";", "S", "U", "x"


def write_release_argus(
    problem: TableProblem, pattern: Pattern, table: str, path: Path, *, decimals: int | None = None
) -> None:
    """The files that describe the table lie beside it: `files_beside`."""
    bound = bound_table(problem, table)
    frame = release_frame(problem, pattern, table, decimals)
    value, low, high = (texts(frame[name].to_numpy()) for name in FIGURES)
    interval = frame["status"] == "interval"
    shown = value.is_not_null() & ~interval
    said = pl.select(
        pl.when(interval).then(_end(low) + ".." + _end(high)).when(shown).then(value).otherwise(pl.lit(HIDDEN))
    ).to_series()
    status = pl.Series(np.where(shown.to_numpy(), SAFE, UNSAFE))
    codes = [frame[name].alias(f"code {i}") for i, name in enumerate(written_columns(bound))]
    path.write_bytes(csv_bytes(pl.DataFrame([*codes, said.alias("value"), status.alias("status")]), SEPARATOR, False))
    hierarchies = dict(_hierarchies(bound, path))
    for file, text in hierarchies.values():
        file.write_bytes(text.encode())
    places = _decimals(value.to_list())
    path.with_suffix(".rda").write_bytes(_metadata(bound, hierarchies, places).encode())


def files_beside(path: Path, dimensions: list[str]) -> list[Path]:
    """What may be written beside a table: its metadata, and a hierarchy for each dimension that has one."""
    return [path.with_suffix(".rda"), *(_hierarchy_file(path, name) for name in dimensions)]


def _end(figure: pl.Series) -> pl.Series:
    """Open ends are left out."""
    return figure.fill_null("").replace(["inf", "-inf"], ["", ""])


def _hierarchy_file(path: Path, dimension: str) -> Path:
    return path.with_name(f"{path.stem}-{dimension}.hrc")


def _hierarchies(table: BoundTable, path: Path) -> Iterator[tuple[str, tuple[Path, str]]]:
    """Of dimensions with more than one level. τ-ARGUS knows one tree a dimension, and sums only."""
    for dimension in table.lattice.dimensions if table.lattice is not None else ():
        tree = dimension.trees[0]
        text, problems = hrc_text(tree)
        if tree.level.max() > 2 and text is not None and not problems:
            yield dimension.name, (_hierarchy_file(path, dimension.name), text)


def _metadata(table: BoundTable, hierarchies: dict[str, tuple[Path, str]], decimals: int) -> str:
    lines = [f'<SEPARATOR> "{SEPARATOR}"', f'<SAFE> "{SAFE}"', f'<UNSAFE> "{UNSAFE}"', '<PROTECT> "P"']
    totals = {dim.name: dim.total for dim in table.lattice.dimensions} if table.lattice is not None else {}
    for name, written in zip(code_columns(table), written_columns(table), strict=True):
        lines += [_word(written), "  <RECODEABLE>"]
        if name in totals:
            lines.append(f"  <TOTCODE> {_quoted(totals[name])}")
        if name in hierarchies:
            file = hierarchies[name][0].name
            lines += ["  <HIERARCHICAL>", f"  <HIERCODELIST> {_quoted(file)}", '  <HIERLEADSTRING> "@"']
    lines += ["value", "  <NUMERIC>", f"  <DECIMALS> {decimals}", "status", "  <STATUS>"]
    return "\n".join(lines) + "\n"


def _word(name: str) -> str:
    """A name of a variable, without what ends a word there."""
    return re.sub(r"[^\w]", "_", name)


def _quoted(text: str) -> str:
    """τ-ARGUS has no way to write a quote or a line break between quotes."""
    return '"' + re.sub(r'["\r\n]', "_", text) + '"'


def _decimals(figures: list[str | None]) -> int:
    return max((len(f.partition(".")[2]) for f in figures if f is not None and "e" not in f), default=0)

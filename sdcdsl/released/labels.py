"""Labels beside codes in a released table: a column after each dimension that has them, one for each language."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sdcdsl.bind.hierarchy import DimensionCodes
from sdcdsl.bind.table import BoundTable
from sdcdsl.released.columns import written_columns


def with_labels(
    frame: pl.DataFrame, bound: BoundTable, languages: Sequence[str] | None
) -> tuple[pl.DataFrame, list[str]]:
    """The frame with the labels asked for, and the names of their columns. Codes without a label have none there.

    `languages`: () for the one that the policy names first, None for no labels at all.
    """
    if languages is None or bound.lattice is None:
        return frame, []
    order: list[str] = []
    made: dict[str, pl.Series] = {}
    for column, dimension in zip(written_columns(bound), bound.lattice.dimensions, strict=True):
        order.append(column)
        for language in languages or (None,):
            words = labels_in(dimension, language)
            if words is None:
                continue
            name = f"{column}_label" if len(languages) < 2 else f"{column}_label_{language}"
            while name in frame.columns or name in made:
                name += "_"
            made[name] = frame[column].replace_strict(words, default=None, return_dtype=pl.String)
            order.append(name)
    others = [name for name in frame.columns if name not in order]
    return frame.with_columns(series.alias(name) for name, series in made.items()).select(*order, *others), list(made)


def labels_in(dimension: DimensionCodes, language: str | None) -> dict[str, str] | None:
    """None where the dimension has no labels in the language."""
    if not dimension.labels:
        return None
    words = dimension.language(language)
    return None if words is None else {code: words[code] for code in dimension.codes if code in words}

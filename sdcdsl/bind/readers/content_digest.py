"""The digest of records that no file holds: of what was read, whatever library or database it came from.

For each column its kind, whether there is an entry, and the entries: texts with their lengths, numbers as 64 bits.
How the rows were cut into batches makes no difference; their order does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import polars as pl

BATCH = 1 << 19


def content_digest(frame: pl.LazyFrame, columns: Sequence[str]) -> str:
    """sha256 of columns of texts and of Float64."""
    parts = {name: _Column(name) for name in columns}
    if columns:
        for batch in frame.select(columns).collect_batches(chunk_size=BATCH, maintain_order=True, engine="streaming"):
            for name, part in parts.items():
                part.add(batch[name])
    whole = hashlib.sha256()
    for part in parts.values():
        whole.update(part.digest())
    return whole.hexdigest()


class _Column:
    def __init__(self, name: str):
        self.name = name
        self.there, self.lengths, self.entries = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
        self.kind = ""

    def add(self, series: pl.Series) -> None:
        self.kind = str(series.dtype)
        self.there.update(_bytes(series.is_not_null().to_numpy()))
        if series.dtype == pl.String:
            self.lengths.update(_bytes(series.str.len_bytes().fill_null(0).to_numpy()))
            self.entries.update((series.str.join("").item() or "").encode())
        else:
            self.entries.update(_bytes(series.cast(pl.Float64).fill_null(0.0).to_numpy()))

    def digest(self) -> bytes:
        made = hashlib.sha256(f"{self.name}\0{self.kind}\0".encode())
        for part in (self.there, self.lengths, self.entries):
            made.update(part.digest())
        return made.digest()


def _bytes(array: np.ndarray) -> memoryview:
    return np.ascontiguousarray(array).data.cast("B")

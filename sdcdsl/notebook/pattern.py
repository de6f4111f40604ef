"""What is released, as a value to look at."""

from __future__ import annotations

import numpy as np
import polars as pl
import xarray as xr

from sdcdsl import pattern as raw
from sdcdsl.bind.problem import TableProblem
from sdcdsl.notebook import html
from sdcdsl.notebook.labelled import labelled
from sdcdsl.pattern.digest import digest
from sdcdsl.released.frame import FIGURES, WORDS, release_frame


class Pattern:
    """What a release says about every cell: `low`, `high`, `value` and `status` by the problem's cells."""

    def __init__(self, problem: TableProblem, pattern: raw.Pattern):
        self._problem, self.raw = problem, pattern

    @property
    def low(self) -> np.ndarray:
        return self.raw.low

    @property
    def high(self) -> np.ndarray:
        return self.raw.high

    @property
    def value(self) -> np.ndarray:
        return self.raw.value

    @property
    def status(self) -> np.ndarray:
        return self.raw.status

    @property
    def digest(self) -> str:
        """The same for the same release; a lock holds it."""
        return digest(self.raw)

    @property
    def counts(self) -> dict[str, int]:
        """Cells that are published, hidden, intervals or changed."""
        statuses = self.raw.status[self._problem.dataset["published"].values]
        return {word: int((statuses == letter).sum()) for letter, word in WORDS.items() if (statuses == letter).any()}

    def table(self, name: str | None = None) -> pl.DataFrame:
        """One table as its file would have it: codes, value, low, high, status."""
        tables = [t.name for t in self._problem.tables]
        chosen = name if name is not None else tables[0]
        if chosen not in tables:
            raise KeyError(f"no table {chosen} in {self._problem.name}; there are {', '.join(tables)}")
        frame = release_frame(self._problem, self.raw, chosen)
        return frame.with_columns(pl.col(name).fill_nan(None) for name in FIGURES)

    def array(self, name: str | None = None) -> xr.Dataset:
        """One table by its dimensions, whose coordinates are the codes: value, low, high and status."""
        frame = self.table(name)
        return labelled(frame.drop((*FIGURES, "status")), frame.select([*FIGURES, "status"]))

    def __repr__(self) -> str:
        return f"<pattern of {self._problem.name}: {self._counted()}>"

    def _counted(self) -> str:
        return ", ".join(f"{number:,} {word}" for word, number in self.counts.items())

    def _repr_html_(self) -> str:
        parts = [html.heading(self._problem.name, "; ".join([self._counted(), *self.raw.about]))]
        for bound in self._problem.tables:
            frame = self.table(bound.name)
            if len(self._problem.tables) > 1:
                parts.append(html.heading(bound.name))
            parts.append(html.table(frame.columns, frame.head(html.MOST_ROWS).rows(), len(frame)))
        return "".join(parts)

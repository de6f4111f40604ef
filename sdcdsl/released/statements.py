"""What somebody says about a released file: what is published beside the table, and how the file is laid out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Format = Literal["csv", "parquet", "sdmx", "argus", "sdctable", "jj", "excel", "cross_table", "pivot", "code_value"]
Absent = Literal["error", "hidden", "zero"]


@dataclass(frozen=True)
class PublishedStatements:
    """What readers of the table are told about how its figures were changed: at most one of the three forms."""

    base: float | None = None  # controlled rounding: every rounded figure is a multiple of it, less than it away
    deviation: float | None = None  # no figure is further than this from the truth
    alpha: float | None = None  # enhanced CTA: no sensitive cell moved by more than this share …
    beta: float | None = None  # … and no other cell by more than that
    hidden_words: tuple[str, ...] = ()  # that mean "hidden" in this file, beside the usual ones

    def __post_init__(self) -> None:
        if (self.alpha is None) != (self.beta is None):
            raise ValueError("alpha and beta are published together")
        if sum(x is not None for x in (self.base, self.deviation, self.alpha)) > 1:
            raise ValueError("a table is published with a base, a largest deviation, or alpha and beta")
        if self.base is not None and not self.base > 0:
            raise ValueError("a rounding base is above zero")
        if any(x is not None and not x >= 0 for x in (self.deviation, self.alpha, self.beta)):
            raise ValueError("deviations are not below zero")

    @property
    def says_something(self) -> bool:
        return any(x is not None for x in (self.base, self.deviation, self.alpha))


@dataclass(frozen=True)
class Layout:
    """How the files are written, where it cannot be seen from them. None: it is found out."""

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)  # a dimension, `value` or `status` -> the file's column

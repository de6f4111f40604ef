"""The shape of a sparse matrix: scipy declares it of an unknown type, which may be None."""

from __future__ import annotations

from typing import Any


def shape(matrix: Any) -> tuple[int, int]:
    rows, columns = matrix.shape
    return rows, columns

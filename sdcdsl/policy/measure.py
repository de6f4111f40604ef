"""What tables measure: those of one measure hold the same figures wherever their codes are the same (S24)."""

from __future__ import annotations

from sdcdsl.policy import document as d
from sdcdsl.policy.write import expression


def measure_of(block: d.Block) -> str:
    """What makes cells of two tables the same quantity: the declared measure, or the column of the same data."""
    said = block.last(d.Measure)
    if said is not None:
        return f"measure {said.name}"
    quantity = quantity_of(block)
    if quantity is None:
        return f"table {block.name}"
    records = " and ".join(expression(only.where) for only in block.all(d.Only))  # other records, another quantity
    return f"{quantity} {records}"


def quantity_of(block: d.Block) -> str | None:
    """The column of which data, whatever records and whatever the measure is called; None if it is from no data."""
    origin, total = block.last(d.From), block.last(d.Sum)
    if origin is not None and total is not None:
        return f"sum of {total.column} in {origin.data}"
    if origin is not None and any(c.column is None for c in block.all(d.Count)):
        return f"count of {origin.data}"
    return None

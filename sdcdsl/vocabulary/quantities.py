"""The names that expressions may use, and in which statements each has a meaning."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType

from sdcdsl.record import Record, record


class Place(StrEnum):
    """The kinds of statement an expression can stand in, as a message would name them."""

    SELECT = "a condition on cells"
    LEVEL = "a level"
    CONDITIONAL = "a level of cells that are not sensitive"
    COST = "a cost"
    BOUNDS = "the bounds of an attacker"
    EACH = "the choice of an `each` attacker"
    OPTION = "an option"
    REQUIRE = "a requirement"
    RECORDS = "a condition on records"


_CELL = frozenset(Place) - {Place.RECORDS}


@record
class Quantity(Record):
    name: str
    about: str
    places: frozenset[Place] = _CELL


QUANTITIES: MappingProxyType[str, Quantity] = MappingProxyType(
    {
        q.name: q
        for q in (
            Quantity("value", "the cell's true value"),
            Quantity("count", "how many contributors it has"),
            Quantity("weight", "the weight the data gives it"),
            Quantity(
                "needed",
                "the level given by what marked the cell",
                frozenset({Place.LEVEL, Place.COST, Place.OPTION, Place.REQUIRE}),
            ),
            Quantity("contribution", "the contributor's own part", frozenset({Place.EACH})),
            Quantity("lpl", "the lower protection level", frozenset({Place.REQUIRE, Place.OPTION})),
            Quantity("upl", "the upper protection level", frozenset({Place.REQUIRE, Place.OPTION})),
            Quantity("spl", "the sliding protection level", frozenset({Place.REQUIRE, Place.OPTION})),
        )
    }
)


# What an attacker may be said to know besides the bounds.
KNOWLEDGE = MappingProxyType(
    {
        "own contribution": "its own part of every cell it contributes to",
        "zeros": "which cells are zero",
        "counts": "how many contributors each cell has",
    }
)
ROLES = MappingProxyType(
    {
        "unit": "who contributes",
        "group": "whom the contributor belongs to; a group counts as one",
        "weight": "how many the record stands for",
        "status": "what is known about the record or cell",
        "key": "the record's key for random noise, from 0 on and below 1",
        "request": "whether the contributor asked for protection",
    }
)

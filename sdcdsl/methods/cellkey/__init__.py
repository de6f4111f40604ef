"""The cell key method: counts with noise that is the same wherever the same people are counted."""

from __future__ import annotations

from sdcdsl.record import record
from sdcdsl.vocabulary.methods import Limits, Method
from sdcdsl.vocabulary.option import Kind, option


@record
class CellKeyOptions(Limits):
    deviation: int | None = option(Kind.WHOLE, "how far a count may move", None, least=1)
    variance: float | None = option(Kind.NUMBER, "of the noise, the same for every count", None, least=0)
    smallest: int = option(Kind.WHOLE, "no smaller count than this is published, except zero", 1, least=1)
    ptable: str | None = option(Kind.TEXT, "a file with the probabilities, instead of these three", None)
    secret_file: str | None = option(Kind.TEXT, "a file with the secret that record keys are made from", None)
    secret_variable: str | None = option(Kind.TEXT, "the same from a variable of the environment", None)
    additive: bool = option(Kind.FLAG, "the closest table that adds up is published", False)


METHOD = Method(
    "cellkey",
    "noise drawn by the keys of the records in a cell",
    "the counts with noise, and what is known about it",
    "Fraser and Wooton 2005",
    CellKeyOptions,
    aliases=("cell_key",),
    adjusts=True,
    random_noise=True,
    lacks=("gap", "threads", "unions"),
    solve="sdcdsl.methods.cellkey.perturbing:solve",
)

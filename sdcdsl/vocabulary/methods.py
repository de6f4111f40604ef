"""What a method is, for the `protect` block that names it: one record in `sdcdsl/methods/NAME/__init__.py` each.

The papers: 000 interval protection and its relatives, 001 ECTA, 002 disclosure risk of adjusted tables, 003 the unified
framework for several attackers, 004 continuous CTA (`docs/papers.md` gives the references).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from types import MappingProxyType
from typing import Any

from sdcdsl.record import Record, record
from sdcdsl.registry import Registry, unloadable
from sdcdsl.vocabulary.backends import BACKENDS, DEFAULT
from sdcdsl.vocabulary.option import Kind, no_options, option


@record
class Limits(Record):
    """What every method takes."""

    gap: float = option(Kind.SHARE, "stop when the result is proven to be within this share of the best", "0%", least=0)
    time_limit: float = option(
        Kind.DURATION, "stop after this time with the best valid result found", "10 min", least=0
    )
    threads: int | None = option(Kind.WHOLE, "how many processor cores to use", None, least=1)
    backend: str = option(Kind.CHOICE, "which solver to use", DEFAULT, choices=BACKENDS)
    unions: str = option(Kind.CHOICE, "also protect sensitive sums of hidden cells", "on", choices=("on", "off"))


@record
class ProblemCounts(Record):
    """What the size of a model depends on."""

    cells: int
    free: int  # cells that need not be published as they are
    relations: int
    pairs: int  # of attacker and sensitive cell
    sensitive: int


@record
class ModelSize(Record):
    variables: int  # of the paper's model in full
    constraints: int
    kept: str  # what the solvers hold, where a search adds rows as they are needed


def with_witnesses(of: ProblemCounts, variables: int, constraints: int, kept: str) -> ModelSize:
    """With two witness tables for every pair: the lowest and the highest value of the cell that stay possible."""
    rows = of.relations + 2 * of.cells
    return ModelSize(2 * of.pairs * of.cells + variables, 2 * of.pairs * rows + constraints, kept)


def mixture_sizes(of: ProblemCounts) -> ModelSize:
    """Of the model of several forms of publication, which rounding and perturbation share (paper 000)."""
    kept = f"{2 * of.free:_} variables, {of.relations:_} relations and cuts"
    return with_witnesses(of, 2 * of.free, of.relations + of.pairs, kept)


@record
class Method(Record):
    name: str
    about: str
    publishes: str
    paper: str
    options: type
    aliases: tuple[str, ...] = ()  # the full word beside the acronym; either may be written
    adjusts: bool = False  # publishes changed values, so that `assess` makes sense
    stochastic: bool = False  # needs a seed
    parts: tuple[str, ...] = ()  # options that divide the cells among them
    exact: bool = False  # searches for the best release, which may take days
    intervals: bool = False  # publishes intervals around the value, whose midpoint may give it away
    traceable: bool = False  # safe only while the attacker does not know how the table was made
    random_noise: bool = False  # readers know how likely each deviation is: what is possible is not all they know
    conditional: bool = False  # knows levels of cells that are not sensitive, should it touch them
    lacks: tuple[str, ...] = ()  # options of all methods that mean nothing to this one (SDC147)
    excludes: tuple[tuple[str, str], ...] = ()  # an option, and one that means nothing beside it (SDC147)
    model: str | None = None  # "module" or "module:object" that defines it (`methods.definition`)
    accelerator: str | None = None  # "module:function" of a search for solutions of that model
    model_up_to: int = 0  # entries of witness tables up to which the model alone is at least as fast: it comes first
    accelerator_backends: Collection[str] = (DEFAULT,)  # those it solves by; for others the model is solved
    solve: Callable[..., Any] | str | None = None  # the function itself or "module:function", if it has no model
    solve_with: tuple[tuple[str, str], ...] = ()  # options that change the model, and what solves it
    sizes: Callable[[ProblemCounts], ModelSize] | None = None  # how large the model is, for `plan`

    def incomplete(self) -> str | None:
        if not (self.model or self.accelerator or self.solve):
            return "it is described and has no implementation: give `model`, `accelerator` or `solve`"
        wrong = no_options(self.options)
        for reference in (self.model, self.accelerator, self.solve):
            wrong = wrong or (unloadable(reference) if reference is not None else None)
        return wrong


METHODS = Registry("methods", Method)


def method_names() -> list[str]:
    """All names that methods have, the acronym and the full word of one beside each other."""
    return [name for method in METHODS.values() for name in (method.name, *method.aliases)]


@record
class ExperimentOptions(Record):
    """What `assess` takes."""

    replications: int = option(Kind.WHOLE, "how many random attackers to try", 10, least=1)
    delta: float = option(Kind.SHARE, "how far off the attacker's guess of a level may be", "20%", least=0)
    norm: str = option(
        Kind.CHOICE, "the norm that is minimised; L2 if it is the method's own", "L1", choices=("L1", "L2")
    )
    soft: float = option(Kind.NUMBER, "penalty of soft constraints where the attack is infeasible", 1000, least=0)


@record
class PeriodOptions(Record):
    """What `period` takes."""

    discount: float = option(
        Kind.SHARE, "how much cheaper it is to hide what was hidden in the period before", "50%", least=0, most=100
    )


@record
class Experiment(Record):
    name: str
    about: str
    paper: str = "002 §3–5"


_EXPERIMENTS = (
    Experiment("B1", "the attacker knows which cells are sensitive, and guesses levels and senses"),
    Experiment("B2", "the attacker knows the senses, and guesses the levels"),
    Experiment("B3", "the attacker knows the senses and the levels"),
    Experiment("C", "the attacker knows the senses, the levels and all bounds, and guesses the weights"),
)
EXPERIMENTS: MappingProxyType[str, Experiment] = MappingProxyType({e.name: e for e in _EXPERIMENTS})

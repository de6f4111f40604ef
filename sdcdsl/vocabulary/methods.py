"""The methods a `protect` block may name, and the options of each.

The papers: 000 interval protection and its relatives, 001 ECTA, 002 disclosure risk of adjusted tables, 003 the unified
framework for several attackers, 004 continuous CTA (`docs/papers.md` gives the references).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from sdcdsl.record import Record, record
from sdcdsl.vocabulary.option import Kind, option


@record
class Limits(Record):
    """What every method takes."""

    gap: Any = option(Kind.SHARE, "stop when the result is proven to be within this share of the best", "0%", least=0)
    time_limit: Any = option(Kind.DURATION, "stop after this time with the best valid result found", None, least=0)
    threads: Any = option(Kind.WHOLE, "how many processor cores to use", None, least=1)
    backend: Any = option(Kind.CHOICE, "which solver to use", "highs", choices=("highs", "scip"))
    unions: Any = option(
        Kind.CHOICE, "also protect sums of hidden cells that give somebody away together", "on", choices=("on", "off")
    )


@record
class CspOptions(Limits):
    cap_hidden: Any = option(Kind.WHOLE, "hide at most this many cells", None, least=0)
    previous: Any = option(Kind.TEXT, "last period's released file: cells hidden there are cheaper to hide again", None)
    previous_discount: Any = option(Kind.SHARE, "how much cheaper they are", "50%", least=0, most=100)


@record
class IpOptions(Limits):
    min_width: Any = option(Kind.AMOUNT, "an interval that is used is at least this wide", None)
    cap_width: Any = option(Kind.AMOUNT, "no interval is wider than this", None)
    cap_intervals: Any = option(Kind.WHOLE, "publish at most this many intervals", None, least=0)
    avoid_centre: Any = option(Kind.FLAG, "move the ends of intervals so that the midpoint is not the value", False)
    previous: Any = option(
        Kind.TEXT, "last period's released file: cells touched there are cheaper to touch again", None
    )
    previous_discount: Any = option(Kind.SHARE, "how much cheaper they are", "50%", least=0, most=100)


@record
class CtaOptions(Limits):
    norm: Any = option(Kind.CHOICE, "how deviations are added up", "L1", choices=("L1", "L2", "Linf", "L1L2"))
    sense: Any = option(
        Kind.CHOICE,
        "which way sensitive cells move",
        "free",
        choices=("free", "up", "down", "keyed"),
        where=True,
    )
    adjust: Any = option(Kind.RANGE, "how far a cell may move, down .. up", None)
    keep_totals: Any = option(Kind.FLAG, "publish the totals as they are", False, where=True)
    integer: Any = option(Kind.FLAG, "publish whole numbers", False)
    omega1: Any = option(Kind.NUMBER, "weight of the L1 part (norm L1L2)", 1, least=0)
    omega2: Any = option(Kind.NUMBER, "weight of the L2 part (norm L1L2)", 1, least=0)
    squared: Any = option(Kind.CELLS, "the cells of the L2 part (norm L1L2)", None)
    soft_totals: Any = option(Kind.NUMBER, "let totals move at this penalty when nothing else works", None, least=0)


@record
class EctaOptions(Limits):
    alpha: Any = option(
        Kind.SHARE, "how far a sensitive value may be from the true one, as a share of it", "30%", least=0, most=100
    )
    beta: Any = option(Kind.SHARE, "the largest relative deviation of the other cells", None, least=0)
    tries: Any = option(Kind.WHOLE, "how many random tables to try", 50, least=1)
    fix_at_a_time: Any = option(Kind.WHOLE, "how many cells to fix after a failed audit", 1, least=1)
    sensitive_free: Any = option(Kind.FLAG, "leave sensitive cells free inside their interval", False)
    norm: Any = option(Kind.CHOICE, "how deviations are added up", "Linf", choices=("L1", "L2", "Linf"))


@record
class RoundingOptions(Limits):
    base: Any = option(Kind.AMOUNT, "round to multiples of this")
    steps: Any = option(Kind.WHOLE, "how many multiples away a cell may go", 0, least=0)


@record
class PerturbOptions(Limits):
    range: Any = option(Kind.RANGE, "how far a cell may move, down .. up")
    end: Any = option(
        Kind.CHOICE,
        "which end of its range a sensitive cell takes",
        "free",
        choices=("free", "low", "high"),
        where=True,
    )
    cap_changed: Any = option(Kind.WHOLE, "change at most this many cells", None, least=0)


@record
class CombinedOptions(Limits):
    exact: Any = option(Kind.CELLS, "cells published as they are", None)
    suppress: Any = option(Kind.CELLS, "cells that may be hidden", None)
    interval: Any = option(Kind.CELLS, "cells that may be published as an interval", None)
    perturb: Any = option(Kind.AMOUNT_CELLS, "cells that may be changed by at most this", None)
    round: Any = option(Kind.AMOUNT_CELLS, "cells that are rounded to multiples of this", None)
    cap_hidden: Any = option(Kind.WHOLE, "hide at most this many cells", None, least=0, where=True)
    cap_intervals: Any = option(Kind.WHOLE, "publish at most this many intervals", None, least=0, where=True)
    cap_changed: Any = option(Kind.WHOLE, "change at most this many cells", None, least=0, where=True)
    min_width: Any = option(Kind.AMOUNT, "an interval that is used is at least this wide", None)
    cap_width: Any = option(Kind.AMOUNT, "no interval is wider than this", None)


@record
class Method(Record):
    name: str
    about: str
    publishes: str
    paper: str
    options: type
    adjusts: bool = False  # publishes changed values, so that `assess` makes sense
    stochastic: bool = False  # needs a seed
    parts: tuple[str, ...] = ()  # options that divide the cells among them
    exact: bool = False  # searches for the best release, which may take days
    intervals: bool = False  # publishes intervals around the value, whose midpoint may give it away
    traceable: bool = False  # safe only while the attacker does not know how the table was made
    conditional: bool = False  # knows levels of cells that are not sensitive, should it touch them
    lacks: tuple[str, ...] = ()  # options of all methods that mean nothing to this one (SDC147)


_ALL = (
    Method(
        "csp",
        "cell suppression",
        "the table with some cells hidden",
        "003 §3",
        CspOptions,
        exact=True,
        conditional=True,
    ),
    Method(
        "ip",
        "interval protection",
        "the table with intervals for some cells",
        "000, 003 §4",
        IpOptions,
        exact=True,
        intervals=True,
        conditional=True,
        lacks=("threads",),
    ),
    Method(
        "cta",
        "controlled tabular adjustment",
        "the closest safe table",
        "004, 000 §2.2",
        CtaOptions,
        adjusts=True,
        traceable=True,
        lacks=("threads",),
    ),
    Method(
        "ecta",
        "enhanced controlled tabular adjustment",
        "an adjusted table with the widths α and β",
        "001 §III",
        EctaOptions,
        adjusts=True,
        stochastic=True,
        lacks=("gap", "threads"),
    ),
    Method(
        "rounding",
        "controlled rounding",
        "the table in multiples of a base",
        "003 §5",
        RoundingOptions,
        adjusts=True,
        exact=True,
        conditional=True,
        lacks=("threads",),
    ),
    Method(
        "perturb",
        "cell perturbation",
        "the table with some cells changed",
        "003 §6",
        PerturbOptions,
        adjusts=True,
        exact=True,
        conditional=True,
        lacks=("threads",),
    ),
    Method(
        "combined",
        "several forms of publication in one table",
        "exact, hidden, interval, changed and rounded cells",
        "003 §7",
        CombinedOptions,
        parts=("exact", "suppress", "interval", "perturb", "round"),
        exact=True,
        conditional=True,
        lacks=("threads",),
    ),
)
METHODS: MappingProxyType[str, Method] = MappingProxyType({m.name: m for m in _ALL})


@record
class ExperimentOptions(Record):
    """What `assess` takes."""

    replications: Any = option(Kind.WHOLE, "how many random attackers to try", 10, least=1)
    delta: Any = option(Kind.SHARE, "how far off the attacker's guess of a level may be", "20%", least=0)
    norm: Any = option(
        Kind.CHOICE, "the norm that is minimised; L2 if it is the method's own", "L1", choices=("L1", "L2")
    )
    soft: Any = option(Kind.NUMBER, "penalty of soft constraints where the attack is infeasible", 1000, least=0)


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

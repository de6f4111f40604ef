"""What a policy requires in `assess`."""

from __future__ import annotations

from typing import Any

from sdcdsl.bind.options import option_values
from sdcdsl.policy import document as d
from sdcdsl.vocabulary.methods import ExperimentOptions

NORMS = ("L1", "L2")


def stated(protect: d.Block) -> tuple[tuple[str, ...], dict[str, Any]] | None:
    """Experiments and options, as `assess` takes them; None: the block requires no experiment.

    The norm of the method is no secret (paper 002, section 3): the attacker takes it unless the statement says another.
    """
    said = protect.last(d.Assess)
    if said is None:
        return None
    return tuple(dict.fromkeys(said.experiments)), stated_options(protect, said.options)


def stated_options(protect: d.Block, said: tuple[d.Option, ...] = ()) -> dict[str, Any]:
    options = option_values(said, ExperimentOptions)
    if not any(option.name == "norm" for option in said):
        options["norm"] = _norm_of_the_method(protect)
    return options


def _norm_of_the_method(protect: d.Block) -> str:
    chain = protect.last(d.MethodChain)
    for engine in chain.engines if chain is not None else ():
        for option in engine.options:
            word = getattr(option.values[0], "name", None) if option.name == "norm" and option.values else None
            if word in NORMS:
                return word
    return NORMS[0]

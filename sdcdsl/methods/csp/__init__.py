"""Cell suppression (paper 003 §3): which cells to hide, so that every sensitive one stays uncertain enough."""

from __future__ import annotations

from sdcdsl.record import record
from sdcdsl.vocabulary.methods import Limits, Method, ModelSize, ProblemCounts, with_witnesses
from sdcdsl.vocabulary.option import Kind, option


@record
class CspOptions(Limits):
    cap_hidden: int | None = option(Kind.WHOLE, "hide at most this many cells", None, least=0)
    previous: str | None = option(
        Kind.TEXT, "last period's released file: cells hidden there are cheaper to hide again", None
    )
    previous_discount: float = option(Kind.SHARE, "how much cheaper they are", "50%", least=0, most=100)


def sizes(of: ProblemCounts) -> ModelSize:
    return with_witnesses(of, of.free, of.pairs, f"{of.free:_} binaries and cuts")


METHOD = Method(
    "csp",
    "cell suppression",
    "the table with some cells hidden",
    "003 §3",
    CspOptions,
    aliases=("suppression",),
    exact=True,
    conditional=True,
    model="sdcdsl.methods.csp.model",
    accelerator="sdcdsl.accelerate.csp.driver:solve",
    accelerator_backends=("highs", "scip"),
    model_up_to=3_000,  # benchmarks/accelerators.py: two to five times as fast at up to 2 640 entries
    sizes=sizes,
)

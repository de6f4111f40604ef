"""Backends by name: our own, those of third parties (entry point group `sdcdsl.backends`), and every solver that linopy
knows."""

from __future__ import annotations

from importlib import metadata

from sdcdsl.diagnostics import did_you_mean
from sdcdsl.solve.backend import Backend, Refused

GROUP = "sdcdsl.backends"
DEFAULT = "highs"


def backend(name: str = DEFAULT) -> Backend:
    """The backend of this name, whether it is installed or not."""
    if name == "highs":
        from sdcdsl.solve.highs import Highs  # noqa: PLC0415

        return Highs()
    if name == "scip":
        from sdcdsl.solve.scip import Scip  # noqa: PLC0415

        return Scip()
    for entry in metadata.entry_points(group=GROUP, name=name):
        return entry.load()()
    from sdcdsl.solve.others import NAMES, ThroughLinopy  # noqa: PLC0415

    if name in NAMES:
        return ThroughLinopy(name)
    raise Refused(f"there is no backend `{name}`. {did_you_mean(name, known())}".strip())


def known() -> list[str]:
    from sdcdsl.solve.others import NAMES  # noqa: PLC0415

    theirs = sorted(entry.name for entry in metadata.entry_points(group=GROUP))
    return list(dict.fromkeys(["highs", "scip", *theirs, *NAMES]))


def missing(name: str) -> str | None:
    """Why a backend cannot be used here at all, in a sentence."""
    try:
        return backend(name).missing()
    except Refused as error:
        return str(error)

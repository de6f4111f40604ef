"""A language for protecting statistical tables before publication, and its compiler.

From Python: `sdcdsl.load("policy.sdc").protect()` (see `sdcdsl.notebook`). Reading a policy needs no data or solver
library, so these are loaded when they are required.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sdcdsl.version import __version__

if TYPE_CHECKING:
    from sdcdsl.notebook import (
        Attacker,
        Data,
        Dimension,
        File,
        Loaded,
        Method,
        Pattern,
        Policy,
        Problem,
        Protect,
        Protected,
        Refused,
        Run,
        Sensitive,
        Table,
        Verdict,
        load,
    )

__all__ = [
    "Attacker",
    "Data",
    "Dimension",
    "File",
    "Loaded",
    "Method",
    "Pattern",
    "Policy",
    "Problem",
    "Protect",
    "Protected",
    "Refused",
    "Run",
    "Sensitive",
    "Table",
    "Verdict",
    "__version__",
    "load",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from sdcdsl import notebook  # noqa: PLC0415

        return getattr(notebook, name)
    raise AttributeError(f"module 'sdcdsl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

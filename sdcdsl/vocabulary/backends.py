"""What a backend is, for the option `backend` that all methods take: one record each, beside the solver it names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sdcdsl.record import Record, record
from sdcdsl.registry import Registry, unloadable

DEFAULT = "highs"


@record
class Backend(Record):
    name: str
    about: str
    solver: Callable[[], Any] | str | None = None  # makes a solver (`sdcdsl.solve.backend`), or "module:class"

    def incomplete(self) -> str | None:
        if self.solver is None:
            return "it is described and has no implementation: give `solver`"
        return unloadable(self.solver)


BACKENDS = Registry("backends", Backend)

"""hide: a method with a model, here that of cell suppression, which is solved by the backend."""

from __future__ import annotations

from sdcdsl.methods.csp import CspOptions
from sdcdsl.vocabulary.methods import Method

METHOD = Method(
    "hide",
    "hiding cells by the model alone",
    "the table with some cells hidden",
    "003 §3",
    CspOptions,
    exact=True,
    model="sdcdsl.methods.csp.model",
)

"""Small tables are solved by the models of their methods; these are solved by what accelerates them, at any size."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from sdcdsl.methods import solving
from sdcdsl.vocabulary.methods import METHODS


@contextmanager
def by_search(most: int = 0) -> Iterator[None]:
    """No model is tried first, or only with so many entries at the most."""
    searching = {name: replace(method, model_up_to=most) for name, method in METHODS.built_in.items()}
    with patch.object(solving, "METHODS", searching):
        yield

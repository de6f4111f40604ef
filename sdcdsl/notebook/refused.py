"""What is raised where the command line would print diagnostics and stop."""

from __future__ import annotations

from collections.abc import Iterable

from sdcdsl.diagnostics import Diagnostic
from sdcdsl.diagnostics.diagnostic import for_reading
from sdcdsl.diagnostics.render import render


class Refused(Exception):
    """Says the same as the command line; `diagnostics` has it as values, `end` how the run ended."""

    def __init__(self, found: Iterable[Diagnostic], end: str = "the policy is wrong"):
        self.diagnostics = tuple(found)
        self.end = end
        super().__init__(f"{end}\n{render(for_reading(list(self.diagnostics)), 'text', colour=False)}".rstrip())

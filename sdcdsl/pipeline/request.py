"""What somebody asks the pipeline for, and how they are told about what goes on."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sdcdsl.bind.places import Noted
from sdcdsl.methods.result import Clock, Standing
from sdcdsl.policy.resolve import Policy


@dataclass(frozen=True)
class Request:
    policy: Policy
    source: Path  # of the policy, or the JJ file
    places: Noted
    day: datetime.date
    folder: Path  # where released files go
    block: str | None = None
    instead: Mapping[str, Any] = field(default_factory=dict)  # options that win over those of the policy
    certificate: Path | None = None

    @property
    def blocks(self) -> list[str]:
        return [self.block] if self.block is not None else list(self.policy.protects)


class Watch:
    """Told what goes on. This one does not care; the command line shows it and may set `clock.stop`."""

    def searching(self, block: str, method: str, clock: Clock) -> None:
        """A method starts; `clock` ends its search."""

    def standing(self, standing: Standing) -> None:
        """Where the search stands."""

    def auditing(self, block: str, done: int, total: int) -> None:
        """Pairs of attacker and cell that the audit has settled."""

    def assessing(self, block: str, done: int, total: int) -> None:
        """Attackers that have tried to undo an adjusted table."""

    @property
    def stopped(self) -> bool:
        """Somebody wants no further search; what was found is still audited and released."""
        return False

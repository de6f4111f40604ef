"""What the stages are required, and how somebody is told about what goes on."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.executing import cores
from sdcdsl.methods.checkpoint import EVERY
from sdcdsl.methods.result import Progress
from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy


@dataclass(frozen=True)
class Inputs:
    """A policy and where its data lie: what every stage that binds is given."""

    policy: Policy
    source: Path  # of the policy, or the JJ file
    places: RecordedLocations
    day: datetime.date  # to judge waivers by
    block: str | None = field(default=None, kw_only=True)

    @property
    def blocks(self) -> list[str]:
        return [self.block] if self.block is not None else list(self.policy.protects)


@dataclass(frozen=True)
class ProtectRequest(Inputs):
    """Of `protect`: also what is to be written, and how the work is to be done."""

    folder: Path  # where released files go
    instead: Mapping[str, Any] = field(default_factory=dict[str, Any])  # options that win over those of the policy
    certificate: Path | None = None
    report: Path | None = None
    public: bool = False  # the report is one without confidential numbers
    apart: bool = False  # `folder` is for files to publish: what is confidential goes below it
    lock: Path | None = None
    reviews: tuple[str, ...] = ()  # files for reviewers, by their names in the registry
    jobs: int = 0  # blocks that are searched side by side, where nobody says by whom; 0: as many as there are cores
    checkpoints: Path | None = None  # a folder: where long searches leave what they know
    every: float = EVERY  # seconds, so often
    resume: bool = False  # go on from what is there

    @property
    def side_by_side(self) -> int:
        return max(1, min(self.jobs or cores(), len(self.blocks)))


def writing_nothing(inputs: Inputs, blocks: Iterable[str] | None = None, **instead: Any) -> ProtectRequest:
    """What `protect` is required where only its releases are wanted: without files and experiments, so that what could
    not be written does not matter. `instead`: options that win over those of the policy."""
    chosen = {name: _bare(inputs.policy.protects[name]) for name in (inputs.blocks if blocks is None else blocks)}
    policy = replace(inputs.policy, blocks={**inputs.policy.blocks, "protect": chosen})
    given = {name: value for name, value in instead.items() if value is not None}
    return ProtectRequest(policy, inputs.source, inputs.places, inputs.day, inputs.source.parent, given)


def _bare(block: d.Block) -> d.Block:
    kept = tuple(s for s in block.statements if not isinstance(s, d.Assess | d.Release))
    return replace(block, statements=kept)


class Watch:
    """Told what goes on, by several threads if blocks are searched side by side. This one does not care; the command
    line shows it and may set `deadline.stop`."""

    def bound(self, problem: TableProblem) -> None:
        """A block has met its data."""

    def searching(self, block: str, method: str, deadline: Deadline) -> None:
        """A method starts; `deadline` ends its search."""

    def standing(self, block: str, standing: Progress) -> None:
        """Where the search stands."""

    def auditing(self, block: str, done: int, total: int) -> None:
        """Pairs of attacker and cell that the audit has settled."""

    def assessing(self, block: str, done: int, total: int) -> None:
        """Attackers that have tried to undo an adjusted table."""

    def ended(self, block: str, end: str) -> None:
        """A block is done, or nothing was found for it."""

    def stopped(self, block: str) -> bool:
        """Somebody wants no further search of this block; what was found is still audited and released."""
        return False

"""Where a release comes from: the policy, the files that were read for it, the programs that worked on it."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.policy.resolve import Policy
from sdcdsl.report.certificate import Input, inputs_of
from sdcdsl.version import __version__

# Whose versions can change a result.
LIBRARIES = ("numpy", "scipy", "polars", "highspy", "numba", "pyscipopt")


@dataclass(frozen=True, eq=False)
class Provenance:
    policy: Policy
    source: Path  # of the policy, or the JJ file
    files: tuple[Input, ...]  # that were read
    day: datetime.date  # by which waivers were judged
    options: Mapping[str, Any] = field(default_factory=dict)  # that won over those of the policy
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, policy: Policy, source: Path, places: RecordedLocations, day: datetime.date, options: Mapping[str, Any]
    ) -> Provenance:
        return cls(policy, source, inputs_of(source, policy, places), day, dict(options), versions())

    @property
    def inputs(self) -> list[dict[str, str]]:
        """what, name and sha256 of every file that was read."""
        return [file.entry() for file in self.files]

    @property
    def title(self) -> str:
        return self.policy.title or self.source.name


def versions() -> dict[str, str]:
    """Of this program, of Python and of the libraries that decide figures; without those that are not there."""
    found = {"sdcdsl": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found

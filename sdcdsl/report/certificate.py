"""The certificate of an audit, and the files that were read for it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sdcdsl.audit.certify import write_certificate
from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.ordinary_files import sha256
from sdcdsl.policy.resolve import Policy

__all__ = ["Input", "inputs_of", "sha256", "write_certificate"]


@dataclass(frozen=True)
class Input:
    """What was read: a file, or records that no file holds."""

    what: str  # policy, data NAME, dimension NAME, released TABLE
    path: Path | None
    sha256: str
    origin: str = ""  # of what is no file

    def entry(self) -> dict[str, str]:
        """For others: where it lies on this machine is nobody's business."""
        return {"what": self.what, "name": self.path.name if self.path else self.origin, "sha256": self.sha256}


def inputs_of(
    source: Path, policy: Policy, places: RecordedLocations, released: Mapping[str, Path] | None = None
) -> tuple[Input, ...]:
    """Every file with its digest: policies, data, and released tables by their names."""
    own = [] if source.suffix.lower() == ".jj" else policy.files
    out = [Input("policy", file.path, _of_text(file.path, file.parsed.source.text)) for file in own if not file.again]
    for name, path in places.read.items():
        out.append(Input(_what(name, policy), path, places.digests.get(path) or sha256(path)))
    for name, content in places.contents.items():
        out.append(Input(_what(name, policy), None, content.sha256, content.origin))
    return tuple(out + [Input(f"released {table}", path, sha256(path)) for table, path in (released or {}).items()])


def _what(name: str, policy: Policy) -> str:
    if name.startswith("previous "):
        return name
    name = name.partition(" ")[0]  # one of several files has its number behind it
    kinds = [kind for kind in ("data", "dimension", "table") if name.partition(".")[0] in policy.blocks[kind]]
    return f"{kinds[0]} {name}" if kinds else "data"


def _of_text(path: Path, text: str) -> str:
    """A policy from standard input has a text and no file."""
    return sha256(path) if path.is_file() else hashlib.sha256(text.encode()).hexdigest()

"""The certificate of an audit, with the digests of every file that was read for it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from sdcdsl.audit.certify import write_certificate
from sdcdsl.policy.resolve import Policy

__all__ = ["inputs_of", "write_certificate"]


def inputs_of(
    source: Path, policy: Policy, read: Mapping[str, Path], released: Mapping[str, Path] | None = None
) -> list[dict[str, str]]:
    """Every file with its digest. `read` is data, by the name of what it holds; `released` is by table."""
    own = [] if source.suffix.lower() == ".jj" else policy.files
    out = [_input("policy", file.path, file.parsed.source.text) for file in own if not file.again]
    out += [_input(_what(name, policy), path) for name, path in read.items()]
    return out + [_input(f"released {table}", path) for table, path in (released or {}).items()]


def _what(name: str, policy: Policy) -> str:
    if name.startswith("previous "):
        return name
    kinds = [kind for kind in ("data", "dimension", "table") if name.partition(".")[0] in policy.blocks[kind]]
    return f"{kinds[0]} {name}" if kinds else "data"


def _input(what: str, path: Path, text: str = "") -> dict[str, str]:
    """A policy from standard input has a text and no file."""
    content = path.read_bytes() if path.is_file() else text.encode()
    return {"what": what, "name": path.name, "sha256": hashlib.sha256(content).hexdigest()}

"""From a path to a checked policy: the stages of this room, named once and in order."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sdcdsl.diagnostics import Diagnostic, Source, in_reading_order
from sdcdsl.policy.checks import check
from sdcdsl.policy.files import File, load, load_source
from sdcdsl.policy.resolve import Policy, resolve


def read_policy(path: Path, name: str | None = None, allow_outside: bool = False) -> tuple[Policy, list[Diagnostic]]:
    files, found = load(path, name, allow_outside)
    return _checked(files, found)


def read_text(
    source: Source, path: Path, allow_outside: bool = False, others: Mapping[Path, str] | None = None
) -> tuple[Policy, list[Diagnostic]]:
    """A text that is at hand; `others`: texts of files it uses that are at hand, too, by their real paths."""
    files, found = load_source(source, path, allow_outside, others)
    return _checked(files, found)


def _checked(files: list[File], found: list[Diagnostic]) -> tuple[Policy, list[Diagnostic]]:
    policy, unresolved = resolve(files)
    return policy, in_reading_order([*found, *unresolved, *check(policy)])

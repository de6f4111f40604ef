"""A pair of policies that one word tells apart."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field

from tests.words.policies import FILES


@dataclass(frozen=True)
class Case:
    without: str
    given: str
    _: KW_ONLY
    by: str = "protect"
    files: dict[str, str] = field(default_factory=lambda: FILES)

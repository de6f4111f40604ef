"""The options of `method ecta` as numbers, with their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Settings:
    alpha: float
    cap: float  # the largest β that may be published: above 1 it says nothing more than 1 does
    most: float  # the largest share by which another cell may be moved: half of β (¶18), and all of it at most
    tries: int  # T
    at_a_time: int  # K
    free: bool  # sensitive cells are not held at their draws (¶22)
    norm: str


def settings_of(options: Mapping[str, Any]) -> Settings:
    def given(name: str, default: Any) -> Any:
        value = options.get(name)
        return default if value is None else value

    return Settings(
        float(given("alpha", 0.3)),
        min(float(given("beta", 1.0)), 1.0),
        min(float(given("beta", 2.0)) / 2, 1.0),
        int(given("tries", 50)),
        int(given("fix_at_a_time", 1)),
        bool(options.get("sensitive_free")),
        str(given("norm", "Linf")),
    )

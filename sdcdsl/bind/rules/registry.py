"""Rules by name, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np

from sdcdsl.bind.rules.cells import RuleCells


@dataclass(frozen=True, eq=False)
class Judgement:
    """Sensitive cells and the room each needs below and above its value; zero where not sensitive."""

    sensitive: np.ndarray  # bool [cell]
    lower: np.ndarray  # lpl asked for
    upper: np.ndarray  # upl asked for


@runtime_checkable
class Rule(Protocol):
    """Parameters are dataclass fields; `faults` says in words what is wrong with them."""

    name: ClassVar[str]

    @property
    def largest_needed(self) -> int:
        """How many largest contributions the rule looks at."""
        ...

    def faults(self) -> list[str]: ...

    def judge(self, cells: RuleCells) -> Judgement: ...


RULES: dict[str, type] = {}

T = TypeVar("T", bound=type)


def rule(cls: T) -> T:
    """Registers a rule under its class attribute `name`. Other names it goes by are the vocabulary's business."""
    assert cls.name not in RULES, f"two rules named {cls.name}"
    RULES[cls.name] = cls
    return cls


def faults_of_head_count(n: int, level: float) -> list[str]:
    """What can be wrong with a rule that counts contributors and states its level."""
    found = [] if n >= 1 else ["the smallest allowed number of contributors must be at least 1"]
    return found if level > 0 else [*found, "the level must be positive"]


def symmetric(level: np.ndarray) -> Judgement:
    """Sensitive where a level is asked for, as much below as above."""
    return Judgement(level > 0, level, level)


def marked(sensitive: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Judgement:
    return Judgement(sensitive, np.where(sensitive, lower, 0.0), np.where(sensitive, upper, 0.0))


def combined(judgements: Sequence[Judgement]) -> Judgement:
    """Sensitive by any of them, with the largest level any of them asks for."""
    return Judgement(
        np.logical_or.reduce([j.sensitive for j in judgements]),
        np.maximum.reduce([j.lower for j in judgements]),
        np.maximum.reduce([j.upper for j in judgements]),
    )

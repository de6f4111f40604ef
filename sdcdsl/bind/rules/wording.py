"""Figures in the sentences of rules, and what several of them check."""

from __future__ import annotations


def figure(x: float) -> str:
    return f"{float(x):.9g}"


def percent(share: float) -> str:
    return f"{100 * float(share):.3g} %"


def heads(number: int) -> str:
    return f"{int(number)} contributor{'' if int(number) == 1 else 's'}"


def faults_of_head_count(n: int, level: float) -> list[str]:
    """What can be wrong with a rule that counts contributors and states its level."""
    found = [] if n >= 1 else ["the smallest allowed number of contributors must be at least 1"]
    return found if level > 0 else [*found, "the level must be positive"]

"""What is released, and what can be read off it."""

from sdcdsl.pattern.pattern import (
    Pattern,
    adjusted,
    combined,
    ecta,
    ecta_of_the_paper,
    hidden,
    intervals,
    perturbed,
    rounded,
)

__all__ = [
    "Pattern",
    "adjusted",
    "combined",
    "ecta",
    "ecta_of_the_paper",
    "hidden",
    "intervals",
    "perturbed",
    "rounded",
]

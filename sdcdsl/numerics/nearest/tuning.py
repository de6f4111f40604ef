"""What the solvers of closest tables were tuned by: the tables of CSPLIB and cubes of up to a million cells (the suite
`cta` of the benchmarks)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LinearTuning:
    """L1 and L∞, by HiGHS."""

    patience: float = 30.0  # seconds of one algorithm before another is asked
    magnified: float = 2.0**17  # how many times larger reduced costs are when the same problem is asked again
    steady: float = 64.0  # units stay as they are while typical lengths and weights change by no more than this
    cuts: int = 200  # rounds of cuts on the maxima


@dataclass(frozen=True)
class InteriorTuning:
    """The interior point method, with directions or relations."""

    steps: int = 200
    back: float = 0.9995  # of the way to the nearest end
    least_centring: float = 1e-6  # of μ
    lost: int = 40  # steps that get no nearer
    large: int = 1000  # relations, from which looking for directions pays
    cells: int = 20_000  # beyond which it takes too long
    factors: int = 20_000  # relations, beyond which factors take too long and too much memory
    refined_relations: int = 3  # corrections of a step
    refined_directions: int = 2
    directions: int = 2500  # a dense factor of more takes too long
    numbers: float = 2.0e7  # of the basis of directions while it is made


@dataclass(frozen=True)
class NewtonTuning:
    """Newton's method on the dual."""

    steps: int = 600
    stuck: int = 16  # steps without better residuals, after which there are better ways
    stuck_while_tied: int = 120
    first_tie: float = 10.0  # how far the first step may go where f has a bend, relative to the relations' curvature
    factors: int = 6000  # relations, beyond which factors take too long and too much memory
    worth_reducing: int = 1000  # relations, from which those that others imply are left out of factors
    soft: float = 1e-3  # a proximal term, relative to the curvature of the relations around it
    proximal: int = 60  # rounds of proximal steps, for L1 and L2 together
    additive: int = 4  # passes that make a table add up


LINEAR, INTERIOR, NEWTON = LinearTuning(), InteriorTuning(), NewtonTuning()

"""What the attack was tuned by: audits of suppression and of intervals of hier13, hier16 and ninenew, and of made
networks of 40 000 cells (the suite `audit` of the benchmarks)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    large_matrix: int = 500  # entries from which it pays to see whether the relations are those of a network
    large_elimination: int = 20_000  # entries up to which elimination takes no longer than looking for a network
    few_dimensions: int = 32  # in which a tableau answers as quickly as flows
    large_tableau: int = 4_000_000  # numbers up to which a tableau beats a linear program
    kept_engines: int = 4  # that wait for another question about the same box
    inner_from: int = 40  # dimensions from which the inner way is shorter
    revised_up_to: int = 150  # dimensions: up to these walking on from a corner near by is shorter still
    loose_up_to: int = 400  # the same for levels that are reached long before the furthest corner
    checked_together: int = 2**18  # numbers of tables that are checked at once
    flows_at_once: int = 500  # questions before somebody may be told how far it is
    rounds: int = 4  # of bound propagation
    most_reasons: int = 300  # relations of one reason of bound propagation
    roomy: float = 1.5  # times what is required is so much slack that it is reached before the corners get crowded
    last_joint: float = 0.1  # joint questions end when one settles less than this share of what it asked for


TUNING = Tuning()

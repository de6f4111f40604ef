"""Small tables with a policy for every method."""

from __future__ import annotations

import random

METHODS = {
    "csp": "method csp",
    "csp-scip": "method csp { backend scip }",
    "ip": "method ip",
    "cta": "method cta { norm L1 }",
    "cta-free": "method cta { sense free; norm L1 }",
    "cta-L2": "method cta { norm L2 }",
    "ecta": "method ecta { alpha 60%; tries 5 }",
    "rounding": "method rounding { base 10 }",
    "perturb": "method perturb { range -9 .. 9 }",
    "combined": "method combined { interval where a = a1; round 5 where a = Total; suppress where a = a2 or a = a3 }",
}


def policy(method: str, chance: random.Random) -> str:
    """A table of 3 by 3 with its totals; whole numbers, so that the truth is exact."""
    inner = [[chance.randint(8, 40) for _ in range(3)] for _ in range(3)]
    rows = [[*row, sum(row)] for row in inner]
    rows.append([sum(column) for column in zip(*rows, strict=True)])
    names = ("a1", "a2", "a3", "Total")
    lines = "\n".join(f"    | {name} | {' | '.join(map(str, row))} |" for name, row in zip(names, rows, strict=True))
    cells = chance.sample([(i, j) for i in (1, 2, 3) for j in (1, 2, 3)], chance.choice((1, 1, 2)))
    sensitive = "\n".join(f"sensitive t at (a: a{i}, b: b{j})" for i, j in cells)
    lpl, upl = chance.randint(2, 6), chance.randint(2, 6)
    insider = chance.random() < 0.3
    second = "attacker insider { bounds 20% of value .. 300% of value }\n" if insider else ""
    return f"""sdc 1
policy "faults"
seed 7
dimension a {{ codes a1, a2, a3; total Total }}
dimension b {{ codes b1, b2, b3; total Total }}
table t {{
  by a, b
  values
    | a \\ b | b1 | b2 | b3 | Total |
{lines}
}}
{sensitive}
attacker external {{ bounds 0 .. inf }}
{second}protect t {{
  lpl {lpl}
  upl {upl}
  against external{", insider" if insider else ""}
  cost value
  {METHODS[method]}
  release csv "released.csv"
}}
"""

"""Sensitive aggregates: hidden cells of one relation that give somebody away together.

A relation whose total is published reveals the sum of its hidden parts, whatever else is done: hide two cells of one
respondent in a row, and the row's total minus the rest is that respondent's figure. Each such *union* that a rule calls
sensitive becomes an extra cell, never published, with the relation `union = Σ members` and the level the rule requires,
so that protection and audit treat it like any other cell.

Which unions are looked at, of each relation with m ≥ 2 hidden parts:
* all m hidden parts, unless these are all parts there are (the union is then the total, a cell with its own verdict);
* every pair of them, where m is at most `pair_limit`: two singletons know each other once a third part is known, two
  cells of one respondent are that respondent's.
Sets in between are not looked at, their number being exponential. A union that several relations reveal is added once.

Whose parts are hidden depends on who asks. Before a search these are the cells that are hidden in any release, and a
relation counts only if its total may be published. Of a release they are all cells that it does not publish as they
are, and every relation counts: a total between two narrow ends tells the sum of its parts as narrowly.

For non-negative data a union of safe cells is safe: p_percent, pq and dominance are subadditive, and contributors only
get more. So what is found has a sensitive member, or negative contributions.

Work: m (m - 1) / 2 + 1 unions a relation, each with the contributors of its members.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.additivity import total_entries
from sdcdsl.bind.holdings import cells_from
from sdcdsl.bind.relations import Relations
from sdcdsl.bind.rules.cells import Judgement, RuleCells
from sdcdsl.bind.tabulation import Contributions

PAIR_LIMIT = 12


@dataclass(frozen=True, eq=False)
class Aggregates:
    """Unions 0..n-1; their members as parallel arrays sorted by union."""

    union_of: np.ndarray  # int64 [member]
    cell_of: np.ndarray  # int64 [member]
    coefficient: np.ndarray  # float64 [member]
    equation: np.ndarray  # int64 [union]: the first relation that reveals it
    value: np.ndarray  # a
    lower: np.ndarray  # lpl asked for
    upper: np.ndarray  # upl asked for
    count: np.ndarray  # contributors
    largest: np.ndarray  # [union, k]
    always: np.ndarray  # bool [union]: looked at in every release that hides its members

    def __len__(self) -> int:
        return len(self.value)


def sensitive_aggregates(
    a: np.ndarray,
    made: Relations,
    hidden: np.ndarray,
    contributions: Contributions,
    judge: Callable[[RuleCells], Judgement],
    *,
    k: int = 2,
    pair_limit: int = PAIR_LIMIT,
    hidden_totals: bool = False,
) -> Aggregates:
    """The unions of hidden cells that `judge` calls sensitive.

    `contributions` are those to the hidden cells, sorted by cell (`holdings.contributions_to`), `k` how many largest
    contributions the rules need; `hidden_totals`: relations whose total is hidden count as well.
    """
    equation, cell, coefficient, length = _hidden_parts(made, hidden, hidden_totals)
    union = _unions(equation, cell, coefficient, length, made, pair_limit)
    value = np.bincount(union.union_of, weights=union.coefficient * a[union.cell_of], minlength=len(union))
    # Join members with contributors: both sorted by cell, one range of contributions a member.
    start = np.searchsorted(contributions.cell, union.cell_of, side="left")
    reach = np.searchsorted(contributions.cell, union.cell_of, side="right") - start
    at = np.repeat(start - np.cumsum(reach) + reach, reach) + np.arange(int(reach.sum()))
    amount = contributions.amount[at] * np.repeat(union.coefficient, reach)
    cells = cells_from(value, np.repeat(union.union_of, reach), contributions.holding[at], amount, k)
    verdict = judge(cells)
    keep = np.flatnonzero(verdict.sensitive)
    number = np.full(len(union), -1)
    number[keep] = np.arange(len(keep))
    member = number[union.union_of] >= 0
    sizes = np.bincount(union.union_of, minlength=len(union))
    parts = np.bincount(made.equation_of, minlength=len(made.rhs)) - 1
    return Aggregates(
        number[union.union_of[member]],
        union.cell_of[member],
        union.coefficient[member],
        union.equation[keep],
        value[keep],
        verdict.lower[keep],
        verdict.upper[keep],
        cells.count[keep],
        cells.largest[keep],
        always=(sizes[keep] == 2) & (parts[union.equation[keep]] <= pair_limit),
    )


def _hidden_parts(
    made: Relations, hidden: np.ndarray, hidden_totals: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Hidden parts of relations that count, sorted by relation and cell; and the run lengths."""
    equation, entry = total_entries(made)
    open_total = np.zeros(len(made.rhs), dtype=bool)
    open_total[equation] = hidden_totals | ~hidden[made.cell_of[entry]]
    part = hidden[made.cell_of] & open_total[made.equation_of]
    part[entry] = False
    chosen = np.flatnonzero(part)
    chosen = chosen[np.lexsort((made.cell_of[chosen], made.equation_of[chosen]))]
    of, cell = made.equation_of[chosen].astype(np.int64), made.cell_of[chosen].astype(np.int64)
    count = np.bincount(of, minlength=len(made.rhs))
    several = count[of] > 1
    return of[several], cell[several], made.coefficient[chosen][several], count[count > 1]


@dataclass(frozen=True, eq=False)
class _Unions:
    union_of: np.ndarray
    cell_of: np.ndarray
    coefficient: np.ndarray
    equation: np.ndarray

    def __len__(self) -> int:
        return len(self.equation)


def _unions(equation, cell, coefficient, length, made: Relations, pair_limit: int) -> _Unions:
    """All candidate unions, each set of signed cells once. Relations with equally many hidden parts are one matrix."""
    parts = np.bincount(made.equation_of, minlength=len(made.rhs)) - 1
    first = np.cumsum(length) - length
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # (equation [u], cell [u, m], coefficient [u, m])
    for m in np.unique(length):
        rows = first[length == m][:, None] + np.arange(m)
        of = equation[rows[:, 0]]
        proper = parts[of] > m
        found.append((of[proper], cell[rows[proper]], coefficient[rows[proper]]))
        if 2 < m <= pair_limit:
            i, j = np.triu_indices(int(m), 1)
            pairs = np.stack([rows[:, i].ravel(), rows[:, j].ravel()], axis=1)
            found.append((equation[pairs[:, 0]], cell[pairs], coefficient[pairs]))
    merged = [_once([f for f in found if f[1].shape[1] == m]) for m in sorted({f[1].shape[1] for f in found})]
    sizes = np.concatenate([np.full(len(of), c.shape[1]) for of, c, _ in merged] or [np.zeros(0, dtype=np.int64)])
    return _Unions(
        np.repeat(np.arange(len(sizes)), sizes),
        np.concatenate([c.ravel() for _, c, _ in merged] or [np.zeros(0, dtype=np.int64)]),
        np.concatenate([s.ravel() for _, _, s in merged] or [np.zeros(0)]),
        np.concatenate([of for of, _, _ in merged] or [np.zeros(0, dtype=np.int64)]),
    )


def _once(same_size: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    of, cell, sign = (np.concatenate(column) for column in zip(*same_size, strict=True))
    # A union and its negative are the same secret.
    sign = sign * np.sign(sign[:, :1])
    order = np.argsort(of, kind="stable")
    of, cell, sign = of[order], cell[order], sign[order]
    _, first = np.unique(np.concatenate([cell.astype(np.float64), sign], axis=1), axis=0, return_index=True)
    first.sort()
    return of[first], cell[first], sign[first]

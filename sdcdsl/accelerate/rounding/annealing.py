"""A rounded table by trial: parts go one multiple up or down, in chains, while it gets colder.

A trial pushes one part, every other time one of a sum that is outside its window. While a sum leaves its window for it,
another part of that sum is pushed the other way, the one that does best, up to a certain length. What a trial changes
is judged by the loss Σ w |v - a| and by how far sums leave their windows, at a price per row that grows while the row
stays outside. Worse is accepted as chance has it, less and less.
Rows may also be cuts Σ c k ≥ b, which have a window and no loss. The best table within all windows is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array

from sdcdsl.accelerate.rounding.tuning import ANNEALING
from sdcdsl.numerics.compiled import kernel

CHAIN = ANNEALING.chain
LOOKED_AT = ANNEALING.looked_at
NEAR = 1e-9
MENDING = ANNEALING.mending


@dataclass(frozen=True, eq=False)
class Windows:
    """Rows least ≤ A k ≤ most, with the loss of what deviates by `offset` + `base` · (A k)."""

    A: csr_array
    least: np.ndarray
    most: np.ndarray
    offset: np.ndarray
    w_down: np.ndarray
    w_up: np.ndarray
    base: float
    k_least: np.ndarray  # [part]
    k_most: np.ndarray


@dataclass(frozen=True, eq=False)
class AnnealedTable:
    k: np.ndarray
    loss: float
    outside: float  # how far rows are outside their windows, all together


def annealed(
    of: Windows, start: np.ndarray, trials: int, seed: int, over: Callable[[], bool], hot: float | None = None
) -> AnnealedTable:
    """The best within all windows, or, where none was met, the last. `hot`: a start that is good already needs less
    heat."""
    hot = ANNEALING.hot if hot is None else hot
    draw = np.random.default_rng(seed)
    columns = csc_array(of.A)
    columns.sort_indices()
    by_row = csr_array(of.A)
    by_row.sort_indices()
    k = np.clip(np.round(start), of.k_least, of.k_most)
    y = of.A @ k
    weight = np.concatenate([of.w_down, of.w_up])
    size = of.base * (float(np.median(weight[weight > 0])) if (weight > 0).any() else 1.0)
    price = np.full(len(y), 2.0 * size)
    movable = np.flatnonzero(of.k_least < of.k_most)
    best, best_loss = k.copy(), np.inf
    chunks = max(trials // ANNEALING.chunk, 1)
    if not len(movable):
        return AnnealedTable(k, float(loss_of(of, y)), outside_of(of, y))
    for chunk in range(chunks):
        if over():
            break
        heat = size * hot * (ANNEALING.cold / hot) ** (chunk / max(chunks - 1, 1))
        kept, kept_loss, met = k.copy(), best_loss, np.zeros(1)
        out = np.flatnonzero((y < of.least - NEAR) | (y > of.most + NEAR))
        _anneal(
            columns.indptr,
            columns.indices,
            columns.data,
            by_row.indptr,
            by_row.indices,
            by_row.data,
            of.least,
            of.most,
            of.offset,
            of.w_down,
            of.w_up,
            of.base,
            of.k_least,
            of.k_most,
            movable,
            k,
            y,
            price,
            heat,
            out,
            draw.random((ANNEALING.chunk, 5)),
            max(len(k) // ANNEALING.few_copies, 1),
            kept,
            kept_loss,
            met,
        )
        if met[0] > 0:
            best, best_loss = kept, float(loss_of(of, of.A @ kept))
        y = of.A @ k  # without what rounding adds up
        out = (y < of.least - NEAR) | (y > of.most + NEAR)
        price = np.where(out, np.minimum(price * ANNEALING.dearer, ANNEALING.dearest * size), price)
    if np.isfinite(best_loss):
        return AnnealedTable(best, best_loss, 0.0)
    return AnnealedTable(k, float(loss_of(of, y)), outside_of(of, y))


def loss_of(of: Windows, y: np.ndarray) -> float:
    t = of.offset + of.base * y
    return float((of.w_up * np.maximum(t, 0.0) + of.w_down * np.maximum(-t, 0.0)).sum())


def outside_of(of: Windows, y: np.ndarray) -> float:
    return float((np.maximum(of.least - y, 0.0) + np.maximum(y - of.most, 0.0)).sum())


@kernel
def _judged(y, least, most, offset, w_down, w_up, base, price):
    t = offset + base * y
    worth = w_up * t if t > 0.0 else -w_down * t
    if y < least - 1e-9:
        worth += price * (least - y)
    elif y > most + 1e-9:
        worth += price * (y - most)
    return worth


@kernel
def _prospect(j, step, start, row, value, least, most, offset, w_down, w_up, base, price, y):  # noqa: PLR0917
    """What moving a part would change of the judgement."""
    change = 0.0
    for e in range(start[j], start[j + 1]):
        i = row[e]
        now = _judged(y[i], least[i], most[i], offset[i], w_down[i], w_up[i], base, price[i])
        then = _judged(y[i] + step * value[e], least[i], most[i], offset[i], w_down[i], w_up[i], base, price[i])
        change += then - now
    return change


@kernel
def _pushed(j, step, start, row, value, least, most, offset, w_down, w_up, base, price, y, outside):  # noqa: PLR0917
    """Moves a part; what that changes of the judgement, and how many more rows are outside."""
    change = 0.0
    for e in range(start[j], start[j + 1]):
        i = row[e]
        before = _judged(y[i], least[i], most[i], offset[i], w_down[i], w_up[i], base, price[i])
        was = y[i] < least[i] - 1e-9 or y[i] > most[i] + 1e-9
        y[i] += step * value[e]
        now = y[i] < least[i] - 1e-9 or y[i] > most[i] + 1e-9
        if now != was:
            outside[0] += 1.0 if now else -1.0
        change += _judged(y[i], least[i], most[i], offset[i], w_down[i], w_up[i], base, price[i]) - before
    return change


@kernel
def _anneal(  # noqa: PLR0915, PLR0917  one loop, compiled as a whole
    start,
    row,
    value,
    row_start,
    row_part,
    row_value,
    least,
    most,
    offset,
    w_down,
    w_up,
    base,
    k_least,
    k_most,
    movable,
    k,
    y,
    price,
    heat,
    broken_rows,
    chance,
    pause,
    kept,
    kept_loss,
    met,
):
    outside = np.zeros(1)
    loss = 0.0
    for i in range(len(y)):
        if y[i] < least[i] - 1e-9 or y[i] > most[i] + 1e-9:
            outside[0] += 1.0
        t = offset[i] + base * y[i]
        loss += w_up[i] * t if t > 0.0 else -w_down[i] * t
    part, way = np.zeros(CHAIN, dtype=np.int64), np.zeros(CHAIN)
    last = -len(k)
    # While nothing is outside, what the judgement changes by is the loss.
    for trial in range(len(chance)):
        j = movable[int(chance[trial, 0] * len(movable))]
        step = 1.0 if chance[trial, 1] < 0.5 else -1.0
        if len(broken_rows) > 0 and chance[trial, 4] < MENDING:
            i = broken_rows[int(chance[trial, 4] / MENDING * len(broken_rows))]
            wrong = 1.0 if y[i] < least[i] - 1e-9 else (-1.0 if y[i] > most[i] + 1e-9 else 0.0)
            if wrong != 0.0:
                e = row_start[i] + int(chance[trial, 0] * (row_start[i + 1] - row_start[i]))
                j = row_part[e]
                step = wrong if row_value[e] > 0 else -wrong
        if k[j] + step < k_least[j] or k[j] + step > k_most[j]:
            step = -step
            if k[j] + step < k_least[j] or k[j] + step > k_most[j]:
                continue
        before = outside[0]
        change = _pushed(j, step, start, row, value, least, most, offset, w_down, w_up, base, price, y, outside)
        k[j] += step
        part[0], way[0] = j, step
        length = 1
        luck = chance[trial, 2]
        while length < CHAIN and outside[0] > before:
            # A row that the chain has pushed outside, and the part in it that mends it best.
            broken, sign = -1, 0.0
            for back in range(length - 1, -1, -1):
                first, many = start[part[back]], start[part[back] + 1] - start[part[back]]
                luck = (luck * 997.0 + 0.37) % 1.0
                turn = int(luck * many)
                for e in range(many):
                    i = row[first + (e + turn) % many]
                    if y[i] < least[i] - 1e-9:
                        broken, sign = i, 1.0
                    elif y[i] > most[i] + 1e-9:
                        broken, sign = i, -1.0
                    if broken >= 0:
                        break
                if broken >= 0:
                    break
            if broken < 0:
                break
            first, many = row_start[broken], row_start[broken + 1] - row_start[broken]
            luck = (luck * 997.0 + 0.37) % 1.0
            turn = int(luck * many)
            best, best_way, best_change = -1, 0.0, np.inf
            for e in range(min(many, LOOKED_AT)):
                at = first + (e + turn) % many
                other = row_part[at]
                push = sign if row_value[at] > 0 else -sign
                if k[other] + push < k_least[other] or k[other] + push > k_most[other]:
                    continue
                used = False
                for back in range(length):
                    used |= part[back] == other
                if used:
                    continue
                tried = _prospect(other, push, start, row, value, least, most, offset, w_down, w_up, base, price, y)
                if tried < best_change:
                    best, best_way, best_change = other, push, tried
            if best < 0:
                break
            change += _pushed(
                best, best_way, start, row, value, least, most, offset, w_down, w_up, base, price, y, outside
            )
            k[best] += best_way
            part[length], way[length] = best, best_way
            length += 1
        if change <= 0.0 or chance[trial, 3] < np.exp(-change / heat):
            if before == 0.0 and outside[0] == 0.0:
                loss += change
            elif outside[0] == 0.0:
                loss = 0.0
                for i in range(len(y)):
                    t = offset[i] + base * y[i]
                    loss += w_up[i] * t if t > 0.0 else -w_down[i] * t
            better = outside[0] == 0.0 and loss < kept_loss - 1e-9 * abs(kept_loss if kept_loss < 1e300 else 1.0)
            if better and (met[0] == 0.0 or trial - last >= pause):
                kept_loss = loss
                met[0] = 1.0
                kept[:] = k
                last = trial
        else:
            for back in range(length):
                j, step = part[back], way[back]
                k[j] -= step
                _pushed(j, -step, start, row, value, least, most, offset, w_down, w_up, base, price, y, outside)

"""What sums of multiples cost: convex, linear between the two multiples next to the truth, steeper beyond them.

Of whole numbers the loss w |offset + base · y| of a row is linear between these two, so that it can be charged to the
parts; what is left for a row is how much steeper it gets beyond, as far as its window goes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array

from sdcdsl.accelerate.forms.bounds import common_step
from sdcdsl.accelerate.rounding.annealing import Windows

NEAR = 1e-6


@dataclass(frozen=True, eq=False)
class Losses:
    """cost · k + Σ over · (y - high)⁺ + under · (low - y)⁺ + constant is the loss of whole k, with y = A k."""

    low: np.ndarray  # [row]: the multiples next to the truth, within the window
    high: np.ndarray
    over: np.ndarray
    under: np.ndarray
    slack_over: np.ndarray  # how far beyond them the window goes
    slack_under: np.ndarray
    cost: np.ndarray  # [part]
    constant: float
    step: float  # by which the losses of two tables differ at least, where there is such a number; else 0


def losses_of(of: Windows) -> Losses:
    """Where a row may not leave the two multiples, being outside never pays."""
    columns = csc_array(of.A)
    costs = (of.w_down > 0) | (of.w_up > 0)
    truth = np.where(costs, -of.offset / of.base, 0.0)
    whole = np.abs(truth - np.round(truth)) <= NEAR
    low = np.where(whole, np.round(truth), np.floor(truth))
    high = np.where(whole, np.round(truth), np.ceil(truth))
    low = np.where(costs, np.clip(low, of.least, of.most), of.least)
    high = np.where(costs, np.clip(high, of.least, of.most), of.most)
    at_low, at_high = (np.where(np.isfinite(end), end, 0.0) for end in (low, high))
    wide = at_high > at_low
    above = np.where(costs, row_losses(of, at_high + 1) - row_losses(of, at_high), 0.0)
    below = np.where(costs, row_losses(of, at_low) - row_losses(of, at_low - 1), 0.0)
    slack_over, slack_under = np.zeros(len(costs)), np.zeros(len(costs))
    slack_over[costs] = of.most[costs] - high[costs]
    slack_under[costs] = low[costs] - of.least[costs]
    held = ~wide & (slack_over == 0) & (slack_under == 0)
    slope = np.where(wide, row_losses(of, at_high) - row_losses(of, at_low), np.where(held, 0.0, above))
    # Rows that have one number to be at say nothing about the loss: they may be taken to have any slope, such as the
    # one above them, with which differences often are even.
    over = np.where(slack_over > 0, above - slope, np.maximum(-slope, 0.0))
    under = np.where(slack_under > 0, slope - below, np.maximum(slope, 0.0))
    moved = (columns.T @ np.where(held, above, slope))[of.k_least < of.k_most]
    step = common_step(np.concatenate([moved, over[slack_over > 0], under[slack_under > 0]]))
    constant = float((np.where(costs, row_losses(of, at_low), 0.0) - slope * at_low).sum())
    return Losses(low, high, over, under, slack_over, slack_under, columns.T @ slope, constant, step)


def row_losses(of: Windows, y: np.ndarray) -> np.ndarray:
    t = of.offset + of.base * y
    return of.w_up * np.maximum(t, 0.0) + of.w_down * np.maximum(-t, 0.0)

"""Who must be able to go how far, in terms of classes.

Attackers who know the same look at the same tables, so that one question answers for all of them: a *viewer* is a view,
or a single attacker with knowledge of its own. Of cells that move together the one with the highest level counts.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, fields

import numpy as np

from sdcdsl.accelerate.cutting.aggregation import Classes, classes_of
from sdcdsl.accelerate.cutting.tuning import TUNING
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.result import Clash
from sdcdsl.numerics.aggregation import FIXED


@dataclass(frozen=True, eq=False)
class Levels:
    """`sign` times D of class `cell` must get as far as `need` for `viewer`; `pair` is one that requires it."""

    cell: np.ndarray
    sign: np.ndarray
    viewer: np.ndarray
    need: np.ndarray
    pair: np.ndarray
    side: np.ndarray  # of the pair, DOWN or UP

    def __len__(self) -> int:
        return len(self.cell)


class CutRequirements:
    """`levels` are requirements; in `slides` (sign 1, no requirement) both sides together must give the need."""

    def __init__(self, instance: Instance, openable: np.ndarray | None = None):
        self.instance = instance
        has_slack = ((instance.LB > 0) | (instance.UB > 0)).any(axis=0)
        may = (instance.may_open if openable is None else openable) & has_slack
        self.classes: Classes = classes_of(instance.M, may)
        self.hopeless: list[Clash] = []
        known = np.array([len(instance.known(k)[0]) > 0 for k in range(len(instance.view_of))], dtype=bool)
        names: dict[tuple[int, int], int] = {}
        viewer_of = np.array(
            [
                names.setdefault((int(v), k if known[k] else -1), len(names))
                for k, v in enumerate(instance.view_of.tolist())
            ],
            dtype=np.int64,
        )
        self.viewers = list(names)
        sides = instance.requirements
        self.levels = self._strongest(sides.pair, sides.sign, sides.need, sides.side, viewer_of)
        both = np.flatnonzero(instance.slide > np.maximum(instance.level.sum(axis=0), 0.0))
        ones = np.ones(len(both), dtype=np.int64)
        self.slides = self._strongest(both, ones, instance.slide[both], -ones, viewer_of, turned=False)
        self.slacks = [self.classes.least(instance.LB[v], instance.UB[v]) for v in range(len(instance.LB))]
        self._kept: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self.patches = [self._patch(view, attacker) for view, attacker in self.viewers]

    @property
    def unit(self) -> float:
        """A typical level."""
        need = np.concatenate([self.levels.need, self.slides.need])
        return float(np.exp(np.log(need).mean())) if len(need) else 1.0

    def symmetric(self, cost_down: np.ndarray, cost_up: np.ndarray) -> bool:
        """The same is required downwards and upwards, at the same cost, and hardly any slack is too narrow for it."""
        levels = self.levels
        most = levels.need.max(initial=0.0)
        if any((np.minimum(low, high) < most).mean() > TUNING.narrow for low, high in self.slacks):
            return False
        half = [np.stack([levels.viewer, levels.cell, levels.need])[:, levels.sign == sign] for sign in (1, -1)]
        return np.array_equal(half[0], half[1]) and np.allclose(cost_down, cost_up, rtol=1e-12)

    def mirrored(self, narrow: bool = False) -> CutRequirements:
        """One side instead of two, in slacks that are as wide downwards as upwards: easier to satisfy. Where costs are
        symmetric too, the best intervals for it are symmetric, since turning them round and taking the mean costs no
        more. If they satisfy these demands as well, they are the best. `narrow`: slacks as narrow upwards as downwards;
        then they do in any case, and may not be the best."""
        other, end = copy(self), np.minimum if narrow else np.maximum
        up = self.levels.sign > 0
        slides = self.slides
        other.levels = Levels(
            np.concatenate([self.levels.cell[up], slides.cell]),
            np.concatenate([self.levels.sign[up], slides.sign]),
            np.concatenate([self.levels.viewer[up], slides.viewer]),
            np.concatenate([self.levels.need[up], slides.need / 2]),
            np.concatenate([self.levels.pair[up], slides.pair]),
            np.concatenate([self.levels.side[up], slides.side]),
        )
        other.slides = Levels(*(getattr(slides, f.name)[:0] for f in fields(Levels)))
        other.slacks = [(end(low, high),) * 2 for low, high in self.slacks]
        other.patches = [(at, end(low, high), end(low, high)) for at, low, high in self.patches]
        other._kept = {}
        return other

    def view(self, viewer: int) -> int:
        return self.viewers[viewer][0]

    def slack(self, viewer: int) -> tuple[np.ndarray, np.ndarray]:
        down, up = self.slacks[self.view(viewer)]
        at, low, high = self.patches[viewer]
        if not len(at):
            return down, up
        if viewer not in self._kept:
            if len(self._kept) >= TUNING.kept_capacities:
                self._kept.clear()
            down, up = down.copy(), up.copy()
            down[at], up[at] = low, high
            self._kept[viewer] = down, up
        return self._kept[viewer]

    @property
    def widest(self) -> tuple[np.ndarray, np.ndarray]:
        """The most slack that any view leaves a class: more is of no use."""
        return np.max([r[0] for r in self.slacks], axis=0), np.max([r[1] for r in self.slacks], axis=0)

    def _strongest(self, pair, sign, need, side, viewer_of, turned: bool = True) -> Levels:
        instance, classes = self.instance, self.classes
        cell = classes.of[instance.pair_cell[pair]]
        self.hopeless += [
            Clash(int(p), None if s < 0 else int(s), float(d), 0.0)
            for p, s, d in zip(pair[cell == FIXED], side[cell == FIXED], need[cell == FIXED], strict=True)
        ]
        there = cell != FIXED
        pair, need, side, cell = pair[there], need[there], side[there], cell[there]
        sign = sign[there]
        if turned:
            sign = (sign * classes.factor[instance.pair_cell[pair]]).astype(np.int64)
        viewer = viewer_of[instance.pair_attacker[pair]] if len(pair) else np.zeros(0, dtype=np.int64)
        order = np.lexsort((-need, sign, cell, viewer))
        key = np.stack([viewer, cell, sign])[:, order]
        first = np.ones(len(order), dtype=bool)
        first[1:] = (key[:, 1:] != key[:, :-1]).any(axis=0)
        chosen = order[first]
        return Levels(cell[chosen], sign[chosen], viewer[chosen], need[chosen], pair[chosen], side[chosen])

    def _patch(self, view: int, attacker: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Classes one attacker knows more about, and the slack that leaves."""
        none = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
        if attacker < 0:
            return none
        cells, LB, UB = self.instance.known(attacker)
        of = self.classes.of[cells]
        cells, LB, UB, of = cells[of >= 0], LB[of >= 0], UB[of >= 0], of[of >= 0]
        same = self.classes.factor[cells] > 0
        at, place = np.unique(of, return_inverse=True)
        low, high = self.slacks[view][0][at].copy(), self.slacks[view][1][at].copy()
        np.minimum.at(low, place, np.where(same, LB, UB))
        np.minimum.at(high, place, np.where(same, UB, LB))
        return at, low, high

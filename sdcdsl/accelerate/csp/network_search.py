"""Cell suppression on networks: tables in two dimensions, one of them with a hierarchy (paper 003 §3, papers 000).

    min Σ w_i x_i    such that every requirement has a flow within the cells with x_i = 1 (`network_moves`)

1. *Greedy*: requirements by decreasing need; each takes a cheapest flow and hides what it touches, and every flow
   serves all other sides that it can, multiplied and turned round. A cell that no requirement relies on is published
   again at once.
2. *Sweep*: heaviest cells first, the requirements that rely on a cell seek other ways; kept if that is cheaper.
3. *Shake*: the same for several cells that belong together, at prices with some noise, until nothing is won any more.
4. *Prune*, before 2. and at the end: no hidden cell can be published any more, all others being as they are.

From the end of 1. on the pattern is valid at any moment: every requirement has its witness.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np

from sdcdsl.accelerate.csp import network_incumbent as places
from sdcdsl.accelerate.csp import network_loops as moves
from sdcdsl.accelerate.csp.network_flows import supply
from sdcdsl.accelerate.csp.network_state import (
    asked_of,
    empty_incumbent,
    empty_workspace,
    forget,
    graph_of,
    hide,
    pack,
    priced,
    rounded,
    share,
    slacks_of,
)
from sdcdsl.accelerate.csp.tuning import NETWORK
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import DOWN, UP, Instance
from sdcdsl.methods.result import Clash, Progress


@dataclass(frozen=True)
class _Slide:
    """A pair whose two requirements need more together than each for itself."""

    down: int  # requirements
    up: int
    least: tuple[float, float]  # needs of its own, down and up
    most: tuple[float, float]  # what they can get with every cell open
    total: float


class NetworkSearch:
    """Patterns for one instance, as often as wanted. `of` gives None if the relations are not those of a network."""

    def __init__(self, instance: Instance, network, cells: np.ndarray, w: np.ndarray, seed: int):
        self.instance, self.cells = instance, cells
        self.must = instance.sensitive | instance.open_anyway
        self.weight, self._published = w, instance.problem.dataset["published"].values
        self._network = network
        self._fixed = self.must[cells]
        self._w = np.where(self._fixed, 0.0, w[cells])
        self._w = rounded(self._w / (self._w.max(initial=0.0) or 1.0))
        self._graph = priced(network, self._w, self._fixed)
        self.clashes: list[Clash] = []
        self._random = np.random.default_rng(seed)
        self._set_up(seed)

    @staticmethod
    def of(instance: Instance, w: np.ndarray | None = None, seed: int = 0) -> NetworkSearch | None:
        """`w` are costs to use instead of those of the instance."""
        found = graph_of(instance)
        if found is None:
            return None
        return NetworkSearch(instance, *found, instance.w if w is None else w, seed)

    # ---- what is asked -----------------------------------------------------------------------------------------------

    def _set_up(self, seed: int) -> None:
        x = self.instance
        slides = x.slide > x.level.sum(axis=0) * (1 + 1e-12)
        self.unit = float(max(x.level.max(initial=0.0), x.slide.max(initial=0.0))) or 1.0
        local = np.full(x.n, -1)
        local[self.cells] = np.arange(len(self.cells))
        side, pair = np.nonzero((x.level > 0) | slides)
        stuck = local[x.pair_cell[pair]] < 0
        for s, p in zip(side[stuck].tolist(), pair[stuck].tolist(), strict=True):
            need = float(x.level[s, p])
            self.clashes.append(Clash(p, s, need, 0.0) if need > 0 else Clash(p, None, float(x.slide[p]), 0.0))
        side, pair = side[~stuck], pair[~stuck]
        need = share(x.level[side, pair], self.unit)
        order = np.argsort(-need, kind="stable")
        self.side, self.pair = side[order], pair[order]
        cell, attacker = local[x.pair_cell[self.pair]], x.pair_attacker[self.pair]
        self._asked = asked_of(cell, 2 * self.side - 1, attacker, need[order], len(self.cells))
        self._slacks = slacks_of(x, self.cells, self.unit)
        self._incumbent = empty_incumbent(self._graph, len(order), 40 * len(order) + 2 * len(self.cells))
        self._workspace = empty_workspace(self._graph, len(order), seed)
        typical = self._w[self._w > 0].mean() if (self._w > 0).any() else 1.0
        self._incumbent.amounts[places.TIE] = NETWORK.tie * typical
        self._incumbent.amounts[places.KEEP] = NETWORK.keep
        self._slides = [s for p in np.flatnonzero(slides) if (s := self._slide(int(p))) is not None]

    def _slide(self, pair: int) -> _Slide | None:
        """First as much upwards as can be had."""
        x = self.instance
        mine = np.flatnonzero(self.pair == pair)
        if len(mine) < 2:
            return None
        down, up = int(mine[self.side[mine] == DOWN][0]), int(mine[self.side[mine] == UP][0])
        total = float(share(x.slide[pair : pair + 1], self.unit)[0])
        least = float(self._asked.need[down]), float(self._asked.need[up])
        most = self._reach(down, total), self._reach(up, total)
        slide = _Slide(down, up, least, most, total)
        if sum(most) < total * (1 - 1e-11):
            self.clashes.append(Clash(pair, None, float(x.slide[pair]), sum(most) * self.unit))
        self._asked.need[down], self._asked.need[up] = self._split(slide, total - least[DOWN])
        return slide

    @staticmethod
    def _split(slide: _Slide, up: float) -> tuple[float, float]:
        """What goes down and up, with this much upwards if that can be."""
        up = max(min(up, slide.most[UP]), slide.total - slide.most[DOWN], slide.least[UP])
        return max(slide.total - up, slide.least[DOWN]), up

    def _reach(self, side: int, most: float) -> float:
        """How far the requirement gets if every cell may be hidden, at most so far."""
        before = self._asked.need[side]
        self._asked.need[side] = most
        hide(self._graph, self._incumbent, self._fixed)
        self._incumbent.amounts[places.LIMIT] = inf
        self._run(supply, side)
        self._workspace.flow[:] = 0.0
        self._asked.need[side] = before
        return most - float(self._incumbent.amounts[places.LEFT])

    def _kernel(self, kernel: Callable) -> Callable:
        return kernel.at(len(self.cells))  # pyright: ignore[reportFunctionMemberAccess]

    # ---- patterns ----------------------------------------------------------------------------------------------------

    @property
    def mask(self) -> np.ndarray:
        """Which cells of the table are hidden."""
        hidden = self.must.copy()
        hidden[self.cells] |= self._incumbent.hidden
        return hidden

    @property
    def cost(self) -> float:
        return float(self.weight[self.mask & self._published].sum())

    def witness(self, side: int) -> tuple[np.ndarray, np.ndarray]:
        """The move a requirement relies on: cells of the table, and how far each goes."""
        at = slice(self._incumbent.begin[side], self._incumbent.begin[side] + self._incumbent.length[side])
        return self.cells[self._incumbent.entry[0, at]], self._incumbent.flow[at] * self.unit

    def protect(
        self,
        deadline: Deadline,
        tell: Callable[[Progress], None] = lambda progress: None,
        *,
        start: np.ndarray | None = None,
        effort: float = 1.0,
    ) -> np.ndarray | None:
        """A valid pattern; None if there is none (`clashes` says why) or time was up before it was complete.

        `start` are cells to begin with; `effort` is how long to go on without success, 0 for no neighbourhoods at all.
        """
        if not self._greedy(deadline, start):
            return None
        self._prune()
        tell(Progress("flows", self.cost))
        while self._sweep(deadline) > 1e-3:
            tell(Progress("flows: sweep", self.cost))
        tell(Progress("flows: sweep", self.cost))
        if effort > 0:
            self._shake(deadline, tell, effort)
        self._prune()
        tell(Progress("flows: pruned", self.cost))
        return self.mask

    def repair(
        self, mask: np.ndarray, price: np.ndarray | None = None, *, sweep: bool = True
    ) -> tuple[np.ndarray, float] | None:
        """Completes a set of hidden cells to a valid pattern without superfluous cells; None if there is none.

        `price` are costs for the choice of cells to add; what is given up again goes by the real ones.
        """
        if not self._greedy(Deadline(), mask, price):
            return None
        self._prune()
        if sweep:
            self._sweep(Deadline())
            self._prune()
        return self.mask, self.cost

    def _greedy(self, deadline: Deadline, start: np.ndarray | None, price: np.ndarray | None = None) -> bool:
        if self.clashes:
            return False
        real, sides = self._graph, len(self.side)
        if price is not None:
            w = np.where(self._fixed, 0.0, price[self.cells])
            self._graph = priced(self._network, rounded(w / (w.max(initial=0.0) or 1.0)), self._fixed)
        hidden = self._fixed if start is None else self._fixed | start[self.cells]
        forget(self._incumbent)
        hide(self._graph, self._incumbent, hidden)
        self._incumbent.state[places.LOGGING] = 0
        self._incumbent.state[places.TOKEN] += 1
        self._workspace.listed[:] = self._incumbent.state[places.TOKEN]
        done = 0
        while done < sides and not deadline.expired:
            queued = min(8 * NETWORK.batch, sides - done)
            self._workspace.pending[:queued] = np.arange(done, done + queued)
            if self._run(moves.mend, (queued, inf, -1)):
                done += queued
            elif self._incumbent.state[places.FULL]:
                self._more_slack()
            else:
                self._clash(int(self._incumbent.state[places.SHORT_OF]))
                break
        self._graph = real
        hide(self._graph, self._incumbent, self._incumbent.hidden & ((self._incumbent.users > 0) | self._fixed))
        self._incumbent.state[places.LOGGING] = 1
        return done == sides

    def _clash(self, side: int) -> None:
        """A requirement that stays short with every cell open."""
        s, p = int(self.side[side]), int(self.pair[side])
        reach = (self._asked.need[side] - self._incumbent.amounts[places.LEFT]) * self.unit
        self.clashes.append(Clash(p, s, float(self.instance.level[s, p]), float(reach)))

    def _run(self, kernel: Callable, what):
        return self._kernel(kernel)(self._graph, self._slacks, self._asked, self._incumbent, self._workspace, what)

    def _more_slack(self) -> None:
        """Of what was full. Nothing may be left to be taken back.

        What an attempt takes is given back when it is undone, so the incumbent does not show afterwards what it lacked,
        nor how much: it may have been to write nearly all witnesses anew, each of them longer."""
        incumbent, cells = self._incumbent, len(self.cells)
        before, top, size = int(incumbent.state[places.TOP]), pack(incumbent), len(incumbent.flow)
        if incumbent.state[places.FULL] == places.LOG:
            incumbent = incumbent._replace(log=np.zeros((4, 2 * incumbent.log.shape[1]), dtype=np.int64))
        more = max(2 * (top + cells) - size, 0)
        if incumbent.state[places.FULL] == places.ENTRIES and top == before:  # there was nothing to be thrown away
            more = max(more, size)
        if more > 0:
            entry = np.hstack([incumbent.entry, np.zeros((4, more), dtype=np.int64)])
            incumbent = incumbent._replace(entry=entry, flow=np.append(incumbent.flow, np.zeros(more)))
        incumbent.state[places.FULL] = 0
        self._incumbent = incumbent

    def _heaviest(self) -> np.ndarray:
        """Hidden cells that could be published, by decreasing cost."""
        cells = np.flatnonzero(self._incumbent.hidden & ~self._fixed)
        return cells[np.argsort(-self._w[cells], kind="stable")]

    def _sweep(self, deadline: Deadline) -> float:
        """Returns the share of the cost that was saved."""
        cells, before = self._heaviest(), self._incumbent.amounts[places.COST]
        at = 0
        while at < len(cells) and not deadline.expired:
            at += self._run(moves.sweep, cells[at : at + NETWORK.batch])
            if self._incumbent.state[places.FULL]:
                self._more_slack()
        return (before - self._incumbent.amounts[places.COST]) / before if before > 0 else 0.0

    def _prune(self) -> None:
        """Publishes what can be published with nothing new hidden."""
        self._incumbent.state[places.OPEN_ONLY] = 1
        self._sweep(Deadline())
        self._incumbent.state[places.OPEN_ONLY] = 0

    def _shake(self, deadline: Deadline, tell: Callable[[Progress], None], effort: float) -> None:
        idle = 0
        while not deadline.expired:
            cells = self._heaviest()
            if not len(cells) or idle > effort * 20 * len(cells):
                break
            won = self._run(moves.shake, self._plan(cells))
            if self._incumbent.state[places.FULL]:
                self._more_slack()
            won += self._resplit() if self._slides else 0
            idle = 0 if won else idle + NETWORK.batch
            if won:
                tell(Progress("flows: neighbourhoods", self.cost))

    def _plan(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Cells to begin with at random, and others that share a relation or a witness with them."""
        random, incumbent, graph = self._random, self._incumbent, self._graph
        first = random.choice(cells, NETWORK.batch)
        row = np.full((NETWORK.batch, 1 + NETWORK.related), -1)
        row[:, 0] = first
        many = random.integers(0, NETWORK.related + 1, NETWORK.batch)
        for k in range(NETWORK.related):
            kind, u = random.integers(0, 3, NETWORK.batch), random.random(NETWORK.batch)
            node = np.where(kind == 0, graph.tail[first], graph.head[first])
            by_relation = incumbent.near[
                graph.start[node] + np.minimum(u * incumbent.opened[node], incumbent.opened[node] - 1).astype(int)
            ]
            entry = incumbent.first[first]
            for _ in range(3):
                after = incumbent.entry[2, entry]
                entry = np.where((after >= 0) & (random.random(NETWORK.batch) < 0.5), after, entry)
            side = incumbent.entry[1, entry]
            by_witness = incumbent.entry[0, incumbent.begin[side] + (u * incumbent.length[side]).astype(int)]
            row[:, 1 + k] = np.where(k < many, np.where(kind == 2, by_witness, by_relation), -1)
        return row, random.choice([0.2, 0.4, 0.6, 0.8], NETWORK.batch), random.integers(0, 1 << 20, NETWORK.batch)

    def _resplit(self) -> int:
        """Tries other shares of the two requirements of sliding levels: what some cell has slack for goes one way.
        Returns how many attempts saved something."""
        need, incumbent, workspace, random, won = self._asked.need, self._incumbent, self._workspace, self._random, 0
        for slide in (self._slides[i] for i in random.integers(0, len(self._slides), NETWORK.batch)):
            view = self._slacks.view_of[self._asked.attacker[slide.up]]
            part = float(self._slacks.LB[view, random.integers(len(self.cells))])
            both, before = [slide.down, slide.up], need[[slide.down, slide.up]]
            need[both] = self._split(slide, part if random.random() < 0.5 else slide.total - part)
            most = incumbent.amounts[places.COST] * (1 - 1e-9)
            for side in both:
                self._kernel(moves.detach)(self._graph, incumbent, side)
            incumbent.state[places.TOKEN] += 1
            workspace.listed[both], workspace.pending[:2] = incumbent.state[places.TOKEN], both
            if self._run(moves.mend, (2, most, -1)):
                won += 1
            else:
                self._kernel(moves.undo)(self._graph, incumbent, 0)
                need[both] = before
            incumbent.state[places.LOGGED] = 0
            if incumbent.state[places.FULL]:
                self._more_slack()
                incumbent = self._incumbent
        return won

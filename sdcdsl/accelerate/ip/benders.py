"""Interval protection by cutting planes: the second model of paper 003 (Figure 7), in terms of classes.

    min Σ w⁺ z⁺ + w⁻ z⁻
    Σ α_i min(UB_i, z_i⁺) + β_i min(LB_i, z_i⁻) ≥ level      for every requirement and every identity (α, β) of an
    attacker

The master holds the cuts found so far; at a point of it every requirement is attacked, and what falls short gives the
next cuts. For a class that the viewer bounds more tightly than the interval does, the cut has the constant UB_i; the
choice is made at the point where the cut is found.

In many dimensions the point is not the optimum of the master, which jumps about, but lies between it and the best valid
intervals known (in-out separation): a cut found there cuts the optimum off as well, and if none is found the point is
valid and better. On networks questions are cheap, and the optimum itself is attacked, which is often all it takes:
first where levels were missed of late, until none is, then everywhere. Where the master takes longer than that, a point
is widened now and then until it is valid, each level getting what it lacks, and the next points lie between. Elsewhere
the moves of a round, those that fall short repaired, give valid intervals at any moment; the optimum of the master is a
bound at any moment.

Where cells are closely tied together by relations there are few directions, and all levels can be solved for at once
(`cutting.joint`). That is done as soon as cutting planes have cost as much as it will.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import floor, inf, isfinite, log2

import numpy as np

from sdcdsl.accelerate.cutting.attacks import AttackAnswer
from sdcdsl.accelerate.cutting.capacities import Capacities
from sdcdsl.accelerate.cutting.chained_cuts import interval_chain, widened
from sdcdsl.accelerate.cutting.joint_model import Identities, JointModel, solve_joint_model
from sdcdsl.accelerate.cutting.kept_cuts import KeptCuts, read_cuts
from sdcdsl.accelerate.cutting.min_cost_separation import MinCostSeparation
from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.cutting.separation import Identity, Separation, SeparationRound, identity_of
from sdcdsl.accelerate.ip.all_levels import can_be_turned, joint_model_of
from sdcdsl.accelerate.ip.joint_adjustment import JointAdjustment
from sdcdsl.accelerate.ip.master import IntervalMaster
from sdcdsl.accelerate.ip.polish import clean
from sdcdsl.accelerate.ip.tuning import TUNING
from sdcdsl.deadline import Deadline
from sdcdsl.methods.checkpoint import Checkpointer, CheckpointState
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.result import Progress
from sdcdsl.status import INFEASIBLE, LIMIT, OPTIMAL


class MasterFailed(RuntimeError):
    """The master ended with something that is not an answer."""


class Benders:
    def __init__(
        self,
        instance: Instance,
        demands: CutRequirements,
        w_down: np.ndarray,
        w_up: np.ndarray,
        widest: np.ndarray | None = None,
        mirrored: bool = False,
    ):
        """`widest` [class] bounds z⁻ + z⁺. `mirrored`: z⁻ = z⁺, for demands that were mirrored."""
        self.instance, self.demands = instance, demands
        self._w_down, self._w_up = w_down, w_up
        self.model = model = IntervalMaster(instance, demands, w_down, w_up, widest, mirrored)
        self.n = n = model.n
        network = demands.classes.network is not None
        repairs = None
        if not network:
            price = np.maximum(model.cost / model.scale, 1e-6)
            repairs = MinCostSeparation(demands.classes.matrix, price[:n], price[n:])
        self.separation = Separation(demands, repairs)
        self.inward = TUNING.inward if repairs is not None and widest is None else 0.0
        self._widens = network and widest is None and not len(demands.slides)
        self._steps = 0  # of the master, since intervals were widened
        self.hot = np.ones(len(self.separation.levels), dtype=bool)  # levels to ask about
        # Flows along capacities that differ by rounding errors take many steps that bring nothing.
        self.grain = 2.0 ** floor(log2(TUNING.grain * float(self.separation.levels.need.min(initial=inf))))
        self.best: np.ndarray | None = None
        self.held = False  # whether `best` holds a move for every level by arithmetic, not by a solver's word
        self.objective, self.bound = inf, -inf
        self.rounds = 0
        self.hopeless: list[int] = []  # levels that nothing reaches
        self.infeasible = False
        self._joint, self._joined = joint_model_of(model, self.separation), False
        self.checkpointer = Checkpointer()
        self._kept = KeptCuts()
        self._moves: list[np.ndarray] = []  # of all classes, which serve many levels each
        self.exact: np.ndarray | None = None  # the best intervals that hold by arithmetic
        self.witnesses: list[tuple[np.ndarray, np.ndarray]] = []  # classes and moves that those hold
        self.shown: Callable[[float, np.ndarray], None] = lambda objective, z: None  # told of all better ones

    def run(self, deadline: Deadline, gap: float, tell: Callable[[Progress], None] = lambda _: None) -> bool:
        """True if `best` is within the gap of the bound, or the point of the master is valid (then it is `best`)."""
        self._adjust(deadline, gap, tell)
        if self._near(gap) or self.mirror_first(deadline, gap, tell):
            return True
        if not self._start(deadline):
            return False
        self._resume()
        straight, extra = False, 0
        while not deadline.expired:
            relaxed = self.model.master.relax(deadline.remaining)
            if relaxed.status != OPTIMAL:
                self.infeasible = relaxed.status == INFEASIBLE
                if self.infeasible or relaxed.status == LIMIT:
                    return False
                raise MasterFailed(relaxed.status)
            bound = relaxed.bound * self.model.scale * self.model.unit
            # Where the bound is fixed the optimum moves along a face of equal cost: look at it itself.
            straight |= bound <= self.bound + 1e-9 * abs(self.bound)
            self.bound = max(self.bound, bound)
            if self._near(gap):
                if extra >= TUNING.extra or not self._simpler_near:
                    return True
                extra, straight = extra + 1, True
            if self._joint is not None and self._spent > self._joint.cost:
                self._jointly(self._joint, deadline, gap, tell)
                if self._near(gap):
                    return True
                continue
            x = np.maximum(relaxed.x, 0.0) * self.model.unit
            optimum = np.where(self.model.free, self.model.most, np.tile(x, 2) if self.model.mirrored else x)
            inward = 0.0 if straight or self.best is None else self.inward
            z = optimum if not inward or self.best is None else (1 - inward) * optimum + inward * self.best
            z = np.where(self.model.free, self.model.most, z)
            if self.separation.repairs is None:
                z = np.where(self.model.free, z, np.rint(z / self.grain) * self.grain)
            made = self._attack(z, deadline)
            self.rounds += 1
            self._take(made)
            self._steps += relaxed.steps
            self._widen(z, relaxed.reduced, deadline)
            found = self.objective if self.objective < inf else None
            tell(Progress("cuts", found, self.bound, f"{self.model.master.rows} cuts"))
            if made.complete and not made.found:
                if not self.hot.all():  # all that fell short of late are satisfied: see to the others
                    self.hot[:] = True
                elif inward == 0.0:
                    self.best, self.objective, self.held = z, self.model.price(z), False
                    return True
                straight = True
                continue
            straight = False
            if self.separation.repairs is None:
                self.hot = self.separation.recent if self.hot.all() else self.hot
            self.model.purge(relaxed.slack)
            found = [*made.found, *self._chains(made, z, relaxed.reduced)]
            self.model.master.add(self.model.row(identity, z) for identity in found)
            self._keep(found, z)
        return self._near(gap)

    @property
    def _simpler_near(self) -> bool:
        """The optimum itself has simpler numbers than what lies near it: worth a few more rounds, where they are
        cheap."""
        return bool(self.inward) and self.separation.repairs is not None and not self._joined and not self._moves

    def cut_off(self, missed: np.ndarray) -> bool:
        """Levels that the best intervals miss after all: a repair costs next to nothing where a class does, less than a
        solver's tolerance. False if no attack says so, either."""
        if self.best is None or self.held:
            return False
        z, cuts = self.best, 0
        point = Capacities(self.demands, z[: self.n], z[self.n :])
        for s in np.flatnonzero(missed).tolist():
            viewer, need = int(self.separation.levels.viewer[s]), float(self.separation.levels.need[s])
            identity = self.separation.lacking(s, *point.at(viewer, need), TUNING.miss)
            if identity is not None and np.isfinite((row := self.model.row(identity, z))[2]):
                self.model.master.add([row])
                cuts += 1
        if cuts:
            self.best, self.objective, self.hot[:] = None, inf, True
        return cuts > 0

    # ---- all levels at once ------------------------------------------------------------------------------------

    @property
    def _spent(self) -> float:
        return TUNING.step * self.separation.repairs.steps if self.separation.repairs is not None else 0.0

    def _jointly(self, joint: JointModel, deadline: Deadline, gap: float, tell: Callable[[Progress], None]) -> None:
        """Intervals from the moves that were found, cuts from their multipliers."""
        repairs, levels = self.separation.repairs, self.separation.levels
        assert repairs is not None
        self._joint, self._joined = None, True
        unit = self.model.scale * self.model.unit
        made = solve_joint_model(
            joint, lambda: deadline.expired, 0.1 * gap, lambda s: tell(Progress("all at once", unit * s.cost))
        )
        if made is None:
            return
        z = (np.tile(made.z, 2) if self.model.mirrored else made.z) * self.model.unit
        z = np.where(self.model.free, self.model.most, z)
        if (price := self.model.price(z)) < self.objective:
            self.best, self.objective, self.held = z, price, True
        identities, times = Identities(repairs.relations, joint.N), np.zeros(self.model.master.rows)
        for s in range(len(levels)):
            cell, sign, viewer, need = self.separation.target(s)
            if (found := identities.near(cell, sign, made.balance[s])) is not None:
                self.model.master.add([self.model.row(identity_of(s, viewer, need, *found[:2]), z)])
                times = np.append(times, found[2])
        # What they prove together is known already, and to more digits than the master would find it with.
        load = self.model.master.matrix.T @ times
        most = float((load / np.where(self.model.master.cost > 0, self.model.master.cost, inf)).max(initial=1.0))
        self.bound = max([self.bound, *(self.model.master.safe_bound(times / t)[0] * unit for t in (1.0, most))])

    # ---- what was known before, and what is kept --------------------------------------------------------------

    def _resume(self) -> None:
        """Of an earlier run: cuts, and intervals if attackers find nothing wrong with them."""
        self.checkpointer.save = self._save
        state = self.checkpointer.found
        if state is None or state.facts.get("mirrored") != self.model.mirrored:
            return
        for identity, z in read_cuts(state.arrays, self.separation, 2 * self.n):
            if z is not None:
                self.model.master.add([self.model.row(identity, z)])
                self._kept.add([identity], z)
        best = state.arrays.get("best")
        if best is None or best.dtype != float or best.shape != (2 * self.n,) or not (best >= 0).all():
            return
        best = np.where(self.model.free, self.model.most, np.minimum(best, self.model.most))
        point = Capacities(self.demands, best[: self.n], best[self.n :])
        if self.model.widest is not None and (best[: self.n] + best[self.n :] > self.model.widest).any():
            return
        if self.model.price(best) < self.objective and not self._misses(point):
            self.best, self.objective = best, self.model.price(best)

    def _misses(self, point: Capacities) -> bool:
        made = self.separation.round(point, tolerance=TUNING.miss, repairing=False)
        return bool(made.short.any() or not made.complete)

    def _keep(self, found: list[Identity], z: np.ndarray) -> None:
        self._kept.add(found, z)
        self._save()

    def _save(self) -> None:
        if self.checkpointer.due:
            arrays = self._kept.arrays(self.separation)
            if self.best is not None:
                arrays["best"] = self.best
            self.checkpointer.keep(CheckpointState({"mirrored": self.model.mirrored}, arrays))

    def _near(self, gap: float) -> bool:
        return self.objective < inf and self.objective - self.bound <= gap * abs(self.objective)

    def _start(self, deadline: Deadline) -> bool:
        """First intervals: moves that are found where everything is open; and the simplest cuts."""
        repairing = self.separation.repairs is not None
        open_ = np.where(self.model.free, self.model.most, 0.0) if repairing else np.full(2 * self.n, inf)
        for move in self._moves:
            open_ = np.maximum(open_, np.tile(np.abs(move), 2))
        point = Capacities(self.demands, open_[: self.n], open_[self.n :])
        made = self.separation.round(
            point, over=lambda: deadline.expired, each=not repairing, known=self._moves if repairing else ()
        )
        self.hopeless = made.hopeless if repairing else np.flatnonzero(made.short).tolist()
        if repairing:  # repairs ask what others must give; a class that has not the slack itself they do not notice
            self.hopeless = sorted(
                {*self.hopeless, *(s for s in range(self.separation.requirements) if self._narrow(s))}
            )
        if repairing and len(self.demands.slides):
            self.hopeless += [s for s in range(self.separation.requirements, len(made.short)) if not self._slides(s)]
        if self.hopeless:
            return False
        self._take(made)
        if not self._moves:
            self.model.master.add(self.model.simple_rows())
        return True

    # ---- one move for all levels -------------------------------------------------------------------------------

    def _adjust(self, deadline: Deadline, gap: float, tell: Callable[[Progress], None]) -> None:
        """First intervals in large tables: those of a joint adjustment, and of repairs where it serves a level not."""
        model, levels = self.model, self.separation.levels
        if self.separation.repairs is not None:
            self.separation.repairs.seconds_left = lambda: deadline.remaining
        if self.separation.repairs is None or model.mirrored or len(levels) * self.n < TUNING.adjusted_from:
            return
        model.master.add(model.simple_rows())
        cost = np.where(model.free, 0.0, model.cost).reshape(2, -1).sum(axis=0)
        joint = JointAdjustment(self.demands, cost, deadline, model.widest)

        def say(phase: str) -> None:
            tell(Progress(phase, self.objective if self.objective < inf else None, self.bound))

        def take(move: np.ndarray) -> None:
            self._moves = [move]
            self._adjusted(move, deadline)
            say("joint adjustment")

        first = joint.first()
        if first is None:
            return
        take(first)
        relaxed = model.master.relax(deadline.remaining)
        if relaxed.status == OPTIMAL:
            self.bound = max(self.bound, relaxed.bound * model.scale * model.unit)
        say("relations one by one")
        if not self._near(gap):
            part = deadline.within(
                TUNING.adjusting * deadline.remaining if isfinite(deadline.remaining) else TUNING.long
            )
            joint.better(part, take, lambda: self._near(gap))

    def _adjusted(self, move: np.ndarray, deadline: Deadline) -> None:
        """The intervals of this move and of the repairs that it leaves to be made, if they are the best so far."""
        z = np.tile(np.abs(move), 2)
        if self.model.price(np.where(self.model.free, 0.0, z)) >= self.objective:
            return
        z = np.where(self.model.free, self.model.most, z)
        point = Capacities(self.demands, z[: self.n], z[self.n :])
        made = self.separation.round(point, over=lambda: deadline.expired, known=[move])
        if not made.complete or not made.whole or made.hopeless or len(self.demands.slides):
            return
        for s, moved, repair in made.repairs:
            z = self._widened(z, s, moved, repair)
        price = self.model.price(z)
        if price < self.objective:
            self.best, self.objective, self.held = z, price, True
            self.witnesses = [(np.flatnonzero(move), move[move != 0]), *((at, d) for _, at, d in made.repairs)]
            self._show()

    def _widened(self, z: np.ndarray, s: int, moved: np.ndarray, move: np.ndarray) -> np.ndarray:
        """With slack for a repair, made a combination of the null space of its support."""
        _, _, _, need = self.separation.target(s)
        cleaned = clean(self.demands, AttackAnswer(need, moved, move, None, None), need)
        moved, move = (moved, move) if cleaned is None else cleaned
        z = z.copy()
        at = np.where(move > 0, self.n, 0) + moved
        z[at] = np.maximum(z[at], np.abs(move))
        return z

    def _show(self) -> None:
        assert self.best is not None
        self.exact = self.best
        self.shown(self.objective, self.best)

    def _narrow(self, s: int) -> bool:
        cell, sign, viewer, need = self.separation.target(s)
        low, high = self.demands.slack(viewer)
        return bool((high if sign > 0 else low)[cell] < need * (1 - TUNING.miss))

    def _slides(self, s: int) -> bool:
        levels = self.separation.levels
        return self.furthest(s) >= float(levels.need[s]) * (1 - TUNING.miss)

    def furthest(self, s: int) -> float:
        """How far a level is reached with everything open."""
        levels, attacks = self.separation.levels, self.separation.attacks
        need, slack = float(levels.need[s]), self.demands.slack(int(levels.viewer[s]))
        signs = [int(levels.sign[s])] if s < self.separation.requirements else [1, -1]
        return sum(attacks.ask(int(levels.cell[s]), sign, need, *slack).reached for sign in signs)

    def _take(self, made: SeparationRound) -> None:
        """Better intervals, if a round has shown some."""
        if self.hot.all():
            self._hold(made)

    def _hold(self, made: SeparationRound) -> None:
        if not made.whole or self.model.widest is not None:
            return
        hull = np.tile(made.hull.reshape(2, -1).max(axis=0), 2) if self.model.mirrored else made.hull
        hull = np.where(self.model.free, self.model.most, hull)
        price = self.model.price(hull)
        if price < self.objective:
            self.best, self.objective, self.held = hull, price, False
            self.shown(price, hull)

    def _widen(self, z: np.ndarray, reduced: np.ndarray | None, deadline: Deadline) -> None:
        """Now and then: valid intervals around a point on a network, where rounds show none unless they ask about all
        levels. From then on points lie between the two."""
        if not self._widens or reduced is None or self._steps < TUNING.widening * self.separation.requirements:
            return
        self._steps = 0
        n, price = self.n, np.maximum(reduced, 0.0) + self.model.master.cost
        wide = widened(self.separation, z, price, lambda: deadline.expired)
        if wide is None:
            return
        point = Capacities(self.demands, wide[:n], wide[n:])
        self._hold(self.separation.round(point, tolerance=TUNING.miss, over=lambda: deadline.expired, each=True))
        self.inward = TUNING.between

    def mirror_first(self, deadline: Deadline, gap: float, tell: Callable[[Progress], None] = lambda _: None) -> bool:
        """Symmetric intervals, where costs and levels are symmetric: half the size. Their bound holds in any case; True
        if they are valid too. Not for networks, which are quick enough: nobody wants the value in the middle."""
        n = self.n
        if self.model.widest is not None or self.model.mirrored or self.separation.repairs is None:
            return False
        if not self.demands.symmetric(self.model.cost[:n], self.model.cost[n:]):
            return False
        if self.checkpointer.found is not None and self.checkpointer.found.facts.get("mirrored") is False:
            return False  # an earlier run was through with them
        half = Benders(self.instance, self.demands.mirrored(), self._w_down, self._w_up, mirrored=True)
        half.checkpointer, half._moves = self.checkpointer, self._moves
        if self._moves:
            half.model.master.add(half.model.simple_rows())
        near = half.run(deadline, gap, tell)
        self.rounds += half.rounds
        self.bound = max(self.bound, half.bound)
        if half.best is None or half.objective >= self.objective:
            return self._near(gap)
        if not can_be_turned(self.separation, half.best) and self._misses(
            Capacities(self.demands, half.best[:n], half.best[n:])
        ):
            return half._joined and self._mirror_narrowly(deadline, gap, tell)
        self.best, self.objective, self.held = (
            half.best,
            half.objective,
            half.held and can_be_turned(self.separation, half.best),
        )
        return near

    def _mirror_narrowly(self, deadline: Deadline, gap: float, tell: Callable[[Progress], None]) -> bool:
        """Symmetric intervals that everybody's slack holds both ways: valid, and hardly dearer than the best where few
        slacks are narrow. True if the bound says so."""
        narrow = self.demands.mirrored(narrow=True)
        half = Benders(self.instance, narrow, self._w_down, self._w_up, mirrored=True)
        if half._joint is None or deadline.expired or (half.model.own_levels() > half.model.most).any():
            return False
        half._jointly(half._joint, deadline, gap, tell)
        if half.best is not None and can_be_turned(self.separation, half.best) and half.objective < self.objective:
            self.best, self.objective, self.held = half.best, half.objective, True
        return self._near(gap)

    def _attack(self, z: np.ndarray, deadline: Deadline) -> SeparationRound:
        point = Capacities(self.demands, z[: self.n], z[self.n :])
        flows = self.separation.repairs is None  # found in less time than it takes to see what other flows show
        return self.separation.round(
            point, tolerance=TUNING.miss, over=lambda: deadline.expired, only=self.hot, each=flows
        )

    def _chains(self, made: SeparationRound, z: np.ndarray, reduced: np.ndarray | None) -> Iterator[Identity]:
        """Further cuts for the requirements that fall short, which cost little once the first question is answered."""
        if reduced is None:
            return
        longest = TUNING.chain if self.demands.classes.network is not None else TUNING.short_chain
        price = np.maximum(reduced, 0.0) + TUNING.chain_cost * self.model.master.cost
        price = np.tile(price, 2) if self.model.mirrored else price
        for s in np.flatnonzero(made.short[: self.separation.requirements]).tolist():
            yield from interval_chain(self.separation, s, z, price, longest)

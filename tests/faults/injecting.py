"""Where faults get in, and how many did.

* `solver`: every HiGHS handle of the program. What `run` gives is read through a class that changes it: statuses,
  values, multipliers, bounds, incumbents; or it raises.
* `master`: what the cutting planes of all methods hear of their master problems, from HiGHS or SCIP.
* `engine`: dictionaries, flows and solvers of the attack, which separation and audit both rely on.
* `pattern`: what a method gives to the audit, whatever made it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import highspy
import numpy as np
import pytest

from sdcdsl.methods.result import Result
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import CHANGED, EXACT, HIDDEN, INTERVAL
from sdcdsl.solve.backend import BackendAnswer, Ending
from sdcdsl.solve.status import Solution, Status

PLACES = ("solver", "master", "engine", "pattern")
STATUSES = list(highspy.HighsModelStatus.__members__.values())
ANSWERS = ("optimal", "feasible", "infeasible", "limit", "failed")


class SolverDied(RuntimeError):
    """What a binding raises when the code behind it gives up."""


@dataclass
class Faults:
    """Draws what goes wrong. `often` is the share of answers that do."""

    chance: random.Random
    often: float = 0.3
    injected: Counter[str] = field(default_factory=Counter)

    def draw(self, *kinds: str) -> str | None:
        return self.chance.choice(kinds) if self.chance.random() < self.often else None

    def note(self, place: str, kind: str) -> None:
        self.injected[f"{place}: {kind}"] += 1

    # ---- numbers -----------------------------------------------------------------------------------------

    def slightly(self, x: np.ndarray) -> np.ndarray:
        size = 10.0 ** self.chance.uniform(-9, -2)
        noise = np.array([self.chance.gauss(0, 1) for _ in x])
        return x + size * np.maximum(np.abs(x), 1.0) * noise

    def wildly(self, x: np.ndarray) -> np.ndarray:
        x = np.array(x, dtype=float)
        match self.chance.randrange(7):
            case 0:
                return np.zeros_like(x)
            case 1:
                return np.array([self.chance.uniform(-100, 100) for _ in x])
            case 2:
                return x[self.chance.sample(range(len(x)), len(x))]
            case 3:
                x[self.chance.randrange(len(x)) if len(x) else slice(0)] = np.nan
                return x
            case 4:
                x[self.chance.randrange(len(x)) if len(x) else slice(0)] = self.chance.choice([np.inf, -np.inf, 1e300])
                return x
            case 5:
                return 1.0 - x
            case _:
                return -x


def faulty_highs(faults: Faults) -> type:
    """HiGHS as a class whose answers are changed on the way out."""
    honest = highspy.Highs

    class FaultyHighs(honest):
        _fault: str | None = None

        def run(self):
            self._fault = None
            status = super().run()
            self._fault = faults.draw("raises", "status", "slight", "wild", "duals", "info", "short")
            if self._fault is not None:
                faults.note("solver", self._fault)
            if self._fault == "raises":
                raise SolverDied("the solver is gone")
            return status

        def getModelStatus(self, *args):
            status = super().getModelStatus(*args)
            return faults.chance.choice(STATUSES) if self._fault == "status" else status

        def getSolution(self) -> Any:
            found = super().getSolution()
            x, y, rows = (np.array(v, dtype=float) for v in (found.col_value, found.row_dual, found.row_value))
            match self._fault:
                case "slight":
                    x, y = faults.slightly(x), faults.slightly(y)
                case "wild":
                    x, rows = faults.wildly(x), faults.wildly(rows)
                case "duals":
                    y = faults.wildly(y)
                case "short":
                    x, y = x[: len(x) // 2], y[: len(y) // 2]
                case _:
                    return found
            return SimpleNamespace(
                col_value=x,
                row_dual=y,
                row_value=rows,
                col_dual=np.array(found.col_dual),
                value_valid=True,
                dual_valid=True,
            )

        def getInfo(self) -> Any:
            info = super().getInfo()
            if self._fault != "info":
                return info
            told = {name: getattr(info, name) for name in dir(info) if not name.startswith("_")}
            for name in ("mip_dual_bound", "objective_function_value", "primal_solution_status"):
                told[name] = faults.chance.choice([0, 1, 2, -np.inf, np.inf, np.nan, told[name] * 2, -1e9, 1e9])
            return SimpleNamespace(**told)

        def getPrimalRay(self, *args):
            found = honest.getPrimalRay(self, *args)
            if self._fault in ("wild", "slight") and len(found) == 3 and found[1]:
                return found[0], found[1], faults.wildly(np.array(found[2]))
            return found

        def setCallback(self, callback: Any, callback_data: Any):
            if callback is None:
                return super().setCallback(callback, callback_data)

            def told(kind: Any, message: Any, out: Any, into: Any, about: Any) -> Any:
                wrong = faults.draw("incumbent")
                if wrong is None:
                    return callback(kind, message, out, into, about)
                faults.note("solver", wrong)
                seen = SimpleNamespace(mip_solution=faults.wildly(np.array(out.mip_solution)))
                return callback(kind, message, seen, into, about)

            return super().setCallback(told, callback_data)

    return FaultyHighs


def faulty_answer(honest: Callable[..., BackendAnswer], faults: Faults) -> Callable[..., BackendAnswer]:
    """A backend for compiled models, as `solve` asks it."""

    def ask(self: Any, model: Any, limits: Any) -> BackendAnswer:
        answer = honest(self, model, limits)
        kind = faults.draw("ending", "slight", "wild", "bound", "none", "short")
        if kind is None:
            return answer
        faults.note("backend", kind)
        values = answer.values if answer.values is not None else np.zeros(3)
        match kind:
            case "ending":
                return replace(answer, ending=faults.chance.choice(list(Ending)))
            case "slight":
                return replace(answer, values=faults.slightly(values))
            case "wild":
                return replace(answer, values=faults.wildly(values), ending=Ending.OPTIMAL)
            case "bound":
                return replace(answer, bound=faults.chance.choice([None, -1e9, 1e9, np.nan, 0.0]))
            case "short":
                return replace(answer, values=values[:-1])
        return replace(answer, values=None)

    return ask


def faulty_master(honest: Callable[..., Any], faults: Faults) -> Callable[..., Any]:
    """`Master.relax` and `Master.solve`."""

    def asked(self: Any, *args: Any, **more: Any) -> Any:
        made = honest(self, *args, **more)
        kind = faults.draw("raises", "status", "slight", "wild", "bound")
        if kind is None:
            return made
        faults.note("master", kind)
        match kind:
            case "raises":
                raise SolverDied("the solver is gone")
            case "status":
                return replace(
                    made, status=faults.chance.choice(["optimal", "feasible", "infeasible", "limit", "failed"])
                )
            case "slight" if made.x is not None:
                return replace(made, x=faults.slightly(made.x))
            case "wild" if made.x is not None:
                return replace(made, x=faults.wildly(made.x))
        return replace(made, bound=faults.chance.choice([-np.inf, -1e9, 1e9, np.nan, 0.0]))

    return asked


def faulty_branch_and_cut(honest: Callable[..., Solution], faults: Faults) -> Callable[..., Solution]:
    """SCIP: incumbents that are none, and a separation that is not asked about them."""

    def asked(*args: Any, on_incumbent: Any = None, **more: Any) -> Solution:
        def told(x: np.ndarray, objective: float) -> None:
            wrong = faults.draw("incumbent")
            if wrong is not None:
                faults.note("master", wrong)
                x = (faults.wildly(x) > 0.5).astype(float)
            on_incumbent(x, objective)

        made = honest(*args, on_incumbent=told if on_incumbent is not None else None, **more)
        kind = faults.draw("status", "bound", "raises")
        if kind is None:
            return made
        faults.note("master", kind)
        if kind == "raises":
            raise SolverDied("the solver is gone")
        if kind == "bound":
            return replace(made, bound=faults.chance.choice([None, -1e9, 1e9, np.nan, 0.0]))
        return replace(made, status=faults.chance.choice(list(Status)))

    return asked


class FaultyEngine:
    """An engine of the attack that says wrong things about every other question."""

    def __init__(self, honest: Any, faults: Faults):
        self._honest, self._faults = honest, faults

    def push(self, *args: Any, **more: Any) -> Any:
        answer = self._honest.push(*args, **more)
        faults = self._faults
        kind = faults.draw("raises", "too far", "too near", "move", "ray", "multipliers", "closed")
        if kind is None:
            return answer
        faults.note("engine", kind)
        cells, move, reached = np.asarray(answer.cells), np.asarray(answer.move, dtype=float), float(answer.reached)
        closed, why = answer.closed, answer.multipliers() if answer.closed else None
        match kind:
            case "raises":
                raise SolverDied("the engine is gone")
            case "too far":
                reached, move = reached * faults.chance.uniform(1, 5) + 1, move * 3
            case "too near":
                reached, move, closed = reached * 0.1, move * 0.1, True
            case "move":
                move = faults.wildly(move)
            case "ray":
                reached = np.inf
            case "multipliers" if why is not None:
                why = (why[0], faults.wildly(why[1]))
            case "closed":
                closed, why = True, why or (np.zeros(0, dtype=np.int64), np.zeros(0))
        return SimpleNamespace(reached=reached, cells=cells, move=move, closed=closed, multipliers=lambda: why)

    def joint(self, *args: Any, **more: Any) -> Any:
        found = self._honest.joint(*args, **more)
        if found is not None and self._faults.draw("joint"):
            self._faults.note("engine", "joint")
            return found[0], self._faults.wildly(np.asarray(found[1], dtype=float))
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._honest, name)


def corrupted(pattern: Pattern, a: np.ndarray, faults: Faults) -> Pattern:
    """Another pattern: some cells say more, less or something else than the method meant."""
    low, high, value, status = (x.copy() for x in (pattern.low, pattern.high, pattern.value, pattern.status))
    chance, claims = faults.chance, pattern.claims
    some = np.array(sorted(chance.sample(range(len(a)), chance.randint(1, max(1, len(a) // 3)))))
    touched = np.flatnonzero(status != EXACT)
    one = chance.choice(touched.tolist()) if len(touched) else int(some[0])
    kinds = ("published", "told", "narrow", "moved", "slightly", "open", "nan", "turned", "silent", "relabelled")
    kind = chance.choice(kinds)
    faults.note("pattern", kind)
    match kind:
        case "published":
            low[one] = high[one] = value[one] = a[one]
            status[one] = EXACT
        case "told":  # called hidden, with the true figure beside it
            value[touched] = a[touched]
        case "narrow":
            low[touched], high[touched] = np.maximum(low, a - 0.5)[touched], np.minimum(high, a + 0.5)[touched]
            status[touched] = np.where(status[touched] == HIDDEN, INTERVAL, status[touched])
        case "moved":
            value[some], low[some], high[some] = value[some] + 3, low[some] + 3, high[some] + 3
        case "slightly":
            low, high, value = faults.slightly(low), faults.slightly(high), faults.slightly(value)
        case "open":  # the box says nothing, and the printed figure everything
            low[some], high[some], value[some], status[some] = -np.inf, np.inf, a[some], EXACT
        case "nan":
            low[some] = np.nan
            high[one] = np.nan
        case "turned":
            low, high = high, low
        case "silent":
            claims = not claims
        case _:
            status[some] = chance.choice([EXACT, HIDDEN, INTERVAL, CHANGED])
    return replace(pattern, low=low, high=high, value=value, status=status, claims=claims)


@contextmanager
def injected(place: str, faults: Faults) -> Iterator[None]:
    """The program with one of its parts replaced."""
    with pytest.MonkeyPatch.context() as patch:
        if place == "solver":
            patch.setattr(highspy, "Highs", faulty_highs(faults))
        elif place == "master":
            from sdcdsl.numerics.master import Master  # noqa: PLC0415
            from sdcdsl.solve import scip  # noqa: PLC0415

            for name in ("relax", "solve"):
                patch.setattr(Master, name, faulty_master(getattr(Master, name), faults))
            patch.setattr(scip, "branch_and_cut", faulty_branch_and_cut(scip.branch_and_cut, faults))
        elif place == "engine":
            import sdcdsl.accelerate.ecta.attacking  # noqa: PLC0415
            import sdcdsl.attack.session  # noqa: PLC0415
            from sdcdsl.attack import engine_choice as choosing  # noqa: PLC0415

            honest = choosing.engine_for
            for module in (sdcdsl.attack.session, choosing, sdcdsl.accelerate.ecta.attacking):
                patch.setattr(module, "engine_for", lambda *args, **more: FaultyEngine(honest(*args, **more), faults))
        else:
            from sdcdsl.pipeline import search  # noqa: PLC0415

            real = search.run

            def run(problem: Any, name: str, order: Any) -> Result:
                result = real(problem, name, order)
                if result.pattern is None:
                    return result
                a = problem.dataset["a"].values
                return replace(result, pattern=corrupted(result.pattern, a, faults))

            patch.setattr(search, "run", run)
        yield

"""Random options of every method, as text for the policy and as numbers for the oracle.

Amounts that have to cover the levels (bases, ranges) are mostly chosen so large that they do; a minority stays too
small, so that refusals are met as well.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from tests.soak.worlds import World

SECONDS = 4  # of every method; what has found nothing by then says so


@dataclass(frozen=True)
class Amount:
    """constant + share · |value|."""

    constant: float = 0.0
    share: float = 0.0

    def of(self, a: np.ndarray) -> np.ndarray:
        return self.constant + self.share * np.abs(a)


@dataclass(frozen=True)
class Part:
    """One form of a combined release, and the cells it is for: a code of the first dimension, or values above one."""

    form: str
    amount: float = 0.0
    code: str | None = None
    above: float | None = None
    negated: bool = False

    @property
    def text(self) -> str:
        return f"{self.form} {self.amount:g}" if self.amount else self.form


@dataclass(frozen=True)
class Chosen:
    """A method with its options."""

    method: str
    label: str  # what the case is counted under
    lines: tuple[str, ...] = ()
    norm: str = "L1"
    sense: str = "free"
    omega1: float = 1.0
    squared_above: float | None = None
    integer: bool = False
    keep_totals: bool = False
    soft: bool = False  # totals may move after all, at another price
    down: Amount | None = None  # of a range: how far a figure may go
    up: Amount | None = None
    end: str = "free"
    base: float = 0.0
    steps: int = 0
    alpha: float = 0.0
    beta: float | None = None
    min_width: Amount | None = None
    cap_width: Amount | None = None
    cap: int | None = None  # hidden cells, intervals or changed figures at most
    avoid_centre: bool = False
    parts: tuple[Part, ...] = ()
    gap: bool = False  # the least cost is not asked for


@dataclass(frozen=True)
class Levels:
    """The size of what levels ask for, as far as options have to follow it."""

    share: float = 0.0
    constant: float = 0.0
    most: float = 0.0  # of any cell


def choose(draw: random.Random, world: World, method: str, levels: Levels) -> Chosen:
    made = {
        "csp": _csp,
        "ip": _ip,
        "cta": _cta,
        "ecta": _ecta,
        "rounding": _rounding,
        "perturb": _perturb,
        "combined": _combined,
    }[method](draw, world, levels)
    lines = [f"time_limit {SECONDS} s", *made.pop("lines")]
    label = made.pop("label", method)
    if method not in ("ecta", "combined") and draw.random() < 0.1:
        lines.append("backend scip")
    gap = method != "ecta" and draw.random() < 0.2
    if gap:
        lines.append(f"gap {draw.choice([1, 5])}%")
    if draw.random() < 0.15:
        lines.append("unions off")
    return Chosen(method, label, tuple(lines), gap=gap, **made)


def _size(world: World) -> str:
    return "abs(value)" if world.negative else "value"


def _enough(draw: random.Random, levels: Levels) -> float:
    """A round number that is mostly well above the levels."""
    wanted = max(levels.most, 1.0) * draw.choice([0.6, 1.1, 1.5, 2.0, 3.0, 3.0])
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(np.ceil(wanted / power) * power)


def _csp(draw: random.Random, world: World, levels: Levels) -> dict:
    cap = draw.randint(4, 12) if draw.random() < 0.1 else None
    return {"lines": [f"cap_hidden {cap}"] if cap else [], "cap": cap}


def _widths(draw: random.Random, world: World) -> dict:
    lines, made = [], {}
    if draw.random() < 0.3:
        least = draw.choice([Amount(share=0.05), Amount(constant=10.0), Amount(constant=3.0)])
        made["min_width"] = least
        lines.append(f"min_width {f'{least.share:g} * {_size(world)}' if least.share else f'{least.constant:g}'}")
    if draw.random() < 0.15:
        made["cap_width"] = Amount(5.0, 2.0)
        lines.append(f"cap_width 5 + 2 * {_size(world)}")
    return {"lines": lines, **made}


def _ip(draw: random.Random, world: World, levels: Levels) -> dict:
    made = _widths(draw, world)
    if draw.random() < 0.1:
        made["cap"] = draw.randint(4, 12)
        made["lines"].append(f"cap_intervals {made['cap']}")
    if draw.random() < 0.2:
        made["avoid_centre"] = True
        made["lines"].append("avoid_centre")
    return made


def _cta(draw: random.Random, world: World, levels: Levels) -> dict:
    norm, sense = draw.choice(["L1", "L2", "Linf", "L1L2"]), draw.choice(["free", "free", "up", "down", "keyed"])
    if sense == "keyed" and not world.unit:
        sense = "free"
    made: dict = {"label": f"cta {norm} {sense}", "norm": norm, "sense": sense}
    lines = [f"norm {norm}", f"sense {sense}"]
    if norm == "L1L2" and draw.random() < 0.7:
        lines += ["omega1 0.5", f"squared where {_size(world)} > 20"]
        made |= {"omega1": 0.5, "squared_above": 20.0}
    if draw.random() < 0.25:
        made |= {"down": Amount(share=1.0), "up": Amount(share=2.0)}
        lines.append("range -100% .. 200%")
    if draw.random() < 0.1 and not world.brings_levels:
        made["keep_totals"] = True
        lines.append("keep_totals")
    if draw.random() < 0.3 and world.whole:
        made["integer"] = True
        lines.append("integer")
    if draw.random() < 0.1 and not world.brings_levels:
        made["soft"] = True
        lines.append("soft_totals 100")
    return {"lines": lines, **made}


def _ecta(draw: random.Random, world: World, levels: Levels) -> dict:
    norm, alpha = draw.choice(["L1", "L2", "Linf"]), draw.choice([30, 50, 100, 100])
    beta = draw.choice([None, None, None, 20, 100])
    lines = [f"alpha {alpha}%", f"tries {draw.choice([5, 15])}", f"norm {norm}"]
    if beta:
        lines.append(f"beta {beta}%")
    if draw.random() < 0.3:
        lines.append("sensitive_free")
    if draw.random() < 0.2:
        lines.append("fix_at_a_time 3")
    share = beta / 100 if beta else None
    return {"label": f"ecta {norm}", "lines": lines, "norm": norm, "alpha": alpha / 100, "beta": share}


def _rounding(draw: random.Random, world: World, levels: Levels) -> dict:
    base, steps = _enough(draw, levels), draw.choice([0, 0, 0, 1, 2])
    return {"lines": [f"base {base:g}", *([f"steps {steps}"] if steps else [])], "base": base, "steps": steps}


def _perturb(draw: random.Random, world: World, levels: Levels) -> dict:
    far = _enough(draw, levels)
    if levels.constant or draw.random() < 0.6:
        down, up = Amount(far), Amount(far if draw.random() < 0.7 else 2 * far)
        lines = [f"range -{down.constant:g} .. {up.constant:g}"]
    else:
        share = draw.choice([0.4, 0.6])
        down = up = Amount(share=share)
        lines = [f"range -{100 * share:g}% .. {100 * share:g}%"]
    end = draw.choice(["free", "free", "free", "free", "low", "high"])
    if end != "free":
        lines.append(f"end {end}")
    cap = draw.randint(10, 30) if draw.random() < 0.1 else None
    if cap:
        lines.append(f"cap_changed {cap}")
    return {"lines": lines, "down": down, "up": up, "end": end, "cap": cap}


def _combined(draw: random.Random, world: World, levels: Levels) -> dict:
    forms = draw.sample(["suppress", "interval", "perturb", "round"], draw.choice([1, 2, 2]))
    amounts = [_enough(draw, levels) if form in ("perturb", "round") else 0.0 for form in forms]
    where: dict = {}
    if world.brings_levels:
        where["above"] = draw.choice([20.0, 60.0])
        split = f"value > {where['above']:g}"
    else:
        dimension = world.dimensions[0]
        where["code"] = draw.choice([c for c in dimension.codes if c != dimension.total])
        split = f"{dimension.name} = {where['code']}"
    parts = [Part(form, amount, **where) for form, amount in zip(forms, amounts, strict=True)]
    if len(parts) == 2:
        parts[1] = Part(forms[1], amounts[1], **where, negated=True)
        lines = [f"{parts[0].text} where {split}", f"{parts[1].text} where not ({split})"]
    else:
        parts = [Part(forms[0], amounts[0])]
        lines = [f"{parts[0].text} where {split} or not ({split})"]
    made: dict = {"parts": tuple(parts)}
    if "interval" in forms:
        widths = _widths(draw, world)
        lines += widths.pop("lines")
        made |= widths
    if "suppress" in forms and draw.random() < 0.2:
        made["cap"] = 12
        lines.append("cap_hidden 12")
    return {"lines": lines, **made}

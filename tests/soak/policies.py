"""Random policies over a random world: rules and facts, attackers, levels, costs, one block or two."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import numpy as np

from tests.soak.options import Chosen, Levels, choose
from tests.soak.worlds import World

METHODS = ("csp", "ip", "cta", "ecta", "rounding", "perturb", "combined", "chain")
CHANGES = ("cta", "ecta", "rounding", "perturb", "combined")  # options of these have to follow the levels


@dataclass(frozen=True)
class Attacker:
    """Who attacks, as text and as what follows from it: both ends are constant + share · value + size · |value|."""

    name: str
    lines: tuple[str, ...]
    low: tuple[float, float, float] = (-np.inf, 0.0, 0.0)
    high: tuple[float, float, float] = (np.inf, 0.0, 0.0)
    zeros: bool = False
    counts: bool = False
    each: bool = False  # one for every contributor; what these know of their own parts is not worked out here

    def ends(self, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return tuple(c + s * a + t * np.abs(a) for c, s, t in (self.low, self.high))  # pyright: ignore


@dataclass(frozen=True)
class Wanted:
    """What a policy asks for, as far as the checks have to know."""

    text: str
    engine: str  # the name under which the case is counted: `cta L1 free`
    methods: tuple[str, ...]
    formats: dict[str, str]  # released files by format, of a block with one table
    capped: bool  # some option forbids what would otherwise protect
    seed: int
    options: tuple[Chosen, ...] = ()
    attackers: tuple[Attacker, ...] = ()
    joint: str | None = None  # of two blocks: the policy that protects their tables together
    tables: tuple[tuple[str, ...], ...] = ()  # of each block

    def of(self, method: str) -> Chosen | None:
        return next((chosen for chosen in self.options if chosen.method == method), None)


def make_policy(draw: random.Random, world: World, method: str) -> Wanted:
    seed = draw.randrange(1, 10**6)
    attackers = _attackers(draw, world)
    chain = [method] if method != "chain" else draw.sample(["csp", "ip", "cta", "rounding", "perturb"], 2)
    levels, size = _levels(draw, world, attackers, chain)
    options = tuple(choose(draw, world, name, size) for name in chain)
    inside = list(levels)
    if chain in (["csp"], ["ip"]):
        inside += draw.choice([[], [], [], ["  conditional spl 5% of value"] if not world.negative else []])
    inside += _costs(draw, world)
    options = (options[0], *(replace(o, lines=tuple(s for s in o.lines if s != "unions off")) for o in options[1:]))
    said = " else ".join(f"{chosen.method} {{\n    {'; '.join(chosen.lines)}\n  }}" for chosen in options)
    inside.append("  method " + said.replace("; ", "\n    "))
    formats = {"csv": "out.csv"}
    if draw.random() < 0.6:
        other = draw.choice(["parquet", "sdmx", "jj", "argus", "html"])
        formats[other] = {"sdmx": "out-sdmx.csv", "argus": "out.tab"}.get(other, f"out.{other}")
    head = ["sdc 1", 'policy "Soak"', f"seed {seed}", "", *world.text, *_facts(draw, world), ""]
    head += [line for one in attackers for line in (f"attacker {one.name} {{", *(f"  {s}" for s in one.lines), "}", "")]
    together = _block(", ".join(world.tables), inside, formats)
    joint, tables = None, (tuple(world.tables),)
    text = "\n".join([*head, *together]) + "\n"
    if len(world.tables) > 1 and chain in (["csp"], ["ip"]) and draw.random() < 0.5:
        joint, formats, tables = text, {"csv": "out.csv"}, tuple((name,) for name in world.tables)
        apart = [line for name in world.tables for line in (*_block(name, inside, {"csv": f"out-{name}.csv"}), "")]
        text = "\n".join([*head, *apart]) + "\n"
    capped = any(chosen.cap is not None or chosen.cap_width is not None for chosen in options) or "\npublish " in text
    engine = "chain" if method == "chain" else options[0].label
    return Wanted(text, engine, tuple(chain), formats, capped, seed, options, tuple(attackers), joint, tables)


def _block(tables: str, inside: list[str], formats: dict[str, str]) -> list[str]:
    files = [f'  release {format} "{file}"' for format, file in formats.items()]
    return [f"protect {tables} {{", *inside, *files, "}"]


# ---- which cells ---------------------------------------------------------------------------------------------------


def _facts(draw: random.Random, world: World) -> list[str]:
    out: list[str] = []
    if world.brings_levels:
        return out
    if world.counts:
        rules = ["sensitive by threshold(3)"]
        if world.largest:
            rules += ["sensitive by dominance(n: 1, k: 75%)", "sensitive by dominance(2, 85%)"]
        if world.largest and (world.kind != "cells" or not world.negative):
            rules += ["sensitive by p_percent(10%)", "sensitive by pq(p: 10%, q: 60%)"]
        if world.unit and not world.frequency:
            rules.append("sensitive by contributors(n: 2)")
        out += draw.sample(rules, min(len(rules), draw.randint(1, 2)))
    table, dimensions = next(iter(world.tables.items()))
    cells = world.cells[table]
    leaves = [c for c in cells if all(code in d.leaves for d, code in zip(dimensions, c, strict=True)) and cells[c]]
    if leaves and (not world.counts or draw.random() < 0.3):
        for cell in draw.sample(leaves, min(len(leaves), draw.randint(1, 3))):
            out.append(f"sensitive {table} at ({_address(dimensions, cell)})")
    others = [c for c in cells if c not in leaves and draw.random() < 0.1]
    if others and draw.random() < 0.15:
        out.append(f"publish {table} at ({_address(dimensions, draw.choice(others))})")
    if leaves and draw.random() < 0.15:
        out.append(f"suppress {table} at ({_address(dimensions, draw.choice(leaves))})")
    if draw.random() < 0.1:
        out.append("fix where value = 0")
    return out


def _address(dimensions, cell) -> str:
    return ", ".join(f"{d.name}: {code}" for d, code in zip(dimensions, cell, strict=True))


# ---- who, and how much ---------------------------------------------------------------------------------------------

POSITIVE = (0.0, 0.0, 0.0)


def _attackers(draw: random.Random, world: World) -> list[Attacker]:
    if world.brings_levels and draw.random() < 0.5:
        return [Attacker("given", ("bounds given",))]
    if world.negative:
        wide = "bounds value - abs(value) - 10 .. value + abs(value) + 10"
        close = "bounds value - 0.5 * abs(value) - 2 .. value + 0.5 * abs(value) + 2"
        anybody = [
            Attacker("external", ("bounds -inf .. inf",)),
            Attacker("informed", (wide,), (-10.0, 1.0, -1.0), (10.0, 1.0, 1.0)),
            Attacker("close", (close,), (-2.0, 1.0, -0.5), (2.0, 1.0, 0.5)),
            Attacker("counting", ("bounds -inf .. inf", "knows zeros"), zeros=True),
        ]
    else:
        anybody = [
            Attacker("external", ("bounds 0 .. inf",), POSITIVE),
            Attacker("informed", ("bounds 50% of value .. 200% of value",), (0.0, 0.5, 0.0), (0.0, 2.0, 0.0)),
            Attacker("close", ("bounds 0.7 * value .. 1.5 * value + 3",), (0.0, 0.7, 0.0), (3.0, 1.5, 0.0)),
            Attacker("counting", ("bounds 0 .. inf", "knows zeros"), POSITIVE, zeros=True),
        ]
    if world.counts:
        bounds = "bounds -inf .. inf" if world.negative else "bounds 0 .. inf"
        low = (-np.inf, 0.0, 0.0) if world.negative else POSITIVE
        anybody.append(Attacker("census", (bounds, "knows counts"), low, counts=True))
    if world.unit and not world.negative and not world.frequency:
        own = "knows own contribution"
        anybody.append(Attacker("respondent", ("each unit", own, "bounds 0 .. 3 * value"), each=True))
        if world.group:
            anybody.append(Attacker("holding", ("each group", own, "bounds 0 .. inf"), each=True))
    first, *others = anybody
    return [first, *draw.sample(others, draw.choice([0, 0, 1, 1, 2]))]


def _levels(draw: random.Random, world: World, attackers: list[Attacker], chain: list[str]) -> tuple[list[str], Levels]:
    """The statements, and how large what they ask for is."""
    names = [one.name for one in attackers]
    out = [f"  against {', '.join(names)}"]
    largest = max((abs(v) for cells in world.cells.values() for v in cells.values()), default=1.0)
    if names == ["given"]:
        sliding = [] if draw.random() < 0.5 or chain == ["cta"] else ["  spl 0.2 * value"]
        return [*out, *sliding], Levels(0.2, 0.0, 0.2 * largest)
    size = "abs(value)" if world.negative else "value"
    changes = any(name in CHANGES for name in chain)
    bold = draw.random() < 0.15  # more than attackers and ranges mostly leave
    kind = draw.choice(["needed", "share", "share", "constant"]) if not bold else "share"
    if not world.counts and kind == "needed":
        kind = "share"
    narrow = any(name in ("informed", "close") for name in names)
    down, up = draw.choice([0.05, 0.1, 0.2]), draw.choice([0.05, 0.15, 0.3])
    if bold:
        down, up = draw.choice([0.2, 0.4]), draw.choice([0.3, 1.0])
    constant = draw.choice([1, 2, 3]) * (100 if world.large else 1)
    sides = draw.choice([("lpl", "upl")] * 5 + [("lpl",), ("upl",)])
    if kind == "needed":
        stated = {"lpl": "needed", "upl": "needed"}
        levels = Levels(0.3, 0.0, 0.3 * largest)
    elif kind == "constant" and not narrow:
        stated = {"lpl": f"{constant}", "upl": f"{2 * constant}"}
        levels = Levels(0.0, constant, 2.0 * constant)
    else:
        stated = {"lpl": f"{down} * {size}", "upl": f"{up} * {size}" if narrow else f"max(1, {up} * {size})"}
        levels = Levels(max(down, up), 0.0, max(down, up) * largest)
    out += [f"  {side} {stated[side]}" for side in sides]
    if kind == "needed" and draw.random() < 0.3 and "upl" in sides:
        out.append(f"  upl max(needed, 0.1 * {size})")
    if draw.random() < (0.1 if changes else 0.35):
        out.append(f"  spl {draw.choice([0.2, 0.4] if not bold else [0.4, 0.8])} * {size}")
    if len(names) > 1 and draw.random() < 0.4:
        side = draw.choice(["lpl", "upl"])
        out.append(f"  {side} 0.05 * {size} against {draw.choice(names)}")
    return out, levels


def _costs(draw: random.Random, world: World) -> list[str]:
    if world.brings_levels and draw.random() < 0.5:
        return []
    size = "abs(value)" if world.negative else "value"
    some = [[], [f"  cost {size}"], [f"  cost sqrt({size})"], [f"  cost log(1 + {size})"], ["  cost 2"]]
    if not world.brings_levels:
        some.append([f"  cost {size}", f"  cost 10 * {size} where {world.dimensions[0].name} = Total"])
        some.append([f"  cost up 1 + {size}", "  cost down 2", "  cost fixed 3"])
    return draw.choice(some)

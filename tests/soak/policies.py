"""Random policies over a random world: rules and facts, attackers, levels, costs, methods with their options."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.soak.worlds import World

METHODS = ("csp", "ip", "cta", "ecta", "rounding", "perturb", "combined", "chain")
SECONDS = 4  # of every method; what has found nothing by then says so


@dataclass(frozen=True)
class Wanted:
    """What a policy asks for, as far as the checks have to know."""

    text: str
    engine: str  # the name under which the case is counted: `cta L1 free`
    methods: tuple[str, ...]
    formats: dict[str, str]  # released files by format, of a block with one table
    capped: bool  # some option forbids what would otherwise protect
    seed: int


def make_policy(draw: random.Random, world: World, method: str) -> Wanted:
    seed = draw.randrange(1, 10**6)
    attackers, names = _attackers(draw, world)
    chain = [method] if method != "chain" else draw.sample(["csp", "ip", "cta", "rounding", "perturb"], 2)
    options = [_options(draw, world, name) for name in chain]
    engine = "chain" if method == "chain" else options[0][0]
    block = [f"protect {', '.join(world.tables)} {{"]
    block += _levels(draw, world, names)
    if chain in (["csp"], ["ip"]):
        block += draw.choice([[], [], [], ["  conditional spl 5% of value"] if not world.negative else []])
    block += _costs(draw, world)
    said = " else ".join(
        f"{name} {{\n    {'; '.join(lines)}\n  }}" for name, (_, lines) in zip(chain, options, strict=True)
    )
    block.append("  method " + said.replace("; ", "\n    "))
    formats = {"csv": "out.csv"}
    if draw.random() < 0.6:
        other = draw.choice(["parquet", "sdmx", "jj", "argus", "html"])
        formats[other] = {"sdmx": "out-sdmx.csv", "argus": "out.tab"}.get(other, f"out.{other}")
    block += [f'  release {format} "{file}"' for format, file in formats.items()] + ["}"]
    lines = ["sdc 1", 'policy "Soak"', f"seed {seed}", "", *world.text, *_facts(draw, world), "", *attackers, *block]
    capped = any(line.startswith(("cap_", "publish")) for _, lines in options for line in lines)
    return Wanted("\n".join(lines) + "\n", engine, tuple(chain), formats, capped, seed)


# ---- which cells ---------------------------------------------------------------------------------------------------


def _facts(draw: random.Random, world: World) -> list[str]:
    out: list[str] = []
    if world.brings_levels:
        return out
    if world.counts:
        rules = ["sensitive by threshold(3)", "sensitive by dominance(n: 1, k: 75%)", "sensitive by dominance(2, 85%)"]
        if world.kind != "cells" or not world.negative:
            rules += ["sensitive by p_percent(10%)", "sensitive by pq(p: 10%, q: 60%)"]
        if world.unit:
            rules.append("sensitive by contributors(n: 2)")
        out += draw.sample(rules, draw.randint(1, 2))
    table, dimensions = next(iter(world.tables.items()))
    cells = world.cells[table]
    leaves = [c for c in cells if all(code in d.leaves for d, code in zip(dimensions, c, strict=True)) and cells[c]]
    if leaves and (not world.counts or draw.random() < 0.3):
        for cell in draw.sample(leaves, min(len(leaves), draw.randint(1, 3))):
            out.append(f"sensitive {table} at ({_address(dimensions, cell)})")
    others = [c for c in cells if c not in leaves and draw.random() < 0.1]
    if others and draw.random() < 0.3:
        out.append(f"publish {table} at ({_address(dimensions, draw.choice(others))})")
    if leaves and draw.random() < 0.15:
        out.append(f"suppress {table} at ({_address(dimensions, draw.choice(leaves))})")
    if draw.random() < 0.1:
        out.append("fix where value = 0")
    return out


def _address(dimensions, cell) -> str:
    return ", ".join(f"{d.name}: {code}" for d, code in zip(dimensions, cell, strict=True))


# ---- who, and how much ---------------------------------------------------------------------------------------------


def _attackers(draw: random.Random, world: World) -> tuple[list[str], list[str]]:
    if world.brings_levels and draw.random() < 0.5:
        return ["attacker given {", "  bounds given", "}", ""], ["given"]
    if world.negative:
        anybody = {
            "external": ["bounds -inf .. inf"],
            "informed": ["bounds value - abs(value) - 10 .. value + abs(value) + 10"],
            "close": ["bounds value - 0.5 * abs(value) - 2 .. value + 0.5 * abs(value) + 2"],
        }
    else:
        anybody = {
            "external": ["bounds 0 .. inf"],
            "informed": ["bounds 50% of value .. 200% of value"],
            "counting": ["bounds 0 .. inf", "knows zeros"],
            "close": ["bounds 0.7 * value .. 1.5 * value + 3"],
        }
    if world.unit and not world.negative:
        anybody["respondent"] = ["each unit", "knows own contribution", "bounds 0 .. 3 * value"]
        if world.group:
            anybody["holding"] = ["each group", "knows own contribution", "bounds 0 .. inf"]
    names = ["external", *draw.sample([n for n in anybody if n != "external"], draw.choice([0, 0, 1, 1, 2]))]
    out = [line for n in names for line in (f"attacker {n} {{", *(f"  {said}" for said in anybody[n]), "}", "")]
    return out, names


def _levels(draw: random.Random, world: World, names: list[str]) -> list[str]:
    out = [f"  against {', '.join(names)}"]
    if names == ["given"]:
        return out if draw.random() < 0.5 else [*out, "  spl 0.2 * value"]
    size = "abs(value)" if world.negative else "value"
    if world.counts and draw.random() < 0.5:
        out += ["  lpl needed", "  upl needed"]
        out += [f"  upl max(needed, 0.1 * {size})"] if draw.random() < 0.3 else []
    else:
        down, up = draw.choice([0.05, 0.1, 0.2, 0.4]), draw.choice([0.05, 0.15, 0.3, 1.0])
        out += [f"  lpl {down} * {size}", f"  upl max(1, {up} * {size})"]
    if draw.random() < 0.35:
        out.append(f"  spl {draw.choice([0.2, 0.4, 0.8])} * {size}")
    if len(names) > 1 and draw.random() < 0.4:
        out.append(f"  upl 0.05 * {size} against {draw.choice(names)}")
    return out


def _costs(draw: random.Random, world: World) -> list[str]:
    if world.brings_levels and draw.random() < 0.5:
        return []
    size = "abs(value)" if world.negative else "value"
    some = [[], [f"  cost {size}"], [f"  cost sqrt({size})"], [f"  cost log(1 + {size})"], ["  cost 2"]]
    if not world.brings_levels:
        some.append([f"  cost {size}", f"  cost 10 * {size} where {world.dimensions[0].name} = Total"])
        some.append([f"  cost up 1 + {size}", "  cost down 2", "  cost fixed 3"])
    return draw.choice(some)


# ---- how -----------------------------------------------------------------------------------------------------------


def _options(draw: random.Random, world: World, method: str) -> tuple[str, list[str]]:
    """What the case is counted under, and the options of the method."""
    name, lines = {
        "csp": _csp,
        "ip": _ip,
        "cta": _cta,
        "ecta": _ecta,
        "rounding": _rounding,
        "perturb": _perturb,
        "combined": _combined,
    }[method](draw, world)
    lines = [f"time_limit {SECONDS} s", *lines]
    if method != "ecta" and draw.random() < 0.1:
        lines.append("backend scip")
    if method != "ecta" and draw.random() < 0.2:
        lines.append(f"gap {draw.choice([1, 5])}%")
    if draw.random() < 0.15:
        lines.append("unions off")
    return name, lines


def _csp(draw: random.Random, world: World) -> tuple[str, list[str]]:
    return "csp", [f"cap_hidden {draw.randint(4, 12)}"] if draw.random() < 0.1 else []


def _ip(draw: random.Random, world: World) -> tuple[str, list[str]]:
    size = "abs(value)" if world.negative else "value"
    lines = []
    if draw.random() < 0.2:
        lines.append(f"min_width 0.05 * {size}")
    if draw.random() < 0.15:
        lines.append(f"cap_width 5 + 2 * {size}")
    if draw.random() < 0.1:
        lines.append(f"cap_intervals {draw.randint(4, 12)}")
    if draw.random() < 0.2:
        lines.append("avoid_centre")
    return "ip", lines


def _cta(draw: random.Random, world: World) -> tuple[str, list[str]]:
    norm, sense = draw.choice(["L1", "L2", "Linf", "L1L2"]), draw.choice(["free", "up", "down", "keyed"])
    if sense == "keyed" and not world.unit:
        sense = "free"
    lines = [f"norm {norm}", f"sense {sense}"]
    if norm == "L1L2" and draw.random() < 0.7:
        lines += ["omega1 0.5", f"squared where {'abs(value)' if world.negative else 'value'} > 20"]
    if draw.random() < 0.15:
        lines.append("adjust -100% .. 200%")
    if draw.random() < 0.15 and not world.brings_levels:
        lines.append("keep_totals")
    if draw.random() < 0.15 and world.whole:
        lines.append("integer")
    if draw.random() < 0.1 and not world.brings_levels:
        lines.append("soft_totals 100")
    return f"cta {norm} {sense}", lines


def _ecta(draw: random.Random, world: World) -> tuple[str, list[str]]:
    norm = draw.choice(["L1", "L2", "Linf"])
    lines = [f"alpha {draw.choice([30, 50, 100])}%", f"tries {draw.choice([5, 15])}", f"norm {norm}"]
    if draw.random() < 0.5:
        lines.append(f"beta {draw.choice([10, 20])}%")
    if draw.random() < 0.3:
        lines.append("sensitive_free")
    if draw.random() < 0.2:
        lines.append("fix_at_a_time 3")
    return f"ecta {norm}", lines


def _rounding(draw: random.Random, world: World) -> tuple[str, list[str]]:
    base = draw.choice([3, 5, 10, 25]) if not world.large else draw.choice([100, 5000])
    return "rounding", [f"base {base}", *([f"steps {draw.choice([1, 2, 3])}"] if draw.random() < 0.5 else [])]


def _perturb(draw: random.Random, world: World) -> tuple[str, list[str]]:
    lines = [draw.choice(["range -5 .. 5", "range -20 .. 20", "range -30% .. 30%", "range -2 .. 8"])]
    if world.large:
        lines = [draw.choice(["range -5000 .. 5000", "range -40% .. 40%"])]
    if draw.random() < 0.25:
        lines.append(f"end {draw.choice(['low', 'high'])}")
    if draw.random() < 0.1:
        lines.append(f"cap_changed {draw.randint(5, 20)}")
    return "perturb", lines


def _combined(draw: random.Random, world: World) -> tuple[str, list[str]]:
    step = 1000 if world.large else draw.choice([5, 10])
    parts = draw.sample(["suppress", "interval", f"perturb {step}", f"round {step}"], draw.choice([1, 2, 2]))
    if world.brings_levels:
        split = f"value > {draw.choice([20, 60])}"
    else:
        dimension = world.dimensions[0]
        split = f"{dimension.name} = {draw.choice([c for c in dimension.codes if c != dimension.total])}"
    shares = [split, f"not ({split})"] if len(parts) == 2 else [f"{split} or not ({split})"]
    lines = [f"{part} where {share}" for part, share in zip(parts, shares, strict=True)]
    if "suppress" in parts and draw.random() < 0.2:
        lines.append("cap_hidden 12")
    return "combined", lines

"""Options of a policy as plain values, defaults included."""

from __future__ import annotations

from typing import Any

from sdcdsl.policy import document as d
from sdcdsl.policy.plain import plain_value
from sdcdsl.vocabulary.option import Kind, OptionSpec, options_of, plain_default


def option_values(options: tuple[d.Option, ...], described: type) -> dict[str, Any]:
    """Values of the options that hold for a whole table, by name; what is not given has its default."""
    given = {o.name: o for o in options}
    out = {}
    for name, spec in options_of(described).items():
        option = given.get(name)
        out[name] = plain_default(spec.kind, spec.default) if option is None else option_value(option, spec)
    return out


def encoding_of(options: dict[str, Any]) -> str | None:
    """None for UTF-8, which readers recognise themselves, with or without a byte order mark."""
    said = options.get("encoding") or "utf-8"
    return None if said.lower().replace("-", "") == "utf8" else said


def option_value(option: d.Option, spec: OptionSpec) -> Any:
    """What one option says; expressions stay what they are (`option_cells` works them out)."""
    if spec.kind in (Kind.FLAG, Kind.CELLS):
        return True
    if spec.kind is Kind.SWITCH:
        return not option.values
    values = [plain_value(v, spec.kind) for v in option.values]
    return tuple(values) if spec.kind is Kind.NAMES else values[0]

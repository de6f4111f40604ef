"""The little of TOML that a lock needs, always written the same way: keys in their order, one entry a line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}


def dumps(content: Mapping[str, Any]) -> str:
    """Tables, lists of tables, and plain values; entries without a value (None) are left out."""
    return "\n".join(_table(content, ())).strip("\n") + "\n"


def _table(content: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    inner: list[tuple[str, Any]] = []
    for key, value in content.items():
        if isinstance(value, Mapping) or _is_tables(value):
            inner.append((key, value))
        elif value is not None:
            yield f"{_key(key)} = {_value(value)}"
    for key, value in inner:
        name = ".".join(map(_key, (*path, key)))
        for one in value if isinstance(value, list) else [value]:
            yield ""
            yield f"[[{name}]]" if isinstance(value, list) else f"[{name}]"
            yield from _table(one, (*path, key))


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)


def _key(text: str) -> str:
    plain = text and all(c.isascii() and (c.isalnum() or c in "-_") for c in text)
    return text if plain else _text(text)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _number(value)
        case str():
            return _text(value)
        case Sequence():
            return f"[{', '.join(_value(one) for one in value)}]"
    raise TypeError(f"no TOML for {type(value).__name__}")


def _number(value: float) -> str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = repr(value)
    return text if any(c in text for c in ".e") else f"{text}.0"


def _text(text: str) -> str:
    return f'"{"".join(_character(c) for c in text)}"'


def _character(c: str) -> str:
    if c in _ESCAPES:
        return _ESCAPES[c]
    if ord(c) < 32 or ord(c) == 127:
        return f"\\u{ord(c):04X}"
    return c

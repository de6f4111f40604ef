"""How readers speak of many offenders at once: the ten first by name, the rest by number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from sdcdsl.diagnostics import Diagnostic, Place, diagnostic

FIRST = 10
WIDEST = 40


def offenders(
    code: str,
    headline: str,
    found: Iterable[tuple[Place, str]],
    count: int,
    *,
    notes: Iterable[str] = (),
    help: str | None = None,
) -> Diagnostic:
    """One diagnostic for `count` offenders; of `found`, their places and labels, only the first ten are looked at."""
    d = diagnostic(code, headline, help=help)
    for place, label in islice(found, FIRST):
        d = d.mark(place, label)
    if (rest := count - len(d.marks)) > 0:
        d = d.note(f"and {rest} more")
    return d.note(*notes)


def first_ten(problems: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Problems that differ too much to share a diagnostic; the tenth says how many follow."""
    if len(problems) <= FIRST:
        return list(problems)
    return [*problems[: FIRST - 1], problems[FIRST - 1].note(f"and {len(problems) - FIRST} more like these")]


def clip(text: str) -> str:
    """Text from a file, short enough to quote: a broken file may be one line of a million characters."""
    return text if len(text) <= WIDEST else text[:WIDEST] + "…"


def figure(value: float) -> str:
    """A number as offices print it, thousands apart; all its digits, since a difference may sit in the last one."""
    value = float(value)
    if value.is_integer() and abs(value) < 1e15:
        return f"{int(value):,}".replace(",", " ")
    return repr(value)


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

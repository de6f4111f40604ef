"""Did you mean …? The nearest known word, if it is near."""

from __future__ import annotations

from collections.abc import Iterable


def edit_distance(a: str, b: str, limit: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours that turn a into b; cut off above `limit`."""
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row, last = row, [i], before
        for j, y in enumerate(b, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                best = min(best, last[j - 2] + 1)
            row.append(best)
        if min(row) > limit:
            return limit + 1
    return row[-1]


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word a slip of the keyboard away from this one, or None."""
    folded = word.casefold()
    if len(folded) > 64:
        return None
    best, best_distance = None, 1 + max(1, len(folded) // 3)
    for candidate in sorted(known):
        other = candidate.casefold()
        distance = edit_distance(folded, other, best_distance - 1)
        if len(folded) >= 3 and other.startswith(folded):
            distance = min(distance, 1)
        if distance < best_distance:
            best, best_distance = candidate, distance
    return best


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A label: `did you mean …?`, or nothing."""
    near = nearest(word, known)
    return f"did you mean `{near}`?" if near else ""


def listed(words: Iterable[str], conjunction: str = "and", most: int = 12) -> str:
    """`a, b and c`, cut where the list gets long."""
    quoted = [f"`{w}`" for w in words]
    if len(quoted) > most:
        return ", ".join(quoted[:most]) + f" and {len(quoted) - most} more"
    if len(quoted) < 2:
        return "".join(quoted)
    return ", ".join(quoted[:-1]) + f" {conjunction} {quoted[-1]}"

"""Did you mean …? The nearest known word, if it is near.

Comparing words is the dearest thing a check does: ten thousand unknown names against ten thousand known ones would take
minutes, for suggestions that nobody reads. So there is an effort to spend on each text that is read, and when it is
spent there are no more suggestions. It is counted, not timed: the same text gets the same suggestions everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

EFFORT = 3_000_000  # pairs of characters, about a second
LOOK = 4  # what looking at a word costs, compared or not
LONGEST = 64


class _Effort:
    """What is left to spend."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = EFFORT

    def spend(self, pairs: int) -> bool:
        """Spends it, or says False where that would be too much."""
        if pairs > self.left:
            return False
        self.left -= pairs
        return True


_effort = _Effort()


def renew_effort() -> None:
    """The next text starts afresh."""
    _effort.left = EFFORT


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
    if len(word) > LONGEST:
        return None
    folded = word.casefold()
    limit = max(1, len(folded) // 3)
    best: tuple[int, str] | None = None
    for candidate, other in _candidates(folded, known, limit):
        distance = edit_distance(folded, other, limit)
        if len(folded) >= 3 and other.startswith(folded):
            distance = min(distance, 1)
        if distance <= limit and (best is None or (distance, candidate) < best):
            best, limit = (distance, candidate), distance
    return best[1] if best is not None else None


def _candidates(folded: str, known: Iterable[str], limit: int) -> list[tuple[str, str]]:
    """Words of about the same length, and those that start alike; fewer, or none, where they are too many.

    Which ones never depends on the order of `known`: a set has none.
    """
    known = known if isinstance(known, Collection) else list(known)
    if not _effort.spend(LOOK * len(known)):
        return []
    size = len(folded)
    pairs = ((k, k.casefold()) for k in known)
    near = [(k, o) for k, o in pairs if abs(len(o) - size) <= limit or (size >= 3 and o.startswith(folded))]
    if _effort.spend(_cost(size, near)):
        return near
    # Most slips leave the beginning or the end alone.
    near = [(k, o) for k, o in near if o[:3] == folded[:3] and o[-3:] == folded[-3:]]
    return near if _effort.spend(_cost(size, near)) else []


def _cost(size: int, candidates: list[tuple[str, str]]) -> int:
    return size * sum(min(len(other), LONGEST) for _, other in candidates)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A label: `did you mean …?`, or nothing."""
    near = nearest(word, known)
    return f"did you mean `{near}`?" if near else ""


def or_near(text: str, word: str, known: Iterable[str]) -> str:
    """`text: did you mean …?`, or the text alone."""
    near = did_you_mean(word, known)
    return f"{text}: {near}" if near else text


def listed(words: Iterable[str], conjunction: str = "and", most: int = 12) -> str:
    """`a, b and c`, cut where the list gets long."""
    quoted = [f"`{w}`" for w in words]
    if len(quoted) > most:
        return ", ".join(quoted[:most]) + f" and {len(quoted) - most} more"
    if len(quoted) < 2:
        return "".join(quoted)
    return ", ".join(quoted[:-1]) + f" {conjunction} {quoted[-1]}"

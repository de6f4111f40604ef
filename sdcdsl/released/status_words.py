"""Words for a figure that is not there, and for the status of a cell, as offices and programs write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# Case does not matter. An empty field means the same.
HIDDEN_WORDS = frozenset(
    [
        *("x", "×", "*", "**", "***", "#", ".", "..", "...", "…", ":", "c", "(c)", "d", "(d)", "s", "(s)"),
        *("na", "n/a", "n.a.", "nan", "null", "none", "conf", "confidential", "suppressed", "hidden"),
    ]
)
# A dash is nothing (zero) in most offices' keys of signs and in τ-ARGUS, and hidden in some: the whole file decides.
NIL_WORDS = frozenset(["-", "–", "—", "−"])

UNSAID, PUBLISHED, HIDDEN, INTERVAL, CHANGED, TOOL_PUBLISHED, TOOL_HIDDEN, TOOL_EMPTY = range(8)

_WORDS = {
    PUBLISHED: ("published", "exact", "."),
    HIDDEN: ("hidden", "suppressed"),
    INTERVAL: ("interval",),
    CHANGED: ("changed", "rounded", "perturbed", "adjusted"),
}
# τ-ARGUS S U P M Z E, its SBS format and rtauargus A B C D F V, sdcTable and JJ s u x z m.
_LETTERS = {
    TOOL_PUBLISHED: ("s", "p", "v", "z"),
    TOOL_HIDDEN: ("u", "m", "x", "a", "b", "c", "d", "f"),
    TOOL_EMPTY: ("e",),
}
# The numbers of τ-ARGUS's pivot format, which piargus and rtauargus pass on.
_NUMBERS = {
    TOOL_PUBLISHED: ("1", "2", "10"),
    TOOL_HIDDEN: ("3", "4", "5", "6", "7", "8", "9", "11", "12"),
    TOOL_EMPTY: ("13", "14"),
}


def _by_word(*listed: Mapping[int, Iterable[str]]) -> dict[str, int]:
    return {word: kind for each in listed for kind, words in each.items() for word in words}


STATUS_LETTERS = _by_word(_LETTERS)
STATUS_WORDS = _by_word(_WORDS, _LETTERS, _NUMBERS)
SAID = {UNSAID: "", PUBLISHED: "published", HIDDEN: "hidden", INTERVAL: "an interval", CHANGED: "changed"}
SAID |= {TOOL_PUBLISHED: "safe", TOOL_HIDDEN: "suppressed", TOOL_EMPTY: "empty"}

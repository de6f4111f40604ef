"""How much memory a certificate may require: that follows from the size of its file.

Numbers that repeat take next to no place in a compressed file, or written as runs: some kilobytes would stand for
gigabytes. So the counts that the first record declares are compared with the size of the file before anything is made
for them, every array with the counts before it is made, and lines and the whole text with the size while they are read.

Certificates of audits have at most 0.6 declared numbers for each byte, compressed, and their text is at most three
times as long as the file. The factors below leave slack for tables that are more regular than any of those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LONGEST_LINE = 64 * 2**20
# Bytes that the check of a problem takes at its peak, a number of each kind.
EACH, EACH_OF_A_VIEW = 160, 20
FREE, FOR_A_BYTE = 32_000_000, 256  # bytes of memory: for any file, and for each of its bytes
FREE_LINE, LINE_FOR_A_BYTE = 2**20, 4
FREE_TEXT, TEXT_FOR_A_BYTE = 2**24, 32


@dataclass(frozen=True)
class Allowance:
    size: int  # bytes of the file as it lies on the disk

    @property
    def memory(self) -> int:
        return FREE + FOR_A_BYTE * self.size

    @property
    def line(self) -> int:
        """Bytes of one line: JSON takes up to some twenty times as much while it is read."""
        return min(LONGEST_LINE, FREE_LINE + LINE_FOR_A_BYTE * self.size)

    @property
    def text(self) -> int:
        """Bytes of all lines together."""
        return FREE_TEXT + TEXT_FOR_A_BYTE * self.size

    def refusal(self, counts: Mapping[str, int]) -> str | None:
        """Why a problem of these counts cannot be that of this file."""
        need = needed(counts)
        if need <= self.memory:
            return None
        return (
            f"its counts stand for a problem of {need / 1e6:,.0f} MB in memory, and a file of {self.size:,} bytes"
            f" may state one of {self.memory / 1e6:,.0f} MB"
        )


def needed(counts: Mapping[str, int]) -> int:
    """Bytes for the problem that a first record declares."""
    plain = sum(count for name, count in counts.items() if name != "views")
    return EACH * plain + EACH_OF_A_VIEW * counts["views"] * (counts["cells"] + 1)

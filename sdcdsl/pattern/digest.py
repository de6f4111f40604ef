"""One number for a whole pattern: two runs that release the same have the same digest, whatever machine they ran on."""

from __future__ import annotations

import hashlib

import numpy as np

from sdcdsl.pattern.pattern import Pattern


def digest(pattern: Pattern) -> str:
    """sha256 over what is released of every cell, in the order of the cells, and what is published beside them."""
    out = hashlib.sha256(b"sdcdsl pattern 1\n")
    out.update(f"{pattern.n} {int(pattern.claims)}\n".encode())
    out.update("".join(pattern.status.tolist()).encode())
    for column in (pattern.low, pattern.high, pattern.value):
        plain = np.where(np.isnan(column), np.nan, column) + 0.0  # one nan, one zero
        out.update(plain.astype("<f8").tobytes())
    out.update("\n".join(pattern.about).encode())
    return out.hexdigest()

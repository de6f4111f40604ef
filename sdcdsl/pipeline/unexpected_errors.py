"""Errors that nobody foresaw, of solvers, methods and engines: nothing is released, and the user is told where it was.

What such an error says may quote data, so its text is not shown unless somebody asks (`SDCDSL_TRACEBACK=1`).
"""

from __future__ import annotations

import os
import traceback
from pathlib import Path


def described(error: Exception) -> str:
    """One line about an error; raises it where somebody wants to see all of it, or memory is what is missing."""
    if "SDCDSL_TRACEBACK" in os.environ or isinstance(error, MemoryError):
        raise error
    frames = traceback.extract_tb(error.__traceback__)
    ours = next((f for f in reversed(frames) if "sdcdsl" in Path(f.filename).parts), frames[-1] if frames else None)
    where = f" in {Path(ours.filename).name}, line {ours.lineno}" if ours is not None else ""
    return f"{type(error).__name__}{where}; SDCDSL_TRACEBACK=1 shows more"

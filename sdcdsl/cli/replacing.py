"""A policy file with a new text."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic


def replace_text(path: Path, text: str) -> list[Diagnostic]:
    """Write beside and rename, so that a crash leaves the old file or the new one, never half of each."""
    target = path.resolve()  # a link stays a link
    try:
        mode = target.stat().st_mode
        handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
                out.write(text)
            os.chmod(beside, mode)
            os.replace(beside, target)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return [diagnostic("SDC001", f"cannot write {path}: {reason}", FilePlace(str(path)))]
    return []

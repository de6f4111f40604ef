"""The probabilities of random noise that a method is to use: from its options, or from the file that they name."""

from __future__ import annotations

from typing import Any

from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.methods.cellkey.ptable import NoPTable, PTable, made, read
from sdcdsl.policy import document as d


def ptable_of(
    engine: d.Engine, options: dict[str, Any], places: FileLocations
) -> tuple[PTable | None, list[Diagnostic]]:
    try:
        if options["ptable"] is None:
            return made(options["deviation"], options["variance"], options["smallest"]), []
        said = next(o for o in engine.options if o.name == "ptable")
        path, found = places.find("ptable", options["ptable"], said.span)
        return (None, found) if path is None else (read(path), [])
    except NoPTable as error:
        headline = f"`{engine.word}` has no table of probabilities: {error}"
        return None, [diagnostic("SDC339", headline, engine.span)]
    except (OSError, UnicodeDecodeError) as error:
        return None, [diagnostic("SDC302", f"{options['ptable']} cannot be read: {error}", engine.span)]

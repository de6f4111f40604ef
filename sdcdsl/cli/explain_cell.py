"""What `explain FILE --cell …` is told and prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdcdsl.cli import exits
from sdcdsl.cli.audit_files import released_tables
from sdcdsl.cli.data_options import DataOptions
from sdcdsl.cli.ends import EXITS
from sdcdsl.cli.explain_document import document
from sdcdsl.cli.explain_text import text_of
from sdcdsl.cli.printing import echo
from sdcdsl.cli.protect_watching import watched
from sdcdsl.cli.reading import known_block, read_any, refuse, say_document, tell
from sdcdsl.diagnostics import Diagnostic, has_errors
from sdcdsl.pipeline.cell_names import CellName, parse_cell
from sdcdsl.pipeline.explain import ExplainRequest, explain_cells
from sdcdsl.policy.read import is_jj

NOTHING: dict[str, Any] = {"cells": []}


@dataclass(frozen=True)
class Options:
    """Of one call."""

    path: Path
    cells: tuple[str, ...]
    released: tuple[str, ...]
    block: str | None
    time_limit: float | None
    published: Mapping[str, Any]


def explained(options: Options, as_document: bool, given: DataOptions) -> int:
    """Prints the explanations, or what is in their way; gives the exit code."""
    path = options.path
    policy, found = read_any(path, given.allow_outside, settings=given.settings)
    if has_errors(found):
        missing = is_jj(path) or any(one.code == "SDC302" for one in found)
        refuse(NOTHING, found, as_document, given.colour, exits.WRONG_DATA if missing else exits.WRONG_POLICY)
    known_block(policy, options.block)
    names, found = _parsed(options.cells)
    if found:
        refuse(NOTHING, found, as_document, given.colour, exits.USAGE)
    request = ExplainRequest(
        **given.inputs(policy, path, options.block),
        cells=names,
        released=released_tables(options.released, policy, options.block, **options.published),
        time_limit=options.time_limit,
    )
    made = explain_cells(request, watched("none" if as_document else "auto"))
    code = exits.USAGE if made.unknown else EXITS[made.end]
    if not made.explanations:
        refuse(NOTHING, made.found, as_document, given.colour, code)
    if as_document:
        say_document({"cells": [document(one) for one in made.explanations]}, made.found, code)
        return code
    if made.found:
        tell(made.found, given.colour)
    echo("\n".join(text_of(one, policy) for one in made.explanations), nl=False)
    return code


def _parsed(cells: Iterable[str]) -> tuple[list[CellName], list[Diagnostic]]:
    names: list[CellName] = []
    found: list[Diagnostic] = []
    for text in cells:
        name, problems = parse_cell(text)
        found += problems
        names += [name] if name is not None else []
    return names, found

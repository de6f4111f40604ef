"""The frozen record of an edition: every word that a valid file may contain.

Within an edition the meaning of a valid file never changes: words may be added to this record, none may go or change.
A test compares the record with the code.

    python -m sdcdsl.vocabulary.edition        # writes grammar/edition-1.json again
"""

from __future__ import annotations

import json
from typing import Any

from sdcdsl.registry import Registry
from sdcdsl.syntax.automaton import RESERVED
from sdcdsl.syntax.grammar import grammar_folder, tables
from sdcdsl.syntax.messages import USAGE
from sdcdsl.vocabulary.formats import (
    CELL_LISTS,
    HIERARCHIES,
    LABELS,
    READERS,
    RECODES,
    TABLES,
    WRITERS,
    StatusOptions,
    ValueOptions,
)
from sdcdsl.vocabulary.functions import FUNCTIONS
from sdcdsl.vocabulary.methods import EXPERIMENTS, METHODS, ExperimentOptions, PeriodOptions
from sdcdsl.vocabulary.option import options_of
from sdcdsl.vocabulary.quantities import KNOWLEDGE, QUANTITIES, ROLES
from sdcdsl.vocabulary.rules import RULES

EDITION = 1


def edition() -> dict[str, Any]:
    return {
        "edition": EDITION,
        "keywords": sorted(tables().keywords),
        "reserved": sorted(RESERVED),
        "statements": {block: sorted(word for word in words if word) for block, words in USAGE.items()},
        "quantities": sorted(QUANTITIES),
        "functions": {name: [f.least, f.most] for name, f in sorted(FUNCTIONS.built_in.items())},
        "knowledge": sorted(KNOWLEDGE),
        "roles": sorted(ROLES),
        "methods": {
            name: {"aliases": list(m.aliases), "options": _options(m.options)} for name, m in METHODS.built_in.items()
        },
        "experiments": {"names": sorted(EXPERIMENTS), "options": _options(ExperimentOptions)},
        "rules": {
            name: {"aliases": list(r.aliases), "arguments": _options(r.arguments)} for name, r in RULES.built_in.items()
        },
        "formats": {
            use: {name: _options(f.options) for name, f in known.built_in.items()}
            for use, known in {
                "data": READERS,
                "tables": TABLES,
                "hierarchies": HIERARCHIES,
                "recodes": RECODES,
                "labels": LABELS,
                "cells": CELL_LISTS,
                "releases": WRITERS,
            }.items()
        },
        "status": _options(StatusOptions),
        "value": _options(ValueOptions),
        "period": _options(PeriodOptions),
    }


def _options(described: type) -> dict[str, Any]:
    out = {}
    for name, spec in options_of(described).items():
        entry: dict[str, Any] = {"takes": spec.kind.name.lower(), "required": spec.required, "default": spec.default}
        if spec.choices:
            ours = spec.choices.built_in_names if isinstance(spec.choices, Registry) else spec.choices
            entry["choices"] = list(ours)
        if spec.per_cell:
            entry["where"] = True
        limits = {"least": spec.least, "most": spec.most, "tighter": spec.tighter or None}
        entry |= {word: value for word, value in limits.items() if value is not None}
        out[name] = entry
    return out


def written() -> str:
    return json.dumps(edition(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    (grammar_folder() / f"edition-{EDITION}.json").write_text(written(), encoding="utf-8")

"""The parts of the page put together: one file with its own styles and scripts, which may load nothing else.

Everything that comes from a policy or from data goes into the page either through the template, which escapes it, or
as JSON in which no character can end the element it stands in. Scripts only ever set texts, never markup. The page's
own policy for the browser allows exactly the one script and the one sheet of styles in it, by their digests.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from sdcdsl.outcome import End, Outcome
from sdcdsl.report.effects import effects
from sdcdsl.report.page.blocks import internal_block, public_block
from sdcdsl.report.page.cells import PageDimensions, tables_of
from sdcdsl.report.page.pairs import pairs_of
from sdcdsl.report.page.policy_text import PolicyText
from sdcdsl.report.provenance import Provenance

SCRIPTS = ("figures", "elements", "tree", "cells", "grid", "filtering", "finding", "browser", "details", "plots",
           "pairs", "printing", "start")  # fmt: skip
STYLES = ("page", "grid", "plots", "print")


def page(
    outcomes: Sequence[Outcome], provenance: Provenance, *, public: bool, labels: Sequence[str] | None = None
) -> str:
    dimensions = PageDimensions(tuple(labels or ()))
    style = "\n".join(_text("styles", f"{name}.css") for name in STYLES)
    script = "(() => {\n'use strict';\n" + "\n".join(_text("scripts", f"{name}.js") for name in SCRIPTS) + "})();\n"
    made = _public(outcomes, provenance, dimensions) if public else _internal(outcomes, provenance, dimensions)
    data = {"public": public, "blocks": made.pop("data"), "dimensions": dimensions.data()}
    return (
        _environment()
        .get_template("page.html")
        .render(
            **made,
            public=public,
            title=provenance.title,
            allowed=f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
            "base-uri 'none'; form-action 'none'",
            style=Markup(style),
            script=Markup(script),
            data=Markup(embedded(data)),
        )
    )


def _public(outcomes: Sequence[Outcome], provenance: Provenance, dimensions: PageDimensions) -> dict[str, Any]:
    policy = provenance.policy
    tables = [
        tables_of(one, policy, dimensions, public=True) if one.end is End.DONE else [] for one in outcomes
    ]  # fmt: skip
    return {
        "blocks": [
            {**public_block(one, policy, i), "tables": _named(made)}
            for i, (one, made) in enumerate(zip(outcomes, tables, strict=True), 1)
        ],
        "data": [{"tables": made, "pairs": None, "marks": []} for made in tables],
        "version": provenance.versions.get("sdcdsl", ""),
    }


def _internal(outcomes: Sequence[Outcome], provenance: Provenance, dimensions: PageDimensions) -> dict[str, Any]:
    policy, text = provenance.policy, PolicyText(provenance)
    tables = [tables_of(one, policy, dimensions, public=False) for one in outcomes]
    data = [
        {"tables": made, "pairs": pairs_of(one), "marks": [[m.what, text.anchor(m.span)] for m in one.problem.marked]}
        for one, made in zip(outcomes, tables, strict=True)
    ]
    return {
        "blocks": [
            {**internal_block(one, policy, i, text.anchor), "tables": _named(made), "claims": _claims(one)}
            for i, (one, made) in enumerate(zip(outcomes, tables, strict=True), 1)
        ],
        "data": data,
        "policy": text.data(effects(policy, outcomes, provenance.day)),
        "provenance": _provenance(provenance),
    }


def _claims(outcome: Outcome) -> bool:
    return outcome.pattern is None or outcome.pattern.claims


def _named(tables: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: table.get(key) for key in ("name", "unit", "size", "toolarge")} for table in tables]


def _provenance(provenance: Provenance) -> dict[str, Any]:
    return {
        "inputs": provenance.inputs,
        "versions": dict(provenance.versions),
        "seed": provenance.policy.seed,
        "parameters": {p.name: p.text for p in provenance.policy.parameters.values()},
        "day": provenance.day.isoformat(),
        "options": {name.replace("_", " "): str(value) for name, value in provenance.options.items()},
        "source": provenance.source.name,
    }


def embedded(data: Any) -> str:
    """JSON that may stand inside a script element, whatever texts are in it."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _text("templates", name)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _text(folder: str, name: str) -> str:
    return resources.files("sdcdsl.report.page").joinpath(folder, name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

"""What the playground calls: the language part of the program, on texts. Takes and gives JSON."""

import datetime
import json
from pathlib import Path

from sdcdsl.diagnostics import Source, has_errors
from sdcdsl.diagnostics.codes import page
from sdcdsl.diagnostics.diagnostic import for_reading
from sdcdsl.diagnostics.render.json import as_json
from sdcdsl.editing.colouring import coloured
from sdcdsl.editing.fixing import fixed_policy
from sdcdsl.editing.hover import hover
from sdcdsl.editing.opened import Opened
from sdcdsl.policy.diff import diff, overall
from sdcdsl.policy.read import read_text
from sdcdsl.syntax.formatter import format_text
from sdcdsl.syntax.parser import parse

NAME = "policy.sdc"


def opened(text):
    source, path = Source(NAME, text), Path(NAME)
    policy, found = read_text(source, path)
    return Opened(path, source, policy, found)


def check(text):
    """Mistakes, or advice where there are none; and the colours of the text."""
    made = opened(text)
    found = for_reading(made.diagnostics(datetime.date.today()))
    words = [[c.start, c.end, c.kind] for c in coloured(made)] if made.policy.files else []
    return {"diagnostics": [{**as_json(d), "at": _at(d)} for d in found], "colours": words}


def _at(found):
    spans = [mark.place for mark in found.marks if hasattr(mark.place, "start")]
    return [spans[0].start, spans[0].end] if spans and spans[0].source.name == NAME else None


def formatted(text):
    parsed, found = parse(Source(NAME, text))
    return text if has_errors(found) else format_text(parsed)


def fixed(text):
    return fixed_policy(text, Path(NAME), NAME)[0]


def meaning(text, offset):
    made = opened(text)
    said = hover(made, offset) if made.policy.files else None
    return None if said is None else said.markdown


def changes(old, new):
    before, after = opened(old), opened(new)
    if has_errors(before.mistakes) or has_errors(after.mistakes):
        return None
    edits = diff(before.policy, after.policy)
    return {
        "verdict": overall(edits).value,
        "edits": [
            {"verdict": e.verdict.value, "where": e.where, "old": e.old, "new": e.new, "why": e.why} for e in edits
        ],
    }


CALLS = {"check": check, "formatted": formatted, "fixed": fixed, "meaning": meaning, "changes": changes, "page": page}


def call(name, values):
    return json.dumps(CALLS[name](*json.loads(values)))

"""The grammar as tables that a parser can run on.

lark reads `grammar/sdc.lark`, proves it LALR(1) and builds the tables; that takes longer than everything else `check`
does, so the result is kept beside the grammar in `sdc.tables.json`. The file holds the grammar it was made from:
when they differ (somebody is editing the grammar), the tables are made anew in memory, so nobody ever runs stale ones.

    python -m sdcdsl.syntax.grammar        # writes sdc.tables.json again
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent.parent


def grammar_folder() -> Path:
    """In a wheel the grammar stands inside the package, in a checkout beside it."""
    inside = PACKAGE / "grammar"
    return inside if inside.is_dir() else PACKAGE.parent / "grammar"


@dataclass(frozen=True, slots=True)
class Production:
    """One production. `kept` are the places of the symbols that stay in the tree."""

    origin: str
    kind: str  # what the node is called
    symbols: tuple[str, ...]
    kept: tuple[int, ...]
    splice: bool  # its children go into the parent's list
    unwrap: bool  # a single child takes its place
    drops: bool  # some symbol does not stay in the tree
    passes: bool  # its one symbol takes its place unchanged


@dataclass(frozen=True)
class ParserTables:
    """`actions[state][symbol]`: n > 0 go to state n - 1; n < 0 reduce by rule -n - 1."""

    actions: list[dict[str, int]]
    rules: list[Production]
    start: int
    end: int
    patterns: dict[str, str]  # terminals that are regular expressions, in the order to try them
    keywords: dict[str, str]  # word -> terminal
    symbols: dict[str, str]  # punctuation -> terminal

    @cached_property
    def terminals(self) -> frozenset[str]:
        return frozenset([*self.patterns, *self.keywords.values(), *self.symbols.values(), "$END"])

    @cached_property
    def spelling(self) -> dict[str, str]:
        """terminal -> how it is written, for those with one spelling"""
        return {terminal: text for text, terminal in (self.keywords | self.symbols).items()}


@cache
def tables() -> ParserTables:
    folder = grammar_folder()
    text = (folder / "sdc.lark").read_text(encoding="utf-8")
    kept = folder / "sdc.tables.json"
    if kept.is_file():
        data = json.loads(kept.read_text(encoding="utf-8"))
        if data.get("made_from") == plain(text):
            return _from_json(data)
    return _from_json(compile_grammar(text))


def plain(text: str) -> str:
    """Line ends may change on the way through version control; the grammar does not."""
    return text.replace("\r\n", "\n")


def _from_json(data: dict[str, Any]) -> ParserTables:
    rules = [
        Production(
            origin,
            kind,
            tuple(symbols),
            tuple(i for i, stays in enumerate(keep) if stays),
            splice,
            unwrap,
            drops=not all(keep),
            passes=(unwrap or splice) and keep == [True],
        )
        for origin, kind, symbols, keep, splice, unwrap in data["rules"]
    ]
    return ParserTables(
        data["actions"], rules, data["start"], data["end"], data["patterns"], data["keywords"], data["symbols"]
    )


def compile_grammar(text: str) -> dict[str, Any]:
    """The tables as plain JSON. Raises where the grammar is not LALR(1)."""
    from lark import Lark  # noqa: PLC0415
    from lark.lexer import PatternStr  # noqa: PLC0415
    from lark.parsers.lalr_analysis import LALR_Analyzer, Shift  # noqa: PLC0415

    grammar = Lark(text, parser="lalr", lexer="basic", maybe_placeholders=False)
    frontend: Any = grammar.parser
    # strict: a shift/reduce conflict is an error, not a silent choice.
    analyzer = LALR_Analyzer(frontend.parser_conf, strict=True)
    analyzer.compute_lalr()
    table: Any = analyzer.parse_table

    ordered_rules = sorted(grammar.rules, key=lambda r: (r.origin.name, r.order, str(r.expansion)))
    numbers = {rule: i for i, rule in enumerate(ordered_rules)}
    # lark numbers states in the order of a hash table; walking from the start gives the same numbers every time.
    states = {table.start_states["start"]: 0}
    for state in (queue := list(states)):
        for _, (action, target) in sorted(table.states[state].items()):
            if action is Shift and target not in states:
                states[target] = len(states)
                queue.append(target)
    actions = [
        {
            symbol: (states[target] + 1 if action is Shift else -(numbers[target] + 1))
            for symbol, (action, target) in sorted(table.states[state].items())
        }
        for state in states
    ]
    rules = []
    for rule in ordered_rules:
        origin = rule.origin.name
        expansion: Any = rule.expansion
        keep = [
            not s.is_term or rule.options.keep_all_tokens or not (s.filter_out or s.name.startswith("_"))
            for s in expansion
        ]
        splice = origin.startswith("_") and not rule.alias
        unwrap = rule.options.expand1 and not rule.alias
        symbols = [s.name for s in rule.expansion]
        rules.append([origin, rule.alias or origin, symbols, [bool(k) for k in keep], splice, bool(unwrap)])

    patterns, keywords, punctuation = {}, {}, {}
    for terminal in grammar.terminals:
        if not isinstance(terminal.pattern, PatternStr):
            if not terminal.name.startswith("__IGNORE"):
                patterns[terminal.name] = terminal.pattern.value
        elif terminal.pattern.value.isalpha():
            keywords[terminal.pattern.value] = terminal.name
        else:
            punctuation[terminal.pattern.value] = terminal.name
    return {
        "made_from": plain(text),
        "start": 0,
        "end": states[table.end_states["start"]],
        "patterns": patterns,
        "keywords": keywords,
        "symbols": punctuation,
        "rules": rules,
        "actions": actions,
    }


def written(data: dict[str, Any]) -> str:
    """One rule and one state a line, so that a change of the grammar shows as a readable diff."""
    parts = []
    for key, value in data.items():
        if key in ("rules", "actions"):
            rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in value)
            parts.append(f'"{key}":[\n{rows}\n]')
        else:
            parts.append(f'"{key}":{json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    folder = grammar_folder()
    made = compile_grammar((folder / "sdc.lark").read_text(encoding="utf-8"))
    (folder / "sdc.tables.json").write_text(written(made), encoding="utf-8")
    print(f"{len(made['rules'])} rules, {len(made['actions'])} states", file=sys.stderr)

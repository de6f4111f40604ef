"""Words for every way the parser can stop.

Whatever state the parser is in, a message has three parts: what could have followed there (`expected`), what was found,
and how the whole statement is written (`USAGE`). A test walks through all states of the automaton and proves that
none lacks them.
"""

from __future__ import annotations

from dataclasses import dataclass

from sdcdsl.syntax.grammar import tables
from sdcdsl.syntax.tree import Token


@dataclass(frozen=True, slots=True)
class Usage:
    """How a statement is written: capitals stand for what the author puts in, brackets for what may be left out."""

    pattern: str
    example: str


# block -> first word -> usage. "" stands for statements that start with a word of the author's.
USAGE: dict[str, dict[str, Usage]] = {
    "file": {
        "sdc": Usage("sdc 1", "sdc 1"),
        "use": Usage('use "FILE" [as NAME]', 'use "house-rules.sdc" as office'),
        "policy": Usage('policy "TITLE"', 'policy "Turnover by region, 2025"'),
        "seed": Usage("seed NUMBER", "seed 2025"),
        "param": Usage('param NAME = NUMBER | PERCENTAGE | TIME | "TEXT"', "param year = 2025"),
        "period": Usage(
            'period NAME "NOW" [previous "BEFORE"] [{ discount … }]', 'period quarter "2025Q3" previous "2025Q2"'
        ),
        "dimension": Usage("dimension NAME { … }", "dimension region {"),
        "data": Usage("data NAME { … }", "data enterprises {"),
        "table": Usage("table NAME { … }", "table turnover {"),
        "attacker": Usage("attacker NAME { … }", "attacker external {"),
        "scenario": Usage("scenario NAME { … }", "scenario competitor {"),
        "sensitive": Usage(
            "sensitive [TABLE] by RULE(…) [where CONDITION] | at (DIMENSION: CODE, …) | where CONDITION"
            ' | together at (…), (…) | from FORMAT "FILE"',
            "sensitive by threshold(3)",
        ),
        "publish": Usage("publish [TABLE] at (DIMENSION: CODE, …) | where CONDITION", "publish where region = Total"),
        "suppress": Usage("suppress [TABLE] at (DIMENSION: CODE, …) | where CONDITION", "suppress where count = 1"),
        "fix": Usage("fix [TABLE] at (DIMENSION: CODE, …) | where CONDITION", "fix where value = 0"),
        "waive": Usage(
            'waive unit CODE | group CODE | [TABLE] at (…) | [TABLE] where CONDITION [until DATE] because "REASON"',
            'waive unit "DE-17" until 2027-12-31 because "written consent"',
        ),
        "require": Usage(
            'require CONDITION [where CONDITION] because "REASON"', 'require upl >= lpl because "Rule book 4.2"'
        ),
        "protect": Usage("protect TABLE[, TABLE …] [as NAME] [like BLOCK] { … }", "protect turnover {"),
        "override": Usage("override KIND NAME { … }", "override attacker office.informed {"),
    },
    "dimension": {
        "codes": Usage("codes CODE, CODE, …", 'codes A, B, "C 1"'),
        "total": Usage("total CODE", "total Total"),
        "hierarchy": Usage(
            'hierarchy FORMAT "FILE" [{ … }] | CODE = CODE + CODE … | prefix LENGTH, …'
            " | tree (lines `- CODE`) [as NAME]",
            'hierarchy hrc "nace.hrc"',
        ),
        "labels": Usage('labels [LANGUAGE] FORMAT "FILE" [{ … }]', 'labels en csv "nace-en.csv"'),
    },
    "data": {
        "column": Usage(
            'column ROLE = "COLUMN" [counts units | scales contributions]', 'column unit = "enterprise_id"'
        ),
        "": Usage('FORMAT "FILE" [{ … }]', 'csv "enterprises.csv"'),
    },
    "table": {
        "from": Usage("from DATA", "from enterprises"),
        "by": Usage("by DIMENSION [to level N], DIMENSION, …", "by nace to level 3, region"),
        "recode": Usage('recode DIMENSION { … } | FORMAT "FILE"', "recode size {"),
        "sum": Usage("sum COLUMN", "sum turnover"),
        "count": Usage("count [COLUMN]", "count"),
        "value": Usage("value COLUMN [{ … }]", "value TOT"),
        "largest": Usage("largest(K) COLUMN", "largest(1) MAX"),
        "weight": Usage("weight COLUMN", "weight COST"),
        "status": Usage("status COLUMN [{ … }]", "status FLAG"),
        "measure": Usage("measure NAME", "measure turnover"),
        "unit": Usage('unit "TEXT"', 'unit "million EUR"'),
        "integer": Usage("integer", "integer"),
        "attribute": Usage("attribute DIMENSION, DIMENSION, …", "attribute illness"),
        "only": Usage("only where CONDITION", "only where value > 0"),
        "values": Usage("values, then rows `| … |`", "values"),
        "": Usage('FORMAT "FILE" [{ … }]', 'jj "hier13.jj"'),
    },
    "attacker": {
        "bounds": Usage("bounds LOW .. HIGH [where CONDITION] | given [where CONDITION]", "bounds 0 .. inf"),
        "each": Usage("each unit [where CONDITION]", "each unit where contribution >= 5% of value"),
        "coalition": Usage("coalition ROLE", "coalition group"),
        "knows": Usage("knows WHAT", "knows own contribution"),
    },
    "protect": {
        "lpl": Usage("lpl AMOUNT [against ATTACKER] [where CONDITION]", "lpl 10% of value"),
        "upl": Usage("upl AMOUNT [against ATTACKER] [where CONDITION]", "upl 15% of value"),
        "spl": Usage("spl AMOUNT [against ATTACKER] [where CONDITION]", "spl 0"),
        "conditional": Usage(
            "conditional lpl | upl | spl AMOUNT [against ATTACKER] [where CONDITION]", "conditional spl 5% of value"
        ),
        "against": Usage("against ATTACKER, ATTACKER, …", "against external"),
        "scenarios": Usage("scenarios SCENARIO, SCENARIO, …", "scenarios office.careless"),
        "cost": Usage("cost [up | down | fixed] AMOUNT [where CONDITION]", "cost sqrt(value)"),
        "method": Usage("method NAME [{ … }] [else NAME [{ … }]]", "method csp"),
        "assess": Usage("assess EXPERIMENT, … [{ … }]", "assess B1, B2"),
        "release": Usage('release FORMAT "FILE" [{ … }]', 'release csv "turnover.csv"'),
    },
    "recode": {"": Usage("CODE = CODE, CODE, …", 'low = small, "10-49"')},
    "options": {"": Usage("OPTION [VALUE, …] [where CONDITION]", "time_limit 10 min")},
}
USAGE["scenario"] = {word: USAGE["protect"][word] for word in ("lpl", "upl", "spl", "against")}

# What a block is called in a sentence.
BLOCKS = {
    "file": "a policy",
    "dimension": "a dimension",
    "data": "a data block",
    "table": "a table",
    "attacker": "an attacker",
    "scenario": "a scenario",
    "protect": "a protect block",
    "recode": "a recode",
    "options": "a block of options",
}

_NAMED_AFTER = {
    "dimension": "a name for the dimension",
    "data": "a name for the data",
    "table": "a name for the table",
    "attacker": "a name for the attacker",
    "scenario": "a name for the scenario",
    "param": "a name for the parameter",
    "as": "a name",
    "by": "a dimension",
    "recode": "a dimension",
    "labels": "a language or a format such as `csv`",
    "from": "the name of a data block",
    "sum": "a column",
    "value": "a column",
    "weight": "a column",
    "status": "a column",
    "measure": "a name for the measure",
    "each": "a role such as `unit`",
    "coalition": "a role such as `group`",
    "knows": "what is known, such as `own contribution`",
    "period": "a name for the period",
    "like": "a protect block",
    "protect": "a table",
    "against": "an attacker",
    "scenarios": "a scenario",
    "method": "a method",
    "else": "a method",
    "assess": "an experiment such as `B1`",
    "release": "a format such as `csv`",
}
_TRUTH_AFTER = {"where", "require", "if", "and", "or", "not"}

_EXPRESSION = frozenset({"INT", "NUMBER", "PERCENT", "STRING", "NAME", "INF", "LPAR", "MINUS"})
_EXPRESSION_START = _EXPRESSION | {"NOT", "IF"}
_OPERATORS = frozenset({"PLUS", "MINUS", "STAR", "SLASH", "CIRCUMFLEX"})
_CODE = frozenset({"NAME", "STRING", "INT", "NUMBER"})

TERMINALS = {
    "NAME": "a name",
    "STRING": 'a quoted text "…"',
    "INT": "a whole number",
    "NUMBER": "a number",
    "PERCENT": "a percentage",
    "DATE": "a date such as `2027-12-31`",
    "DURATION": "a time such as `10 min`",
    "ROW": "rows such as `| A | 12 |`",
    "BULLET": "lines such as `- A`",
    "_NL": "the end of the line",
    "$END": "the end of the file",
}


def expected(accepted: frozenset[str], before: Token | None) -> list[str]:
    """What could have followed, in words, most likely first."""
    left = set(accepted)
    words: list[str] = []
    operator = ""
    word = before.text if before is not None and before.type != "NAME" else ""
    if left >= _EXPRESSION:
        truth = word in _TRUTH_AFTER or (before is not None and before.type == "NOT")
        words.append("a condition such as `value > 0`" if truth else "an amount such as `10% of value`")
        left -= _EXPRESSION_START
    elif left >= _CODE:
        words.append('a code such as `A` or `"10-49"`')
        left -= _CODE
    elif "NAME" in left:
        words.append(_NAMED_AFTER.get(word, "a name"))
        left.discard("NAME")
        if left >= {"STRING"} and word in _NAMED_AFTER:
            left.discard("STRING")
    if left >= _OPERATORS:
        operator = "an operator" if "EQUAL" in left else "an operator such as `+`"
        if before is not None and before.type == "PERCENT":
            operator = "`of`"
        left -= _OPERATORS | {"EQUAL", "LESSTHAN", "MORETHAN", "AND", "OR", "OF"}
        left -= {t for t in left if tables().spelling.get(t) in ("!=", "<=", ">=")}
        if "UNDER" in left:  # behind a name
            left -= {"AT", "IN", "NOT", "UNDER", "LPAR"}
    end = "_NL" in left
    left -= {"_NL", "$END", "RBRACE"} if end else set()
    spelling = tables().spelling
    named = sorted(t for t in left if t not in spelling)
    words += [TERMINALS[t] for t in named]
    words += [f"`{spelling[t]}`" for t in sorted(left - set(named), key=lambda t: spelling[t])]
    if operator:
        words.append(operator)
    if end:
        words.append(TERMINALS["_NL"])
    return words


def either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" or {words[-1]}"


def usage(block: str, first_word: str) -> Usage | None:
    forms = USAGE.get(block, {})
    return forms.get(first_word) or forms.get("")


def found(token: Token) -> str:
    if token.type == "_NL":
        return "the end of the line"
    if token.type == "$END":
        return "the end of the file"
    text = token.text if len(token.text) <= 40 else token.text[:39] + "…"
    return text if text.startswith('"') else f"`{text}`"

"""τ-ARGUS batch files (`.arb`): one `<COMMAND>` a line, parsed and no more; what they require is decided elsewhere.

A command that cannot be read is diagnosed and left out, and the rest is read all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sdcdsl.bind.readers.argus_words import cut, unquoted, words
from sdcdsl.bind.readers.text_files import lines, open_text
from sdcdsl.bind.readers.wording import FIRST, clip, first_ten
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source, diagnostic, did_you_mean

CALL = re.compile(r"\s*([A-Za-z]+)\s*\(([^()]*)\)\s*")
OPTION = re.compile(r"([A-Z]{2})\s*([+-])\s*")
RULES = {
    "P": (1, 3),
    "NK": (2, 2),
    "FREQ": (2, 2),
    "ZERO": (1, 1),
    "REQ": (3, 4),
    "WGT": (1, 1),
    "MIS": (1, 1),
    "MAN": (1, 1),
}
METHODS = {"GH", "MOD", "OPT", "NET", "RND", "CTA", "CKM"}
FORMATS = {1: "csv", 2: "pivot", 3: "code and value", 4: "SBS", 5: "intermediate", 6: "jj"}


@dataclass(frozen=True, slots=True)
class Open:
    line: int
    what: str  # microdata, table or metadata
    file: str


@dataclass(frozen=True, slots=True)
class SpecifyTable:
    line: int
    explanatory: tuple[str, ...]
    response: str | None  # None: a frequency table
    shadow: str | None = None
    cost: str | None = None  # a variable, or -1 frequency, -2 unity, -3 distance
    lambda_: float | None = None


@dataclass(frozen=True, slots=True)
class SafetyRuleCall:
    """In the order of the file: from the third P or NK on, the second FREQ and REQ, τ-ARGUS means holdings."""

    name: str
    figures: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class SafetyRule:
    line: int
    rules: tuple[SafetyRuleCall, ...]  # none: the statuses of the file are used


@dataclass(frozen=True, slots=True)
class ReadCommand:
    line: int
    what: str  # microdata or table
    option: str = ""


@dataclass(frozen=True, slots=True)
class APrioriFile:
    line: int
    file: str
    table: int
    separator: str
    ignore_errors: bool
    expand_trivial: bool


@dataclass(frozen=True, slots=True)
class Suppress:
    line: int
    method: str
    table: int  # 0: all tables, linked
    figures: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class WriteTable:
    line: int
    table: int
    format: str
    options: tuple[tuple[str, bool], ...]
    file: str


@dataclass(frozen=True, slots=True)
class OtherCommand:
    """Commands about the program rather than the tables: logbook, solver, recoding, going interactive."""

    line: int
    command: str
    arguments: tuple[str, ...]


Command = Open | SpecifyTable | SafetyRule | ReadCommand | APrioriFile | Suppress | WriteTable | OtherCommand


def read_arb(
    source: Path | Source, *, encoding: str | None = None
) -> tuple[tuple[Command, ...] | None, list[Diagnostic]]:
    opened, problems = open_text(source, encoding)
    if opened is None:
        return None, problems
    commands: list[Command] = []
    for number, line in enumerate(lines(opened.text), 1):
        text = line.strip()
        if not text or text.startswith(("//", "\\\\")):
            continue
        place = FilePlace(opened.name, line=number)
        word, rest = _head(text)
        if word not in COMMANDS:
            headline = f"no command `{clip(word or text)}` in a batch file"
            near = did_you_mean(word, COMMANDS) if word and len(problems) < FIRST else ""
            problems.append(diagnostic("SDC316", headline, place, near))
            continue
        command = COMMANDS[word](number, rest)
        if isinstance(command, str):
            problems.append(diagnostic("SDC316", f"`{word}` cannot be read", place, command))
        else:
            commands.append(command)
    if not commands and not problems:
        return None, [diagnostic("SDC308", f"{opened.name} holds no commands", FilePlace(opened.name))]
    return tuple(commands), first_ten(problems)


def _head(text: str) -> tuple[str, str]:
    end = text.find(">")
    return (text[: end + 1].upper(), text[end + 1 :].strip()) if text.startswith("<") and end > 0 else ("", text)


def _open(what: str) -> Callable[[int, str], Command | str]:
    def parse(line: int, rest: str) -> Command | str:
        file = next(iter(words(rest)), "")
        return Open(line, what, file) if file else "a file name is missing"

    return parse


def _specify(line: int, rest: str) -> Command | str:
    parts = cut(rest, "|")
    explanatory = tuple(words(parts[0]))
    if not explanatory or len(parts) < 2:
        return 'expected "variables side by side" | "response" | "shadow" | "cost"'
    response = unquoted(parts[1])
    shadow = unquoted(parts[2]) if len(parts) > 2 else ""
    cost, _, weight = ",".join(parts[3:]).partition(",")
    exponent = _figure(weight) if weight.strip(", ") else None
    if weight.strip(", ") and exponent is None:
        return f"`{clip(weight)}` is not a number"
    counted = response.upper() in ("", "<FREQ>")
    cost = unquoted(cost.strip()) or None
    return SpecifyTable(line, explanatory, None if counted else response, shadow or None, cost, exponent)


def _rules(line: int, rest: str) -> Command | str:
    rules = []
    for part in filter(None, cut(rest, "|")):
        call = CALL.fullmatch(part)
        if call is None:
            return f"`{clip(part)}` is not a rule such as NK(2,75)"
        name, figures = call[1].upper(), _figures(call[2])
        if name not in RULES:
            return f"no rule `{clip(name)}` {did_you_mean(name, RULES)}".rstrip()
        least, most = RULES[name]
        if figures is None or not least <= len(figures) <= most:
            return f"{name} takes {least if least == most else f'{least} to {most}'} numbers, found `{clip(call[2])}`"
        rules.append(SafetyRuleCall(name, figures))
    return SafetyRule(line, tuple(rules))


def _read(what: str) -> Callable[[int, str], Command | str]:
    return lambda line, rest: ReadCommand(line, what, rest)


def _apriori(line: int, rest: str) -> Command | str:
    parts = [unquoted(p) for p in cut(rest, ",")]
    table = _whole(parts[1]) if len(parts) > 1 else None
    if len(parts) < 3 or not parts[0] or table is None or len(parts[2]) != 1:
        return 'expected "file", table, "separator", ignore errors, expand trivial levels'
    flags = [*parts[3:5], "", ""]
    return APrioriFile(line, parts[0], table, parts[2], flags[0] != "0", flags[1] == "1")


def _suppress(line: int, rest: str) -> Command | str:
    call = CALL.fullmatch(rest)
    figures = _figures(call[2]) if call else None
    if call is None or not figures or figures[0] < 0 or figures[0] % 1:
        return f"`{clip(rest)}` is not a method such as MOD(1,5), whose first number is the table"
    # Other versions of τ-ARGUS have other methods: who imports says which are not carried over.
    return Suppress(line, call[1].upper(), int(figures[0]), figures[1:])


def _write(line: int, rest: str) -> Command | str:
    inner = rest[1:-1] if rest.startswith("(") and rest.endswith(")") else ""
    parts = cut(inner, ",")
    table, format = (_whole(p) for p in [*parts, "", ""][:2])
    if len(parts) != 4 or table is None or format not in FORMATS or not unquoted(parts[3]):
        return 'expected (table, format 1 to 6, options such as AS+, "file")'
    options = OPTION.findall(parts[2].upper())
    if OPTION.sub("", parts[2].upper()).strip():
        return f"`{clip(parts[2])}` is not a list of options such as AS+SE-"
    return WriteTable(line, table, FORMATS[format], tuple((o, s == "+") for o, s in options), unquoted(parts[3]))


def _other(word: str) -> Callable[[int, str], Command | str]:
    return lambda line, rest: OtherCommand(line, word, tuple(unquoted(p) for p in cut(rest, ",") if p))


def _figures(text: str) -> tuple[float, ...] | None:
    figures = tuple(_figure(part) for part in text.split(","))
    return None if None in figures else tuple(f for f in figures if f is not None)


def _figure(text: str) -> float | None:
    text = text.strip()
    return float(text) if re.fullmatch(r"[+-]?\d{1,15}(\.\d{0,15})?", text, re.ASCII) else None


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\d{1,6}", text.strip(), re.ASCII) else None


COMMANDS: dict[str, Callable[[int, str], Command | str]] = {
    "<OPENMICRODATA>": _open("microdata"),
    "<OPENTABLEDATA>": _open("table"),
    "<OPENMETADATA>": _open("metadata"),
    "<SPECIFYTABLE>": _specify,
    "<SAFETYRULE>": _rules,
    "<READMICRODATA>": _read("microdata"),
    "<READTABLE>": _read("table"),
    "<APRIORI>": _apriori,
    "<APRIORY>": _apriori,
    "<SUPPRESS>": _suppress,
    "<WRITETABLE>": _write,
    **{
        word: _other(word)
        for word in (
            "<LOGBOOK>", "<VERSIONINFO>", "<SOLVER>", "<RECODE>", "<CLEAR>", "<SILENT>", "<GOINTERACTIVE>", "<COVER>",
            "<ANCO>", "<REPORTSTR>", "<JJ>",
        )
    },
}  # fmt: skip

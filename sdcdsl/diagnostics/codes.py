"""The catalogue: every code the program can say, with its one-line title.

A code is never reused for another mistake. Each has a page of its own in `pages/`, shown by `sdcdsl explain CODE`.
SDC0xx the text · SDC1xx its meaning · SDC2xx advice (lint) · SDC3xx the data · SDC4xx audits · SDC5xx protecting
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Code(NamedTuple):
    title: str
    warning: bool = False


_ERRORS = {
    # ---- the file --------------------------------------------------------------------
    "SDC001": "the file cannot be read",
    "SDC002": "the file is too large to be a policy",
    "SDC003": "the file is not UTF-8 text",
    "SDC004": "the file holds characters no text has",
    "SDC005": "the first line does not say the edition",
    "SDC006": "an edition this program does not know",
    "SDC007": "nested too deeply",
    "SDC008": "too many problems to list",
    # ---- the text --------------------------------------------------------------------
    "SDC010": "something unexpected in a statement",
    "SDC011": "no such statement",
    "SDC012": "no such statement in this block",
    "SDC013": "a statement stops too early",
    "SDC014": "a block is never closed",
    "SDC015": "a closing brace without a block",
    "SDC016": "a parenthesis is never closed",
    "SDC017": "a text without its closing quote",
    "SDC018": "a character the language does not use",
    "SDC019": "an operator or quote from another language",
    "SDC020": "a number written in a way the language does not read",
    "SDC021": "no such date",
    "SDC022": "a row of an inline table has the wrong number of columns",
    "SDC023": "an inline table cell is not a number",
    "SDC024": "the indentation of an inline tree is inconsistent",
    "SDC025": "a reserved word used as a name",
    "SDC026": "a declared name contains a dot",
    # ---- several files ---------------------------------------------------------------
    "SDC050": "the used file cannot be found",
    "SDC051": "files use each other in a circle",
    "SDC052": "the used file lies outside the policy's folder",
    "SDC053": "files use each other too deeply",
    # ---- names -----------------------------------------------------------------------
    "SDC100": "declared twice",
    "SDC101": "no such dimension",
    "SDC102": "no such table",
    "SDC103": "no such attacker",
    "SDC104": "no such scenario",
    "SDC105": "no such data",
    "SDC106": "no such method",
    "SDC107": "no such rule",
    "SDC108": "no such option",
    "SDC109": "an option's value does not fit",
    "SDC110": "a block lacks a statement it needs",
    "SDC111": "said twice where once is all there is",
    "SDC112": "no such name in an expression",
    "SDC113": "the types do not fit",
    "SDC114": "wrong arguments",
    "SDC115": "no such function",
    "SDC116": "no such code in the dimension",
    "SDC117": "a name that has no meaning here",
    "SDC118": "a cell's address does not fit its table",
    "SDC119": "nothing to override",
    "SDC120": "two names that would be the same",
    "SDC121": "a seed is required",
    "SDC122": "no such format",
    "SDC123": "a percentage of nothing",
    "SDC124": "infinity outside bounds",
    "SDC125": "bounds upside down",
    "SDC126": "a level below zero",
    "SDC127": "a table with two origins",
    "SDC128": "the totals of an inline table do not add up",
    "SDC129": "the cells of an inline table do not fit its dimensions",
    "SDC130": "a constant expression that has no value",
    "SDC131": "sensitive cells that nothing protects",
    "SDC132": "an attacker who needs data the table does not have",
    "SDC133": "protection against nobody",
    "SDC134": "protection without a level",
    "SDC135": "a rule that needs data the table does not have",
    "SDC136": "an inline hierarchy that is not a tree",
    "SDC137": "one cell told two opposite things",
    "SDC138": "two releases into one file",
    "SDC139": "an experiment that does not fit the method",
    "SDC140": "a file path that leaves the policy's folder",
    "SDC141": "a level for an attacker nobody protects against",
    "SDC142": "a requirement the policy itself breaks",
    "SDC143": "more than one title, seed or edition",
    "SDC144": "parts of a combined method that do not fit together",
    "SDC145": "a conditional level that the method does not know",
    # ---- the data --------------------------------------------------------------------
    "SDC301": "totals do not add up",
    "SDC302": "a data file cannot be read",
    "SDC303": "a column is missing",
    "SDC304": "a code the dimension does not have",
    "SDC305": "a cell appears twice",
    "SDC306": "text where a number belongs",
    "SDC307": "a number that is not finite",
    "SDC308": "a file without data",
    "SDC309": "cells are missing",
    "SDC310": "a hierarchy goes in a circle",
    "SDC311": "a code with two parents in one tree",
    "SDC312": "a hierarchy file is malformed",
    "SDC313": "a JJ file is malformed",
    "SDC314": "a τ-ARGUS metadata file is malformed",
    "SDC315": "an a-priori file is malformed",
    "SDC316": "a τ-ARGUS batch file is malformed",
    "SDC317": "the encoding does not fit the file",
    "SDC318": "negative values under bounds from zero",
    "SDC319": "bounds that exclude the true value",
    "SDC320": "a level that no bound allows",
    "SDC321": "an expression without a value in a cell that uses it",
    "SDC322": "a cell status nobody declared",
    "SDC323": "contributions that do not fit the cell",
    "SDC324": "a requirement that cells break",
    "SDC325": "a waiver for a contributor the data does not have",
    "SDC326": "a cell that does not exist",
    "SDC327": "the table is larger than the limit",
    "SDC329": "a sensitive cell that must be published",
    "SDC330": "a sensitive cell without a level",
    "SDC333": "senses from contributors that the data does not name",
    "SDC334": "parts of a combined method that do not divide the cells",
    # ---- releases and audits ---------------------------------------------------------
    "SDC401": "a certificate that cannot be read",
    "SDC402": "a certificate that does not hold",
    "SDC403": "a release that excludes the true value",
    "SDC404": "an interval upside down",
    "SDC405": "a released table that does not add up",
    "SDC406": "a release that contradicts itself",
    "SDC407": "a release that no table fits",
    "SDC408": "an audit that cannot be done as asked",
    "SDC409": "a lock that cannot be checked",
    # ---- protecting ------------------------------------------------------------------
    "SDC501": "a method or format that this version does not have",
    "SDC502": "a solver that is not installed",
    "SDC503": "a release that cannot be made as asked",
    "SDC504": "a model that cannot be written",
    "SDC505": "a file of solutions that cannot be read",
    "SDC506": "a solution of another model",
    "SDC507": "a file without a solution",
    "SDC510": "no release can satisfy the policy",
    "SDC511": "a limit was reached before anything valid was found",
    "SDC512": "a solver that did not answer",
    "SDC513": "a release that the audit did not find protected",
    "SDC516": "the run needs more than it may use",
}

_WARNINGS = {
    "SDC201": "declared and never used",
    "SDC202": "a waiver without an end",
    "SDC203": "a waiver that has ended",
    "SDC204": "a seed that nothing uses",
    "SDC205": "symmetric levels give the value away",
    "SDC206": "a statement that no cell uses",
    "SDC207": "an override that loosens the house rules",
    "SDC208": "a policy without a title",
    "SDC209": "a protected table that is never released",
    "SDC210": "a level of zero",
    "SDC211": "an exact method without a time limit",
    "SDC212": "a threshold below three",
    "SDC213": "an adjusted table without a risk experiment",
    "SDC214": "a level `needed` where no rule asks for one",
    "SDC215": "a statement said again in the same words",
    "SDC216": "an option without effect",
    "SDC217": "the same figures in two releases",
    "SDC328": "something the import could not carry over",
    "SDC331": "nothing in the data is sensitive",
    "SDC332": "levels cut to what an attacker's own part leaves",
    "SDC335": "records that say no unit",
    "SDC336": "totals with more digits than are computed with",
    "SDC520": "a checkpoint that is not used",
}

CODES: dict[str, Code] = {
    **{code: Code(title) for code, title in _ERRORS.items()},
    **{code: Code(title, warning=True) for code, title in _WARNINGS.items()},
}


def page(code: str) -> str:
    """The long explanation of a code, in Markdown."""
    return (Path(__file__).parent / "pages" / f"{code}.md").read_text(encoding="utf-8")

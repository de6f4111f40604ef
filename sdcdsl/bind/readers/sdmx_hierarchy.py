"""A code list or a hierarchy of SDMX as the tree of a dimension, and its names as labels.

Code lists often are wider than a table: all countries, of which a table has those of one group. So a total that stands
in the list with parts of its own is the root, and what is not below it is left out. A total without parts there, such
as `_T`, or one that is not there, holds all codes that have no parent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sdcdsl.bind.hierarchy import CodeTree
from sdcdsl.bind.readers.code_labels import Labels, chosen
from sdcdsl.bind.readers.sdmx_structures import CodeList, Reference, SdmxCode, read_structures
from sdcdsl.bind.readers.tree_building import Branch, grow
from sdcdsl.bind.readers.wording import clip, offenders
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, did_you_mean, listed

_FULL = re.compile(r"(?:(?P<agency>[^:()]+):)?(?P<id>[^:()]+)(?:\((?P<version>[^()]+)\))?")


def read_sdmx_hierarchy(
    path: Path, total: str | None, name: str, options: dict[str, Any]
) -> tuple[CodeTree | None, list[Diagnostic]]:
    structures, found = read_structures(path)
    if structures is None:
        return None, found
    source = str(path)
    if options["codelist"] is not None and options["hierarchy"] is not None:
        headline = "a code list and a hierarchy: one of them is the tree"
        return None, [diagnostic("SDC302", headline, FilePlace(source), help="leave out `codelist`")]
    if options["codelist"] is not None:
        listing, found = named(structures.codelists, options["codelist"], "code list", source)
    elif options["hierarchy"] is not None:
        listing, found = named(structures.hierarchies, options["hierarchy"], "hierarchy", source)
    else:
        listing, found = _only_one(structures.hierarchies, structures.codelists, source)
    return (None, found) if listing is None else _tree(listing, total, name, source)


def read_sdmx_labels(
    path: Path, language: str | None, options: Mapping[str, Any]
) -> tuple[Labels | None, list[Diagnostic]]:
    structures, found = read_structures(path)
    if structures is None:
        return None, found
    if options["codelist"] is not None:
        codes, found = named(structures.codelists, options["codelist"], "code list", str(path))
    else:
        codes, found = _only_one((), structures.codelists, str(path))
    if codes is None:
        return None, found
    labels: Labels = {}
    for one in codes.codes:
        for known, label in one.names.items():
            if label:
                labels.setdefault(known, {})[one.code] = label
    place = FilePlace(str(path), line=codes.line)
    if not labels:
        headline = f"the code list {clip(str(codes.reference))} of {path} names no code"
        return None, [diagnostic("SDC308", headline, place)]
    return chosen(labels, language, str(path), place)


def named(lists: Sequence[CodeList], wanted: str, what: str, source: str) -> tuple[CodeList | None, list[Diagnostic]]:
    """The one of that identifier: `CL_AREA`, or in full `ESTAT:CL_AREA(1.0)`."""
    match = _FULL.fullmatch(wanted)
    asked = Reference(match["id"], match["agency"] or "", match["version"] or "") if match else Reference(wanted)
    fitting = [one for one in lists if asked.fits(one.reference)]
    if len(fitting) == 1:
        return fitting[0], []
    known = [clip(str(one.reference)) for one in lists]
    if not fitting:
        headline = f"{source} has no {what} `{clip(wanted)}`"
        label = did_you_mean(asked.id, [clip(one.reference.id) for one in lists])
        notes = [f"it has: {listed(known)}"] if known else [f"it has no {what} at all"]
        return None, [diagnostic("SDC302", headline, FilePlace(source), label, notes=notes)]
    headline = f"{source} has {len(fitting)} of the name `{clip(wanted)}`"
    help = f"write it in full, as {clip(str(fitting[0].reference))}"
    return None, [diagnostic("SDC302", headline, FilePlace(source), help=help)]


def _only_one(
    hierarchies: Sequence[CodeList], codelists: Sequence[CodeList], source: str
) -> tuple[CodeList | None, list[Diagnostic]]:
    for lists in (hierarchies, codelists):
        if len(lists) == 1:
            return lists[0], []
    known = [clip(str(one.reference)) for one in (*hierarchies, *codelists)]
    if not known:
        headline = f"{source} has no code list and no hierarchy"
        return None, [diagnostic("SDC308", headline, FilePlace(source))]
    headline = f"{source} has several code lists or hierarchies, and nothing says which"
    help = f'hierarchy sdmx "…" {{ codelist "{clip((*codelists, *hierarchies)[0].reference.id)}" }}'
    return None, [diagnostic("SDC302", headline, FilePlace(source), notes=[f"it has: {listed(known)}"], help=help)]


def _tree(listing: CodeList, total: str | None, name: str, source: str) -> tuple[CodeTree | None, list[Diagnostic]]:
    place = FilePlace(source, line=listing.line)
    nameless = [one for one in listing.codes if not one.code]
    known = {one.code for one in listing.codes}
    stray = [one for one in listing.codes if one.parent is not None and one.parent not in known]
    first: dict[str, SdmxCode] = {}
    again = [one for one in listing.codes if one.parent is None and first.setdefault(one.code, one) is not one]
    for wrong, headline in (
        (nameless, "codes without an identifier"),
        (stray, "codes whose parent is not in the list"),
        (again, "codes listed twice"),
    ):
        if wrong:
            marks = ((FilePlace(source, line=one.line), f"`{clip(one.code)}`") for one in wrong)
            return None, [offenders("SDC312", headline, marks, len(wrong))]
    inner = {one.parent for one in listing.codes if one.parent is not None}
    codes = _below(listing.codes, total) if total in inner else listing.codes
    if total is not None and total not in inner:
        codes = tuple(one for one in codes if one.code != total)
    branches = (
        Branch(one.parent, one.code, FilePlace(source, line=one.line)) for one in codes if one.parent is not None
    )
    tops = () if total in inner else [one.code for one in codes if one.parent is None]
    return grow(branches, total=total, name=name, place=place, tops=tops)


def _below(codes: Sequence[SdmxCode], total: str | None) -> tuple[SdmxCode, ...]:
    parts: dict[str | None, list[str]] = {}
    for one in codes:
        parts.setdefault(one.parent, []).append(one.code)
    inside: set[str] = set()
    waiting = list(parts.get(total, ()))
    while waiting:
        code = waiting.pop()
        if code not in inside:
            inside.add(code)
            waiting += parts.get(code, ())
    return tuple(one for one in codes if one.code in inside)

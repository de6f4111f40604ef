"""Structures of SDMX from a message in SDMX-ML (2.1, 3.0, 3.1): code lists, hierarchies, data structures.

Read here and not by a library, because a dimension needs what libraries leave out: the parent of a code, and names in
all languages.

    Codelist                            codes, each with its names, and with the code that is its parent
    HierarchicalCodelist, Hierarchy     codes nested in codes, from code lists
    DataStructure                       dimensions with their code lists, measures
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sdcdsl.bind.readers.xml_events import Refused, read_xml
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic

LARGEST = 1 << 28  # bytes of a message
MOST_ELEMENTS = 2_000_000
_URN = re.compile(r"=(?P<agency>[^:=]+):(?P<id>[^(:]+)\((?P<version>[^)]*)\)(?:\.(?P<item>.+))?$")
_VALUE = "OBS_VALUE"  # in 2.1 it need not be said
_KEPT = ("Codelist", "ValueList", "HierarchicalCodelist", "Hierarchy", "DataStructure", "ConceptScheme")


@dataclass(slots=True)
class Node:
    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Node] = field(default_factory=list)
    text: str = ""

    def all(self, *tags: str) -> Iterator[Node]:
        """Elements with these names, directly inside."""
        return (child for child in self.children if child.tag in tags)

    def the(self, tag: str) -> Node | None:
        return next(self.all(tag), None)

    def within(self, *tags: str) -> Node | None:
        """Down one name after the other."""
        here: Node | None = self
        for tag in tags:
            here = here.the(tag) if here is not None else None
        return here


@dataclass(frozen=True)
class Reference:
    id: str
    agency: str = ""
    version: str = ""
    item: str = ""

    def __str__(self) -> str:
        return f"{self.agency}:{self.id}({self.version})" if self.agency else self.id

    def fits(self, other: Reference) -> bool:
        """Whether they may be the same: what one of them does not say, does not count."""
        pairs = ((self.id, other.id), (self.agency, other.agency), (self.version, other.version))
        return all(not a or not b or a == b for a, b in pairs)


@dataclass(frozen=True)
class SdmxCode:
    code: str
    parent: str | None
    names: dict[str, str]  # by language
    line: int


@dataclass(frozen=True)
class CodeList:
    """Codes in the order of the file; of a hierarchy, each as often as it stands there."""

    reference: Reference
    codes: tuple[SdmxCode, ...]
    names: dict[str, str]
    line: int


@dataclass(frozen=True)
class SdmxDimension:
    id: str
    codes: Reference | None
    time: bool = False


@dataclass(frozen=True)
class DataStructure:
    reference: Reference
    dimensions: tuple[SdmxDimension, ...]
    measures: tuple[str, ...]
    attributes: tuple[str, ...]
    names: dict[str, str]
    line: int


@dataclass(frozen=True)
class Structures:
    name: str  # of the file
    codelists: tuple[CodeList, ...]
    hierarchies: tuple[CodeList, ...]
    data_structures: tuple[DataStructure, ...]

    def codes_of(self, dimension: SdmxDimension) -> CodeList | None:
        wanted = dimension.codes
        return next((one for one in self.codelists if wanted is not None and wanted.fits(one.reference)), None)


def read_structures(path: Path) -> tuple[Structures | None, list[Diagnostic]]:
    kept: list[Node] = []
    stack: list[Node] = []
    depth = elements = 0
    root = ""

    def start(tag: str, attributes: dict[str, str], line: int) -> None:
        nonlocal depth, elements, root
        depth += 1
        elements += 1
        root = root or tag
        if elements > MOST_ELEMENTS:
            raise Refused(f"it has more than {MOST_ELEMENTS:,} elements")
        if stack or tag in _KEPT:
            node = Node(tag, attributes, line)
            if stack:
                stack[-1].children.append(node)
            else:
                kept.append(node)
            stack.append(node)

    def end(tag: str, text: str) -> None:
        nonlocal depth
        depth -= 1
        if stack:
            stack.pop().text = text

    name = str(path)
    if found := read_xml(path, start, end, LARGEST):
        return None, found
    if root != "Structure":
        headline = f"{name} is no structure message of SDMX: its root is `{root[:40]}`"
        return None, [diagnostic("SDC302", headline, FilePlace(name))]
    concepts = _representations(kept)
    return Structures(
        name,
        tuple(_codelist(node) for node in kept if node.tag in ("Codelist", "ValueList")),
        tuple(_hierarchies(kept)),
        tuple(_data_structure(node, concepts) for node in kept if node.tag == "DataStructure"),
    ), []


def _own(node: Node, above: Node | None = None) -> Reference:
    agency = node.attributes.get("agencyID") or (above.attributes.get("agencyID", "") if above else "")
    version = node.attributes.get("version") or (above.attributes.get("version", "") if above else "")
    return Reference(node.attributes.get("id", ""), agency, version or "1.0")


def _names(node: Node) -> dict[str, str]:
    made = {}
    for one in node.all("Name"):
        language = next((v for k, v in one.attributes.items() if k.rpartition("}")[2] == "lang"), "en")
        made[language] = " ".join(one.text.split())
    return made


def _reference(node: Node | None) -> Reference | None:
    """2.1: an element `Ref` or `URN`; since 3.0 the text is a URN, or of a parent the code."""
    if node is None:
        return None
    ref = node.the("Ref")
    if ref is not None:
        said = ref.attributes
        above = said.get("maintainableParentID", "")
        version = said.get("maintainableParentVersion") or said.get("version", "")
        item = said.get("id", "")
        return Reference(above or item, said.get("agencyID", ""), version, item)
    urn = node.the("URN")
    text = urn.text if urn is not None else node.text
    if not text:
        return None
    match = _URN.search(text)
    return Reference(match["id"], match["agency"], match["version"], match["item"] or "") if match else Reference(text)


def _codelist(node: Node) -> CodeList:
    codes = []
    for one in node.all("Code", "ValueItem"):
        parent = _reference(one.the("Parent"))
        above = (parent.item or parent.id) if parent is not None else None
        codes.append(SdmxCode(one.attributes.get("id", ""), above, _names(one), one.line))
    return CodeList(_own(node), tuple(codes), _names(node), node.line)


def _hierarchies(kept: list[Node]) -> Iterator[CodeList]:
    for node in kept:
        if node.tag == "Hierarchy":
            yield _hierarchy(node, None)
        elif node.tag == "HierarchicalCodelist":
            for inside in node.all("Hierarchy"):
                yield _hierarchy(inside, node)


def _hierarchy(node: Node, above: Node | None) -> CodeList:
    codes: list[SdmxCode] = []
    waiting: list[tuple[Node, str | None]] = [(child, None) for child in reversed(list(node.all("HierarchicalCode")))]
    while waiting:
        one, parent = waiting.pop()
        said = _reference(one.the("Code")) or _reference(one.the("CodeID"))
        code = (said.item or said.id) if said is not None else one.attributes.get("id", "")
        codes.append(SdmxCode(code, parent, {}, one.line))
        waiting += [(child, code) for child in reversed(list(one.all("HierarchicalCode")))]
    return CodeList(_own(node, above), tuple(codes), _names(node), node.line)


def _representations(kept: list[Node]) -> dict[str, Reference]:
    """The code list of each concept that has one, for dimensions that say none."""
    out: dict[str, Reference] = {}
    for scheme in kept:
        for concept in scheme.all("Concept") if scheme.tag == "ConceptScheme" else ():
            said = _reference(concept.within("CoreRepresentation", "Enumeration"))
            if said is not None:
                out[concept.attributes.get("id", "")] = said
    return out


def _data_structure(node: Node, concepts: dict[str, Reference]) -> DataStructure:
    components = node.the("DataStructureComponents") or node
    dimensions: list[tuple[int, SdmxDimension]] = []
    listed = components.the("DimensionList")
    for place, one in enumerate(listed.all("Dimension", "MeasureDimension", "TimeDimension") if listed else (), 1):
        concept = _reference(one.the("ConceptIdentity"))
        named = (concept.item or concept.id) if concept is not None else ""
        codes = _reference(one.within("LocalRepresentation", "Enumeration")) or concepts.get(named)
        made = SdmxDimension(one.attributes.get("id") or named, codes, one.tag == "TimeDimension")
        said = one.attributes.get("position", "")
        dimensions.append((int(said) if said.isdecimal() and len(said) < 9 else place, made))
    ordered = tuple(one for _, one in sorted(dimensions, key=lambda pair: pair[0]))
    measures = _identifiers(components, "MeasureList", "Measure", "PrimaryMeasure") or (_VALUE,)
    attributes = _identifiers(components, "AttributeList", "Attribute")
    return DataStructure(_own(node), ordered, measures, attributes, _names(node), node.line)


def _identifiers(components: Node, within: str, *tags: str) -> tuple[str, ...]:
    listed = components.the(within)
    return tuple(one.attributes.get("id") or _VALUE for one in listed.all(*tags)) if listed is not None else ()

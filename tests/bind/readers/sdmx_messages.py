"""Messages of SDMX written by pysdmx, which knows the standard; and by hand, where it leaves something out."""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas as pd
from pysdmx.io import write_sdmx
from pysdmx.io.format import Format
from pysdmx.io.pd import PandasDataset
from pysdmx.model import Component, Components, Concept, ConceptScheme, DataType, ItemReference, Role
from pysdmx.model.code import Code, Codelist
from pysdmx.model.dataflow import DataStructureDefinition

ROWS = [
    *(("N", "1", "10", "F"), ("N", "2", "20", "F"), ("N", "_T", "30", "F"), ("S", "1", "5.5", "C")),
    *(("S", "2", "40", "F"), ("S", "_T", "45.5", "F")),
]
SERIES = ("2_1_GENTS", "2_1_STRTS")  # which have time across, and nothing else
DATA = [
    *((f"DATA_SDMX_ML_{name}", across) for name in ("2_1_GEN", "2_1_STR", "3_0", "3_1") for across in (True, False)),
    *((f"DATA_SDMX_ML_{name}", True) for name in SERIES),
    *(("DATA_SDMX_CSV_1_0_0", False), ("DATA_SDMX_CSV_2_0_0", False)),
]
STRUCTURES = ["STRUCTURE_SDMX_ML_2_1", "STRUCTURE_SDMX_ML_3_0", "STRUCTURE_SDMX_ML_3_1"]


def _concept(name: str) -> ItemReference:
    return ItemReference(sdmx_type="Concept", agency="XX", id="CS", version="1.0", item_id=name)


def _list(id: str, codes: dict[str, str]) -> Codelist:
    items = [Code(id=code, name=name) for code, name in codes.items()]
    return Codelist(id=id, agency="XX", name=id.removeprefix("CL_").capitalize(), version="1.0", items=items)


AREA = _list("CL_AREA", {"N": "North", "S": "South"})
SIZE = _list("CL_SIZE", {"_T": "All", "1": "1 to 9", "2": "10"})
COMPONENTS = Components(
    [
        Component("AREA", True, Role.DIMENSION, _concept("AREA"), local_codes=AREA),
        Component("SIZE", True, Role.DIMENSION, _concept("SIZE"), local_codes=SIZE),
        Component("TIME_PERIOD", True, Role.DIMENSION, _concept("TIME_PERIOD"), local_dtype=DataType.PERIOD),
        Component("OBS_VALUE", True, Role.MEASURE, _concept("OBS_VALUE"), local_dtype=DataType.DOUBLE),
        Component(
            "CONF_STATUS",
            False,
            Role.ATTRIBUTE,
            _concept("CONF_STATUS"),
            local_dtype=DataType.STRING,
            attachment_level="O",
        ),
    ]
)
CONCEPTS = ConceptScheme(
    id="CS", agency="XX", name="Concepts", version="1.0", items=[Concept(c.id, name=c.id) for c in COMPONENTS]
)
STRUCTURE = DataStructureDefinition(
    id="TURNOVER", agency="XX", name="Turnover by area", version="1.0", components=COMPONENTS
)


@cache
def structure(format: str) -> bytes:
    written = write_sdmx([AREA, SIZE, CONCEPTS, STRUCTURE], Format[format], prettyprint=True)
    assert written is not None
    return written.encode()


@cache
def data(format: str, across: bool) -> bytes:
    """`across`: in series with an observation for each time; otherwise flat."""
    frame = pd.DataFrame(
        [(area, size, "2025", value, status) for area, size, value, status in ROWS],
        columns=["AREA", "SIZE", "TIME_PERIOD", "OBS_VALUE", "CONF_STATUS"],
    )
    schema = STRUCTURE.to_schema()
    said: dict[str, Any] = {}
    if "CSV" not in format:
        layout = "TIME_PERIOD" if across else "AllDimensions"
        said = {"prettyprint": True, "dimension_at_observation": {schema.short_urn: layout}}
    written = write_sdmx(PandasDataset(structure=schema, data=frame), Format[format], **said)
    assert written is not None
    return written.encode()


_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<mes:Structure xmlns:mes="http://www.sdmx.org/resources/sdmxml/schemas/v{v}/message"
  xmlns:str="http://www.sdmx.org/resources/sdmxml/schemas/v{v}/structure"
  xmlns:com="http://www.sdmx.org/resources/sdmxml/schemas/v{v}/common">
<mes:Structures>
"""
_TAIL = "</mes:Structures></mes:Structure>\n"


NAMES = {"en": "in English", "fr": "en français"}


def codelist(codes: str, *, version: str = "2_1") -> str:
    """`codes`: a line for each, code and parent."""
    lines = []
    for line in codes.split():
        code, _, parent = line.partition("<")
        above = (
            f'<str:Parent><Ref id="{parent}"/></str:Parent>'
            if version == "2_1"
            else f"<str:Parent>{parent}</str:Parent>"
        )
        name = (
            f'<com:Name xml:lang="en">{code} in English</com:Name><com:Name xml:lang="fr">{code} en français</com:Name>'
        )
        lines.append(f'<str:Code id="{code}">{name}{above if parent else ""}</str:Code>\n')
    inside = f'<str:Codelist id="CL_GEO" agencyID="XX" version="1.0">\n{"".join(lines)}</str:Codelist>'
    return f"{_HEAD.format(v=version)}<str:Codelists>{inside}</str:Codelists>{_TAIL}"


HIERARCHY_21 = (
    _HEAD.format(v="2_1")
    + """<str:HierarchicalCodelists><str:HierarchicalCodelist id="HCL" agencyID="XX" version="1.0">
<str:IncludedCodelist alias="GEO"><Ref id="CL_GEO" agencyID="XX" version="1.0" class="Codelist"/></str:IncludedCodelist>
<str:Hierarchy id="BY_COAST">
  <str:HierarchicalCode id="1"><str:Code><Ref id="COAST" maintainableParentID="CL_GEO" agencyID="XX"/></str:Code>
    <str:HierarchicalCode id="2"><str:CodelistAliasRef>GEO</str:CodelistAliasRef><str:CodeID><Ref id="N"/></str:CodeID>
    </str:HierarchicalCode>
    <str:HierarchicalCode id="3"><str:Code><Ref id="S" maintainableParentID="CL_GEO" agencyID="XX"/></str:Code>
    </str:HierarchicalCode>
  </str:HierarchicalCode>
  <str:HierarchicalCode id="4"><str:Code><Ref id="INLAND" maintainableParentID="CL_GEO"/></str:Code>
  </str:HierarchicalCode>
</str:Hierarchy></str:HierarchicalCodelist></str:HierarchicalCodelists>"""
    + _TAIL
)
HIERARCHY_30 = (
    _HEAD.format(v="3_0")
    + """<str:Hierarchies><str:Hierarchy id="BY_COAST" agencyID="XX" version="1.0">
  <str:HierarchicalCode id="1"><str:Code>urn:sdmx:org.sdmx.infomodel.codelist.Code=XX:CL_GEO(1.0).COAST</str:Code>
    <str:HierarchicalCode id="2"><str:Code>urn:sdmx:org.sdmx.infomodel.codelist.Code=XX:CL_GEO(1.0).N</str:Code>
    </str:HierarchicalCode>
    <str:HierarchicalCode id="3"><str:Code>urn:sdmx:org.sdmx.infomodel.codelist.Code=XX:CL_GEO(1.0).S</str:Code>
    </str:HierarchicalCode>
  </str:HierarchicalCode>
  <str:HierarchicalCode id="4"><str:Code>urn:sdmx:org.sdmx.infomodel.codelist.Code=XX:CL_GEO(1.0).INLAND</str:Code>
  </str:HierarchicalCode>
</str:Hierarchy></str:Hierarchies>"""
    + _TAIL
)
BOMB = """<?xml version="1.0"?>
<!DOCTYPE lol [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
<!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;"><!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;">]>
<mes:Structure xmlns:mes="http://x/message"><mes:Structures>&e;</mes:Structures></mes:Structure>
"""
OUTSIDE = BOMB.replace(BOMB[BOMB.index("[") : BOMB.index("]") + 1], '[<!ENTITY e SYSTEM "file:///etc/passwd">]')

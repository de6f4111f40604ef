"""XML as events, of files that anybody may have sent: in pieces, with limits, and without what a document type can do.

A document type is the only way to entities, so files that have one are refused before any of it counts: no entity is
expanded, nothing outside the file is opened.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.parsers import expat

from sdcdsl.bind.readers.text_files import unopenable
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic
from sdcdsl.ordinary_files import open_ordinary

STEP = 1 << 18
LONGEST = 1 << 22  # bytes of one tag, and characters of one text
DEEPEST = 100
NAMESPACE = "}"

Start = Callable[[str, dict[str, str], int], None]  # local name, attributes, line
End = Callable[[str, str], None]  # local name, text directly inside


class Refused(Exception):
    """What is wrong with a file, in words; whoever handles events may raise it as well."""


def read_xml(path: Path, start: Start, end: End, largest: int) -> list[Diagnostic]:
    """Calls `start` and `end` for every element. Attributes of a namespace keep it before a `}`."""
    name = str(path)
    if problems := unopenable(path):
        return problems
    try:
        _parse(path, start, end, largest)
    except Refused as refused:
        return [diagnostic("SDC302", f"cannot read {name}: {refused}", FilePlace(name))]
    except expat.ExpatError as error:
        place = FilePlace(name, line=max(1, error.lineno))
        return [diagnostic("SDC302", f"cannot read {name}: it is not a whole XML file", place, expat_words(error))]
    except (ValueError, LookupError):  # an encoding that nobody knows, or of several bytes a sign
        headline = f"{name} is in an encoding that XML files are not read in"
        return [diagnostic("SDC317", headline, FilePlace(name), help="write it as UTF-8")]
    return []


def expat_words(error: expat.ExpatError) -> str:
    return expat.ErrorString(error.code) or "no XML"


def _parse(path: Path, start: Start, end: End, largest: int) -> None:
    parser = expat.ParserCreate(namespace_separator=NAMESPACE)
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    texts: list[list[str]] = [[]]
    sizes = [0]

    def opened(tag: str, attributes: dict[str, str]) -> None:
        if len(texts) > DEEPEST:
            raise Refused(f"its elements are nested more than {DEEPEST} deep")
        texts.append([])
        sizes.append(0)
        start(tag.rpartition(NAMESPACE)[2], attributes, parser.CurrentLineNumber)

    def closed(tag: str) -> None:
        sizes.pop()
        end(tag.rpartition(NAMESPACE)[2], "".join(texts.pop()).strip())

    def said(text: str) -> None:
        if text.isspace():  # between elements, of which there may be millions
            return
        texts[-1].append(text)
        sizes[-1] += len(text)
        if sizes[-1] > LONGEST:
            raise Refused(f"it has a text of more than {LONGEST:,} signs")

    def typed(*_: object) -> None:
        raise Refused("it has a document type, which files of SDMX have not, and which may hold entities")

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = opened, closed, said
    parser.StartDoctypeDeclHandler = typed
    parser.EntityDeclHandler = typed
    read = 0
    with open_ordinary(path) as file:
        while piece := file.read(STEP):
            read += len(piece)
            if read > largest:
                raise Refused(f"it has more than {largest:,} bytes")
            parser.Parse(piece, False)
            if read - max(0, parser.CurrentByteIndex) > LONGEST:
                raise Refused(f"it has a tag of more than {LONGEST:,} bytes")
    parser.Parse(b"", True)

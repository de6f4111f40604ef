"""A table from a JJ file: values, bounds, statuses, levels, weights and relations come with it."""

from __future__ import annotations

import numpy as np

from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.options import option_values
from sdcdsl.bind.readers.jj import JJTable
from sdcdsl.bind.reading import read_by
from sdcdsl.bind.relations import Relations
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, FilePlace
from sdcdsl.policy import document as d
from sdcdsl.vocabulary.formats import TABLES


def from_jj(block: d.Block, origin: d.Origin, places: FileLocations) -> tuple[BoundTable | None, list[Diagnostic]]:
    path, missing = places.find(block.name, origin.file.path, origin.file.span)
    if path is None:
        return None, missing
    file = origin.file
    options = option_values(file.options, TABLES[file.format].options)
    given, found = read_by(TABLES, file.format, JJTable, file.span, path, options)
    if given is None:
        return None, found
    relations = Relations(given.coefficient, given.cell_of, given.equation_of, given.rhs, len(given.a))
    table = BoundTable(
        name=block.name,
        measure=f"jj {block.name}",
        place=FilePlace(str(path)),
        relations=relations,
        value=given.a,
        quantities={"weight": given.weight},
        status=given.status,
        given=given,
        whole=bool(block.all(d.Integer)),
        integer=bool(block.all(d.Integer)) or bool(np.all(given.a == np.round(given.a))),
    )
    return table, found

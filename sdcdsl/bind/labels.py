"""Labels of the codes of a dimension, by language, from the files that the policy names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.options import option_values
from sdcdsl.bind.reading import read_by
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, diagnostic, listed
from sdcdsl.policy import document as d
from sdcdsl.policy.labels import asked, names_of_labels, same_language
from sdcdsl.policy.plain import plain_value
from sdcdsl.vocabulary.formats import LABELS
from sdcdsl.vocabulary.option import Kind


def unspoken(protect: d.Block, tables: Sequence[BoundTable]) -> Iterator[Diagnostic]:
    """Languages that a release asks for and no file has. What the policy itself tells is checked without data."""
    dimensions = [one for table in tables if table.lattice is not None for one in table.lattice.dimensions]
    known = {language for one in dimensions for language in one.labels}
    for release in protect.all(d.Release):
        option = asked(release)
        for language in [plain_value(v, Kind.NAMES) for v in option.values] if option is not None else ():
            if not any(same_language(language, one) for one in known):
                headline = f"no dimension of these tables has labels in `{language}`"
                notes = [f"there are labels in: {listed(sorted(filter(None, known)))}"] if known - {""} else []
                yield diagnostic("SDC153", headline, option.span if option else None, notes=notes)


def labels_of(
    block: d.Block, codes: Sequence[str], places: FileLocations
) -> tuple[dict[str, Mapping[str, str]], list[Diagnostic]]:
    """Those of codes that the dimension does not have are kept: a recode may make them. The last label counts (R1)."""
    out: dict[str, dict[str, str]] = {}
    found: list[Diagnostic] = []
    for name, statement in zip(names_of_labels(block), block.all(d.Labels), strict=True):
        file = statement.file
        path, missing = places.find(name, file.path, file.span)
        if path is None:
            found += missing
            continue
        options = option_values(file.options, LABELS[file.format].options)
        read, problems = read_by(LABELS, file.format, dict, file.span, path, statement.language, options)
        found += problems
        for language, words in (read or {}).items():
            out.setdefault(language, {}).update(words)
        if read and not any(code in words for words in read.values() for code in codes):
            headline = f"{file.path} has no label for any code of dimension `{block.name}`"
            strange = list(dict.fromkeys(code for words in read.values() for code in words))
            notes = [f"it names {listed(strange)}"]
            found.append(diagnostic("SDC344", headline, file.span, notes=notes))
    return dict(out), found

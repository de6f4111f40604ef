"""A JJ file needs no translation: the table, and a method to protect it with."""

from __future__ import annotations

from pathlib import Path

from sdcdsl.bind.readers.jj import read_jj
from sdcdsl.bind.readers.wording import plural
from sdcdsl.diagnostics import Diagnostic
from sdcdsl.importing.draft import Draft, Files, plain_name
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x


def policy_from_jj(source: Path, folder: Path | None = None) -> tuple[str | None, list[Diagnostic]]:
    table, found = read_jj(source)
    if table is None:
        return None, found
    draft = Draft(str(source), found=list(found))
    files = Files.beside(source, folder, draft)
    name = plain_name(source.stem, "t")
    cells, relations = plural(len(table.a), "cell"), plural(len(table.rhs), "relation")
    sensitive = int((table.status == "u").sum())
    draft.add(d.Title(f"Imported from {draft.file}"))
    draft.gap()
    draft.add(
        d.Block("table", name, (d.Origin(d.FileReference("jj", files.prefix + source.name)),)),
        f"{cells}, {sensitive} of them sensitive, {relations}.",
        "Values, bounds, levels, weights and statuses come from the file.",
    )
    release = d.Release(d.FileReference("jj", f"{source.stem}-protected.jj"))
    method = d.MethodChain((d.Engine("csp", (d.Option("time_limit", (x.Duration("10", "min"),)),)),))
    draft.add(d.Block("protect", name, (method, release), (name,)))
    draft.list_what_stayed()
    text, wrong = draft.text()
    return text, draft.found + wrong

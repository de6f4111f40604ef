"""Pages and plots from the results that are kept, without measuring anything: the same files from the same results.

    python benchmarks/report.py                    # of benchmarks/results
    python benchmarks/report.py FOLDER

For every JSON file a page beside it; plots as SVG; `README.md` has them all, with how many promises were kept.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from measuring import PACKAGES, figure
from registry import PHASES, Columns, Row, Suite, suites

# For rows of kinds that a suite does not know, as other versions of it may have left them.
ANY = Columns(
    ("instance", "method", "status", "CPU s"),
    lambda row: (row["instance"], row.get("method", ""), str(row.get("status", "–")), figure(row.get("cpu"), 2)),
)
HEAD = "<!-- written by benchmarks/report.py -->"


def written(file: Path, suite: Suite) -> None:
    """The page of one file of results, beside it."""
    made = json.loads(file.read_text())
    file.with_suffix(".md").write_text("\n".join(_page(made, suite)) + "\n", encoding="utf-8")


def _page(made: Row, suite: Suite) -> Iterator[str]:
    computer, rows = made["machine"], in_order(made["rows"], suite)
    yield f"# Results of `benchmarks/{made['what']}.py`"
    yield ""
    used = {
        package: sorted({row["versions"][package] for row in rows if package in row.get("versions", {})})
        for package in ("python", *PACKAGES)
    }
    packages = ", ".join(f"{name} {' and '.join(found)}" for name, found in used.items() if found)
    where = f"{computer['cores']} cores ({computer['model']}, {computer['system']}), one used"
    yield f"{where}; {made['clock']} seconds; {packages}."
    summary = list(suite.summary(rows))
    if summary:
        yield from ("", *summary)
    for title, columns in suite.tables.items():
        mine = [row for row in rows if row["kind"] == title]
        if mine:
            yield from ("", f"## {title}", "", *columns.lines(mine))
    others = [row for row in rows if row["kind"] not in suite.tables]
    for title in dict.fromkeys(row["kind"] for row in others):
        yield from ("", f"## {title}", "", *ANY.lines(row for row in others if row["kind"] == title))
    commands = list(dict.fromkeys((row["made"]["day"], row["made"]["command"]) for row in rows if "made" in row))
    if commands:
        yield from ("", "## Made by", "")
        for day, command in commands:
            mine = [row for row in rows if row.get("made") == {"day": day, "command": command}]
            yield f"* `{command}`, {day}: {len(mine)} rows"
    earlier = [row for row in rows if "made" not in row]
    if commands and earlier:
        yield f"* earlier runs of the script: {len(earlier)} rows"


def in_order(rows: Sequence[Row], suite: Suite) -> list[Row]:
    """As the suite lists them, whenever they were made; rows that it does not list any more come last."""
    place = {(entry.instance, entry.method): i for i, entry in enumerate(suite.entries({}))}
    return sorted(rows, key=lambda row: place.get((row["instance"], row.get("method", "")), len(place)))


# ---- all of them ----------------------------------------------------------------------------------------------------


def timed(row: Row) -> dict[str, float]:
    """CPU seconds by phase: as the row states them, or those of its method and of its audit."""
    stated = row.get("timed") or {"solve": row.get("cpu"), "audit": row.get("audit_cpu")}
    return {phase: float(cpu) for phase in PHASES if (cpu := stated.get(phase)) is not None}


def all_written(folder: Path, known: dict[str, Suite] | None = None) -> list[Path]:
    """Pages, plots and the list of them; gives what was written."""
    known = known or suites()
    out, rows = [], {}
    for name, suite in known.items():
        file = folder / f"{name}.json"
        if not file.is_file():
            continue
        written(file, suite)
        rows[name] = json.loads(file.read_text())["rows"]
        out.append(file.with_suffix(".md"))
    plots = {}
    for name, mine in rows.items():
        for title, text in known[name].plots(mine).items():
            plots[title] = folder / f"{title}.svg"
            plots[title].write_text(text, encoding="utf-8")
    index = folder / "README.md"
    index.write_text("\n".join(_index(rows, plots, known)) + "\n", encoding="utf-8")
    return [*out, *plots.values(), index]


def _index(rows: dict[str, list[Row]], plots: dict[str, Path], known: dict[str, Suite]) -> Iterator[str]:
    yield from (HEAD, "# Results", "")
    yield "Every row is one process; seconds are of CPU time. *Kept*: promises that the row states and keeps."
    yield from (
        "",
        "| suite | what | rows | kept | phases | CPU s | largest table, cells | most memory, GB |",
        "|---|---|---|---|---|---|---|---|",
    )
    for name, mine in rows.items():
        yield "| " + " | ".join(_line(name, mine, known[name])) + " |"
    for title, path in plots.items():
        yield from ("", f"![{title.replace('_', ' ')}]({path.name})")
    missed = [(name, row) for name, mine in rows.items() for row in mine if _kept(row) is False]
    if missed:
        yield from (
            "",
            "## Promises that are not kept",
            "",
            "| suite | row | promise | status | CPU s |",
            "|---|---|---|---|---|",
        )
        for name, row in missed:
            promise = row.get("promise", "")
            said = promise if isinstance(promise, str) else " / ".join(f"≥ {least:g} ×" for least in promise)
            what = f"{row['instance']}: {row.get('method', '')}"
            words = name, what, said, str(row.get("status", "–")), figure(row.get("cpu"), 1)
            yield "| " + " | ".join(words) + " |"


def _kept(row: Row) -> bool | None:
    """Whether a row keeps all it promises; None if it promises nothing."""
    met = row.get("met")
    return all(met) if isinstance(met, list) else met


def _head(*names: str) -> tuple[str, str]:
    return "| " + " | ".join(names) + " |", "|" + "---|" * len(names)


def _line(name: str, rows: Sequence[Row], suite: Suite) -> Iterator[str]:
    judged = [kept for row in rows if (kept := _kept(row)) is not None]
    phases = [phase for phase in PHASES if any(phase in timed(row) for row in rows)]
    memory = [row["memory"] for row in rows if row.get("memory") is not None]
    yield f"[{name}]({name}.md)"
    yield (suite.about or "").strip().splitlines()[0].rstrip(".:")
    yield str(len(rows))
    yield f"{sum(judged)} of {len(judged)}" if judged else "–"
    yield ", ".join(phases)
    yield figure(sum(sum(timed(row).values()) for row in rows), 0)
    yield figure(max((row["cells"] for row in rows if row.get("cells")), default=None))
    yield figure(max(memory, default=None), 2)


if __name__ == "__main__":
    for path in all_written(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent / "results"):
        print(path.name)

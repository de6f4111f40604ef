"""The tables of `docs/papers.md` and `docs/peers.md`, written from the results: what the papers print beside ours.

    python benchmarks/papers.py            # writes them between their markers
    python benchmarks/papers.py --check    # says whether the pages have what the results say

A table stands between `<!-- table: NAME -->` and `<!-- end -->`; what stands outside is written by hand. The papers'
own figures are in `printed.json`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from measuring import figure
from registry import Row

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
PAGES = tuple(HERE.parent / "docs" / name for name in ("papers.md", "peers.md"))
PRINTED = json.loads((HERE / "printed.json").read_text(encoding="utf-8"))
MARKED = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
Lines = Iterator[str]


def rows_of(suite: str) -> list[Row]:
    file = RESULTS / f"{suite}.json"
    return json.loads(file.read_text())["rows"] if file.is_file() else []


def found(suite: str, instance: str, method: str | None = None) -> Row:
    """The row, or an empty one: what was not measured is a dash."""
    for row in rows_of(suite):
        if row["instance"] == instance and method in (None, row.get("method")):
            return row
    return {}


def table(head: Sequence[str], right: bool = False) -> Lines:
    yield "| " + " | ".join(head) + " |"
    yield "|" + ("---:|" if right else "---|") * len(head)


def line(*words: Any) -> str:
    return "| " + " | ".join("–" if word is None else str(word) for word in words) + " |"


# ---- paper 000 -------------------------------------------------------------------------------------------------------


def sizes() -> Lines:
    yield from table(("instance", "n", "sensitive", "m", "nnz", "ours"))
    for number, printed in PRINTED["000"]["table 1"].items():
        row = found("paper_000", f"{number}-symmetric", "cta")
        ours = [row.get(name) for name in ("cells", "sensitive", "relations", "entries")]
        same = "the same" if ours == printed else ", ".join(map(str, ours)) if row else None
        yield line(number, *(figure(value) for value in printed), same)


def times() -> Lines:
    head = ("instance", "CTA symm.", "paper", "CTA asymm.", "paper", "CSP symm.", "paper", "CSP asymm.", "paper")
    yield from table(head)
    for number, printed in PRINTED["000"]["table 2"].items():
        gap = PRINTED["000"]["gaps"].get(number)
        words: list[Any] = [number]
        for at, (method, word) in enumerate((m, w) for m in ("cta", "csp") for w in ("symmetric", "asymmetric")):
            row = found("paper_000", f"{number}-{word}", "cta") if method == "cta" else {}
            row = row or found("csp", f"lookalike-{number}-{word}", "csp") if method == "csp" else row
            words += [_seconds(row), f"{printed[at]:g}" + (f" ({gap} %)" if printed[at] == 3600 else "")]
        yield line(*words)


def _seconds(row: Row) -> str | None:
    if row.get("cpu") is None:
        return row.get("status")
    gap = row.get("gap")
    return f"{row['cpu']:.2f}" + (f" ({100 * gap:.2f} %)" if gap is not None and row["status"] != "optimal" else "")


def replaced() -> Lines:
    yield from table(("instance", "symm., cells (%)", "paper", "asymm., cells (%)", "paper"))
    for number, printed in PRINTED["000"]["table 3"].items():
        words: list[Any] = [number]
        for at, word in enumerate(("symmetric", "asymmetric")):
            row = found("paper_000", f"{number}-{word}", "ip")
            ours = f"{row['intervals']} ({row['share']:.1f})" if row.get("intervals") else None
            words += [ours, f"{printed[2 * at]} ({printed[2 * at + 1]})"]
        yield line(*words)


def positions() -> Lines:
    yield from table(("levels", "instance", "", "-50", "(-50, 0)", "0", "(0, 50)", "50"))
    for word, rows in PRINTED["000"]["table 4"].items():
        for number, printed in rows.items():
            row = found("paper_000", f"{number}-{word}", "ip")
            yield line(word, number, "paper", *(f"{value:g}" for value in printed))
            places = list(row.get("places", {}).values()) or [None] * len(printed)
            yield line("", "", "ours", *(_one(value) for value in places))


def _one(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


# ---- paper 001 -------------------------------------------------------------------------------------------------------


def ecta() -> Lines:
    from ecta import PAPER  # noqa: PLC0415  solvers are loaded with it

    yield from table(("", "α", "β", "counts", "paper's counts", "s", "paper's s", "CTA: first table s", "paper's CTA"))
    for name, paper in PAPER.items():
        row, senses = found("ecta", name), found("cta_senses", name)
        counts = [
            " ".join(
                (
                    f"{r['protected']} + {r['protected after doubling']}",
                    "/",
                    str(r["not protected"]),
                    "/",
                    str(r["infeasible"]),
                )
            )
            for r in row.get("rounds", [])
        ]
        first = senses.get("first")
        yield line(
            name,
            f"{row['alpha']:g}" if row else None,
            f"{row['beta']:.3g}" if row else None,
            ", ".join(counts) or None,
            " / ".join(map(str, paper.counts)),
            figure(row.get("cpu"), 1),
            f"{paper.seconds:g}",
            figure(first, 1),
            PRINTED["001"]["cta"].get(name),
        )


# ---- paper 002 -------------------------------------------------------------------------------------------------------

CLASSES = ("0", "(0,5]", "(5,10]", "(10,20]", "(20,30]", "(30,50]", "(50,100]", ">100")
NAMES = (
    *("targus", "table8", "hier13x7x7d", "hier13", "hier13x13x13a", "hier16"),
    *("two5in6", "ninenew", "osorio", "table7", "cbs"),
)


def runs() -> Lines:
    yield from table(("instance", "norm", "CPU s", "paper's CPU s", "‖μ‖₁", "paper's ‖μ‖₁", "replications"))
    for name in NAMES:
        for norm in ("L1", "L2"):
            row, printed = found("paper_002", name, f"{norm}, Δ 0.2"), PRINTED["002"]["sizes"][name]
            made = [str(trial["replications"]) for trial in row.get("experiments", {}).values()]
            ours = figure(row.get("cpu"), 1), figure(row.get("multipliers"), 2)
            yield line(
                name,
                norm,
                ours[0],
                f"{printed[f'cpu {norm}']:g}",
                ours[1],
                f"{printed[f'mu {norm}']:g}",
                ", ".join(made) or None,
            )


def errors(experiment: str) -> Lines:
    yield from table((experiment, "norm", "", *CLASSES, "apart", "soft"))
    for name in NAMES:
        for norm in ("L1", "L2"):
            printed = PRINTED["002"]["errors"][name][f"{experiment} {norm}"]
            yield line(name, norm, "paper", *(f"{x:.1f}" for x in printed), "", "")
            for delta in (0.2, 0.3) if experiment in ("B1", "B2") else (0.2,):
                trial = found("paper_002", name, f"{norm}, Δ {delta:g}").get("experiments", {}).get(experiment)
                label = f"ours, Δ {delta:g}" if experiment in ("B1", "B2") else "ours"
                if trial is None:
                    yield line("", "", f"{label}: not run", *[""] * len(CLASSES), "", "")
                    continue
                shares = list(trial["classes"].values())
                apart = sum(abs(x - y) for x, y in zip(shares, printed, strict=True)) / 2
                few = f" ({trial['replications']} replications)" if trial["replications"] < 10 else ""
                yield line(
                    "", "", label + few, *(f"{x:.1f}" for x in shares), f"{apart:.1f}", trial["soft_replications"]
                )


# ---- paper 003 -------------------------------------------------------------------------------------------------------


def patterns() -> Lines:
    yield from table(("pattern", "II·C seen from outside", "paper", "changes in all", "best of its kind"))
    best = {"rounding": found("paper_003", "base 10", "rounding").get("objective")}
    for row in rows_of("paper_003"):
        if row["instance"].startswith("Figure"):
            yield line(
                row["instance"],
                f"[{row['low']:g}, {row['high']:g}]",
                row["printed"],
                figure(row["loss"]) if row["loss"] else "none",
                figure(best.get(row["method"])),
            )


def models() -> Lines:
    yield from table(("levels lpl / upl / spl", "method", "first model", "second model", "enumerated"))
    for row in rows_of("paper_003"):
        if row.get("known") is not None:
            yield line(row["instance"], row["method"], *(f"{row[name]:g}" for name in ("first", "objective", "known")))


# ---- paper 004 -------------------------------------------------------------------------------------------------------


def deviations() -> Lines:
    yield from table(
        ("", "norm", "cells", "absolute: mean, sd, max", "paper", "per cent: mean, sd, max", "paper", "2-norm", "paper")
    )
    for name, norms in PRINTED["004"]["table 3"].items():
        for norm in ("L1", "L2", "Linf"):
            row = found("paper_004", name, norm)
            for cells, printed in norms[norm].items():
                ours = row.get("deviations", {}).get(cells)
                words = [name, norm.replace("inf", "∞"), cells]
                for what, digits in (("absolute", 1), ("percent", 2)):
                    words.append(None if ours is None else ", ".join(f"{x:.{digits}f}" for x in ours[what]))
                    words.append(", ".join(f"{x:.{digits}f}" for x in printed[what]))
                yield line(*words, None if ours is None else f"{ours['norm']:.1f}", f"{printed['norm']:.1f}")


def combined() -> Lines:
    yield from table(("", "norm", "per cent", "paper", "2-norm", "paper", "CPU s", "paper's CPU s"))
    for name, norms in PRINTED["004"]["table 2"].items():
        for norm, (cpu, percent, length) in norms.items():
            row = found("paper_004", name, norm)
            ours = row.get("deviations", {}).get("all")
            yield line(
                name,
                norm.replace("L1L2", "L1 and L2"),
                None if ours is None else f"{ours['percent'][0]:.2f}",
                f"{percent:.2f}",
                None if ours is None else f"{ours['norm']:.0f}",
                f"{length:.0f}",
                figure(row.get("cpu"), 2),
                f"{cpu:g}",
            )


# ---- peers -----------------------------------------------------------------------------------------------------------


def tools() -> Lines:
    from peers import TABLES_OF_ALL, TOOL_COLUMNS  # noqa: PLC0415  solvers are loaded with it

    order = list(TABLES_OF_ALL)
    yield from TOOL_COLUMNS.lines(sorted(rows_of("peers"), key=lambda row: order.index(row["instance"])))


def roundings() -> Lines:
    yield from table(("table", "tool", "loss", "bound", "CPU s", "what is said"))
    for row in rows_of("rounding"):
        theirs = row.get("peer")
        if theirs:
            yield line(
                row["instance"],
                "sdcdsl",
                figure(row.get("objective")),
                figure(row.get("bound")),
                figure(row.get("cpu"), 1),
                row["status"],
            )
            yield line(
                "",
                f"gconfid {theirs.get('version', '')}",
                figure(theirs.get("loss")),
                None,
                figure(theirs.get("cpu"), 1),
                theirs.get("said") or "ended",
            )


TABLES: dict[str, Callable[[], Lines]] = {
    "000-sizes": sizes,
    "000-times": times,
    "000-replaced": replaced,
    "000-positions": positions,
    "001-ecta": ecta,
    "002-runs": runs,
    **{
        f"002-{experiment}": (lambda experiment=experiment: errors(experiment))
        for experiment in ("B1", "B2", "B3", "C")
    },
    "003-patterns": patterns,
    "003-models": models,
    "004-combined": combined,
    "004-deviations": deviations,
    "peers-tools": tools,
    "peers-roundings": roundings,
}


def filled(text: str) -> str:
    """The page with every marked table as the results have it now."""
    return MARKED.sub(lambda at: f"{at[1]}\n" + "\n".join(TABLES[at[2]]()) + f"\n\n{at[3]}", text)


if __name__ == "__main__":
    stale = 0
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = filled(before)
        stale += before != after
        if "--check" in sys.argv:
            print(f"{page.name}: {'as the results say' if before == after else 'differs from the results'}")
        else:
            page.write_text(after, encoding="utf-8")
    sys.exit(1 if stale and "--check" in sys.argv else 0)

"""What a run came to: counts by method, kinds of tables, ends and findings, as JSON and as a text."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Count:
    cases: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    audits: int = 0
    oracle: int = 0
    priced: int = 0
    least: int = 0
    replays: int = 0
    certificates: int = 0
    cpu: float = 0.0
    findings: int = 0

    def add(self, tale: dict[str, Any]) -> None:
        self.cases += 1
        self.ends[tale["end"] or "nothing"] += 1
        self.statuses[tale["status"] or "–"] += 1
        self.audits += tale["audits"]
        self.oracle += bool(tale["oracle"])
        self.priced += bool(tale["priced"])
        self.least += bool(tale["proven_least"])
        self.replays += bool(tale["replayed"])
        self.certificates += bool(tale["certified"])
        self.cpu += tale["cpu"]
        self.findings += len(tale["findings"])

    def as_json(self) -> dict[str, Any]:
        return {
            "cases": self.cases,
            "ends": dict(self.ends.most_common()),
            "statuses": dict(self.statuses.most_common()),
            "audits_of_released_files": self.audits,
            "second_opinions": self.oracle,
            "costs_from_the_file": self.priced,
            "costs_compared_with_the_least": self.least,
            "replays": self.replays,
            "certificates": self.certificates,
            "cpu_seconds": round(self.cpu, 1),
            "findings": self.findings,
        }


@dataclass
class Tally:
    seed: int
    total: Count = field(default_factory=Count)
    methods: dict[str, Count] = field(default_factory=lambda: defaultdict(Count))
    worlds: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    findings: list[dict[str, str]] = field(default_factory=list)

    def add(self, tale: dict[str, Any]) -> None:
        self.total.add(tale)
        self.methods[tale["engine"]].add(tale)
        self.worlds[tale["kind"]] += 1
        self.codes.update(tale["codes"])
        for kind, story in tale["findings"]:
            self.findings.append({"case": tale["case"], "engine": tale["engine"], "kind": kind, "story": story})

    def as_json(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "total": self.total.as_json(),
            "methods": {name: count.as_json() for name, count in sorted(self.methods.items())},
            "worlds": dict(self.worlds.most_common()),
            "codes": dict(self.codes.most_common()),
            "findings": self.findings,
        }

    def text(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        ends = [end for end, _ in self.total.ends.most_common()]
        rows = [["method", "cases", *ends, "audits", "oracle", "priced", "least", "findings"]]
        for name, count in [*sorted(self.methods.items()), ("all", self.total)]:
            judged = [count.audits, count.oracle, count.priced, count.least, count.findings]
            rows.append([name, *map(str, [count.cases, *(count.ends[end] for end in ends), *judged])])
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        for row in rows:
            yield "  ".join(
                word.ljust(width) if i == 0 else word.rjust(width)
                for i, (word, width) in enumerate(zip(row, widths, strict=True))
            )
        yield ""
        yield "tables: " + ", ".join(f"{kind} {n}" for kind, n in self.worlds.most_common())
        yield "reasons of refusals: " + (", ".join(f"{code} {n}" for code, n in self.codes.most_common()) or "none")
        kinds = Counter(finding["kind"] for finding in self.findings)
        yield f"findings: {len(self.findings)}" + "".join(f"\n  {n} × {kind}" for kind, n in kinds.most_common())

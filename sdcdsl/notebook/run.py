"""What protecting a policy gave, block by block; nothing of it is written yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import xarray as xr

from sdcdsl.diagnostics import has_errors, or_near
from sdcdsl.methods.result import Result
from sdcdsl.notebook import html
from sdcdsl.notebook.pattern import Pattern
from sdcdsl.notebook.problem import Problem
from sdcdsl.notebook.refused import Refused
from sdcdsl.notebook.verdict import Verdict
from sdcdsl.outcome import Outcome, Prepared
from sdcdsl.pipeline.release import lock_place, misplaced, page_place, release
from sdcdsl.pipeline.request import ProtectRequest
from sdcdsl.report.provenance import Provenance
from sdcdsl.utility import Measures
from sdcdsl.vocabulary.formats import REVIEWS

NO_GAP = 1e-9  # of a cost: less than that is none


class Protected:
    """One block: the release that was found, its audit, and what it leaves to readers."""

    def __init__(self, outcome: Outcome):
        self.outcome = outcome

    @property
    def name(self) -> str:
        return self.outcome.name

    @property
    def problem(self) -> Problem:
        return Problem(self.outcome.problem)

    @property
    def result(self) -> Result:
        """Status, objective, bound, gap, notes."""
        return self.outcome.result

    @property
    def method(self) -> str:
        return self.outcome.method

    @property
    def pattern(self) -> Pattern:
        """What is released of every cell."""
        assert self.outcome.pattern is not None  # or `protect` would have raised
        return Pattern(self.outcome.problem, self.outcome.pattern)

    @property
    def measures(self) -> Measures:
        assert self.outcome.measures is not None
        return self.outcome.measures

    @property
    def verdict(self) -> Verdict:
        assert self.outcome.audit is not None
        return Verdict(self.outcome.audit)

    def table(self, name: str | None = None) -> pl.DataFrame:
        """The released table as its file would have it: codes, value, low, high, status."""
        return self.pattern.table(name)

    def array(self, name: str | None = None) -> xr.Dataset:
        """The released table by its dimensions, whose coordinates are the codes."""
        return self.pattern.array(name)

    def __repr__(self) -> str:
        return f"<protected {self.name}: {self.method}, {self.result.status}, {self.verdict.word}>"

    def _repr_html_(self) -> str:
        result = self.result
        said = [("method", f"{self.method}: {result.status}"), ("verdict", self.verdict.word)]
        if result.objective is not None:
            said.append(("cost", html.figure(result.objective)))
        if result.gap is not None:
            said.append(
                ("gap", "none: proven to be the least" if result.gap <= NO_GAP else f"{100 * result.gap:.3g} %")
            )
        measures = ((f"measured {name}" if name == "cost" else name, what) for name, what in self.measures.rows())
        return html.heading(self.name) + html.facts([*said, *measures]) + self.pattern._repr_html_()


class Run(Mapping[str, Protected]):
    """All blocks of a policy, by name: every one of them was found protected."""

    def __init__(self, prepared: Prepared, request: ProtectRequest):
        self._prepared, self._request = prepared, request
        self._blocks = {outcome.name: Protected(outcome) for outcome in prepared.outcomes}

    def __getitem__(self, name: str) -> Protected:
        return self._blocks[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._blocks)

    def __len__(self) -> int:
        return len(self._blocks)

    def release(
        self,
        folder: str | Path | None = None,
        *,
        report: bool = True,
        public: bool = False,
        lock: bool = True,
        certificate: str | Path | None = None,
        reviews: Sequence[str] = (),
    ) -> list[Path]:
        """Writes the files that the policy releases, a report and a lock; all of them, or none. Gives their paths.

        `reviews` are files for reviewers, by name: `excel`, `sdmx`, `hst`, `sacro`."""
        unknown = [name for name in reviews if name not in REVIEWS]
        if unknown:
            raise ValueError(or_near(f"there is no review {unknown[0]}", unknown[0], REVIEWS))
        place = Path(folder) if folder is not None else self._request.folder
        source = self._request.source
        request = replace(
            self._request,
            folder=place,
            report=page_place(place, source, public) if report else None,
            public=public,
            apart=folder is not None,
            lock=lock_place(place, source, folder is not None) if lock else None,
            certificate=Path(certificate) if certificate is not None else None,
            reviews=tuple(dict.fromkeys(reviews)),
        )
        wrong = misplaced(request)
        if wrong is not None:
            raise Refused([wrong], "nothing was released")
        written, problems = release(self._prepared, request)
        if has_errors(problems):
            raise Refused(problems, "nothing was released")
        out = [Path(path) for paths in written.released.values() for path in paths]
        out += written.reviews
        return out + [path for path in (written.certificate, written.report, written.lock) if path is not None]

    def report(self, path: str | Path, *, public: bool = False) -> Path:
        """The report alone."""
        from sdcdsl.report.page import write_page  # noqa: PLC0415

        asked = self._request
        provenance = Provenance.of(asked.policy, asked.source, asked.places, asked.day, asked.instead)
        write_page(Path(path), self._prepared.outcomes, provenance, public=public)
        return Path(path)

    def __repr__(self) -> str:
        return f"<run of {self._request.source.name}: {', '.join(map(repr, self.values()))}>"

    def _repr_html_(self) -> str:
        rows = [
            [p.name, p.method, p.result.status, p.result.objective, p.measures.touched, p.verdict.word]
            for p in self.values()
        ]
        names = ["block", "method", "status", "cost", "cells touched", "verdict"]
        return html.heading(self._request.policy.title or self._request.source.name) + html.table(names, rows)

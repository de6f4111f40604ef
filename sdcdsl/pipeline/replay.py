"""A lock's run once more: its patterns, and the files of its release against those that the same run writes now.

A lock can be sealed anew by anybody, and a digest in it says only that it fits the file beside it. So a replay writes
the release once more, by the same writers, into a folder of its own that is taken away again, and compares bytes. Where
Parquet files differ in their bytes, which another version of the library is enough for, the tables in them decide,
with types, order and metadata.
"""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.diagnostics import Diagnostic, has_errors
from sdcdsl.outcome import End, Prepared
from sdcdsl.pattern.digest import digest as pattern_digest
from sdcdsl.pipeline.protect import Preparing
from sdcdsl.pipeline.release import release
from sdcdsl.pipeline.request import ProtectRequest
from sdcdsl.pipeline.verify import ABSENT, BROKEN, HOLDS, Check, meaning, replayed
from sdcdsl.policy.read import is_jj, read_any, read_policy
from sdcdsl.policy.resolve import Policy
from sdcdsl.proof.checking import stated_problem
from sdcdsl.proof.system import ProofProblem
from sdcdsl.report.certificate import sha256
from sdcdsl.report.lock import Unreadable
from sdcdsl.vocabulary.backends import BACKENDS

PUBLIC = ".public.html"  # how the report ends that may go out with the files
_OPTIONS: dict[str, Any] = {"time_limit": (int, float), "gap": (int, float), "threads": int, "backend": str}
_POSITIVE = ("time_limit", "threads")


def meaning_now(content: Mapping[str, Any], folder: Path) -> list[Check]:
    """Of a policy that was changed: only its words, or what it requires?"""
    path, outside = folder / content["run"]["policy"], bool(content["run"].get("allow_outside"))
    if is_jj(path):
        return []
    policy, found = read_policy(path, str(path), outside, parameters_of(content))
    return [] if has_errors(found) else [meaning(content, policy)]


def replay_lock(content: Mapping[str, Any], folder: Path, preparing: Preparing) -> tuple[list[Check], list[Diagnostic]]:
    """What the lock in `folder` tells of the run, once more. Raises `Unreadable` where it tells nothing sensible."""
    path, outside = folder / content["run"]["policy"], bool(content["run"].get("allow_outside"))
    method = str(content["blocks"][0].get("method", "csp")) if content["blocks"] and is_jj(path) else "csp"
    policy, found = read_any(path, outside, method, f"{path.stem}.csv", parameters_of(content))
    if has_errors(found):
        return [], found
    made = [meaning(content, policy)]
    request = request_of(content["run"], policy, path, folder)
    prepared = preparing(request)
    # Too little time is nothing that the lock is to blame for.
    if prepared.end not in (End.DONE, End.LIMIT, End.STOPPED):
        found = [*found, *prepared.diagnostics]
    made += replayed(content, prepared)
    made += replayed_records(content, request.places)
    if prepared.end is End.DONE:
        made += replayed_files(content, prepared, request, folder)
    return made, found


def parameters_of(content: Mapping[str, Any]) -> dict[str, str]:
    """The values that the parameters of the policy had."""
    return dict(content["policy"].get("parameters", {}))


def request_of(run: Mapping[str, Any], policy: Policy, path: Path, folder: Path) -> ProtectRequest:
    """As the lock says; what is odd in it is refused, not guessed at."""
    block = run.get("block")
    if block is not None and block not in policy.protects:
        raise Unreadable("its block is not in the policy")
    if not all(isinstance(run.get(name, {}), dict) for name in ("options", "data")):
        raise Unreadable("its options or data are no tables")
    options, data = (cast(dict[str, Any], run.get(name, {})) for name in ("options", "data"))
    for name, value in options.items():
        if name not in _OPTIONS or isinstance(value, bool) or not isinstance(value, _OPTIONS[name]):
            raise Unreadable(f"its option {name} is not one that `protect` has")
    if options.get("backend", "highs") not in BACKENDS or any(v <= 0 for k, v in options.items() if k in _POSITIVE):
        raise Unreadable("its options are out of range")
    try:
        day = datetime.date.fromisoformat(str(run.get("day")))
    except ValueError:
        raise Unreadable("its day is none") from None
    places = RecordedLocations(
        path.parent, {str(k): folder / str(v) for k, v in data.items()}, bool(run.get("allow_outside"))
    )
    if run.get("frames"):
        raise Unreadable("its data were data frames of a Python program, which alone can run it once more")
    where = run.get("folder", ".")
    if not isinstance(where, str):
        raise Unreadable("the folder of its release is none")
    return ProtectRequest(policy, path, places, day, folder / where, options, block=block)


def replayed_records(content: Mapping[str, Any], places: RecordedLocations) -> Iterator[Check]:
    """Records that no file holds: what a query gave then, and what it gave now."""
    now = {f"data {name}": one for name, one in places.contents.items()}
    for entry in content["inputs"]:
        what = entry.get("what", "")
        if "path" in entry or what not in now:
            continue
        if now[what].sha256 == entry["sha256"]:
            yield Check("replay", entry["origin"], HOLDS, "the same records")
        else:
            yield Check("replay", entry["origin"], BROKEN, "it gives other records than the run read")


# ---- files -----------------------------------------------------------------------------------------------


def replayed_files(
    content: Mapping[str, Any], prepared: Prepared, request: ProtectRequest, folder: Path, place: Path | None = None
) -> Iterator[Check]:
    """Of a run that came to a release, as the lock in `folder` requires it. `place`: where temporary files go."""
    with tempfile.TemporaryDirectory(prefix="sdcdsl-replay-", dir=place) as name:
        there = Path(name).resolve()
        written, found = release(prepared, _instead(content, request, there))
        if has_errors(found):
            yield Check("replay", "files", BROKEN, f"the release could not be written once more: {found[0].headline}")
            return
        again = {outcome.name: outcome for outcome in prepared.outcomes}
        other = {
            Path(path).resolve()
            for block in content["blocks"]
            if not _same_pattern(block, again)
            for path in written.released.get(block["name"], ())
        }
        yield from _compared(content, there, request.folder, folder, other)
    yield from _certificates(content, prepared, folder)


def _instead(content: Mapping[str, Any], request: ProtectRequest, there: Path) -> ProtectRequest:
    """The same files elsewhere; of what stays in the house nothing, but the report if it may go out."""
    pages = [e["path"] for e in content["outputs"] if e.get("what") == "report" and e["path"].endswith(PUBLIC)]
    report = there / Path(pages[0]).name if pages else None
    asked = replace(request, folder=there, certificate=None, lock=None, reviews=())
    return replace(asked, report=report, public=report is not None)


def _same_pattern(block: Mapping[str, Any], again: Mapping[str, Any]) -> bool:
    outcome = again.get(block["name"])
    return outcome is not None and outcome.pattern is not None and pattern_digest(outcome.pattern) == block["pattern"]


def _compared(
    content: Mapping[str, Any], there: Path, released: Path, folder: Path, other: set[Path]
) -> Iterator[Check]:
    """Every file of either side. `other`: files of blocks that came to another pattern, which must differ."""
    entries = {(folder / e["path"]).resolve(): e for e in content["outputs"] if _goes_out(e)}
    for new in sorted(p for p in there.rglob("*") if p.is_file()):
        path = (released / new.relative_to(there)).resolve()
        entry = entries.pop(path, None)
        what = "replay" if other & {new, *_beside(new, other)} else "replayed"
        if entry is None:
            yield Check(what, new.name, BROKEN, "the lock does not name this file, which the policy releases")
        else:
            yield _file(what, entry, path, new)
    for entry in entries.values():
        yield Check("replayed", entry["path"], BROKEN, "the policy releases no such file")


def _beside(new: Path, other: set[Path]) -> set[Path]:
    """Some formats put more files beside the one that was required."""
    return {path for path in other if path.parent == new.parent and new.name.startswith(path.stem)}


def _goes_out(entry: Mapping[str, str]) -> bool:
    what = entry.get("what", "")
    return what.split(" ")[0] == "release" or (what == "report" and entry["path"].endswith(PUBLIC))


def _file(what: str, entry: Mapping[str, str], path: Path, new: Path) -> Check:
    name = entry["path"]
    try:
        if not path.is_file():
            if sha256(new) != entry["sha256"]:
                return Check(what, name, BROKEN, "not here, and its digest is not that of what this run releases")
            return Check(what, name, ABSENT, "not here; its digest is that of what this run releases")
        if path.read_bytes() == new.read_bytes():
            return Check(what, name, HOLDS, "byte for byte what this run releases")
        if path.suffix.lower() == ".parquet" and _same_table(path, new):
            return Check(what, name, HOLDS, "the table that this run releases; the bytes differ")
    except OSError as error:
        return Check(what, name, ABSENT, f"it cannot be read: {error.strerror}")
    return Check(what, name, BROKEN, "not what this run releases")


def _same_table(one: Path, other: Path) -> bool:
    import polars as pl  # noqa: PLC0415

    try:
        tables = [pl.read_parquet(path) for path in (one, other)]
        metadata = [pl.read_parquet_metadata(path) for path in (one, other)]
    except (pl.exceptions.PolarsError, OSError, pl.exceptions.PanicException):
        return False
    return tables[0].schema == tables[1].schema and tables[0].equals(tables[1]) and metadata[0] == metadata[1]


# ---- certificates ------------------------------------------------------------------------------------


def _certificates(content: Mapping[str, Any], prepared: Prepared, folder: Path) -> Iterator[Check]:
    """A certificate must be about the very problem that the audit of this run was about."""
    again = {outcome.name: outcome for outcome in prepared.outcomes}
    blocks = {block["name"]: block for block in content["blocks"]}
    for entry in content["outputs"]:
        path = folder / entry["path"]
        if entry.get("what") != "certificate" or not path.is_file():
            continue
        name, problem = stated_problem(path)
        outcome = again.get(name)
        if problem is None or outcome is None or outcome.audit is None:
            yield Check("replayed", entry["path"], BROKEN, "it is about no block of this release")
            continue
        what = "replayed" if name in blocks and _same_pattern(blocks[name], again) else "replay"
        if same_problem(problem, outcome.audit.proofs.problem):
            yield Check(what, entry["path"], HOLDS, "about the table, attackers and levels of this run")
        else:
            yield Check(what, entry["path"], BROKEN, "about another table, other attackers or other levels")


def same_problem(one: ProofProblem, other: ProofProblem) -> bool:
    if (one.families is None) != (other.families is None):
        return False
    return all(np.array_equal(x, y) for x, y in zip(_arrays(one), _arrays(other), strict=True))


def _arrays(problem: ProofProblem) -> list[np.ndarray]:
    system, regions, pairs = problem.system, problem.regions, problem.pairs
    lines, known = system.by_equation, regions.known
    return [
        *(system.a, system.b, lines.start, lines.other, lines.coefficient),
        *(regions.low, regions.high, regions.view_of),
        *(known.start, known.cell, known.low, known.high),
        *(pairs.cell, pairs.attacker, pairs.lpl, pairs.upl, pairs.spl),
        *(problem.families.arrays if problem.families is not None else ()),
    ]

"""What the authors of a policy expect of it, in a file beside it, and whether it is so: `sdcdsl test`.

The expectations of `turnover.sdc` stand in `turnover.test.toml`, as a list of tests. A test that says nothing about a
release is settled by binding the policy to its data; the others search and audit as `protect` does. Nothing is written.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast

from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Diagnostic, Source, Span, diagnostic, did_you_mean, has_errors, listed
from sdcdsl.outcome import End, Prepared
from sdcdsl.pipeline.bind import bind
from sdcdsl.pipeline.cell_names import find_cells, parse_cell
from sdcdsl.pipeline.protect import prepare
from sdcdsl.pipeline.request import Inputs, writing_nothing
from sdcdsl.policy.resolve import Policy

SUFFIX = ".test.toml"
LARGEST = 1_000_000  # bytes
ENDS = {
    "released": End.DONE,
    "infeasible": End.INFEASIBLE,
    "exposed": End.EXPOSED,
    "limit": End.LIMIT,
    "wrong data": End.WRONG_DATA,
}
_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Expectation:
    """One test. Names of fields are the keys of the file."""

    name: str
    block: str | None = None
    data: Mapping[str, str] = field(default_factory=dict[str, str])
    set: Mapping[str, Any] = field(default_factory=dict[str, Any])
    today: str | None = None
    time_limit: str | None = None
    sensitive: Sequence[str] = ()
    not_sensitive: Sequence[str] = ()
    sensitive_at_least: int | None = None
    sensitive_at_most: int | None = None
    published: Sequence[str] = ()
    hidden: Sequence[str] = ()
    hidden_at_most: int | None = None
    cost_at_most: float | None = None
    ends: str | None = None
    diagnostics: Sequence[str] | None = None

    @property
    def searches(self) -> bool:
        """Whether something is expected of a release."""
        release = (self.published, self.hidden, self.hidden_at_most is not None, self.cost_at_most is not None)
        return any(release) or self.ends not in (None, "wrong data")


@dataclass(frozen=True)
class Tested:
    """A test and what it did not find as expected; none: it passed. `found`: diagnostics that it did not expect."""

    expectation: Expectation
    unmet: tuple[str, ...]
    found: tuple[Diagnostic, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.unmet


# ---- reading ----------------------------------------------------------------------------------------------


def beside(policy: Path) -> Path:
    """Where the expectations of a policy stand."""
    return policy.with_name(policy.stem + SUFFIX)


def read_expectations(path: Path) -> tuple[list[Expectation], list[Diagnostic]]:
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError("it is too large to hold expectations")
        text = path.read_bytes().decode("utf-8")
        content = tomllib.loads(text)
    except (OSError, ValueError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return [], [diagnostic("SDC415", f"{path.name} cannot be read: {said}", _at(str(path), "", None))]
    out: list[Expectation] = []
    found = [
        _wrong(path, text, key, f"`{key}` is not known here", did_you_mean(key, ["test"]))
        for key in content
        if key != "test"
    ]
    tests: Any = content.get("test", [])
    if not isinstance(tests, list) or not tests:
        return [], [*found, diagnostic("SDC415", f"{path.name} has no [[test]]", _at(str(path), text, None))]
    for number, entry in enumerate(cast("list[Any]", tests), 1):
        if not isinstance(entry, dict):
            found.append(_wrong(path, text, "test", "each test is a table: [[test]]"))
            continue
        problems = list(_problems(path, text, cast("dict[str, Any]", entry), number))
        found += problems
        if not problems:
            out.append(Expectation(**cast("dict[str, Any]", entry)))
    return out, found


def _problems(path: Path, text: str, entry: Mapping[str, Any], number: int) -> Iterator[Diagnostic]:
    known = [one.name for one in fields(Expectation)]
    if not isinstance(entry.get("name"), str):
        yield _wrong(path, text, "test", f"test {number} has no name")
    for key, value in entry.items():
        if key not in known:
            yield _wrong(path, text, key, f"no test has a key `{key}`", did_you_mean(key, known))
        elif said := _FORMS[key](value):
            yield _wrong(path, text, key, f"`{key}` {said}")


def _text(value: Any) -> str:
    return "" if isinstance(value, str) else "takes a text"


def _texts(value: Any) -> str:
    fine = isinstance(value, list) and all(isinstance(one, str) for one in cast("list[Any]", value))
    return "" if fine else "takes a list of texts"


def _count(value: Any) -> str:
    return "" if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else "takes a whole number"


def _amount(value: Any) -> str:
    return "" if isinstance(value, int | float) and not isinstance(value, bool) else "takes a number"


def _table(value: Any) -> str:
    plain = isinstance(value, dict) and all(
        isinstance(one, str | int | float) for one in cast("dict[str, Any]", value).values()
    )
    return "" if plain else 'takes names and values: { NAME = "value" }'


def _files(value: Any) -> str:
    return _table(value) or ("" if all(isinstance(one, str) for one in value.values()) else "takes names and files")


def _day(value: Any) -> str:
    try:
        datetime.date.fromisoformat(value)
    except (TypeError, ValueError):
        return 'takes a day: "2026-01-31"'
    return ""


def _duration(value: Any) -> str:
    return "" if isinstance(value, str) and _limit(value) else 'takes a time: "90s", "10min", "1h"'


def _limit(text: str) -> float | None:
    made = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|min|h)", text)
    return float(made[1]) * _SECONDS[made[2]] if made else None


def _end(value: Any) -> str:
    return "" if value in ENDS else f"is one of {listed(list(ENDS))}"


_FORMS: dict[str, Callable[[Any], str]] = {
    "name": _text,
    "block": _text,
    "data": _files,
    "set": _table,
    "today": _day,
    "time_limit": _duration,
    **dict.fromkeys(("sensitive", "not_sensitive", "published", "hidden", "diagnostics"), _texts),
    **dict.fromkeys(("sensitive_at_least", "sensitive_at_most", "hidden_at_most"), _count),
    "cost_at_most": _amount,
    "ends": _end,
}


def _wrong(path: Path, text: str, word: str, headline: str, label: str = "") -> Diagnostic:
    return diagnostic("SDC415", headline, _at(str(path), text, word), label)


def _at(name: str, text: str, word: str | None) -> Span:
    """Where a word stands first; TOML readers do not say."""
    source = Source(name, text)
    made = re.search(rf"^[\s\[]*({re.escape(word)})\b", text, re.M) if word else None
    return Span(source, *(made.span(1) if made else (0, 0)))


# ---- testing ----------------------------------------------------------------------------------------------

ReadPolicy = Callable[[Mapping[str, str]], tuple[Policy, list[Diagnostic]]]


def tested(
    expectation: Expectation, read: ReadPolicy, source: Path, allow_outside: bool, today: datetime.date
) -> Tested:
    """`read` reads the policy with these values of parameters."""
    settings = {name: _as_setting(value) for name, value in expectation.set.items()}
    policy, found = read(settings)
    if has_errors(found):
        return Tested(expectation, ("the policy is wrong",), tuple(found))
    unknown = [name for name in (expectation.block,) if name is not None and name not in policy.protects]
    unknown += [
        name
        for name in expectation.data
        if not any(name.partition(".")[0] in blocks for blocks in policy.blocks.values())
    ]
    if unknown:
        return Tested(expectation, tuple(f"the policy has no `{name}`" for name in unknown))
    places = RecordedLocations(
        source.parent, {name: source.parent / file for name, file in expectation.data.items()}, allow_outside
    )
    day = datetime.date.fromisoformat(expectation.today) if expectation.today else today
    inputs = Inputs(policy, source, places, day, block=expectation.block)
    if expectation.searches:
        limit = _limit(expectation.time_limit) if expectation.time_limit else None
        prepared = prepare(writing_nothing(inputs, time_limit=limit))
        return _judged(expectation, tuple(_of_release(expectation, prepared)), prepared.found)
    bound = bind(inputs)
    unmet = list(_of_codes(expectation, bound.found))
    if expectation.ends == "wrong data":
        unmet += [] if bound.wrong else ["the data was to be wrong, and it is not"]
    elif bound.wrong:
        unmet.append("the data does not fit the policy")
    else:
        unmet += _of_cells(expectation, bound.problems)
    return _judged(expectation, unmet, bound.found)


def _as_setting(value: Any) -> str:
    """As on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _judged(expectation: Expectation, unmet: Sequence[str], found: Sequence[Diagnostic]) -> Tested:
    return Tested(expectation, tuple(unmet), tuple(found) if unmet else ())


def _of_codes(expectation: Expectation, found: Sequence[Diagnostic]) -> Iterator[str]:
    if expectation.diagnostics is None:
        return
    said, wanted = {one.code for one in found}, set(expectation.diagnostics)
    if wanted - said:
        yield f"{listed(sorted(wanted - said))} expected and not reported"
    if said - wanted:
        yield f"{listed(sorted(said - wanted))} reported and not expected"


def _of_cells(expectation: Expectation, problems: Mapping[str, TableProblem]) -> Iterator[str]:
    """Which cells are sensitive."""
    for key, wanted in (("sensitive", True), ("not_sensitive", False)):
        for text in getattr(expectation, key):
            yield from _each_cell(text, problems, _is_sensitive, wanted, ("sensitive", "not sensitive"))
    for name, problem in problems.items():
        count = sum(_is_sensitive(problem, cell) for cell in range(problem.n))
        least, most = expectation.sensitive_at_least, expectation.sensitive_at_most
        if least is not None and count < least:
            yield f"{name}: sensitive_at_least {least}, but {_cells(count)} sensitive"
        if most is not None and count > most:
            yield f"{name}: sensitive_at_most {most}, but {_cells(count)} sensitive"


def _is_sensitive(problem: TableProblem, cell: int) -> bool:
    return bool(problem.dataset["status"].values[cell] == "u")


def _of_release(expectation: Expectation, prepared: Prepared) -> Iterator[str]:
    ended, wanted = prepared.end, ENDS[expectation.ends or "released"]
    if ended is not wanted:
        word = next((word for word, end in ENDS.items() if end is ended), str(ended))
        yield f"it was to end {expectation.ends or 'released'}, and it ended {word}"
        return
    yield from _of_codes(expectation, prepared.found)
    problems = {one.name: one.problem for one in prepared.outcomes}
    yield from _of_cells(expectation, problems)
    if ended is not End.DONE:
        return
    touched = {one.name: set(one.touched.tolist()) for one in prepared.outcomes}
    for key, as_it_is in (("published", True), ("hidden", False)):
        for text in getattr(expectation, key):
            words = "published as it is", "not published as it is"
            yield from _each_cell(text, problems, lambda p, cell: cell not in touched[p.name], as_it_is, words)
    for one in prepared.outcomes:
        count, most = len(touched[one.name]), expectation.hidden_at_most
        if most is not None and count > most:
            yield f"{one.name}: hidden_at_most {most}, but {_cells(count)} not published as they are"
        cost = one.result.objective
        if expectation.cost_at_most is not None and (cost is None or cost > expectation.cost_at_most):
            yield f"{one.name}: cost_at_most {expectation.cost_at_most:g}, but the cost is higher"


def _each_cell(
    text: str,
    problems: Mapping[str, TableProblem],
    holds: Callable[[TableProblem, int], bool],
    wanted: bool,
    words: tuple[str, str],
) -> Iterator[str]:
    """What is not as it was expected of the cells that `text` names."""
    name, wrong = parse_cell(text)
    if name is None:
        yield f"`{text}` names no cell: {wrong[0].headline}"
        return
    cells, missing = find_cells([name], problems)
    for one in missing:
        yield f"`{text}`: {one.headline}"
    for block, numbers in cells.items():
        for cell in numbers:
            if holds(problems[block], cell) != wanted:
                yield f"{problems[block].label(cell)} is {words[wanted]}"


def _cells(count: int) -> str:
    return f"{count} cell is" if count == 1 else f"{count} cells are"

"""Runs one case through the commands, as an office would, and judges everything that is left behind."""

from __future__ import annotations

import json
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from click.testing import CliRunner, Result

from sdcdsl.cli import cli, exits
from tests.soak.case import METHODS, POLICY, Case
from tests.soak.costs import NEAR, broken_options, cost, noise
from tests.soak.least import better_release
from tests.soak.oracle import best_intervals, best_suppression, hopeless, second_opinion
from tests.soak.reading import Release, read

LEFT = ".sdcdsl-release"  # where a release is staged
MORE = "left too narrow"  # sums that the model below does not know of are asked for: it may be cheaper, and expose them
PROOF = "soak.cert"  # as confidential as the microdata, so not among the files to publish
ENDS = {0: "released", 3: "data does not fit", 4: "infeasible", 5: "limit", 6: "refused by the audit"}
SAYS_ALL = ("csp", "ip")  # methods whose releases every format can hold


@dataclass
class Tale:
    """What became of a case. `findings` are what should not be; each has a kind and a story."""

    case: str
    engine: str
    kind: str
    cells: int = 0
    end: str = ""
    codes: list[str] = field(default_factory=list)
    status: str | None = None
    verdict: str | None = None
    audits: int = 0
    oracle: str = ""  # how the release was judged: exact, LP, distance; nothing if it was not
    priced: bool = False  # its cost was worked out from the file
    proven_least: bool = False  # … and compared with the least, or with a valid release of our own
    replayed: bool = False
    certified: bool = False
    cpu: float = 0.0
    findings: list[tuple[str, str]] = field(default_factory=list)

    def complain(self, kind: str, story: str) -> None:
        self.findings.append((kind, story))

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def judge(case: Case, folder: Path) -> Tale:
    tale = Tale(case.name, case.wanted.engine, case.world.kind)
    start = process_time()
    try:
        _judged(case, case.write(folder), tale)
    except Exception:
        tale.complain("the soak itself failed", traceback.format_exc())
    tale.cpu = process_time() - start
    return tale


def _command(tale: Tale, *arguments: object) -> Result:
    result = CliRunner().invoke(cli, [str(a) for a in arguments], prog_name="sdcdsl")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        story = "".join(traceback.format_exception(result.exception))
        tale.complain(f"{arguments[0]}: {type(result.exception).__name__}", story)
    return result


def _judged(case: Case, policy: Path, tale: Tale) -> None:
    checked = _command(tale, "check", policy)
    if checked.exit_code != 0:
        tale.complain("check refuses the policy", checked.output)
        return
    out = policy.parent / "out"
    before = _files(policy.parent)
    more = ["--certificate", policy.parent / PROOF] if _turn(case, 1) and "cta" not in case.wanted.methods else []
    result = _command(tale, "protect", policy, "--out", out, "--json", "--jobs", "1", "--progress", "none", *more)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return
    said = json.loads(result.stdout)
    tale.codes = [d["code"] for d in said["diagnostics"] if d["severity"] == "error"]
    tale.end = ENDS.get(result.exit_code, f"exit {result.exit_code}")
    if case.wanted.joint is not None and tale.codes == ["SDC514"]:
        tale.end = "blocks that share cells"
        return
    if said["exit"] != result.exit_code:
        tale.complain("two exit codes", f"{said['exit']} in the document, {result.exit_code} of the process")
    blocks = said["blocks"]
    if blocks:
        tale.cells = sum(block["counts"]["cells"] for block in blocks)
        tale.status, tale.verdict = blocks[0]["status"], blocks[0]["verdict"]
    stray = [
        name
        for name in _files(policy.parent) - before
        if name != PROOF and (not name.startswith("out/") or LEFT in name)
    ]
    if stray:
        tale.complain("stray files", ", ".join(sorted(stray)))
    if result.exit_code == 0:
        _judge_release(case, policy, out, blocks, tale)
    else:
        _judge_refusal(case, policy, out, said, tale)


def _turn(case: Case, which: int) -> bool:
    """Every so often, for each method: some checks cost as much as the case itself."""
    return case.number // len(METHODS) % 5 == which


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


# ---- nothing was released ------------------------------------------------------------------------------------------


def _judge_refusal(case: Case, policy: Path, out: Path, said: dict[str, Any], tale: Tale) -> None:
    left = sorted(_files(out)) if out.exists() else []
    if left:
        tale.complain("files without a release", f"{tale.end}: {', '.join(left)}")
    if not tale.codes:
        tale.complain("a refusal without a reason", json.dumps(said)[:2000])
    if tale.end not in ENDS.values():
        tale.complain(f"{tale.end}", json.dumps(said["diagnostics"])[:2000])
    if tale.end == "refused by the audit":
        tale.complain("the audit refused what a method made", json.dumps(said["diagnostics"])[:2000])
    if "SDC512" in tale.codes:
        tale.complain("a solver failed", json.dumps(said["diagnostics"])[:2000])
    if tale.end == "infeasible" and len(case.wanted.methods) == len(case.wanted.tables) == 1:
        _judge_infeasible(case, policy, said, tale)


def _judge_infeasible(case: Case, policy: Path, said: dict[str, Any], tale: Tale) -> None:
    problem = _problem(policy)
    says_all = case.wanted.methods[0] in SAYS_ALL and "conditional" not in problem.dataset
    if says_all and not case.wanted.capped and not hopeless(problem):
        tale.complain("infeasible, though hiding all there is protects", json.dumps(said["diagnostics"])[:2000])
    chosen = case.wanted.of(case.wanted.methods[0])
    better = None if chosen is None else better_release(case, problem, chosen)
    if better is not None:
        shown = _shown(problem, better[0])
        tale.complain("infeasible, though there is a release", f"{shown}: {json.dumps(said['diagnostics'])[:1000]}")


def _shown(problem, release: Release) -> str:
    """What stands in place of each figure that is not published as it is."""
    figures = zip(release.status, release.value, release.low, release.high, strict=True)
    said = {problem.label(i): (str(w), v, l, h) for i, (w, v, l, h) in enumerate(figures) if w not in ("", "published")}
    return repr({label: tuple(x if isinstance(x, str) else float(x) for x in of) for label, of in said.items()})[:1500]


# ---- something was released ----------------------------------------------------------------------------------------


def _judge_release(case: Case, policy: Path, out: Path, blocks: list[dict[str, Any]], tale: Tale) -> None:
    names = list(case.world.tables)
    files = {format: _paths(out, file, names, format) for format, file in case.wanted.formats.items()}
    missing = [str(p) for paths in files.values() for p in paths.values() if not p.is_file()]
    lock = out / "internal" / f"{POLICY}.lock"
    if missing or not lock.is_file():
        tale.complain("a release without its files", ", ".join([*missing, str(lock)]))
        return
    if any(block.get("verdict") not in ("protected", "nothing to check") for block in blocks):
        tale.complain("released without a verdict", json.dumps(blocks)[:2000])
    again = ["--replay"] if _turn(case, 0) and all(block.get("status") == "optimal" for block in blocks) else []
    verified = _command(tale, "verify", lock, *again)
    tale.replayed = bool(again)
    # A search that time had a say in, be it the first or the second time, may come to another release, and says so.
    if verified.exit_code != 0 and not (verified.exit_code == exits.CHANGES and "depended on time" in verified.output):
        tale.complain("the lock does not hold", verified.output)
    if (policy.parent / PROOF).is_file():
        tale.certified = True
        checked = _command(tale, "verify", policy.parent / PROOF)
        if checked.exit_code != 0:
            tale.complain("the certificate does not hold", checked.output)
    if case.wanted.joint is not None:
        tale.complain("blocks that share cells were released apart", json.dumps(blocks)[:2000])
        return
    for format, paths in files.items():
        if format in ("csv", "parquet") or (format != "html" and blocks[0].get("method") in SAYS_ALL):
            _audit_files(policy, paths, format, tale)
    problem = _problem(policy)
    _compare_values(case, problem, tale)
    release = read(problem, files["csv"])
    second = second_opinion(case, problem, release)
    tale.oracle = second.how
    for complaint in second.complaints:
        tale.complain("the oracle disagrees", complaint)
    _judge_cost(case, problem, release, blocks[0], tale)
    _judge_optimum(case, problem, blocks[0], tale)


def _judge_cost(case: Case, problem, release: Release, block: dict[str, Any], tale: Tale) -> None:
    """The cost and the bound that the program claims, against what the file costs and against a release of our own."""
    chosen = case.wanted.of(block["method"])
    if chosen is None:
        return
    for broken in broken_options(problem, chosen, release):
        tale.complain("an option is not kept", broken)
    objective, bound = block["objective"], block["bound"]
    paid = cost(problem, chosen, release)
    size, digits = abs(objective or 0.0), noise(problem, chosen, release)
    if paid is not None and objective is not None:
        tale.priced = True
        if abs(paid - objective) > (NEAR if chosen.method != "ecta" else 1e-4) * size + digits:
            tale.complain("another cost than the file has", f"said {objective}, the file costs {paid}")
    if bound is not None and objective is not None and bound > objective + NEAR * size + digits:
        tale.complain("a bound above the cost", f"{bound} above {objective}")
    if any(MORE in note for note in block.get("notes", ())):
        return
    better = better_release(case, problem, chosen)
    if better is None or objective is None:
        return
    tale.proven_least = True
    least = better[1] * (1 + 1e-5) + digits
    if bound is not None and bound > least:
        tale.complain("a bound above a valid cost", f"bound {bound}, {better[1]} by {_shown(problem, better[0])}")
    if block["status"] == "optimal" and not chosen.gap and not chosen.avoid_centre and objective > least:
        tale.complain("not the least", f"said {objective}, {better[1]} by {_shown(problem, better[0])}")


def _paths(out: Path, file: str, tables: list[str], format: str) -> dict[str, Path]:
    path = out / file
    if len(tables) == 1 or format == "html":
        return {tables[0]: path}
    return {table: path.with_name(f"{path.stem}-{table}{path.suffix}") for table in tables}


def _audit_files(policy: Path, paths: dict[str, Path], format: str, tale: Tale) -> None:
    released = [part for table, path in paths.items() for part in ("--released", f"{table}={path}")]
    audited = _command(tale, "audit", policy, *released, "--output", "json")
    tale.audits += 1
    if audited.exit_code != 0:
        tale.complain(f"the audit of the released {format} file ends with {audited.exit_code}", audited.stdout[:3000])


def _problem(policy: Path):
    import sdcdsl  # noqa: PLC0415  heavy, and only where it is needed

    loaded = sdcdsl.load(policy)
    return loaded.problems[loaded.blocks[0]].bound


def _compare_values(case: Case, problem, tale: Tale) -> None:
    """The tables as the program made them, against sums made by hand."""
    for table in problem.tables:
        expected = case.world.cells.get(table.name, {})
        if table.lattice is None:
            made = dict(zip(expected, table.value.tolist(), strict=bool(expected)))
        else:
            made = {tuple(table.lattice.codes(i).values()): v for i, v in enumerate(table.value.tolist())}
        wrong = [cell for cell, value in expected.items() if abs(made[cell] - value) > 1e-9 * max(abs(value), 1.0)]
        if wrong:
            tale.complain("the table holds other values", f"{table.name}: {wrong[:5]}")


def _judge_optimum(case: Case, problem, block: dict[str, Any], tale: Tale) -> None:
    """Suppression and intervals that call themselves the cheapest, against every set of hidden cells, and against one
    large linear program."""
    text = case.wanted.text
    more = any(MORE in note for note in block.get("notes", ()))
    if case.wanted.capped or more or block.get("method") not in SAYS_ALL:
        return
    if block["method"] == "csp":
        best = best_suppression(problem)
    else:
        best = (
            float("nan") if any(word in text for word in ("min_width", "avoid_", "fixed")) else best_intervals(problem)
        )
    if best is None:
        tale.complain("the oracle disagrees", "released what nothing protects")
        return
    if np.isnan(best):
        return
    slack = 1e-6 * max(best, 1e-6)
    tale.proven_least = True
    if block["objective"] < best - slack or (block["bound"] is not None and block["bound"] > best + slack):
        tale.complain("a bound or cost that cannot be", f"best {best}, said {block['objective']}, {block['bound']}")
    if block["status"] == "optimal" and "gap" not in text and block["objective"] > best + slack:
        tale.complain("not the least", f"best {best}, said {block['objective']}")

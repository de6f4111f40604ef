"""What is fuzzed: one entry a reader, with files to start from and words worth trying.

A target ends in diagnostics, or in something that is read. Everything else is a finding: an exception, a code that does
not exist, a text that cannot be rendered.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sdcdsl.bind.readers.arb import read_arb
from sdcdsl.bind.readers.argus_data import read_argus_data
from sdcdsl.bind.readers.code_labels import read_cdl, read_csv_labels
from sdcdsl.bind.readers.correspondence import read_correspondence
from sdcdsl.bind.readers.file_kinds import kind_of_bytes
from sdcdsl.bind.readers.hrc import hrc_text, read_hrc
from sdcdsl.bind.readers.hst import read_hst
from sdcdsl.bind.readers.jj import jj_text, read_jj
from sdcdsl.bind.readers.parents import read_parents
from sdcdsl.bind.readers.rda import read_rda
from sdcdsl.bind.readers.records import ColumnSelection
from sdcdsl.bind.readers.sdmx_hierarchy import read_sdmx_hierarchy, read_sdmx_labels
from sdcdsl.bind.readers.sdmx_structures import read_structures
from sdcdsl.deadline import Deadline
from sdcdsl.diagnostics import CODES, Diagnostic, Source, has_errors
from sdcdsl.diagnostics.diagnostic import for_reading
from sdcdsl.diagnostics.render import FORMATS, render
from sdcdsl.importing import ImportOptions, policy_from
from sdcdsl.methods.checkpoint import Checkpointer
from sdcdsl.methods.checkpoint import read as read_checkpoint
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.pipeline.solution_file import read_solution
from sdcdsl.pipeline.verify import checks
from sdcdsl.policy.files import decode
from sdcdsl.policy.lint import lint
from sdcdsl.policy.read import read_text
from sdcdsl.proof.checking import verify
from sdcdsl.released import read_release
from sdcdsl.report.lock import Unreadable, load_lock, seal
from sdcdsl.report.signature import Untrusted
from sdcdsl.report.signature import check as check_signature
from sdcdsl.syntax.formatter import format_text
from sdcdsl.syntax.parser import parse
from tests.bind.policies import TODAY, bind_text
from tests.bind.readers.reading import read_records
from tests.conftest import ROOT, SHARED_DATA
from tests.fuzzing import seeds
from tests.released.problems import numbered, small

LARGEST_SEED = 20_000
NUMBERS = ("0", "-1", "1e308", "1e400", "-0.0", "nan", "inf", "9" * 30, "0x10", "1,5", "1.5", "4294967296", "1e-320")


@dataclass(frozen=True)
class Target:
    read: Callable[[bytes, Path], None]  # what a file holds, and a folder of its own to put it into
    seeds: Callable[[], list[bytes]]
    words: Sequence[str] = ()


def said(found: Sequence[Diagnostic]) -> None:
    """Whatever is said has a code and a text, in every form."""
    assert {d.code for d in found} <= set(CODES), found
    for output in FORMATS:
        assert isinstance(render(for_reading(list(found)), output), str)


def either(got: Any, found: Sequence[Diagnostic]) -> None:
    said(found)
    assert (got is None) == has_errors(found), (got is None, [d.code for d in found])


def put(raw: bytes, folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(raw)
    return path


def labels(raw: bytes, folder: Path) -> None:
    either(*read_cdl(put(raw, folder, "fuzzed.cdl")))
    for language in (None, "en"):
        either(*read_csv_labels(put(raw, folder, "fuzzed.csv"), language))


# ---- policies ---------------------------------------------------------------------------------------


def policy(raw: bytes, folder: Path) -> None:
    source, found = decode(raw, "fuzzed.sdc")
    said(found)
    if source is None:
        return
    parsed, wrong = parse(source)
    if not wrong:
        once = format_text(parsed)
        again, wrong = parse(Source("again.sdc", once))
        assert not wrong, render(wrong)
        assert format_text(again) == once
    read, found = read_text(source, folder / "fuzzed.sdc")
    said(found)
    if not has_errors(found):
        said(lint(read, TODAY))


# ---- files of tables --------------------------------------------------------------------------------


def jj(raw: bytes, folder: Path) -> None:
    path = put(raw, folder, "fuzzed.jj")
    table, found = read_jj(path)
    either(table, found)
    if table is not None:
        again, found = read_jj(Source("again.jj", jj_text(table)))
        assert again is not None, render(found)
        problems, found = bind_text('sdc 1\npolicy "x"\ntable t { jj "fuzzed.jj" }\nprotect t { method csp }\n', folder)
        said(found)
        assert problems or has_errors(found)


def hrc(raw: bytes, folder: Path) -> None:
    leader = "." if b"\n." in raw else "@"
    tree, found = read_hrc(put(raw, folder, "fuzzed.hrc"), total="Total", leader=leader)
    either(tree, found)
    if tree is not None:
        text, found = hrc_text(tree, leader)
        either(text, found)
        if text:  # a tree of nothing but its total is an empty file, which is refused
            again, found = read_hrc(Source("again.hrc", text), total="Total", leader=leader)
            assert again is not None and hrc_text(again, leader)[0] == text, render(found)


def trees(raw: bytes, folder: Path) -> None:
    path = put(raw, folder, "fuzzed.csv")
    either(*read_parents(path, total="Total"))
    either(*read_correspondence(path, total="Total"))
    either(*read_parents(path))
    either(*read_correspondence(path))


def rda(raw: bytes, folder: Path) -> None:
    path = put(raw, folder, "x.rda")
    metadata, found = read_rda(path)
    either(metadata, found)
    if metadata is not None:
        for data in (seeds.ASC, seeds.TAB):
            records, found = read_argus_data(Source("x.asc", data), metadata)
            either(records, found)
            if records is not None:
                records.frame.collect()
    for name, batch in (("x.arb", seeds.ARB[0]), ("y.arb", seeds.ARB[1])):
        said(policy_from(put(batch, folder, name), ImportOptions())[1])


def argus(raw: bytes, folder: Path) -> None:
    """Batch and a-priori files."""
    path = put(raw, folder, "fuzzed.arb")
    said(read_arb(path)[1])
    put(seeds.RDA[0], folder, "x.rda"), put(seeds.RDA[1], folder, "t.rda"), put(seeds.HRC[0], folder, "region.hrc")
    said(policy_from(path, ImportOptions())[1])
    path = put(raw, folder, "fuzzed.hst")
    either(*read_hst(path))
    said(policy_from(path, ImportOptions(dimensions=("a", "b"), table="t"))[1])


MICRODATA = """sdc 1
policy "x"
data units {
  csv "fuzzed.csv" { missing "NA" }
  column unit = "id"
}
dimension region { codes A, B, C; total Total }
dimension size { codes "1", "2", "10-49"; total Total }
table t { from units; by region, size; sum turnover }
sensitive by threshold(3)
sensitive by p_percent(10%)
attacker external { bounds 0 .. inf }
protect t { lpl needed; upl needed; against external; method csp }
"""


def microdata(raw: bytes, folder: Path) -> None:
    path = put(raw, folder, "fuzzed.csv")
    decimal = "," if b"," in raw and b";" in raw else "."
    records, found = read_records(path, ColumnSelection(["region", "size"], ["turnover"], decimal, ("NA",)))
    either(records, found)
    if records is not None:
        records.frame.collect()
        problems, found = bind_text(MICRODATA, folder)
        said(found)
        assert problems or has_errors(found)


def parquet(raw: bytes, folder: Path) -> None:
    path = put(raw, folder, "fuzzed.parquet")
    problems, found = bind_text(
        MICRODATA.replace('csv "fuzzed.csv" { missing "NA" }', 'parquet "fuzzed.parquet"'), folder
    )
    said(found)
    assert problems or has_errors(found)
    said(read_release(_problem(), {"t": path})[1])


def _foreign(statement: str, name: str) -> Callable[[bytes, Path], None]:
    """Data in a format of other programs."""

    def read(raw: bytes, folder: Path) -> None:
        put(raw, folder, name)
        text = MICRODATA.replace('csv "fuzzed.csv" { missing "NA" }', f'{statement} "{name}"')
        problems, found = bind_text(text, folder)
        said(found)
        assert problems or has_errors(found)

    return read


def duckdb(raw: bytes, folder: Path) -> None:
    """A database file, and text as a query on one that is whole."""
    put(raw, folder, "fuzzed.duckdb")
    said(bind_text(_queried("fuzzed.duckdb", 'table "units"'), folder)[1])
    put(seeds.duckdbs()[0], folder, "whole.duckdb")
    query = raw.decode("latin-1").translate({ord(sign): " " for sign in '"{}\r\n\0'})[:400]
    if query.isprintable() and query.strip():
        said(bind_text(_queried("whole.duckdb", f'query "{query}"'), folder)[1])


def _queried(name: str, what: str) -> str:
    return MICRODATA.replace('csv "fuzzed.csv" { missing "NA" }', f'duckdb "{name}" {{ {what} }}')


def packed(raw: bytes, folder: Path) -> None:
    """As it is, and packed: hardly any change of a packed file gets past its sum."""
    _foreign("csv", "fuzzed.csv")(raw, folder)
    _foreign("csv", "fuzzed.csv")(gzip.compress(raw, 1, mtime=0), folder)
    kind_of_bytes(raw, put(raw, folder, "fuzzed.dat"))


def sdmx(raw: bytes, folder: Path) -> None:
    """Data, and structures: a code list as a dimension, a data structure as a policy."""
    _foreign("sdmx", "fuzzed.sdmx")(raw, folder)
    path = put(raw, folder, "fuzzed.xml")
    structures, found = read_structures(path)
    either(structures, found)
    text, found = policy_from(path, ImportOptions())
    either(text, found)
    if structures is None:
        return
    kinds = (("codelist", structures.codelists), ("hierarchy", structures.hierarchies))
    for option, codes in ((option, codes) for option, lists in kinds for codes in lists):
        options: dict[str, str | None] = {"codelist": None, "hierarchy": None, option: str(codes.reference)}
        for total in (None, "Total", *(one.code for one in codes.codes[:2])):
            tree, found = read_sdmx_hierarchy(path, total, "", options)
            either(tree, found)
    for codes in structures.codelists:
        either(*read_sdmx_labels(path, None, {"codelist": str(codes.reference)}))


# ---- releases, and what is written beside them -------------------------------------------------------


@cache
def _problem():
    return small()


@cache
def _numbered(folder: Path):
    return numbered(folder)


def released(raw: bytes, folder: Path) -> None:
    formats = (None, "csv", "argus", "sdctable", "jj", "sdmx", "cross_table", "excel")
    format = formats[len(raw) % len(formats)] if raw[:1] == b"#" else None
    path = put(raw, folder, "released.csv")
    for problem in (_problem(), _numbered(folder)):
        pattern, found = read_release(problem, {"t": path}, format=format, absent="hidden")
        either(pattern, found)


def certificate(raw: bytes, folder: Path) -> None:
    found = verify(put(raw, folder, "fuzzed.jsonl"))
    assert found.ok or found.reasons
    mended = verify(put(_digested(raw), folder, "mended.jsonl"))
    assert mended.ok or mended.reasons


def compressed(raw: bytes, folder: Path) -> None:
    """Texts that are compressed, as they are and with digests that fit; and files that may be compressed already."""
    verify(put(raw, folder, "fuzzed.jsonl.gz"))
    for text in (raw, _digested(raw)):
        plain = verify(put(text, folder, "plain.jsonl"))
        packed = verify(put(gzip.compress(text, 9, mtime=0), folder, "packed.jsonl.gz"))
        assert packed.ok or packed.reasons
        # A compressed file may be refused for its size; it never holds where the text does not.
        assert plain.ok or not packed.ok


def _digested(raw: bytes) -> bytes:
    """The same with a digest that fits, or hardly any change would get past it."""
    kept = b"".join(line + b"\n" for line in raw.split(b"\n") if line and not line.startswith(b'{"end"'))
    kinds = {"witnesses": b'{"witness"', "claims": b'{"claim"', "bounds": b'{"bound"'}
    counts = {name: kept.count(b"\n" + kind) for name, kind in kinds.items()}
    return kept + json.dumps({"end": {**counts, "sha256": hashlib.sha256(kept).hexdigest()}}).encode() + b"\n"


def lock(raw: bytes, folder: Path) -> None:
    path = put(raw, folder, "fuzzed.sdc.lock")
    try:
        content, _ = load_lock(path)
    except Unreadable:
        return
    assert isinstance(seal(content), str)
    with suppress(Untrusted):
        check_signature(raw, {})
        raise AssertionError("trusted by nobody's key")
    assert all(check.state for check in checks(content, folder))


def checkpoint(raw: bytes, folder: Path) -> None:
    """As it is, and with sums that fit. A search goes on from whatever is read, and finds what it finds without."""
    for content in (raw, _summed(raw)):
        state, why = read_checkpoint(put(content, folder, "fuzzed.checkpoint"), "this")
        assert (state is None) == (why is not None)
        if state is not None:
            problem, least = _searched(folder)
            checkpointer = Checkpointer()
            checkpointer.found = state
            made = run(problem, "csp", SolveContext({"gap": 0.0}, Deadline(), checkpointer=checkpointer))
            assert made.pattern is not None and made.objective == least, (made.status, made.objective)


@cache
def _searched(folder: Path):
    problem = seeds.checkpoint_problem(folder)
    return problem, run(problem, "csp", SolveContext({"gap": 0.0}, Deadline())).objective


def _summed(raw: bytes) -> bytes:
    """The same with check sums that fit: those of a ZIP file stand before each part and again at the end."""
    out = bytearray(raw)
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError, struct.error):
        return raw
    at = [i for i in range(len(raw)) if raw.startswith(b"PK\x01\x02", i)]
    for part, entry in zip(parts, at, strict=False):
        first = part.header_offset
        if raw[first : first + 4] != b"PK\x03\x04" or first + 30 > len(raw) or entry + 20 > len(raw):
            continue
        names = sum(struct.unpack_from("<HH", raw, first + 26))
        data = raw[first + 30 + names : first + 30 + names + part.compress_size]
        for place in (first + 14, entry + 16):
            struct.pack_into("<I", out, place, zlib.crc32(data))
    return bytes(out)


def solution(raw: bytes, folder: Path) -> None:
    either(*read_solution(put(raw, folder, "fuzzed.sol")))


# ---- where to start from ----------------------------------------------------------------------------


def _files(*patterns: str) -> list[bytes]:
    found = [p for pattern in patterns for p in sorted(ROOT.glob(pattern)) + sorted(SHARED_DATA.glob(pattern))]
    return [p.read_bytes() for p in found if p.is_file() and p.stat().st_size <= LARGEST_SEED]


def _policies() -> list[bytes]:
    return _files("specs/**/*.sdc", "examples/**/*.sdc", "sdcdsl/cli/starters/*.sdc")


TARGETS = {
    "policy": Target(policy, _policies, (*seeds.POLICY_WORDS, *NUMBERS)),
    "jj": Target(jj, lambda: [*seeds.JJ, *_files("csplib/targus.jj")], ("u", "s", "z", "w", ":", "(", ")", *NUMBERS)),
    "labels": Target(
        labels, lambda: [b'1,Groningen\n2,"Fries, land"\n', b"code;en;de\nA;Mining;Bergbau\n"], ("en", "de", ";")
    ),
    "hrc": Target(hrc, lambda: [*seeds.HRC, *_files("examples/**/*.hrc", "bench/**/*.hrc")], ("@", "@@@", ".", "..")),
    "trees": Target(trees, lambda: [*seeds.TREES, *_files("tables/**/*corr*.csv")], ("Total", ";", ",", '"', "parent")),
    "rda": Target(rda, lambda: list(seeds.RDA), (*seeds.RDA_WORDS, *NUMBERS)),
    "argus": Target(argus, lambda: [*seeds.ARB, *seeds.HST], (*seeds.ARB_WORDS, *NUMBERS)),
    "microdata": Target(microdata, lambda: list(seeds.MICRODATA), ("region", "NA", '"', ";", "\t", "\r", *NUMBERS)),
    "released": Target(
        released,
        lambda: [*seeds.RELEASED, *_files("examples/tiny/*.csv")],
        ("value", "low", "high", "status", "x", "hidden", "[1, 2]", "OBS_VALUE", "sdcStatus", "D", *NUMBERS),
    ),
    "certificate": Target(certificate, seeds.certificates, ("null", "true", '{"runs":[1,2]}', "[]", "{}", *NUMBERS)),
    "compressed": Target(
        compressed,
        seeds.compressed,
        ('{"runs":[0,100000000]}', '{"u1":"AAAA"}', '"cells":99999999', '"views":9999', *NUMBERS),
    ),
    "checkpoint": Target(
        checkpoint,
        seeds.checkpoints,
        ("PK\x03\x04", "'descr': '<f8'", "'descr': '|O'", "'shape': (99999999,)", "'fortran_order': True", *NUMBERS),
    ),
    "lock": Target(lock, lambda: list(seeds.LOCKS), ("[[inputs]]", "[run]", '"', "= ", "1979-05-27", *NUMBERS)),
    "solution": Target(solution, lambda: list(seeds.SOLUTIONS), ("# Columns", "<variable", 'name="', *NUMBERS)),
    "parquet": Target(parquet, seeds.parquets, ("PAR1",)),
    "workbook": Target(_foreign("excel", "fuzzed.xlsx"), seeds.workbooks, ("xl/worksheets", "<c r=", 't="s"')),
    "sas": Target(_foreign("sas", "fuzzed.xpt"), lambda: seeds.statistical("xpt"), ("HEADER RECORD", *NUMBERS)),
    "spss": Target(_foreign("spss", "fuzzed.sav"), lambda: seeds.statistical("sav"), ("$FL2", "$FL3", *NUMBERS)),
    "stata": Target(_foreign("stata", "fuzzed.dta"), lambda: seeds.statistical("dta"), ("<stata_dta>", *NUMBERS)),
    "duckdb": Target(duckdb, seeds.duckdbs, ("DUCK", "select", "units")),
    "sdmx": Target(
        sdmx,
        seeds.sdmx,
        ("<!DOCTYPE x [<!ENTITY e 'e'>]>", "&e;", "<Obs ", "<Code id=", "<Ref id=", "urn:sdmx:=A:B(1.0).C", *NUMBERS),
    ),
    "packed": Target(packed, seeds.packed, ("\x1f\x8b", "\x28\xb5\x2f\xfd", *NUMBERS)),
}

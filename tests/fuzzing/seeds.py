"""Small whole files to start from, where the repository has none of their kind."""

from __future__ import annotations

import gzip
import io
import tempfile
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyreadstat

from sdcdsl.deadline import Deadline
from sdcdsl.methods.checkpoint import Checkpointer, CheckpointState, write
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import run
from tests.bind.readers import sdmx_messages
from tests.bind.readers.office_files import workbook
from tests.by_search import by_search
from tests.executing.cubes import cube, problem_of
from tests.importing import worlds
from tests.proof.worlds import investment
from tests.released.problems import cells_csv

POLICY_WORDS = (
    *("sdc 1", "policy", "use", "as", "override", "table", "dimension", "data", "attacker", "scenario", "protect"),
    *(
        "sensitive",
        "publish",
        "suppress",
        "because",
        "where",
        "at",
        "until",
        "by",
        "from",
        "sum",
        "values",
        "hierarchy",
    ),
    *("lpl", "upl", "spl", "cost", "against", "method", "release", "assess", "else", "if", "then", "otherwise", "10%"),
    *(" of ", "value", "..", "inf", "|", "- ", "{", "}", "(", ")", ";", ",", "=", "!=", "<=", "->", "\\", "#", '""'),
)
RDA_WORDS = (
    *("<RECODEABLE>", "<HIERARCHICAL>", "<HIERLEVELS>", "<HIERCODELIST>", "<HIERLEADSTRING>", "<TOTCODE>", "<NUMERIC>"),
    *("<DECIMALS>", "<SEPARATOR>", "<FREQUENCY>", "<MAXSCORE>", "<STATUS>", "<SAFE>", "<UNSAFE>", "<PROTECT>"),
    *("<COST>", "<LOWERLEVEL>", "<UPPERLEVEL>", "<HOLDING>", "<WEIGHT>", "<REQUEST>", "<DISTANCE>", '"', '";"'),
)
ARB_WORDS = (
    *("<OPENMICRODATA>", "<OPENTABLEDATA>", "<OPENMETADATA>", "<SPECIFYTABLE>", "<SAFETYRULE>", "<READMICRODATA>"),
    *("<READTABLE>", "<SUPPRESS>", "<WRITETABLE>", "<APRIORI>", "P(", "NK(", "FREQ(", "ZERO(", "MAN(", "WGT(", "REQ("),
    *("OPT(1,7)", "MOD(", "GH(", "|", '""', ")", ";u", ";s", ";p", ";c,5", ";pl,1,2"),
)
JJ = (
    b"0\n4\n0 10 10 s 0 100 0 0 0\n1 4 4 u 0 100 1 2 0.5\n2 3 3 s -1e20 1e20 0 0 0\n3 3 3 z 3 3 0 0 0\n"
    b"1\n0 4 : 0 ( -1 ) 1 ( 1 ) 2 ( 1 ) 3 ( 1 )\n",
    b"0\n3\n0 5 1 m 0 9 0 0 0\n1 2 1 u 0 9 1 1 0\n2 3 1 s 0 9 0 0 0\n2\n0 3 : 0 (-1) 1 (1) 2 (1)\n2 1 : 1 (1)\n",
)
TABLE_RDA = """\
<SEPARATOR> ";"
Size "99"
  <RECODEABLE>
  <TOTCODE> "T"
Region "99"
  <RECODEABLE>
  <TOTCODE> "T"
Value <NUMERIC>
Price <NUMERIC> <COST>
Freq <FREQUENCY>
St <STATUS>
  <SAFE> "S"
  <UNSAFE> "U"
  <PROTECT> "P"
"""
RDA = (worlds.MICRO_RDA.encode(), TABLE_RDA.encode())
HRC = (worlds.HRC.encode(), b"A\n@A1\n@@A11\n@A2\nB\n@B1\n", "Nord\n@Ø\n@Å\n".encode())
ARB = (worlds.MICRO.encode(), worlds.TABLE.encode())
HST = (b'"11";"N1";u\n"12";"O1";s;c;5\n', b"A,B,pl,1,2\nA,C,ml,5\n", b"A;B;p\n")
ASC = "111 N1 2    120   12.5\n211 O2 9      7    0.1\n"
TAB = "a;b;10;1;3;S\na;T;10;1;3;U\n"
TREES = (b"parent,child\nTotal,A\nTotal,B\nA,A1\n", b"one,two,three\nA,A1,A11\nA,A1,A12\nB,B1,B1\n", b"a;b\nx;y\n")
MICRODATA = (
    b"id,region,size,turnover\n1,A,1,10\n2,B,2,20.5\n3,C,10-49,0\n4,A,2,7\n",
    b'id;region;size;turnover\n1;"A";1;1,5\n2;B;2;NA\n3;C;10-49;-3\n',
    "\ufeffregion\tsize\tturnover\tid\r\nA\t1\t5\tx\r\nB\t10-49\t6\ty\r\n".encode(),
)
RELEASED = (
    cells_csv("activity,region,value").encode(),
    cells_csv("activity,region,value,low,high,status", {("I", "A"): "x,,,hidden"}, ",,,").encode(),
    cells_csv("activity,region,value", {("II", "C"): "[20, 30]", ("II", "A"): "x"}).encode(),
    cells_csv("DATAFLOW,REGION,OBS_VALUE").replace("activity", "ACTIVITY").encode(),
    b',"Total","A"\n"Total",10,x\n"I",3,x\n\n',
    b'Var 1,"Total"\n,"Total","A"\n"Total",10,x\n\n',
    b"cell,value\n0,10\n1,x\n2,x\n3,3\n",
    b"I;A;20;S\nI;B;x;D\n",
    b"#activity,region,Freq,value,sdcStatus\nI,A,1,20,s\nI,B,2,,x\n",
    JJ[0],
)
LOCKS = (
    b'lock = 1\nseal = "x"\n[policy]\ntitle = "x"\nseed = 7\ndigest = "x"\n[run]\npolicy = "x.sdc"\n'
    b'day = "2026-01-01"\n'
    b'[run.options]\ngap = 0.1\n[versions]\nsdcdsl = "1"\n[[inputs]]\nwhat = "policy"\npath = "x.sdc"\nsha256 = "x"\n'
    b'[[blocks]]\nname = "t"\npattern = "x"\n[[outputs]]\nwhat = "certificate"\npath = "x.cert"\nsha256 = "x"\n',
)
SOLUTIONS = (
    b"Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 85\n"
    b"# Columns 2\nx(0) 1\nx(1) 0\n# Rows 0\n",
    b"solution status: optimal\nobjective value: 85\nx(11) 1 (obj:22)\n",
    b'<?xml version="1.0"?><CPLEXSolution><header solutionStatusString="optimal"/>'
    b'<variables><variable name="x(1)" index="0" value="1"/></variables></CPLEXSolution>',
)


def certificates() -> list[bytes]:
    with tempfile.TemporaryDirectory() as name:
        plain = investment().write(Path(name) / "plain.jsonl").read_bytes()
        packed = investment().write(Path(name) / "packed.jsonl.gz").read_bytes()
    return [plain, packed]


def parquets() -> list[bytes]:
    out = []
    for compression in ("uncompressed", "zstd"):
        kept = io.BytesIO()
        units = {"region": ["A", "B"], "size": ["1", "2"], "turnover": [10.0, 20.5], "id": [1, 2]}
        pl.DataFrame(units).write_parquet(kept, compression=compression)
        out.append(kept.getvalue())
    cells = io.BytesIO()
    pl.DataFrame({"activity": ["I"], "region": ["A"], "value": [20.0]}).write_parquet(cells)
    return [*out, cells.getvalue()]


def _units() -> pl.DataFrame:
    return pl.DataFrame({"region": ["A", "B"], "size": ["1", "2"], "turnover": [10.0, 20.5], "id": ["u1", "u2"]})


def workbooks() -> list[bytes]:
    with tempfile.TemporaryDirectory() as name:
        workbook(Path(name) / "a.xlsx", frame=_units(), about=False)
        return [(Path(name) / "a.xlsx").read_bytes()]


def statistical(suffix: str) -> list[bytes]:
    """As SAS, SPSS or Stata have it."""
    write = {"xpt": pyreadstat.write_xport, "sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta}[suffix]
    with tempfile.TemporaryDirectory() as name:
        write(_units(), Path(name) / f"a.{suffix}")
        return [(Path(name) / f"a.{suffix}").read_bytes()]


@cache
def duckdbs() -> list[bytes]:
    """A database of small blocks, and queries."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "a.duckdb"
        with duckdb.connect() as connection:
            connection.execute(f"ATTACH '{path}' AS db (BLOCK_SIZE 16384)")
            connection.execute("CREATE TABLE db.units (id TEXT, region TEXT, size TEXT, turnover DOUBLE)")
            rows = _units().select("id", "region", "size", "turnover").rows()
            connection.executemany("INSERT INTO db.units VALUES (?, ?, ?, ?)", rows)
        made = path.read_bytes()
    queries = (b"select * from units", b"select id, region, size, sum(turnover) as turnover from units group by all")
    return [made, *queries]


def packed() -> list[bytes]:
    return [*MICRODATA[:1], gzip.compress(MICRODATA[0], mtime=0), pa.compress(MICRODATA[0], codec="zstd", asbytes=True)]


def compressed() -> list[bytes]:
    """Texts, which are compressed after they were broken: hardly any change of a compressed file gets past its sum."""
    wordy = (
        b'{"cells":{"runs":[0,100000000]}}\n{"view":{"number":1,"like":0,"cells":{"u1":"AAAA"},"low":[],"high":[]}}\n'
    )
    return [certificates()[0], certificates()[0].replace(b"\n", b"\n" + wordy, 1)]


class _Every(Checkpointer):
    """Keeps what it knows at every occasion."""

    @property
    def due(self) -> bool:
        return True


def checkpoint_problem(folder: Path):
    return problem_of(cube(folder / "cube.jj", 2, 2))


def checkpoints() -> list[bytes]:
    """Of a suppression on its way, and one with all kinds of facts."""
    with tempfile.TemporaryDirectory() as name:
        path, other = Path(name) / "a.checkpoint", Path(name) / "b.checkpoint"
        context = SolveContext({"gap": 0.0}, Deadline(), checkpointer=_Every(path, "this"))
        with by_search():
            run(checkpoint_problem(Path(name)), "csp", context)
        facts = {"phase": "bound", "mirrored": False, "rounds": [[["protected", 1.0, [0, 1]]]]}
        write(other, "this", CheckpointState(facts, {"hidden": np.ones(27, dtype=bool), "best": np.ones(54)}))
        return [path.read_bytes(), other.read_bytes()]


@cache
def sdmx() -> list[bytes]:
    data = [sdmx_messages.data(format, across) for format, across in sdmx_messages.DATA]
    data += [
        one.replace(b"AREA", b"region").replace(b"SIZE", b"size").replace(b"OBS_VALUE", b"turnover") for one in data
    ]
    by_hand = (sdmx_messages.HIERARCHY_21, sdmx_messages.HIERARCHY_30, sdmx_messages.BOMB, sdmx_messages.OUTSIDE)
    lists = [sdmx_messages.codelist("EU DE<EU DE1<DE", version=version) for version in ("2_1", "3_0")]
    structures = [sdmx_messages.structure(format) for format in sdmx_messages.STRUCTURES]
    return [*data, *structures, *(text.encode() for text in (*by_hand, *lists))]

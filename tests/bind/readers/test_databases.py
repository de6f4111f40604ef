"""Databases: a real DuckDB file, and a PostgreSQL server of its own; what is read is what a file would give."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import psycopg
import pytest
from click.testing import CliRunner

import sdcdsl
from sdcdsl.cli import cli
from sdcdsl.diagnostics.diagnostic import for_reading
from sdcdsl.diagnostics.render import render
from tests.bind.policies import bind_text, problem_of
from tests.bind.readers.office_files import FRAME, write
from tests.bind.readers.test_office_files import POLICY, SUM
from tests.waiting import HANGS

QUERY = "select id, nace, region, turnover from units order by id"


def say(origin: str, folder: Path, policy: str = SUM) -> str:
    """As the command line prints it, without values of the data."""
    _, found = bind_text(policy.format(origin=origin), folder)
    told = [d for d in found if d.code != "SDC335"]
    return render(for_reading(told), "text", colour=False).replace(str(folder), "…")


def cells(origin: str, folder: Path) -> dict[str, float]:
    problem = problem_of(SUM.format(origin=origin), folder)
    return {problem.label(i): float(problem.dataset["a"].values[i]) for i in range(problem.n)}


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    path = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table units (id text, nace integer, region text, turnover decimal(12, 2))")
        connection.executemany("insert into units values (?, ?, ?, ?)", FRAME.rows())
        connection.execute("create schema other; create table other.units as select * from units where nace = 10")
    return path


# ---- DuckDB ------------------------------------------------------------------------------------------


def test_a_query_gives_the_cells_of_the_file(warehouse: Path):
    by_file = cells(write(warehouse.parent, "csv"), warehouse.parent)
    assert by_file["nace = Total, region = Total"] == 23.75
    for origin in (f'query "{QUERY}"', 'table "units"', f'query "{QUERY};"', 'query "from units"'):
        assert cells(f'duckdb "warehouse.duckdb" {{ {origin} }}', warehouse.parent) == by_file
    small = cells('duckdb "warehouse.duckdb" { table "other.units" }', warehouse.parent)
    assert small["nace = Total, region = Total"] == 2.25


@pytest.mark.parametrize("format", ["csv", "parquet", "gzip"])
def test_files_that_duckdb_reads(format: str, tmp_path: Path):
    by_file = cells(write(tmp_path, format), tmp_path)
    [path] = [p for p in tmp_path.iterdir() if p.name.startswith("d.")]
    assert cells(f'duckdb "{path.name}"', tmp_path) == by_file
    half = cells(
        f'duckdb "{path.name}" {{ query "select * replace (2 * turnover::double as turnover) from records" }}', tmp_path
    )
    assert half == {label: 2 * value for label, value in by_file.items()}


def test_codes_of_csv_stay_text(tmp_path: Path):
    (tmp_path / "d.csv").write_text("id,nace,region\na,01,N\nb,1,N\n")
    policy = POLICY.replace('"4711", "4712", "10"', '"01", "1"')
    assert problem_of(policy.format(origin='duckdb "d.csv"'), tmp_path).summary()["cells"] == 9


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("select * from unit", "Table with name unit does not exist"),
        ("select nace from units", "no column `id` in the query on"),
        ("delete from units", "the query is more than one that selects"),
        ("copy units to 'out.csv'", "the query is more than one that selects"),
        ("select 1; select 2", "the query is more than one that selects"),
        ("select * from read_csv('/etc/passwd')", "disabled by configuration"),
        ("select * from read_text('warehouse.duckdb')", "disabled by configuration"),
        ("attach 'x.duckdb'", "the query is more than one that selects"),
        ("select * from units) union (select * from units", "fails"),
        ("select", "fails"),
        ("select *, turnover::text || 'x' as y from units where (region)::integer = 1", "= …"),
    ],
)
def test_a_query_reads_and_does_nothing_else(query: str, what: str, warehouse: Path):
    before = warehouse.read_bytes()
    told = say(f'duckdb "warehouse.duckdb" {{ query "{query}" }}', warehouse.parent)
    assert what in told and "Øst" not in told, told
    assert warehouse.read_bytes() == before
    assert {p.name for p in warehouse.parent.iterdir()} == {"warehouse.duckdb"}


def test_a_file_that_is_no_database_is_said(warehouse: Path):
    (warehouse.parent / "half.duckdb").write_bytes(warehouse.read_bytes()[:6000])
    told = say('duckdb "half.duckdb" { table "units" }', warehouse.parent)
    assert "[SDC302]: cannot" in told and "half.duckdb" in told
    write(warehouse.parent, "excel")
    assert "is a workbook, and the policy says `duckdb`" in say('duckdb "d.xlsx"', warehouse.parent)
    assert "nothing says what to read" in say('duckdb "warehouse.duckdb"', warehouse.parent)
    both = f'duckdb "warehouse.duckdb" {{ query "{QUERY}"; table "units" }}'
    assert "a query and a table" in say(both, warehouse.parent)


def test_the_lock_has_the_digest_of_what_was_read(warehouse: Path):
    """Not of the database: another table in it may change. A replay reads the query once more, and tells a change."""

    def verified(*arguments: str) -> tuple[int, str]:
        told = CliRunner().invoke(cli, ["verify", str(policy) + ".lock", *arguments])
        return told.exit_code, told.output

    folder = warehouse.parent
    policy = folder / "p.sdc"
    text = SUM.format(origin=f'duckdb "warehouse.duckdb" {{ query "{QUERY}" }}')
    policy.write_text(text.replace("method suppression", 'method suppression; release csv "out.csv"'))
    run = sdcdsl.load(policy).protect()
    run.release()
    lock = (folder / "p.sdc.lock").read_text()
    assert 'origin = "duckdb warehouse.duckdb"' in lock
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("create table more as select 1")
    assert verified("--replay")[0] == 0, verified("--replay")
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute(
            "update units set id = 'z' where id = 'a'"
        )  # no cell changes, and yet it is not what was read
    code, told = verified("--replay")
    assert code != 0 and "other records than the run read" in told


# ---- PostgreSQL ----------------------------------------------------------------------------------------


def programs() -> Path | None:
    """Where Debian and others put the programs of the server."""
    places = [
        *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True),
        *sorted(Path("/usr").glob("pgsql*/bin")),
    ]
    found = shutil.which("initdb")
    places += [Path(found).parent] if found else []
    return next((place for place in places if (place / "initdb").is_file() and (place / "postgres").is_file()), None)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Its address. The server listens on a free port of this machine alone, and its folder goes with it."""
    place = programs()
    if place is None:
        pytest.skip("no PostgreSQL on this machine: apt-get install postgresql")
    who = None
    if os.getuid() == 0:  # it does not run as root
        try:
            who = pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    # Not among the folders of pytest, which nobody else may enter; and short, as the names of sockets must be.
    folder = Path(tempfile.mkdtemp(prefix="sdcdsl-pg-"))
    data = folder / "data"
    if who is not None:
        os.chown(folder, who.pw_uid, who.pw_gid)
    as_who = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []} if who is not None else {}
    made = subprocess.run(
        [place / "initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
        **as_who,
    )
    if made.returncode:
        pytest.skip(f"no server can be made here: {made.stderr[-300:]}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = subprocess.Popen(
        [place / "postgres", "-D", data, "-p", str(port), "-h", "127.0.0.1", "-k", folder, "-F"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **as_who,
    )
    address = f"postgresql://tester@127.0.0.1:{port}/postgres"
    try:
        _wait(address, running)
        yield address
    finally:
        running.terminate()
        running.wait(HANGS)
        shutil.rmtree(folder)


def _wait(address: str, running: subprocess.Popen) -> None:
    until = time.monotonic() + HANGS
    while time.monotonic() < until:
        assert running.poll() is None, "the server ended"
        try:
            with psycopg.connect(address, connect_timeout=2):
                return
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise AssertionError("the server does not answer")


@pytest.fixture
def units(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    with psycopg.connect(server) as connection:
        connection.execute("drop table if exists units")
        connection.execute("create table units (id text, nace integer, region text, turnover numeric(12, 2))")
        with connection.cursor() as cursor:
            cursor.executemany("insert into units values (%s, %s, %s, %s)", FRAME.rows())
    monkeypatch.setenv("SDCDSL_POSTGRES_STATISTICS", server)
    return server


def test_postgres_gives_the_cells_of_the_file(units: str, tmp_path: Path):
    by_file = cells(write(tmp_path, "csv"), tmp_path)
    for origin in (f'query "{QUERY}"', f'query "{QUERY};"', 'table "units"', 'table "public.units"'):
        assert cells(f'postgres "statistics" {{ {origin} }}', tmp_path) == by_file


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("select * from unit", 'relation "unit" does not exist'),
        ("select nace from units", "no column `id` in the query on the connection"),
        ("delete from units", "fails"),
        ("delete from units returning *", "fails"),
        ("with gone as (delete from units returning *) select * from gone", "fails"),
        ("select 1; select 2", "cannot insert multiple commands"),
        ("select 1) to program 'touch /tmp/hacked'; --", "fails"),
        ("select 1) to '/tmp/out.csv' --", "fails"),
        ("select * from units /*", "unterminated /* comment"),
        ("select id, nace, region, 1 / (nace - 4711) as turnover from units", "= …"),
        ("select id, nace, region, region::integer as turnover from units", "= …"),
        ("select nextval('x') from units", "fails"),
    ],
)
def test_a_query_on_postgres_reads_and_does_nothing_else(query: str, what: str, units: str, tmp_path: Path):
    told = say(f'postgres "statistics" {{ query "{query}" }}', tmp_path)
    assert what in told and "Øst" not in told and units not in told, told
    with psycopg.connect(units) as connection:
        assert connection.execute("select count(*) from units").fetchone() == (6,)


def test_a_comment_at_the_end_changes_nothing(units: str, tmp_path: Path):
    assert cells(f'postgres "statistics" {{ query "{QUERY} -- all of them" }}', tmp_path)


def test_what_the_policy_does_not_say(units: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    told = say('postgres "other" { table "units" }', tmp_path)
    assert 'nothing says what the connection "other" is' in told
    monkeypatch.setenv("SDCDSL_POSTGRES_OTHER", "postgresql://somebody:verysecret@127.0.0.1:1/x")
    told = say('postgres "other" { table "units" }', tmp_path)
    assert "cannot be made: OperationalError" in told and "verysecret" not in told and "somebody" not in told
    monkeypatch.setenv("SDCDSL_POSTGRES_OTHER", "host='x verysecret")
    assert "verysecret" not in say('postgres "other" { table "units" }', tmp_path)


def test_the_lock_names_the_connection_and_no_address(units: str, tmp_path: Path):
    policy = tmp_path / "p.sdc"
    text = SUM.format(origin=f'postgres "statistics" {{ query "{QUERY}" }}')
    policy.write_text(text.replace("method suppression", 'method suppression; release csv "out.csv"'))
    sdcdsl.load(policy).protect().release()
    lock = (tmp_path / "p.sdc.lock").read_text()
    assert 'origin = "postgres statistics"' in lock and "127.0.0.1" not in lock and "tester" not in lock
    with_duckdb = cells(write(tmp_path, "csv"), tmp_path)
    assert cells('postgres "statistics" { table "units" }', tmp_path) == with_duckdb

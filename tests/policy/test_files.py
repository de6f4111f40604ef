"""Reading files: `use`, and everything a file can be that is not a policy."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from sdcdsl.diagnostics import Span
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy import files
from sdcdsl.policy.files import LARGEST_FILE, load
from sdcdsl.policy.read import read_policy
from sdcdsl.policy.resolve import Policy
from tests.policy.reading import TINY

HOUSE = """sdc 1
sensitive where value = 0
dimension region {
  codes A, B
  total T
}
attacker external {
  bounds 0 .. inf
}
scenario careless {
  against external
  upl 5 where region = A
}
"""


def found(path: Path, **options) -> list[str]:
    return [d.code for d in read_policy(path, **options)[1]]


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# ---- what is no policy -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (bytes(range(256)) * 40, "SDC003"),
        (b"\x7fELF\x02\x01\x01" + b"\x00" * 1000, "SDC004"),
        (b"sdc 1\nseed \x00 1\n", "SDC004"),
        (b'sdc 1\npolicy "caf\xe9"\n', "SDC003"),
        ("sdc 1\n".encode("utf-16"), "SDC003"),
        (b"sdc 1\n" + b"# filler\n" * 6_000_000, "SDC002"),
        (b"", "SDC005"),
    ],
)
def test_one_diagnostic_for_what_is_no_policy(tmp_path: Path, data: bytes, code: str):
    assert found(write(tmp_path, "x.sdc", data)) == [code]


def test_ten_thousand_parentheses(tmp_path: Path):
    text = "sdc 1\nrequire " + "(" * 10_000 + "1" + ")" * 10_000 + ' > 0 because "x"\n'
    assert found(write(tmp_path, "x.sdc", text)) == ["SDC007"]


def test_missing_files_folders_and_pipes(tmp_path: Path):
    assert found(tmp_path / "nothing.sdc") == ["SDC001"]
    assert found(tmp_path) == ["SDC001"]
    pipe = tmp_path / "pipe.sdc"
    os.mkfifo(pipe)  # opening it would wait for ever
    assert found(pipe) == ["SDC001"]


@pytest.mark.long
def test_the_largest_file_is_read(tmp_path: Path):
    text = "sdc 1\n" + "# filler\n" * ((LARGEST_FILE - 6) // 9)
    assert len(text) <= LARGEST_FILE
    assert found(write(tmp_path, "x.sdc", text)) == []


@pytest.mark.parametrize("dress", [lambda b: b"\xef\xbb\xbf" + b, lambda b: b.replace(b"\n", b"\r\n")])
def test_byte_order_marks_and_windows_lines_change_nothing(tmp_path: Path, dress):
    plain, dressed = write(tmp_path, "a.sdc", TINY), write(tmp_path, "b.sdc", dress(TINY.encode()))
    assert read_policy(plain)[1] == read_policy(dressed)[1] == []
    assert read_policy(plain)[0] == read_policy(dressed)[0]


# ---- use -----------------------------------------------------------------------------------------


def test_names_of_used_files_are_qualified_inside_and_out(tmp_path: Path):
    write(tmp_path, "rules/house.sdc", HOUSE)
    main = change = TINY.replace("against external", "scenarios office.careless")
    main = change.replace("sdc 1\n", 'sdc 1\nuse "rules/house.sdc" as office\n')
    policy, wrong = read_policy(write(tmp_path, "main.sdc", main))
    assert [d.code for d in wrong] == []
    assert list(policy.scenarios) == ["office.careless"]
    (against, level) = policy.scenarios["office.careless"].statements
    assert isinstance(against, d.Against) and against.attackers == ("office.external",)
    assert isinstance(level, d.Level) and isinstance(level.where, x.Compare) and level.span is not None
    assert isinstance(level.where.left, x.Name) and level.where.left.name == "office.region"
    assert level.span.source.name.endswith("rules/house.sdc")


def cells_of(policy: Policy) -> list[d.Cells]:
    """Whatever the facts are about, but for requirements and waivers of no cells."""
    cells = (None if isinstance(fact, d.Require) else fact.cells for fact in policy.facts)
    return [one for one in cells if one is not None]


def test_facts_accumulate_and_come_first_from_used_files(tmp_path: Path):
    write(tmp_path, "house.sdc", HOUSE)
    main = TINY.replace("sdc 1\n", 'sdc 1\nuse "house.sdc" as office\n')
    policy, _ = read_policy(write(tmp_path, "main.sdc", main))
    assert ["where" if cells.where else "at" for cells in cells_of(policy)] == ["where", "at"]


def test_a_file_used_twice_counts_its_facts_once(tmp_path: Path):
    write(tmp_path, "house.sdc", HOUSE)
    main = TINY.replace("sdc 1\n", 'sdc 1\nuse "house.sdc" as a\nuse "house.sdc" as b\n')
    policy, wrong = read_policy(write(tmp_path, "main.sdc", main))
    assert not wrong
    assert sum(cells.where is not None for cells in cells_of(policy)) == 1
    assert {"a.external", "b.external"} <= set(policy.attackers)


def test_override_appends(tmp_path: Path):
    write(tmp_path, "house.sdc", HOUSE)
    more = "override attacker office.external {\n  bounds 1 .. 100 where value > 50\n}\n"
    main = TINY.replace("sdc 1\n", 'sdc 1\nuse "house.sdc" as office\n') + more
    policy, wrong = read_policy(write(tmp_path, "main.sdc", main))
    assert not wrong
    assert len(policy.attackers["office.external"].statements) == 2
    assert [o.name for o in policy.overrides] == ["office.external"]


def test_circles(tmp_path: Path):
    write(tmp_path, "a.sdc", 'sdc 1\nuse "b.sdc"\n')
    write(tmp_path, "b.sdc", 'sdc 1\nuse "c.sdc"\n')
    write(tmp_path, "c.sdc", 'sdc 1\nuse "a.sdc"\n')
    files, wrong = load(tmp_path / "a.sdc")
    assert [d.code for d in wrong] == ["SDC051"]
    assert wrong[0].notes == ("a.sdc → b.sdc → c.sdc → a.sdc",)
    assert [f.path.name for f in files] == ["c.sdc", "b.sdc", "a.sdc"]
    write(tmp_path, "self.sdc", 'sdc 1\nuse "self.sdc"\n')
    assert found(tmp_path / "self.sdc") == ["SDC051"]


def test_missing_used_files_suggest_their_neighbours(tmp_path: Path):
    write(tmp_path, "house.sdc", HOUSE)
    _, wrong = read_policy(write(tmp_path, "main.sdc", 'sdc 1\nuse "hosue.sdc"\n'))
    assert [d.code for d in wrong] == ["SDC050"]
    assert wrong[0].marks[0].label == "did you mean `house.sdc`?"


@pytest.mark.parametrize("path", ["../outside.sdc", "../../etc/passwd", "/etc/passwd", "sub/../../outside.sdc"])
def test_nothing_outside_the_folder_is_read(tmp_path: Path, path: str):
    write(tmp_path, "outside.sdc", HOUSE)
    inner = tmp_path / "inner"
    inner.mkdir()
    assert found(write(inner, "main.sdc", f'sdc 1\nuse "{path}"\n')) == ["SDC052"]


def test_a_link_out_of_the_folder_is_seen_through(tmp_path: Path):
    write(tmp_path, "outside.sdc", HOUSE)
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "link.sdc").symlink_to(tmp_path / "outside.sdc")
    main = write(inner, "main.sdc", 'sdc 1\nuse "link.sdc" as office\n')
    _, wrong = read_policy(main)
    assert [d.code for d in wrong] == ["SDC052"]
    assert "through a link" in wrong[0].headline
    assert found(main, allow_outside=True) == []


def test_a_long_chain_of_files_ends(tmp_path: Path):
    for i in range(40):
        write(tmp_path, f"f{i}.sdc", f'sdc 1\nuse "f{i + 1}.sdc"\n')
    write(tmp_path, "f40.sdc", "sdc 1\n")
    assert found(tmp_path / "f0.sdc") == ["SDC053"]


def doubling(folder: Path, levels: int, last: str = "sdc 1\n") -> Path:
    """Every file uses the next one twice: 2 ** levels files at the end."""
    for i in range(levels):
        write(folder, f"f{i}.sdc", f'sdc 1\nuse "f{i + 1}.sdc" as a\nuse "f{i + 1}.sdc" as b\n')
    write(folder, f"f{levels}.sdc", last)
    return folder / "f0.sdc"


@pytest.mark.parametrize("levels", [9, 15])
def test_files_that_double_with_every_level_end_at_a_limit(tmp_path: Path, levels: int):
    policy, wrong = read_policy(doubling(tmp_path, levels))
    assert [d.code for d in wrong] == ["SDC054"]  # once, and nothing is called unknown that was not read
    assert len(policy.files) <= files.MOST_USES + 1


def test_files_under_many_names_below_the_limit(tmp_path: Path):
    house = "sdc 1\nattacker x {\n  bounds 0 .. inf\n}\nsensitive by threshold(3)\n"
    policy, wrong = read_policy(doubling(tmp_path, 4, house))
    assert [d.code for d in wrong] == []
    assert len(policy.files) == 31
    assert sorted(policy.attackers) == sorted(".".join(p) + ".x" for p in itertools.product("ab", repeat=4))
    assert len(policy.facts) == 1  # the rule is the same under each name


def test_a_file_under_many_names_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    read: list[str] = []
    parse = files.parse
    monkeypatch.setattr(files, "parse", lambda source: (read.append(source.name), parse(source))[1])
    read_policy(doubling(tmp_path, 5))
    assert len(read) == 6


def test_uses_that_fail_count_too(tmp_path: Path):
    lines = "".join(f'use "nowhere.sdc" as a{i}\n' for i in range(files.MOST_USES + 100))
    _, wrong = read_policy(write(tmp_path, "main.sdc", "sdc 1\n" + lines))
    assert sum(d.code == "SDC050" for d in wrong) == files.MOST_USES
    assert sum(d.code == "SDC054" for d in wrong) == 1


def test_a_large_file_under_many_names(tmp_path: Path):
    write(tmp_path, "large.sdc", "sdc 1\n" + "# much to say\n" * 100_000)
    lines = "".join(f'use "large.sdc" as a{i}\n' for i in range(20))
    _, wrong = read_policy(write(tmp_path, "main.sdc", "sdc 1\n" + lines))
    assert [d.code for d in wrong] == ["SDC054"]
    assert "16 MB" in wrong[0].headline


def test_mistakes_in_used_files_are_reported_there(tmp_path: Path):
    write(tmp_path, "house.sdc", "sdc 1\nattaker x {\n  bounds 0 .. 1\n}\n")
    _, wrong = read_policy(write(tmp_path, "main.sdc", 'sdc 1\nuse "house.sdc"\n'))
    assert [d.code for d in wrong] == ["SDC011"]
    place = wrong[0].place
    assert isinstance(place, Span) and place.source.name.endswith("house.sdc")


def test_two_files_that_declare_one_name(tmp_path: Path):
    write(tmp_path, "house.sdc", HOUSE)
    main = TINY.replace("sdc 1\n", 'sdc 1\nuse "house.sdc"\n')
    _, wrong = read_policy(write(tmp_path, "main.sdc", main))
    assert {d.code for d in wrong} == {"SDC100"}
    assert len(wrong) == 2  # the dimension and the attacker


def test_names_of_a_file_that_cannot_be_read_are_not_called_unknown(tmp_path: Path):
    main = TINY.replace("sdc 1\n", 'sdc 1\nuse "hous.sdc" as office\n').replace("against external", "against office.e")
    main += "override attacker office.e {\n  bounds 1 .. inf\n}\n"
    assert found(write(tmp_path, "main.sdc", main)) == ["SDC050"]
    # Other names are still looked up.
    assert found(write(tmp_path, "main.sdc", main.replace("against office.e", "against offic.e"))) == [
        "SDC050",
        "SDC103",
    ]

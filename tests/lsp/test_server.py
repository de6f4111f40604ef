"""The language server as editors see it: a process that speaks the protocol."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from sdcdsl.editing.opened import open_text
from tests.editing.texts import HOUSE, POLICY
from tests.lsp.client import Client, Failed

pytest.importorskip("pygls", reason="the language server needs the extra `lsp`")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("policies")
    (folder / "house.sdc").write_text(HOUSE, encoding="utf-8")
    (folder / "nace.hrc").write_text("A\n@A1\n@A2\nB\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Client]:
    with Client(folder) as client:
        yield client


def whole(text: str) -> list[dict]:
    return [{"text": text}]


def test_mistakes_are_published_and_go_when_they_are_put_right(client: Client) -> None:
    wrong = POLICY.replace("against office.external", "against office.externl")
    found = client.open("main.sdc", wrong)
    assert [d["severity"] for d in found] == [1]
    place = found[0]["range"]["start"]
    assert wrong.splitlines()[place["line"]][place["character"] :].startswith("office.externl")
    assert "did you mean" in found[0]["message"]
    after = client.change("main.sdc", whole(POLICY), 2)
    assert all(d["severity"] == 2 for d in after)


def test_a_change_of_a_used_file_is_seen_by_the_policy_that_uses_it(client: Client) -> None:
    client.open("users.sdc", POLICY)
    client.open("house.sdc", HOUSE)
    seen = len(client.published[client.uri("users.sdc")])
    client.change("house.sdc", whole(HOUSE.replace("external", "outsider")), 2)
    while len(client.published[client.uri("users.sdc")]) == seen:
        client._next()
    found = client.published[client.uri("users.sdc")][-1]["diagnostics"]
    assert any("office.external" in d["message"] for d in found)
    client.change("house.sdc", whole(HOUSE), 3)


def test_hover_definition_and_references(client: Client) -> None:
    client.open("look.sdc", POLICY)
    assert (
        "one contributor"
        in client.ask("textDocument/hover", client.at("look.sdc", POLICY, "p_percent"))["contents"]["value"]
    )
    place = client.ask("textDocument/definition", client.at("look.sdc", POLICY, "office.external", 9))
    assert place["uri"] == client.uri("house.sdc") and place["range"]["start"] == {"line": 3, "character": 9}
    file = client.ask("textDocument/definition", client.at("look.sdc", POLICY, '"house.sdc"', 3))
    assert file["uri"] == client.uri("house.sdc")
    asked = client.at("look.sdc", POLICY, "by region", 4)
    places = client.ask("textDocument/references", asked | {"context": {"includeDeclaration": True}})
    others = client.ask("textDocument/references", asked | {"context": {"includeDeclaration": False}})
    assert len(places) == len(others) + 1 == POLICY.count("region") - POLICY.count("regions")


def test_completion_replaces_the_word_that_was_begun(client: Client) -> None:
    text = POLICY.replace("against office.external", "against office.ext")
    client.open("begun.sdc", text)
    asked = client.at("begun.sdc", text, "office.ext", len("office.ext"))
    (item,) = [i for i in client.ask("textDocument/completion", asked) if i["label"] == "office.external"]
    edit = item["textEdit"]
    assert edit["range"]["end"] == asked["position"]
    assert edit["range"]["end"]["character"] - edit["range"]["start"]["character"] == len("office.ext")


def test_codes_of_a_hierarchy_file_are_offered(client: Client) -> None:
    text = 'sdc 1\n\ndimension nace {\n  hierarchy hrc "nace.hrc"\n  total Total\n}\n\nsuppress where nace = B\n'
    client.open("codes.sdc", text)
    items = client.ask("textDocument/completion", client.at("codes.sdc", text, "= B", 2))
    assert {"A", "A1", "A2", "B", "Total"} <= {i["label"] for i in items}


def test_rename_edits_all_files_and_says_why_not(client: Client) -> None:
    client.open("rename.sdc", POLICY)
    asked = client.at("rename.sdc", POLICY, "office.external", 9)
    assert client.ask("textDocument/prepareRename", asked)["start"]["character"] == len("  against office.")
    edit = client.ask("textDocument/rename", asked | {"newName": "outsider"})
    assert {uri.rsplit("/", 1)[1]: len(edits) for uri, edits in edit["changes"].items()} == {
        "house.sdc": 2,
        "rename.sdc": 1,
    }
    with pytest.raises(Failed, match="reserved"):
        client.ask("textDocument/rename", asked | {"newName": "where"})
    with pytest.raises(Failed, match="no name"):
        client.ask("textDocument/prepareRename", client.at("rename.sdc", POLICY, "policy"))


def test_formatting_is_that_of_fmt_and_leaves_what_cannot_be_read(client: Client) -> None:
    client.open("loose.sdc", POLICY.replace("  by region", "      by   region"))
    document = {"textDocument": {"uri": client.uri("loose.sdc")}, "options": {"tabSize": 8, "insertSpaces": False}}
    (edit,) = client.ask("textDocument/formatting", document)
    client.change("loose.sdc", whole(edit["newText"]), 2)
    assert "\n  by region\n" in edit["newText"]
    assert client.ask("textDocument/formatting", document) == []
    client.change("loose.sdc", whole(POLICY.replace("by region", "by by")), 3)
    assert client.ask("textDocument/formatting", document) == []


def test_replacements_are_offered_where_the_mistake_is(client: Client) -> None:
    text = POLICY.replace("value > 3", "value ≥ 3")
    found = client.open("fix.sdc", text)
    asked = {
        "textDocument": {"uri": client.uri("fix.sdc")},
        "range": found[0]["range"],
        "context": {"diagnostics": found},
    }
    one, everything = client.ask("textDocument/codeAction", asked)
    (edit,) = one["edit"]["changes"][client.uri("fix.sdc")]
    assert edit["newText"] == ">=" and everything["kind"] == "source.fixAll"
    (edit,) = everything["edit"]["changes"][client.uri("fix.sdc")]
    assert edit["newText"] == POLICY.replace("value > 3", "value >= 3")
    elsewhere = asked | {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}}
    assert [a["kind"] for a in client.ask("textDocument/codeAction", elsewhere)] == ["source.fixAll"]


def test_outline_colours_and_hints(client: Client) -> None:
    client.open("all.sdc", POLICY)
    document = {"textDocument": {"uri": client.uri("all.sdc")}}
    names = [s["name"] for s in client.ask("textDocument/documentSymbol", document)]
    assert names[:2] == ["office", "region"]
    data = client.ask("textDocument/semanticTokens/full", document)["data"]
    legend = client.capabilities["semanticTokensProvider"]["legend"]["tokenTypes"]
    words: dict[str, str] = {}
    line, column = 0, 0
    for at in range(0, len(data), 5):
        line, column = line + data[at], data[at + 1] + (column if data[at] == 0 else 0)
        words[POLICY.splitlines()[line][column : column + data[at + 2]]] = legend[data[at + 3]]
    assert words["region"] == "type" and words["csp"] == "function" and words["protect"] == "keyword"
    everywhere = {"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}}
    labels = [h["label"] for h in client.ask("textDocument/inlayHint", document | {"range": everywhere})]
    assert labels[0] == "p:" and "lpl 20% of value" in labels[1]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_positions_count_in_the_units_that_were_agreed_on(folder: Path, encoding: str) -> None:
    text = 'sdc 1\n\npolicy "𝛑 é"; seed x\n'
    with Client(folder, (encoding,)) as client:
        assert client.capabilities["positionEncoding"] == encoding
        (found,) = [d for d in client.open("units.sdc", text) if d["severity"] == 1]
    before = 'policy "𝛑 é"; seed '
    expected = (
        len(before.encode(encoding + ("-le" if encoding != "utf-8" else "")))
        // {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    )
    assert found["range"]["start"] == {"line": 2, "character": expected}


def test_a_text_changed_piece_by_piece_is_the_text_of_the_editor(client: Client) -> None:
    """Random edits, half of them senseless; in the end the mistakes are those of the whole text."""
    random_ = random.Random(7)
    text: str = POLICY
    lines: list[str] = text.splitlines(keepends=True)
    found = client.open("typed.sdc", text)
    for version in range(2, 22):
        line = random_.randrange(len(lines))
        column = random_.randrange(len(lines[line]))
        word = random_.choice(["x", "}", "{", "where ", "10%", "\n", '"', ""])
        end = min(column + random_.randrange(3), len(lines[line]) - 1)
        span = {"start": {"line": line, "character": column}, "end": {"line": line, "character": max(end, column)}}
        lines[line] = lines[line][:column] + word + lines[line][max(end, column) :]
        text = "".join(lines)
        lines = text.splitlines(keepends=True)
        found = client.change("typed.sdc", [{"range": span, "text": word}], version)
    expected = open_text(text, Path(client.folder / "typed.sdc")).mistakes
    assert sorted(d["code"] for d in found if d["severity"] == 1) == sorted(d.code for d in expected)

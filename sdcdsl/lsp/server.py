"""The server: messages of an editor in, answers out, on standard input and output."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from sdcdsl.diagnostics import Diagnostic, Fix, Severity, Source, Span
from sdcdsl.diagnostics.diagnostic import public
from sdcdsl.editing.colouring import KINDS, coloured
from sdcdsl.editing.completion import complete
from sdcdsl.editing.fixing import fixed
from sdcdsl.editing.hints import hints
from sdcdsl.editing.hover import hover
from sdcdsl.editing.names import Names
from sdcdsl.editing.opened import Opened
from sdcdsl.editing.renaming import Refused, rename, renameable
from sdcdsl.editing.symbols import Symbol, outline
from sdcdsl.lsp.codes import codes_at_hand
from sdcdsl.lsp.places import Places
from sdcdsl.lsp.workspace import OpenPolicies
from sdcdsl.syntax.formatter import format_text
from sdcdsl.syntax.parser import parse
from sdcdsl.version import __version__

QUIET = 0.05  # seconds without another keystroke before a text is checked

_TOKEN_TYPES = list(dict.fromkeys(KINDS.values()))
_SYMBOLS = {
    "dimension": lsp.SymbolKind.Enum,
    "data": lsp.SymbolKind.Struct,
    "table": lsp.SymbolKind.Class,
    "attacker": lsp.SymbolKind.Interface,
    "scenario": lsp.SymbolKind.Interface,
    "protect": lsp.SymbolKind.Method,
    "param": lsp.SymbolKind.Constant,
    "file": lsp.SymbolKind.File,
    "fact": lsp.SymbolKind.Event,
    "statement": lsp.SymbolKind.Property,
}
_ITEMS = {
    "keyword": lsp.CompletionItemKind.Keyword,
    "rule": lsp.CompletionItemKind.Function,
    "method": lsp.CompletionItemKind.Method,
    "option": lsp.CompletionItemKind.Property,
    "format": lsp.CompletionItemKind.File,
    "quantity": lsp.CompletionItemKind.Variable,
    "function": lsp.CompletionItemKind.Function,
    "code": lsp.CompletionItemKind.EnumMember,
    "dimension": lsp.CompletionItemKind.Enum,
    "data": lsp.CompletionItemKind.Struct,
    "table": lsp.CompletionItemKind.Class,
    "attacker": lsp.CompletionItemKind.Interface,
    "scenario": lsp.CompletionItemKind.Interface,
    "protect": lsp.CompletionItemKind.Method,
    "param": lsp.CompletionItemKind.Constant,
}


class AtAPlace(Protocol):
    """Parameters of a question about a place in a text."""

    @property
    def text_document(self) -> lsp.TextDocumentIdentifier: ...
    @property
    def position(self) -> lsp.Position: ...


class Server(LanguageServer):
    def __init__(self) -> None:
        super().__init__("sdcdsl", __version__)
        self.open = OpenPolicies()
        self.pending: dict[str, asyncio.Task[None]] = {}

    @property
    def places(self) -> Places:
        return Places(self.workspace.position_encoding or lsp.PositionEncodingKind.Utf16)

    def read(self, uri: str) -> None:
        """The text as the editor has it."""
        document = self.workspace.get_text_document(uri)
        path = to_fs_path(uri)
        self.open.put(uri, Path(path) if path else Path.cwd() / "untitled.sdc", document.source, document.version or 0)

    def publish(self, uri: str) -> None:
        if uri not in self.open:
            return
        opened = self.open.get(uri)
        found = [self._diagnostic(d, opened) for d in opened.diagnostics(datetime.date.today())]
        params = lsp.PublishDiagnosticsParams(uri, found, self.open.version(uri))
        self.text_document_publish_diagnostics(params)

    def _diagnostic(self, d: Diagnostic, opened: Opened) -> lsp.Diagnostic:
        d, places = public(d), self.places
        first, *more = d.marks or (None,)
        label = first.label if first is not None else ""
        text = "\n".join(filter(None, [d.headline, label, *d.notes, d.help and f"help: {d.help}"]))
        related = [
            lsp.DiagnosticRelatedInformation(self.location(mark.place), mark.label or "see here")
            for mark in more
            if mark is not None and isinstance(mark.place, Span)
        ]
        return lsp.Diagnostic(
            places.of_place(first.place if first is not None else None, opened.source),
            text,
            severity=lsp.DiagnosticSeverity.Error if d.severity is Severity.ERROR else lsp.DiagnosticSeverity.Warning,
            code=d.code,
            source="sdcdsl",
            related_information=related or None,
        )

    def location(self, span: Span) -> lsp.Location:
        return lsp.Location(self.uri(span.source), self.places.range(span))

    def uri(self, source: Source) -> str:
        """The address of a file: as the editor wrote it, if it is open."""
        real = Path(source.name).resolve()
        for uri in self.open.uris:
            if Path(to_fs_path(uri) or "").resolve() == real:
                return uri
        return from_fs_path(str(real)) or source.name

    def here(self, at: AtAPlace) -> tuple[Opened, int]:
        opened = self.opened(at.text_document.uri)
        return opened, self.places.offset(opened.source, at.position)

    def opened(self, uri: str) -> Opened:
        if uri not in self.open:
            self.read(uri)
        return self.open.get(uri)

    def edits(self, spans: Iterable[Span], text: str) -> dict[str, list[lsp.TextEdit]]:
        out: dict[str, list[lsp.TextEdit]] = {}
        for span in spans:
            out.setdefault(self.uri(span.source), []).append(lsp.TextEdit(self.places.range(span), text))
        return out


def make_server() -> Server:
    server = Server()
    _synchronise(server)
    _look(server)
    _change(server)
    return server


# ---- texts ---------------------------------------------------------------------------------------------


def _synchronise(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def _(params: lsp.DidOpenTextDocumentParams) -> None:
        server.read(params.text_document.uri)
        server.publish(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def _(params: lsp.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.read(uri)
        before = server.pending.pop(uri, None)
        if before is not None:
            before.cancel()
        server.pending[uri] = asyncio.create_task(_after_a_pause(server, uri))

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def _(params: lsp.DidSaveTextDocumentParams) -> None:
        server.read(params.text_document.uri)
        server.publish(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def _(params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.open.close(uri)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))


async def _after_a_pause(server: Server, uri: str) -> None:
    await asyncio.sleep(QUIET)
    server.pending.pop(uri, None)
    server.publish(uri)
    path = to_fs_path(uri)
    for other in server.open.using(Path(path)) if path else ():
        server.publish(other)


# ---- looking -------------------------------------------------------------------------------------------


def _look(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def _(params: lsp.HoverParams) -> lsp.Hover | None:
        found = hover(*server.here(params))
        if found is None:
            return None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, found.markdown), server.places.range(found.span))

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def _(params: lsp.DefinitionParams) -> lsp.Location | None:
        opened, offset = server.here(params)
        used = _used_file(opened, offset)
        if used is not None:
            return lsp.Location(from_fs_path(str(used)) or "", lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0)))
        names = Names(opened.policy)
        found = names.at(opened.parsed, offset)
        place = names.declaration(found[1]) if found is not None else None
        return None if place is None else server.location(place)

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def _(params: lsp.ReferenceParams) -> list[lsp.Location]:
        opened, offset = server.here(params)
        names = Names(opened.policy)
        found = names.at(opened.parsed, offset)
        if found is None:
            return []
        there = names.declaration(found[1])
        spans = names.uses(found[1])
        return [server.location(s) for s in spans if params.context.include_declaration or s != there]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def _(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        opened = server.opened(params.text_document.uri)
        return [_symbol(s, server.places) for s in outline(opened.file.document)]

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[" ", "(", ":", ",", "."]))
    def _(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        opened, offset = server.here(params)
        start, proposals = complete(opened, offset, codes_at_hand(opened))
        where = server.places.range(Span(opened.source, start, offset))
        return [
            lsp.CompletionItem(
                p.text,
                kind=_ITEMS[p.kind],
                detail=p.detail or None,
                documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, p.documentation) if p.documentation else None,
                sort_text=f"{at:04}",
                text_edit=lsp.TextEdit(where, p.text),
            )
            for at, p in enumerate(proposals)
        ]

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, lsp.SemanticTokensLegend(_TOKEN_TYPES, ["declaration"]))
    def _(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        return lsp.SemanticTokens(_encoded(server.opened(params.text_document.uri), server.places))

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def _(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        opened, places = server.opened(params.text_document.uri), server.places
        low, high = (places.offset(opened.source, p) for p in (params.range.start, params.range.end))
        return [
            lsp.InlayHint(
                places.position(opened.source, hint.offset),
                hint.text,
                kind=lsp.InlayHintKind.Parameter if hint.argument else lsp.InlayHintKind.Type,
                padding_left=not hint.argument,
                padding_right=hint.argument,
            )
            for hint in hints(opened)
            if low <= hint.offset <= high
        ]


def _used_file(opened: Opened, offset: int) -> Path | None:
    """The file that a `use` line under the cursor names."""
    for node in opened.parsed.tree.nodes("use"):
        text = node.token("STRING")
        if text is not None and text.start <= offset <= text.end:
            target = (opened.path.parent / text.text.strip('"')).resolve()
            return target if target.is_file() else None
    return None


def _symbol(symbol: Symbol, places: Places) -> lsp.DocumentSymbol:
    inside = [_symbol(s, places) for s in symbol.inside]
    ranges = places.range(symbol.span), places.range(symbol.heading)
    name = symbol.name or symbol.detail or symbol.kind
    return lsp.DocumentSymbol(name, _SYMBOLS[symbol.kind], *ranges, detail=symbol.detail or None, children=inside)


def _encoded(opened: Opened, places: Places) -> list[int]:
    """Five numbers a word: lines and units since the last one, length, type, modifiers. None spans lines."""
    data: list[int] = []
    line, unit = 0, 0
    for word in coloured(opened):
        start, end = (places.position(opened.source, at) for at in (word.start, word.end))
        if start.line != end.line:
            continue
        since = start.character - (unit if start.line == line else 0)
        kind = _TOKEN_TYPES.index(KINDS[word.kind])
        data += [start.line - line, since, end.character - start.character, kind, int(word.declares)]
        line, unit = start.line, start.character
    return data


# ---- changing ------------------------------------------------------------------------------------------


def _change(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def _(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        opened = server.opened(params.text_document.uri)
        parsed, wrong = parse(opened.source)
        if wrong:
            return []  # a text with syntax errors is left as it is, as by `sdcdsl fmt`
        return _whole(opened.source, format_text(parsed), server.places)

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def _(params: lsp.PrepareRenameParams) -> lsp.Range:
        try:
            return server.places.range(renameable(*server.here(params)))
        except Refused as why:
            raise JsonRpcInvalidParams(str(why)) from None

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def _(params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        try:
            spans = rename(*server.here(params), params.new_name)
        except Refused as why:
            raise JsonRpcInvalidParams(str(why)) from None
        return lsp.WorkspaceEdit(changes=server.edits(spans, params.new_name))

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.SourceFixAll]),
    )
    def _(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        return _actions(server, params)


def _whole(source: Source, text: str, places: Places) -> list[lsp.TextEdit]:
    if text == source.text:
        return []
    return [lsp.TextEdit(places.range(Span(source, 0, len(source.text))), text)]


def _actions(server: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    uri, places = params.text_document.uri, server.places
    opened = server.opened(uri)
    found = opened.diagnostics(datetime.date.today())
    low, high = (places.offset(opened.source, p) for p in (params.range.start, params.range.end))
    actions = [
        _action(_title(d, fix), lsp.CodeActionKind.QuickFix, uri, [lsp.TextEdit(places.range(fix.span), fix.text)])
        for d in found
        if (fix := d.fix) is not None and fix.span.source is opened.source and _touches(d, fix, low, high)
    ]
    text = fixed(opened.source, found)
    if text != opened.source.text:
        edits = _whole(opened.source, text, places)
        actions.append(_action("Apply all replacements", lsp.CodeActionKind.SourceFixAll, uri, edits))
    only = params.context.only
    return [a for a in actions if only is None or any(_within(a.kind, kind) for kind in only)]


def _within(kind: str | None, expected: str) -> bool:
    return kind == expected or (kind or "").startswith(f"{expected}.")


def _touches(d: Diagnostic, fix: Fix, low: int, high: int) -> bool:
    spans = [fix.span, *(mark.place for mark in d.marks[:1] if isinstance(mark.place, Span))]
    return any(span.source is fix.span.source and span.start <= high and low <= span.end for span in spans)


def _title(d: Diagnostic, fix: Fix) -> str:
    text = fix.text.strip()
    return f"Write `{text}` ({d.code})" if text else f"Remove `{fix.span.text.strip()}` ({d.code})"


def _action(title: str, kind: lsp.CodeActionKind, uri: str, edits: list[lsp.TextEdit]) -> lsp.CodeAction:
    return lsp.CodeAction(title, kind=kind, edit=lsp.WorkspaceEdit(changes={uri: edits}))

"""A plain client of the Language Server Protocol: the server runs as editors run it, as a process on pipes."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

HANG = 120.0  # seconds after which a server that says nothing is taken for dead


class Failed(Exception):
    """An answer that is an error."""


class Client:
    def __init__(self, folder: Path, encodings: tuple[str, ...] = ()):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sdcdsl", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ,
            cwd=folder,
        )
        self.folder, self.number = folder, 0
        self.answers: dict[int, dict] = {}
        self.published: dict[str, list[dict]] = {}
        self._incoming: queue.Queue[dict | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        general = {"positionEncodings": list(encodings)} if encodings else {}
        capabilities = {"general": general, "textDocument": {"rename": {"prepareSupport": True}}}
        self.capabilities = self.ask(
            "initialize", {"processId": os.getpid(), "rootUri": folder.as_uri(), "capabilities": capabilities}
        )["capabilities"]
        self.tell("initialized", {})

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.process.communicate(timeout=HANG)

    # ---- the protocol ----------------------------------------------------------------------------------

    def _read(self) -> None:
        out = self.process.stdout
        assert out is not None
        while True:
            length = 0
            while (line := out.readline()).strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            if not length:
                self._incoming.put(None)
                return
            self._incoming.put(json.loads(out.read(length)))

    def _send(self, message: dict) -> None:
        body = json.dumps({"jsonrpc": "2.0"} | message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def _next(self) -> None:
        message = self._incoming.get(timeout=HANG)
        if message is None:
            assert self.process.stderr is not None
            raise AssertionError(f"the server ended: {self.process.stderr.read().decode()}")
        if "id" in message and "method" not in message:
            self.answers[message["id"]] = message
        elif message.get("method") == "textDocument/publishDiagnostics":
            self.published.setdefault(message["params"]["uri"], []).append(message["params"])

    def ask(self, method: str, params: Any) -> Any:
        self.number += 1
        self._send({"id": self.number, "method": method, "params": params})
        while self.number not in self.answers:
            self._next()
        answer = self.answers.pop(self.number)
        if "error" in answer:
            raise Failed(answer["error"]["message"])
        return answer["result"]

    def tell(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    # ---- texts -----------------------------------------------------------------------------------------

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str) -> list[dict]:
        uri = self.uri(name)
        document = {"uri": uri, "languageId": "sdc", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})
        return self.diagnostics(name, 1)

    def change(self, name: str, changes: list[dict], version: int) -> list[dict]:
        document = {"uri": self.uri(name), "version": version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": changes})
        return self.diagnostics(name, version)

    def diagnostics(self, name: str, version: int) -> list[dict]:
        """Those of this version, as soon as the server has published them."""
        uri = self.uri(name)
        while not any(p.get("version") == version for p in self.published.get(uri, [])):
            self._next()
        return [p for p in self.published[uri] if p.get("version") == version][-1]["diagnostics"]

    def at(self, name: str, text: str, word: str, more: int = 0) -> dict:
        """Parameters of a question about the place of a word."""
        before = text[: text.index(word) + more]
        line = before.count("\n")
        column = len(before[before.rfind("\n") + 1 :].encode("utf-16-le")) // 2
        return {"textDocument": {"uri": self.uri(name)}, "position": {"line": line, "character": column}}

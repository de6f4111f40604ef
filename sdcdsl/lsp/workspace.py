"""The policies that are open in an editor, each understood once for each of its versions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sdcdsl.editing.opened import Opened, open_text
from sdcdsl.policy.read import not_collecting


class OpenPolicies:
    def __init__(self) -> None:
        self._texts: dict[str, tuple[int, str]] = {}  # by address: version and text
        self._paths: dict[str, Path] = {}
        self._understood: dict[str, tuple[int, Opened]] = {}  # by address: the state of all texts, what came of it
        self._state = 0  # changes whenever any text does: files use each other

    def put(self, uri: str, path: Path, text: str, version: int) -> None:
        self._texts[uri], self._paths[uri] = (version, text), path
        self._state += 1

    def close(self, uri: str) -> None:
        for kept in (self._texts, self._paths, self._understood):
            kept.pop(uri, None)
        self._state += 1

    def __contains__(self, uri: str) -> bool:
        return uri in self._texts

    def version(self, uri: str) -> int:
        return self._texts[uri][0]

    def get(self, uri: str) -> Opened:
        state, opened = self._understood.get(uri, (-1, None))
        if opened is None or state != self._state:
            others = {p.resolve(): self._texts[u][1] for u, p in self._paths.items() if u != uri}
            with not_collecting():
                opened = open_text(self._texts[uri][1], self._paths[uri], others=others)
            self._understood[uri] = self._state, opened
        return opened

    @property
    def uris(self) -> list[str]:
        return list(self._texts)

    def using(self, path: Path) -> Iterable[str]:
        """Open policies that use a file."""
        real = path.resolve()
        for uri in list(self._texts):
            if any(file.path == real for file in self.get(uri).policy.files[:-1]):
                yield uri

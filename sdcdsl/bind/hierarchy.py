"""Codes and how they add up, for one dimension.

A *tree* says which codes sum to which. A dimension may carry several trees over the same leaves (a region belongs to
a county and to a type of municipality); together they give one consistent system.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sdcdsl.policy.labels import same_language


@dataclass(frozen=True, eq=False)
class CodeTree:
    """Nodes in preorder, root first: node i belongs to `parent[i]` with sign `sign[i]` (+1, or -1 for `A = B - C`)."""

    codes: tuple[str, ...]
    parent: np.ndarray  # int32; -1 for the root
    sign: np.ndarray  # int8
    name: str = ""

    @cached_property
    def level(self) -> np.ndarray:
        """1 for the root, 2 for its children, … (the language's `at level`)."""
        level = np.ones(len(self.codes), dtype=np.int32)
        for i, p in enumerate(self.parent):
            if p >= 0:
                level[i] = level[p] + 1
        return level

    @cached_property
    def is_leaf(self) -> np.ndarray:
        leaf = np.ones(len(self.codes), dtype=bool)
        leaf[self.parent[self.parent >= 0]] = False
        return leaf


@dataclass(frozen=True, eq=False)
class DimensionCodes:
    """All codes of a dimension, each once, and the trees over them; `trees[0]` gives `level` and `under` a meaning."""

    name: str
    codes: tuple[str, ...]
    trees: tuple[CodeTree, ...]
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])  # by language

    def language(self, asked: str | None = None) -> Mapping[str, str] | None:
        """The labels in a language; without one in that which the policy names first."""
        if asked is None:
            return next(iter(self.labels.values()), {})
        same = (words for known, words in self.labels.items() if same_language(known, asked))
        return next(same, None)

    def named(self, code: str) -> str:
        """`C (Manufacturing)`, for messages."""
        label = (self.language() or {}).get(code)
        return f"{code} ({label})" if label and label != code else code

    @cached_property
    def index(self) -> dict[str, int]:
        return {code: i for i, code in enumerate(self.codes)}

    @property
    def total(self) -> str:
        return self.trees[0].codes[0]

"""Runs the grammar's LALR tables: tokens in, nodes out. What to do about mistakes is the parser's business."""

from __future__ import annotations

from sdcdsl.syntax.grammar import ParserTables, Production
from sdcdsl.syntax.tree import Node, Token

END = "$END"
# Words that steer expressions are never names: a missing operand must not swallow the word behind it.
RESERVED = frozenset(
    {"if", "then", "otherwise", "and", "or", "not", "of", "in", "under", "at", "inf"}
    | {"where", "because", "until", "against", "else"}
)


class _Splice:
    """Children on their way into a parent's list. Nested, and flattened once: a long file stays linear."""

    __slots__ = ("depth", "end", "parts", "start")

    def __init__(self, parts: list[Node | Token | _Splice], start: int, end: int):
        self.parts = parts
        self.start = start
        self.end = end
        self.depth = 0


_Value = Node | Token | _Splice
Checkpoint = tuple[tuple[int, ...], tuple[_Value, ...]]


class Automaton:
    def __init__(self, tables: ParserTables):
        self.tables = tables
        self.states: list[int] = [tables.start]
        self.values: list[_Value] = []
        # A name climbs through a dozen levels of expressions that add nothing. Where such a climb ends depends on the
        # two states on top and the token ahead, so that it is made once.
        self.reductions: dict[tuple[int, int, str], int] = {}

    def checkpoint(self) -> Checkpoint:
        # Values are never changed once made, so that going back needs no deep copy.
        return tuple(self.states), tuple(self.values)

    def restore(self, checkpoint: Checkpoint) -> None:
        self.states, self.values = list(checkpoint[0]), list(checkpoint[1])

    def settle(self, token: Token) -> None:
        """A word is a keyword if it is reserved or the grammar has a place for it here; otherwise it is a name."""
        keyword = self.tables.keywords.get(token.text)
        if keyword is not None:
            here = keyword in self.tables.actions[self.states[-1]] or token.text in RESERVED
            token.type = keyword if here else "NAME"

    def feed(self, token: Token) -> bool:
        """Takes the token, or says False and stays as it was before the token."""
        actions, rules = self.tables.actions, self.tables.rules
        states, values, terminal = self.states, self.values, token.type
        action = actions[states[-1]].get(terminal, 0)
        before = (states[:], values[:]) if action < 0 else None
        while action < 0:
            rule = rules[-action - 1]
            if rule.passes:
                states[-1] = self._passing(states[-2], states[-1], terminal)
            else:
                size = len(rule.symbols)
                taken = values[-size:]
                del values[-size:], states[-size:]
                values.append(_build(rule, taken))
                states.append(actions[states[-1]][rule.origin] - 1)
            action = actions[states[-1]].get(terminal, 0)
        if action == 0:
            # LALR may reduce a few times before it notices a mistake: go back to the true place of it.
            if before is not None:
                self.states, self.values = before
            return False
        states.append(action - 1)
        values.append(token)
        return True

    def _passing(self, below: int, top: int, terminal: str) -> int:
        key = (below, top, terminal)
        end = self.reductions.get(key)
        if end is None:
            actions, rules, end = self.tables.actions, self.tables.rules, top
            while (action := actions[end].get(terminal, 0)) < 0 and rules[-action - 1].passes:
                end = actions[below][rules[-action - 1].origin] - 1
            self.reductions[key] = end
        return end

    def finish(self) -> Node | None:
        while self.states[-1] != self.tables.end:
            action = self.tables.actions[self.states[-1]].get(END, 0)
            if action >= 0:
                return None
            self._reduce(self.tables.rules[-action - 1])
        root = self.values[-1]
        return root if isinstance(root, Node) else None

    def accepts(self, terminal: str) -> bool:
        """Would this terminal be taken here? Plays the reductions on the states alone."""
        actions, rules = self.tables.actions, self.tables.rules
        states = list(self.states)
        while True:
            action = actions[states[-1]].get(terminal, 0)
            if action >= 0:
                return action > 0 or (terminal == END and states[-1] == self.tables.end)
            rule = rules[-action - 1]
            del states[len(states) - len(rule.symbols) :]
            states.append(actions[states[-1]][rule.origin] - 1)

    def accepted(self) -> frozenset[str]:
        row, terminals = self.tables.actions[self.states[-1]], self.tables.terminals
        return frozenset(t for t in row if t in terminals and self.accepts(t))

    def _reduce(self, rule: Production) -> None:
        size = len(rule.symbols)
        if rule.passes:
            self.states[-1:] = [self.tables.actions[self.states[-2]][rule.origin] - 1]
            return
        taken = self.values[-size:]
        del self.values[-size:], self.states[-size:]
        self.values.append(_build(rule, taken))
        self.states.append(self.tables.actions[self.states[-1]][rule.origin] - 1)


def _build(rule: Production, taken: list[_Value]) -> _Value:
    start, end = taken[0].start, taken[-1].end
    kept = [taken[i] for i in rule.kept] if rule.drops else taken
    if rule.splice:
        return _Splice(kept, start, end)
    children = _flat(kept)
    if rule.unwrap and len(children) == 1:
        return children[0]
    return Node(rule.kind, children, start, end)


def _flat(values: list[_Value]) -> list[Node | Token]:
    out: list[Node | Token] = []
    stack = values[::-1]
    while stack:
        value = stack.pop()
        if isinstance(value, _Splice):
            stack.extend(value.parts[::-1])
        else:
            out.append(value)
    return out

"""How low and how high can an attacker drive a cell? Sessions, engines, and surveys of many pairs."""

from sdcdsl.attack.session import CellRange, Session

__all__ = ["CellRange", "Session"]

"""How low and how high can an attacker drive a cell? Sessions, engines, and surveys of many pairs."""

from sdcdsl.attack.session import Range, Session

__all__ = ["Range", "Session"]

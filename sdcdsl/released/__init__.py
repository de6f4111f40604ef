"""Released tables, made by this or any other program, read back as what an attacker sees of them."""

from sdcdsl.released.from_jj import pattern_of_jj
from sdcdsl.released.read import read_release
from sdcdsl.released.statements import Layout, PublishedStatements
from sdcdsl.released.write import write_release_csv

__all__ = ["Layout", "PublishedStatements", "pattern_of_jj", "read_release", "write_release_csv"]

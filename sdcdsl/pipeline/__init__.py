"""From a policy to released files, every stage named once and in order:

    bind       policy and data become one table problem for each protect block
    search     the methods of the block's chain, until one gives a pattern
    audit      attackers look at the pattern with fresh eyes; nothing can skip this
    release    files are written beside their place and renamed into it, after every block was found protected

`prepare` does the first three and writes nothing; `release` does the last.
"""

from sdcdsl.outcome import End, Outcome, Prepared
from sdcdsl.pipeline.preparing import prepare
from sdcdsl.pipeline.releasing import Written, release
from sdcdsl.pipeline.request import Request, Watch

__all__ = ["End", "Outcome", "Prepared", "Request", "Watch", "Written", "prepare", "release"]

"""The exit code of every end that a run can come to."""

from __future__ import annotations

from sdcdsl.cli import exits
from sdcdsl.outcome import End

EXITS = {
    End.DONE: exits.DONE,
    End.WRONG_POLICY: exits.WRONG_POLICY,
    End.WRONG_DATA: exits.WRONG_DATA,
    End.INFEASIBLE: exits.INFEASIBLE,
    End.LIMIT: exits.LIMIT,
    End.STOPPED: exits.STOPPED,
    End.EXPOSED: exits.EXPOSED,
}

"""Who does the work: this process, threads, processes of this machine, or a cluster; all behind one interface.

A `Team` is a `concurrent.futures.Executor`. What it is given are functions of ours and arrays, and it answers with what
the functions return: whoever does the work, the result is the same. Nothing here knows tables or methods.

Between our own processes tasks travel pickled. That is no way in for a stranger's file: what is unpickled was pickled
by the process that started the worker, over a pipe that only the two have, or by a client of a cluster that the user
names.
"""

from sdcdsl.executing.choosing import ClusterRefused, cores, team_for
from sdcdsl.executing.ordered import Tally, in_order
from sdcdsl.executing.serial import SERIAL, Serial
from sdcdsl.executing.team import Channel, ClusterLost, SharedValue, Stopped, Team, WorkerLost
from sdcdsl.executing.threads import Threads

__all__ = [
    "SERIAL",
    "Channel",
    "ClusterLost",
    "ClusterRefused",
    "Serial",
    "SharedValue",
    "Stopped",
    "Tally",
    "Team",
    "Threads",
    "WorkerLost",
    "cores",
    "in_order",
    "team_for",
]

"""What a command's exit code means."""

DONE = 0
WRONG_POLICY = 1
USAGE = 2
WRONG_DATA = 3
INFEASIBLE = 4
LIMIT = 5
EXPOSED = 6
CHANGES = 7
UNEXPECTED = 8  # a policy does not do what its tests expect
BUG = 70
UNPRINTED = 74  # standard output could not be written, and it was all there was to write
STOPPED = 130  # by Ctrl-C

"""What a command's exit code means."""

DONE = 0
WRONG_POLICY = 1
USAGE = 2
CHANGES = 7
BUG = 70

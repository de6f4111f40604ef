sdc 1
# A file that uses itself.
use "main.sdc" as me

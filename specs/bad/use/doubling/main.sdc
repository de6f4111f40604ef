sdc 1
# Each file uses the next one twice: 1023 files.
use "f1.sdc" as a
use "f1.sdc" as b

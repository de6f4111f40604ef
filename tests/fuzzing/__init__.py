"""Readers against broken and hostile files. `make fuzz` runs for minutes; `test_readers.py` is the short form."""

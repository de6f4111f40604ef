"""What the program says about texts and data: values, a catalogue of codes, one renderer a format."""

from sdcdsl.diagnostics.codes import CODES
from sdcdsl.diagnostics.diagnostic import (
    Diagnostic,
    Fix,
    Mark,
    Severity,
    diagnostic,
    has_errors,
    in_reading_order,
)
from sdcdsl.diagnostics.source import FilePlace, Place, Source, Span
from sdcdsl.diagnostics.suggest import did_you_mean, listed, nearest, or_near

__all__ = [
    "CODES",
    "Diagnostic",
    "FilePlace",
    "Fix",
    "Mark",
    "Place",
    "Severity",
    "Source",
    "Span",
    "diagnostic",
    "did_you_mean",
    "has_errors",
    "in_reading_order",
    "listed",
    "nearest",
    "or_near",
]

"""sacro: what output checkers are given."""

from __future__ import annotations

from sdcdsl.vocabulary.formats import Review

REVIEW = Review(
    "sacro",
    "JSON of cells that fail a rule, as SACRO's viewer reads it",
    ".sacro.json",
    "sdcdsl.report.review.sacro:write_sacro",
)

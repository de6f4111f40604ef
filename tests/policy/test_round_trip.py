"""Meaning to text to meaning: nothing is lost, with and without the formatter in between."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from sdcdsl.diagnostics import Source
from sdcdsl.diagnostics.render import render
from sdcdsl.policy.document import Document
from sdcdsl.policy.lower import lower
from sdcdsl.policy.write import write_document
from sdcdsl.syntax.formatter import format_text
from sdcdsl.syntax.parser import parse
from tests.policy.documents import documents

LENIENT = (
    HealthCheck.too_slow,
    HealthCheck.filter_too_much,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
)
SLOW = settings(max_examples=300, deadline=None, suppress_health_check=LENIENT)


def read(text: str) -> tuple[Document, str]:
    parsed, found = parse(Source("made.sdc", text))
    assert not found, f"{render(found)}\n{text}"
    document, found = lower(parsed)
    assert not found, render(found)
    return document, format_text(parsed)


@SLOW
@given(documents)
def test_a_document_written_and_read_is_the_same(document: Document):
    again, canonical = read(write_document(document))
    assert again == document
    once_more, fixed = read(canonical)
    assert once_more == document
    assert fixed == canonical

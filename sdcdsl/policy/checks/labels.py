"""Labels that a release asks for: is there any file that gives them?"""

from __future__ import annotations

from collections.abc import Iterator

from sdcdsl.diagnostics import Diagnostic, diagnostic, did_you_mean, listed
from sdcdsl.policy import document as d
from sdcdsl.policy.labels import asked, languages, same_language
from sdcdsl.policy.resolve import Policy


def check(policy: Policy) -> Iterator[Diagnostic]:
    for protect in policy.protects.values():
        there, known = languages(policy, protect.tables)
        for release in protect.all(d.Release):
            option = asked(release)
            if option is None:
                continue
            if not there:
                help = 'labels en csv "labels.csv", in a dimension'
                headline = "labels are asked for, and no dimension of these tables has any"
                yield diagnostic("SDC153", headline, option.span, help=help)
                continue
            for value in option.values if known is not None else ():
                word = getattr(value, "name", None) or getattr(value, "value", "")
                if not any(same_language(word, one) for one in known or ()):
                    headline = f"no dimension of these tables has labels in `{word}`"
                    notes = [f"there are labels in: {listed(sorted(known or ()))}"]
                    near = did_you_mean(word, sorted(known or ()))
                    yield diagnostic("SDC153", headline, value.span, near, notes=notes)

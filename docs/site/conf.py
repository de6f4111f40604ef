"""Sphinx settings of the documentation site; `make docs` builds it (`build.py`).

Its source is the repository as it stands, so that a link between pages, results and examples is the same in a checkout
and on the site. The navigation is read off docs/README.md: a section of that page is a part of the site, the pages that
it links to are its entries, in their order.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

sys.path.insert(0, str(Path(__file__).resolve().parent))
from gallery import EXHIBITS

ROOT = Path(__file__).resolve().parent.parent.parent
LANDING = "docs/README"

project = "sdcdsl"
author = "The sdcdsl developers"
project_copyright = "The sdcdsl developers, MIT licence"
version = release = re.findall(r'__version__ = "(.*)"', (ROOT / "sdcdsl" / "version.py").read_text("utf-8"))[0]

extensions = ["myst_parser"]
root_doc = LANDING
include_patterns = [
    "docs/**.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "README.md", "benchmarks/**.md", "examples/**.md",
    "sdcdsl/diagnostics/pages/*.md",
]  # fmt: skip
exclude_patterns = [
    "**/.*",
    ".*",
    "**/node_modules",
    "build",
    "dist",
    "tests",
    "specs",
    "demo-output",
    "editors",
    "soak",
]
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"sdcdsl {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["versions.js"]
html_copy_source = False
html_show_sphinx = False
html_show_sourcelink = False

# Pages below a page that stands in the navigation.
BELOW = {
    "docs/language": ["language/files", "language/tables", "language/cells", "language/attackers", "language/protect",
                      "language/expressions", "language/text"],
    "docs/coming-from/README": ["tau-argus", "sdctable", "gconfid", "gausssuppression"],
    "docs/accelerators/README": ["csp", "ip", "cta", "ecta", "rounding", "perturb", "combined"],
    "examples/README": ["enterprises/README", "hospital/README", "linked/README", "series/README", "tiny/README",
                        "turnover/README", "quarterly/README"],
}  # fmt: skip


_PLAYGROUND = (
    "<p>Or try it in this browser, without installing anything: "
    '<a href="../playground/index.html">the playground</a>.</p>\n'
)


def with_navigation(page: str, text: str) -> str:
    """What a page's readers see, and the tables of contents that Sphinx wants beside it."""
    if page in ("README", "SECURITY"):  # linked to, and not part of the navigation
        return f"---\norphan: true\n---\n{text}"
    if page == LANDING:
        text = text.replace("## Do something", _PLAYGROUND + "\n## Do something")
        parts = re.split(r"^## (.+)$", text, flags=re.M)[1:]
        trees = [_toctree(_links(body), caption) for caption, body in zip(parts[::2], parts[1::2], strict=True)]
        return text + "".join(trees)
    if page == "docs/decisions/README":
        return text + _toctree(_links(text, r"\d{3}-[^)]+"))
    if page == "docs/gallery":
        files = (one for exhibit in EXHIBITS for one in exhibit.shown.values())
        return text + "\n" + "".join(f'* <a href="../gallery/{name}">{title}</a>\n' for name, title in files)
    if page == "docs/language/diagnostics":
        return text + _toctree(["/sdcdsl/diagnostics/pages/*"], glob=True)
    if page == "benchmarks/results/README":
        return text + _toctree(sorted({link for link in _links(text) if "/" not in link}))
    return text + (_toctree(BELOW[page]) if page in BELOW else "")


def _links(text: str, wanted: str = r"[^)#:]+") -> list[str]:
    return list(dict.fromkeys(re.findall(rf"\]\(({wanted})\.md\)", text)))


def _toctree(entries: list[str], caption: str = "", glob: bool = False) -> str:
    options = [":hidden:", *([":glob:"] if glob else []), *([f":caption: {caption}"] if caption else [])]
    return "\n\n```{toctree}\n" + "\n".join([*options, "", *entries]) + "\n```\n"


def _read(app: Any, page: str, source: list[str]) -> None:
    # Places that a page marks by HTML are targets of links to Sphinx, too.
    marked = re.sub(r'^<a id="([\w-]+)"></a>\n+', r"(\1)=\n\n", source[0], flags=re.M)
    source[0] = with_navigation(page, marked)


class _CsvLexer(TextLexer):
    name = "Comma-separated values"
    aliases = ["csv"]  # noqa: RUF012  a class attribute of Pygments


def setup(app: Any) -> dict[str, Any]:
    app.connect("source-read", _read)
    app.add_lexer("csv", _CsvLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""No text of a user ever becomes code: no eval, exec, pickle, shell or loading of arbitrary objects in the package.

The names that would do it are looked for in the syntax trees of all modules, so that strings and comments do not count
and aliases do not hide. What is allowed stands here with its reason, and in docs/security.md.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

CALLS = {"eval", "exec", "compile", "__import__", "execfile", "input", "breakpoint"}
MODULES = {
    "pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "subprocess", "pty", "code", "codeop",
    "runpy", "xml", "lxml", "yaml", "xmlrpc", "telnetlib", "ftplib", "socketserver", "http", "urllib", "requests",
    "ctypes", "imp",
}  # fmt: skip
ATTRIBUTES = {
    "os": {"system", "popen", "execv", "execve", "execvp", "execl", "execlp", "spawnl", "spawnv", "posix_spawn"},
    "numpy": {"fromregex", "load"},
    "np": {"fromregex", "load"},
    "pl": {"sql", "SQLContext"},
}
METHODS = {"eval", "query", "map_elements", "from_string", "Environment", "SandboxedEnvironment", "read_pickle"}
ALLOWED = {
    # The only template environment: templates are files of the package, values are escaped.
    ("sdcdsl/report/page/assembling.py", "Environment"),
    # Names of partitions in paths are written with per cents; nothing is fetched.
    ("sdcdsl/bind/readers/partitions.py", "urllib.parse"),
    # Between a process and the workers it started itself, over pipes that only they have; or with a cluster that the
    # user names. No file is ever unpickled.
    ("sdcdsl/executing/cluster.py", "pickle"),
    ("sdcdsl/executing/frames.py", "pickle"),
    ("sdcdsl/executing/processes.py", "pickle"),
    ("sdcdsl/executing/processes.py", "subprocess"),
    ("sdcdsl/executing/worker.py", "pickle"),
    # git, for policies of a revision that the user names; words of a list, no shell, and nothing of the policies runs.
    ("sdcdsl/cli/revisions.py", "subprocess"),
    # SDMX files, in pieces and with limits; a document type, the only way to entities, is refused.
    ("sdcdsl/bind/readers/xml_events.py", "xml.parsers"),
    # Arrays of a checkpoint, with `allow_pickle=False`.
    ("sdcdsl/methods/checkpoint.py", "load"),
}


def modules() -> list[Path]:
    return sorted((ROOT / "sdcdsl").rglob("*.py"))


def suspicious(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((a.name, node.lineno) for a in node.names if a.name.split(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            if (node.module or "").split(".")[0] in MODULES:
                yield node.module or "", node.lineno
            yield from ((a.name, node.lineno) for a in node.names if a.name in CALLS)
        elif isinstance(node, ast.Name) and node.id in CALLS:  # also without a call: an alias would do
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if node.attr in ATTRIBUTES.get(owner, ()) or (node.attr in METHODS):
                yield node.attr, node.lineno
        elif isinstance(node, ast.keyword) and node.arg in ("shell", "allow_pickle") and not _is_false(node.value):
            yield node.arg, node.value.lineno


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def test_nothing_evaluates():
    found = {}
    for path in modules():
        name, tree = str(path.relative_to(ROOT)), ast.parse(path.read_text())
        # A function of our own that is called `compile` is not the builtin.
        own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        wrong = [(what, line) for what, line in suspicious(tree) if (name, what) not in ALLOWED and what not in own]
        found |= {name: wrong} if wrong else {}
    assert found == {}
    assert len(modules()) > 300


@pytest.mark.parametrize(
    "text",
    [
        "eval(x)",
        "f = exec",
        "import pickle",
        "from subprocess import run",
        "import os\nos.system(x)",
        "from builtins import eval as e",
        "np.load(p, allow_pickle=True)",
        "frame.map_elements(f)",
        "run(x, shell=True)",
        "import xml.etree.ElementTree as t",
    ],
)
def test_it_would_be_found(text: str):
    assert list(suspicious(ast.parse(text)))


def test_plugins_come_from_installed_packages_only():
    """`import_module` and entry points are the only ways to load code: with names that stand in the package, or that an
    installed distribution has registered. Where they are used is a short list."""
    users = {
        str(path.relative_to(ROOT))
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute | ast.Name)
        and (node.attr if isinstance(node, ast.Attribute) else node.id) in ("import_module", "entry_points")
    }
    assert users == {
        "sdcdsl/cli/__init__.py",  # the table COMMANDS
        "sdcdsl/registry.py",  # the tables LINES, and entry points
    }

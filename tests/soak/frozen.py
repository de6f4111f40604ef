"""Cases kept as files: how a case is drawn may change, what it once found stays."""

from __future__ import annotations

import json
from pathlib import Path

from tests.soak.case import POLICY, Case
from tests.soak.policies import Wanted
from tests.soak.worlds import World

FOLDER = Path(__file__).parent / "found"
ABOUT = "case.json"


def frozen(name: str) -> Case:
    folder = FOLDER / name
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    files = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    world = World(about["kind"], "", tables={table: [] for table in about["tables"]})
    world.files = {file: text for file, text in files.items() if file not in (ABOUT, POLICY)}
    tables = (tuple(about["tables"]),)
    methods, formats = tuple(about["methods"]), about["formats"]
    wanted = Wanted(files[POLICY], about["engine"], methods, formats, about["capped"], 0, tables=tables)
    seed, _, number = name.partition("-")
    return Case(int(seed), int(number), world, wanted)

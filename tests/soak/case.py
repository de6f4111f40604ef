"""One case: a world and a policy, both from one number."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from tests.soak.policies import METHODS, Wanted, make_policy
from tests.soak.worlds import World, make_world

POLICY = "soak.sdc"


@dataclass(frozen=True)
class Case:
    seed: int
    number: int
    world: World
    wanted: Wanted

    @property
    def name(self) -> str:
        return f"{self.seed}-{self.number}"

    def write(self, folder: Path) -> Path:
        """The policy and its data, as a person would find them."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.world.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        policy = folder / POLICY
        policy.write_text(self.wanted.text, encoding="utf-8")
        return policy


def make_case(seed: int, number: int, methods: tuple[str, ...] = METHODS) -> Case:
    """Methods take turns, so that a run of any length meets all of them."""
    draw = random.Random(f"{seed}:{number}")
    world = make_world(draw)
    return Case(seed, number, world, make_policy(draw, world, methods[number % len(methods)]))

"""A remedy that deletes or ends something says in each chat what it hits and what to look at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import msgspec
import pytest
from test_any_card import answers

from trainrx.fix.plan import destructive_step
from trainrx.knowledge.load import load
from trainrx.knowledge.places import shipped_root
from trainrx.knowledge.yaml12 import read_yaml
from trainrx.model.knowledge import Fix
from trainrx.model.result import ProvedPlan
from trainrx.render.cards import card
from trainrx.render.document import View
from trainrx.render.markup import names
from trainrx.render.words import DESTROYS as DESTROYED

MARKS = re.compile(r"[\s\u200b\u2060\\*`_]+")
RULES = read_yaml(shipped_root() / "kb/safety.yaml")
DESTROYS = [
    re.compile(pattern)
    for rule in RULES
    if rule["class"] == "destructive"
    for pattern in rule.get("commands", ())
]


def destructive() -> Iterator[tuple[str, Fix]]:
    for cause in load().causes.values():
        yield from ((f"{cause.id}/{fix.id}", fix) for fix in cause.fixes if fix.destroys)


def bare(text: str) -> str:
    return MARKS.sub("", unescape(text))


@pytest.mark.parametrize("platform", names())
def test_the_target_and_a_look_stand_before_what_destroys(platform: str) -> None:
    seen = 0
    for name, fix in destructive():
        assert fix.destroys is not None
        for answer in answers():
            step = destructive_step(fix.destroys, answer.lang)
            plan = ProvedPlan(commands=fix.commands, destroys=step, safety="destructive")
            said = card(msgspec.structs.replace(answer, plan=plan), platform, View(answer.lang))
            first, target, rest = bare(said).partition(bare(step.target)[:60])
            looked, look, _ = rest.partition(bare(step.look_first[0]))
            assert target, name
            assert look, name
            assert all(bare(line) not in looked for line in step.commands), name
            assert all(bare(line) not in first for line in step.commands), name
            title = said.partition(DESTROYED.in_(answer.lang))[0]
            assert not any(pattern.search(title) for pattern in DESTROYS), name
            seen += 1

    assert seen > 40

from __future__ import annotations

from pathlib import Path

import pytest
from knowledge_folders import said, write_files

from trainrx.knowledge.load import load

FILE = "kb/levers/my-lever.yaml"
LEVER = """\
schema: 1
id: my-lever
title: {en: My lever, zh: 我的改动}
why: {en: It frees memory, zh: 能省显存}
since: 0.1.0
updated: "2026-11-21"
when: {fact: train.micro_batch, ge: 2}
frameworks: {ms-swift: ">=3.0"}
steps:
  - set: {train.micro_batch: {times: 0.5, at_least: 1}}
    price: {quality: 0, slowdown: [0.9, 1.1], effort: 0}
    ref: a
references:
  - {id: a, kind: doc, url: "https://example.org/x", says: It is so., checked: "2026-11-21"}
"""


def test_a_right_lever_passes(tmp_path: Path) -> None:
    assert said(write_files(tmp_path, {FILE: LEVER})) == []


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("id: my-lever", "id: other", "id: is 'other', the file name says 'my-lever'"),
        ("zh: 能省显存", "zh: it really frees memory", "why.zh: the Chinese text is English"),
        ("train.micro_batch: {", "train.mikro: {", "steps[0].set: 'train.mikro' is not in kb/par"),
        ("fact: train.micro_batch", "fact: train.mikro", "when: the fact 'train.mikro' is neither"),
        ("ref: a", "ref: b", "steps[0].ref: no reference 'b': every price needs its source"),
        ("quality: 0", "quality: 4", "steps[0].price.quality: is no grade from 0 to 3"),
        ("[0.9, 1.1]", "[1.2, 1.1]", "steps[0].price.slowdown: must be a factor above 0"),
        ("[0.9, 1.1]", "[0.0, 1.1]", "steps[0].price.slowdown: must be a factor above 0"),
        ('ms-swift: ">=3.0"', 'ms-swift: "3 or so"', "frameworks.ms-swift: '3 or so' is not a PEP"),
        ("steps:", "excludes: [my-lever]\nsteps:", "excludes: a lever cannot exclude itself"),
        ("steps:", "colour: red\nsteps:", "colour: is no key here"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, wrong: str) -> None:
    assert old in LEVER

    found = said(write_files(tmp_path, {FILE: LEVER.replace(old, new, 1)}))

    assert any(wrong in line for line in found), found


def test_a_folder_of_ones_own_adds_levers_and_replaces_them(tmp_path: Path) -> None:
    folder = tmp_path / "kb" / "levers"
    folder.mkdir(parents=True)
    (folder / "my-lever.yaml").write_text(LEVER, encoding="utf-8")
    replaced = LEVER.replace("id: my-lever", "id: micro-batch")
    (folder / "micro-batch.yaml").write_text(replaced, encoding="utf-8")

    levers = load([tmp_path / "kb"]).levers

    assert levers["my-lever"].title.en == "My lever"
    assert levers["micro-batch"].title.en == "My lever"
    assert "sharding" in levers

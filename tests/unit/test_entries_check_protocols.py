"""What `kb check` refuses of a protocol, and what its test must show."""

from __future__ import annotations

from pathlib import Path

import pytest
from knowledge_folders import said, write_files

from trainrx.entries.tests import PreparedRules, read_cases
from trainrx.knowledge.load import load

FILE = "kb/protocols/my-steps.yaml"
TEST = "kb/protocols/my-steps.test.yaml"
PROTOCOL = """\
schema: 1
id: my-steps
title: {en: A hang of mine, zh: 我的卡住}
since: 0.1.0
updated: "2026-11-21"
families: [hang]
when: {fact: log.given, eq: true}
steps:
  - id: look
    question: {en: Where does it stand?, zh: 停在哪里？}
    how: {en: On the node., zh: 在节点上。}
    command: py-spy dump --pid 1
    answers: [hardware.nodes]
    outcomes:
      - {id: one, reads: {en: in a loader, zh: 在读数据}, causes: [my-state]}
      - {id: two, reads: {en: elsewhere, zh: 在别处}, then: {en: go on, zh: 继续}}
    unless: {fact: train.micro_batch, ge: 2}
    ref: a
  - {ask: launch}
references:
  - {id: a, kind: doc, url: "https://example.org/x", says: It is so., checked: "2026-11-21"}
"""
CASES = """\
cases:
  - name: it hangs
    symptoms: [{id: my-error}]
    facts: {log.given: true}
    expect: {verdict: present, first: my-steps.look, asks: [launch]}
  - name: it does not
    symptoms: [{id: cuda-oom}]
    expect: {verdict: absent}
"""


def test_a_right_protocol_passes(tmp_path: Path) -> None:
    assert said(write_files(tmp_path, {FILE: PROTOCOL, TEST: CASES})) == []


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("id: my-steps", "id: other", "id: is 'other', the file name says 'my-steps'"),
        ("families: [hang]", "families: [hangs]", "families[0]: is 'hangs', must be one of"),
        ("zh: 停在哪里？", "zh: 停在哪里", "question.zh: a question ends with a question mark"),
        ("fact: log.given", "fact: log.gone", "when: the fact 'log.gone' is neither"),
        ("fact: train.micro_batch", "fact: train.mikro", "unless: the fact 'train.mikro' is neith"),
        ("    ref: a", "    ref: b", "steps.look.ref: no reference 'b': every step needs its sou"),
        ("my-state", "rank-gone", "outcomes.one.causes: no cause 'rank-gone'"),
        ("id: two", "id: one", "outcomes: need at least two, each with an id of its own"),
        (", then: {en: go on, zh: 继续}", "", "outcomes.two: means nothing: name causes or facts"),
        ("ask: launch", "ask: lunch", "steps[1].ask: 'lunch' is no question"),
        ("{ask: launch}", "{ask: launch, id: x}", "has an `ask`, so its words stand there"),
        ("{ask: launch}", "{id: x}", "steps.x.question: is missing"),
        ("{ask: launch}", "{ask: my-steps.look}", "'my-steps.look' is no question"),
        ("[hardware.nodes]", "[hardware.knots]", "answers: 'hardware.knots' is no question"),
        ("    command:", "    answer: yes_no\n    command:", "has the outcomes yes and no"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, old: str, new: str, wrong: str) -> None:
    assert old in PROTOCOL

    found = said(write_files(tmp_path, {FILE: PROTOCOL.replace(old, new, 1), TEST: CASES}))

    assert any(wrong in line for line in found), found


@pytest.mark.parametrize(
    ("cases", "wrong"),
    [
        (None, "has no test beside it (my-steps.test.yaml)"),
        (CASES.replace("verdict: absent", "verdict: present"), "no case with verdict absent"),
    ],
)
def test_its_test_shows_where_it_applies_and_where_not(
    tmp_path: Path, cases: str | None, wrong: str
) -> None:
    files = {FILE: PROTOCOL} | ({TEST: cases} if cases is not None else {})

    assert any(wrong in line for line in said(write_files(tmp_path, files)))


@pytest.mark.parametrize(
    ("old", "new", "failure"),
    [
        ("first: my-steps.look", "first: launch", "asks first my-steps.look, not launch"),
        ("asks: [launch]", "asks: [log]", "asks my-steps.look, launch: log is wrong"),
        ("asks: [launch]", "without: [launch]", "launch is wrong"),
        ("cuda-oom", "my-error}, {id: cuda-oom", "it does not: asks"),
        ("log.given: true", "log.given: false", "it hangs: asks nothing"),
    ],
)
def test_a_test_that_does_not_hold_is_said(
    tmp_path: Path, old: str, new: str, failure: str
) -> None:
    assert old in CASES
    cases = CASES.replace(old, new, 1)
    if old == "cuda-oom":
        cases = cases.replace(
            "    expect: {verdict: absent}",
            "    facts: {log.given: true}\n    expect: {verdict: absent}",
        )
    write_files(tmp_path, {FILE: PROTOCOL, TEST: cases})
    known = load([tmp_path / "kb"])

    bench = PreparedRules(known, "reference")
    found = list(bench.protocol(known.protocols["my-steps"], read_cases(tmp_path / TEST)))

    assert any(failure in line for line in found), found

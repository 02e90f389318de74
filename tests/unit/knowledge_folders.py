"""Folders with an entry of each kind that is right, to be made wrong one line at a time."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from trainrx.entries.check import Library, check, read_library
from trainrx.entries.problem import EntryProblem
from trainrx.entries.sources import read_source
from trainrx.knowledge.places import shipped
from trainrx.model.knowledge import FactEntry, Symptom
from trainrx.model.parts import Param

TODAY = "2026-11-21"

SYMPTOM = """\
schema: 1
id: my-error
role: failure
family: hang
title: {en: My error, zh: 我的错误}
since: 0.1.0
updated: "2026-11-21"
patterns:
  - {needle: went wrong, regex: 'went wrong: (?P<code>\\d+)'}
types: {code: int}
samples:
  match: ["it went wrong: 3", "went wrong: 44 times"]
  near_miss: ["went wrong: never", "all went well"]
references:
  - {id: a, kind: doc, url: "https://example.org/x", says: It prints this., checked: "2026-11-21"}
"""
CAUSE = """\
schema: 1
id: my-state
family: hang
title: {en: My state, zh: 我的状态}
summary: {en: It stops., zh: 它停了。}
since: 0.1.0
updated: "2026-11-21"
severity: fatal
explains: [my-error]
prior: 0.1
evidence:
  supports:
    - id: died-in-training
      weight: 1.0
      when: {fact: oom.phase, eq: train}
      why: {en: It was training., zh: 当时在训练。}
      ref: a
fixes:
  - id: halve
    title: {en: Halve it, zh: 减半}
    safety: safe
    cost: {en: Slower., zh: 变慢。}
    set: {train.micro_batch: {times: 0.5}}
references:
  - {id: a, kind: doc, url: "https://example.org/x", says: It stops., checked: "2026-11-21"}
"""
CAUSE_TEST = """\
cases:
  - name: yes
    symptoms: [{id: my-error}]
    facts: {oom.phase: train}
    expect: {verdict: present}
  - name: no
    symptoms: [{id: my-error}]
    expect: {verdict: absent}
  - name: who knows
    symptoms: [{id: my-error}]
    expect: {verdict: unknown}
"""
RULE = """\
schema: 1
id: one-explains-other
title: {en: One explains the other, zh: 一个解释另一个}
stage: explain
since: 0.1.0
why: {en: It does., zh: 确实如此。}
when:
  - {as: by, symptom: my-error}
  - {as: effect, symptom: cuda-oom}
then:
  - explain: {effect: $effect, by: $by}
references:
  - {id: a, kind: doc, url: "https://example.org/x", says: It does., checked: "2026-11-21"}
"""
RULE_TEST = """\
cases:
  - name: both
    facts: [{symptom: my-error}, {symptom: cuda-oom}]
    expect: {fired: 1}
  - name: one
    facts: [{symptom: my-error}]
    expect: {fired: 0}
"""
GUARD = """\
schema: 1
id: my-guard
package: ms-swift
versions: [">=3.7"]
effect: reject
title: {en: It refuses, zh: 它会拒绝}
summary: {en: It refuses the pair., zh: 它拒绝这种组合。}
since: 0.1.0
updated: "2026-11-21"
patterns: [{needle: are incompatible here, regex: 'A and B are incompatible here'}]
samples:
  match: ["A and B are incompatible here.", "E: A and B are incompatible here"]
  near_miss: ["A and C are incompatible here.", "all is well"]
fixes:
  - id: drop-it
    title: {en: Drop it, zh: 去掉它}
    safety: safe
    cost: {en: None., zh: 没有。}
    set: {arg.packing: false}
references:
  - {id: a, kind: doc, url: "https://example.org/x", says: It raises., checked: "2026-11-21"}
"""
PACKAGE = """\
schema: 1
package: my-package
updated: "2026-11-21"
ranges:
  - id: my-range
    title: {en: It breaks, zh: 会出错}
    affected: [{introduced: "1.0", fixed: "1.2"}]
    cause: my-state
    weight: 2.0
    why: {en: It breaks., zh: 会出错。}
    pin: ">=1.2"
    references:
      - {id: a, kind: doc, url: "https://example.org/x", says: Fixed., checked: "2026-11-21"}
"""
FILES = {
    "kb/symptoms/hang/my-error.yaml": SYMPTOM,
    "kb/causes/hang/my-state.yaml": CAUSE,
    "kb/causes/hang/my-state.test.yaml": CAUSE_TEST,
    "kb/guards/ms-swift/my-guard.yaml": GUARD,
    "kb/packages/my-package.yaml": PACKAGE,
    "rules/explain/one-explains-other.yaml": RULE,
    "rules/explain/one-explains-other.test.yaml": RULE_TEST,
}


def write_files(folder: Path, changed: dict[str, str] | None = None) -> Path:
    """Write the right files below a folder, some of them changed."""
    for name, text in {**FILES, **(changed or {})}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def library(folder: Path) -> Library:
    """Read a folder, with the parameters and facts that are shipped."""
    own = read_library([folder / "kb"], [folder / "rules"])
    return Library((*own.entries, *_names().entries), own.tests)


def findings(folder: Path, today: str = TODAY) -> list[EntryProblem]:
    """Give what is wrong below a folder, as paths from there."""
    found = check(library(folder), today)
    mine = (f for f in found if str(folder) in str(Path(f.path).resolve()))
    return [f._replace(path=Path(f.path).resolve().relative_to(folder).as_posix()) for f in mine]


def said(folder: Path) -> list[str]:
    """Give what is wrong as lines."""
    return [str(finding) for finding in findings(folder)]


@lru_cache(maxsize=1)
def _names() -> Library:
    kb, _ = shipped()
    kept = [*(kb / "params").glob("*.yaml"), *(kb / "facts").glob("*.yaml")]
    kinds = {"params": Param, "facts": FactEntry}
    read = [read_source(path, kb, kinds[path.parent.name]) for path in kept]
    read.append(read_source(kb / "symptoms/oom/cuda-oom.yaml", kb, Symptom))
    return Library(tuple(read), {})

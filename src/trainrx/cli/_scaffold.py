"""Write the skeleton of a new entry: valid YAML that only needs to be filled in."""

from __future__ import annotations

import re
from pathlib import Path

from trainrx.model.errors import UsageError
from trainrx.model.knowledge import Family

CAUSE = """\
schema: 1
id: {id}
family: {family}
title: {{en: NAME OF THE BAD STATE, zh: 问题状态的名称}}
summary:
  en: HOW IT LEADS TO THE FAILURE, in two sentences.
  zh: 用两句话说明它如何导致故障。
status: experimental
since: 0.1.0
updated: "{today}"
severity: fatal            # fatal | degraded | notice
explains: []               # ids of the symptoms it can be behind: diagnose kb list symptom
prior: 0.1                 # share of the jobs with such a symptom that have this cause
evidence:
  supports:
    - id: SIGN-FOR-IT
      weight: 1.0          # nats: 0.5 weak, 1 fair, 2 strong, 3 near proof
      when: {{fact: oom.phase, eq: train}}
      why: {{en: WHY IT SPEAKS FOR IT., zh: 为什么支持这个原因。}}
  contradicts: []
fixes:                     # best first
  - id: remedy
    title: {{en: WHAT TO CHANGE, zh: 怎么改}}
    safety: safe           # safe | changes-results | manual
    cost: {{en: ITS PRICE., zh: 代价是什么。}}
    steps: {{en: WHAT TO DO., zh: 具体怎么做。}}
references: []             # every claim needs one: {{id, kind, url, says, checked}}
"""
CAUSE_TEST = """\
cases:
  - name: WHEN IT IS THE CAUSE
    symptoms: []
    facts: {oom.phase: train}
    expect: {verdict: present, fixes: [remedy]}
  - name: WHEN IT IS NOT
    symptoms: []
    facts: {oom.phase: load}
    expect: {verdict: absent}
  - name: WHEN TOO LITTLE IS KNOWN
    symptoms: []
    expect: {verdict: unknown, asks: [oom.phase]}
"""
SYMPTOM = """\
schema: 1
id: {id}
role: failure              # failure | echo | context | phase | frame | success | observation
family: {family}
title: {{en: WHAT THE LINE SAYS, zh: 这行日志的含义}}
status: experimental
since: 0.1.0
updated: "{today}"
patterns:
  - needle: LITERAL TEXT   # stands on every line that matches
    regex: 'LITERAL TEXT (?P<value>\\d+)'
types: {{value: int}}
samples:
  match:                   # real lines
    - LITERAL TEXT 1
    - LITERAL TEXT 2
  near_miss:               # look-alikes that must not match
    - LITERAL TEXT
    - OTHER TEXT 1
references: []
"""
SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
MAX_ID = 80


def scaffold(kind: str, ident: str, family: Family, kb: Path, today: str) -> tuple[Path, ...]:
    """Write the files of a new cause or symptom; give their paths.

    Raises:
        UsageError: the id is malformed or taken, or the folder cannot be written.
    """
    if not SLUG.fullmatch(ident) or len(ident) > MAX_ID:
        raise UsageError(
            f"{ident!r} cannot be an id: use lower-case words joined by dashes, like "
            "activations-exceed-memory"
        )
    if not kb.is_dir():
        raise UsageError(f"{kb} is not a folder; give the knowledge folder with --kb")
    folder = kb / f"{kind}s" / family
    entry = folder / f"{ident}.yaml"
    template = CAUSE if kind == "cause" else SYMPTOM
    files = {entry: template.format(id=ident, family=family, today=today)}
    if kind == "cause":
        files[folder / f"{ident}.test.yaml"] = CAUSE_TEST
    taken = [path for path in (*files, *kb.rglob(f"{ident}.yaml")) if path.exists()]
    if taken:
        raise UsageError(f"{taken[0]} exists already; choose another id")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{entry} cannot be written: {error.strerror}") from error
    return tuple(files)

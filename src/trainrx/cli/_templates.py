"""The skeletons of new entries: they load as they are, and FILL_IN marks what a person decides.

`@id@`, `@folder@`, `@today@` and `@version@` are replaced.
"""

from __future__ import annotations

_HEAD = """\
since: @version@
updated: "@today@"
"""
_REFERENCES = """\
references:                 # no source, no entry; kind: doc | issue | source | report | run | paper
  - id: source
    kind: issue             # FILL_IN which kind it is
    url: FILL_IN
    says: FILL_IN what the source says in your own words
    checked: "@today@"      # the day you opened it; leave it out when cited at second hand
"""
_FIXES = """\
fixes:                      # best first: what most often worked
  - id: remedy
    title: {en: FILL_IN what to change, zh: FILL_IN 怎么改}
    safety: safe            # FILL_IN safe | costs | changes-results | manual | destructive
    cost: {en: FILL_IN its price, zh: FILL_IN 代价是什么}
    ref: source
    steps: {en: FILL_IN what to do, zh: FILL_IN 具体怎么做}
    # or one that others offer too, of kb/fixes: - {fix: halve-micro-batch, ref: source}
    # better than steps, where a parameter or a package is the lever:
    # set: {train.micro_batch: {times: 0.5, at_least: 1}}   # names: diagnose kb list parameter
    # unset: [vllm.mode]
    # packages: [{name: transformers, spec: ">=4.51,<4.52"}]
    # measures: [{kind: hardware, param: host RAM, action: raise}]   # of: [slime]: its name alone
    # only_if: {fact: train.micro_batch, ge: 2}
"""
CAUSE = (
    """\
schema: 1
id: @id@
family: @folder@
title:                      # the bad state; at most 90 characters; no period
  en: FILL_IN the bad state
  zh: FILL_IN 问题状态的名称
summary:                    # what in the software or hardware does it and how one sees it
  en: FILL_IN how it leads to the failure
  zh: FILL_IN 它如何导致故障
"""
    + _HEAD
    + """\
severity: fatal             # FILL_IN fatal | degraded | notice
explains: [FILL_IN]         # symptoms it can be behind: diagnose kb list symptom
prior: 0.1                  # FILL_IN share of the jobs with such a symptom that have this cause
# foreseeable: true         # when a launch alone can show it
# applies_to: {ms-swift: ">=3.0"}
evidence:
  supports:
    - id: sign-for-it
      weight: 1.0           # FILL_IN nats: 0.5 weak; 1 fair; 2 strong; 3 near proof
      when: {fact: FILL_IN, eq: FILL_IN}   # or symptom, package; all, any, not join them
      why: {en: FILL_IN why it speaks for it, zh: FILL_IN 为什么支持}
      ref: source
  contradicts:
    - id: sign-against-it
      weight: 2.0           # FILL_IN as above
      when: {fact: FILL_IN, eq: FILL_IN}
      why: {en: FILL_IN why it speaks against it, zh: FILL_IN 为什么不支持}
# confusable_with:
#   another-cause: {en: how to tell them apart, zh: 如何区分}
"""
    + _FIXES
    + _REFERENCES
)
CAUSE_TEST = """\
cases:                      # at least one of each verdict
  - name: FILL_IN when it is the cause
    symptoms: [{id: FILL_IN}]
    facts: {FILL_IN: FILL_IN}            # what the votes for it test
    expect: {verdict: present, fixes: [remedy]}
  - name: FILL_IN when it is not
    symptoms: [{id: FILL_IN}]
    facts: {FILL_IN: FILL_IN}            # what the votes against it test
    expect: {verdict: absent}
  - name: FILL_IN when too little is known
    symptoms: [{id: FILL_IN}]
    expect: {verdict: unknown, asks: [FILL_IN]}
"""
_PATTERNS = """\
patterns:                   # any of them, tried on one line
  - needle: FILL_IN literal text that is on every such line
    regex: 'FILL_IN the same with (?P<name>...) around what is worth keeping'
# types: {name: int}        # int | float | gib | seconds | text
samples:
  match:                    # real lines; copy them
    - FILL_IN first line
    - FILL_IN second line
  near_miss:                # lines that look alike and must not match
    - FILL_IN first look-alike
    - FILL_IN second look-alike
"""
SYMPTOM = (
    """\
schema: 1
id: @id@
@role@
title: {en: FILL_IN what the line says, zh: FILL_IN 这行日志的含义}
"""
    + _HEAD
    + _PATTERNS
    + """\
# facts: {oom.asked_gib: $name}     # what the first such line tells
"""
    + _REFERENCES
)
GUARD = (
    """\
schema: 1
id: @id@
package: @folder@
versions: [FILL_IN]         # PEP 440 ranges with this check, such as ">=3.7"; [] when all have it
effect: reject              # FILL_IN reject (raises) | alter (changes it) | warn
title: {en: FILL_IN what it refuses, zh: FILL_IN 它拒绝什么}
summary: {en: FILL_IN why it refuses, zh: FILL_IN 为什么拒绝}
"""
    + _HEAD
    + _PATTERNS
    + """\
when: {fact: FILL_IN, eq: FILL_IN}   # a launch it objects to; arg.NAME is an argument by its name
examples:
  versions: {@folder@: FILL_IN}
  violates:
    - FILL_IN a launch it refuses
  keeps:
    - FILL_IN the same launch put right
"""
    + _FIXES
    + _REFERENCES
)
RULE = (
    """\
schema: 1
id: @id@
title: {en: FILL_IN what follows from what, zh: FILL_IN 由什么推出什么}
stage: @folder@
since: @version@
why: {en: FILL_IN the reason, zh: FILL_IN 理由}
when:                       # all must hold; $by.field joins two of them
  - {as: by, symptom: FILL_IN}
  - {as: effect, symptom: FILL_IN}
then:                       # fact | suggest | explain | ask
  - explain: {effect: $effect, by: $by}   # FILL_IN or another conclusion
"""
    + _REFERENCES
)
RULE_TEST = """\
cases:                      # one in which it fires and one in which it does not
  - name: FILL_IN both are there
    facts:
      - {symptom: FILL_IN}
      - {symptom: FILL_IN}
    expect: {fired: 1}
  - name: FILL_IN one of them alone
    facts:
      - {symptom: FILL_IN}
    expect: {fired: 0}
"""
PARAM = """\
schema: 1
id: @id@
type: text                  # FILL_IN int | float | bool | text
title: {en: FILL_IN what it means, zh: FILL_IN 含义}
# ask: {en: how a reader finds it out, zh: 读者如何得知}
spelled:                    # by framework, or `any` for a variable all of them read
  FILL_IN:                  # the framework; the best spelling first
    - versions: FILL_IN     # PEP 440 range with this spelling, such as ">=3.0"; "" is every release
      arg: FILL_IN          # option or key of a file, without dashes; env instead: a variable
      source: FILL_IN what was read
      # default: 1          # what holds where it is not given; leave it out where it is computed
      # also: [old_name]    # other names that are accepted: read, never written
      # commands: [sft]     # sub-commands that take it; without it: all
      # inverted: true      # a bool whose spelling says the opposite, as no_cuda does
      # values: {flash: flash_attn}   # canonical value: its spelling here
      # closed: true        # no value is taken but those of `values`
"""
FACT = """\
schema: 1
id: @id@
type: text                  # FILL_IN int | float | bool | text
title: {en: FILL_IN what it says of a job, zh: FILL_IN 含义}
# unit: GiB
# values: [one, other]      # where it is always one of these words
# ask: {en: how a reader finds it out, zh: 读者如何得知}
# relation: {kind: divides, left: [a.fact], right: [b.fact]}   # where it compares others
"""
PROTOCOL = """\
schema: 1
id: @id@
title: {en: FILL_IN the failure it is for, zh: FILL_IN 针对的故障}
since: @version@
updated: "@today@"
families: [hang]            # FILL_IN kinds of failure: hang, init_hang, nan_loss, slow, ...
# when: {symptom: some-symptom}         # it applies where this is true
# unless: {fact: log.given, eq: true}   # and this is not
steps:                      # in the order an expert takes
  - id: FILL_IN
    question: {en: "FILL_IN what to find out?", zh: FILL_IN 要确认什么？}
    how: {en: FILL_IN where and when to run it, zh: FILL_IN 在哪里、何时执行}
    command: FILL_IN
    effort: look            # FILL_IN read a file | look at the machine | rerun the job
    # answer: yes_no        # where there is nothing to run; the outcomes are then yes and no
    # answers: [symptom.xid-error]      # other questions that the output answers as well
    outcomes:
      - id: FILL_IN
        reads: {en: FILL_IN what the output shows, zh: FILL_IN 输出的样子}
        causes: [FILL_IN]   # that show so, the likeliest first; or facts, or then
      - id: FILL_IN
        reads: {en: FILL_IN what else it may show, zh: FILL_IN 另一种输出}
        causes: [FILL_IN]
    ref: source
  - {ask: launch}           # a question that stands elsewhere: log, versions, a fact, symptom.ID
references:
  - id: source
    kind: doc               # FILL_IN doc | issue | source | report | run | paper
    url: FILL_IN
    says: FILL_IN
    checked: "@today@"
"""
PROTOCOL_TEST = """\
cases:
  - name: FILL_IN where it applies
    symptoms: [{id: FILL_IN}]
    expect: {verdict: present, first: @id@.FILL_IN}
  - name: FILL_IN where it does not
    symptoms: [{id: FILL_IN}]
    expect: {verdict: absent}
"""
PACKAGE = """\
schema: 1
package: @id@
updated: "@today@"
ranges:
  - id: FILL_IN
    title: {en: FILL_IN what goes wrong, zh: FILL_IN 出什么问题}
    affected:               # as OSV writes it: from introduced on, up to before fixed
      - {introduced: FILL_IN, fixed: FILL_IN}
    cause: FILL_IN          # the cause it is evidence for: diagnose kb list cause
    weight: 2.0             # FILL_IN nats: 0.5 weak; 1 fair; 2 strong; 3 near proof
    why: {en: FILL_IN what the release does, zh: FILL_IN 该版本做了什么}
    # when: {fact: launch.task, eq: grpo}
    pin: FILL_IN            # a range of this package that cures it, such as ">=4.51.3"
    references:
      - id: source
        kind: issue         # FILL_IN which kind it is
        url: FILL_IN
        says: FILL_IN what the source says in your own words
        checked: "@today@"
"""

"""What a note says of other settings that were tried: with which it works, or fails too.

"Works without --sequence_parallel_size", "also with batch size 1", 去掉 packing 就好了: a setting,
how it was in the trial, and what came of it. That speaks for and against the causes whose fixes
make this change, whatever they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from trainrx.evidence.denial import MARKS, clauses_of, is_asked, is_denied
from trainrx.model.facts import Fact, Origin, Scalar, fact
from trainrx.model.job import Input
from trainrx.model.parts import Param
from trainrx.model.pattern import late

TRIAL = "note."
TRIALS = f"{TRIAL}trials"
"""The names of all facts of trials, one behind the other."""
WORKS, FAILS = f"{TRIAL}works_with.", f"{TRIAL}fails_also_with."
OFF = "none"
"""The value of a setting that was left out or switched off in a trial."""
NEAR = 28
"""Characters before a setting in which it is said to be off."""
MOST_WORDS = 4
MOST_LISTED = 12
"""Clauses in front of "none of it helped" that can name what was tried."""
MOST_SAID = 400
"""Characters of a clause that are read: nobody says more without a mark."""
LONGEST = 20_000
"""Characters of a note that are read, blank lines apart."""
JOINTS = ("", "and", "but", "then", "so")
"""What joins clauses and is none."""
ALIASES = {
    "batch_size": "train.micro_batch",
    "batch": "train.micro_batch",
    "deepspeed": "parallel.deepspeed",
    "fsdp": "parallel.fsdp",
}
"""What people call a setting that no framework calls so alone."""
VALUES: Mapping[str, tuple[tuple[str, Scalar], ...]] = {
    "bf16": (("train.precision", "bf16"),),
    "fp16": (("train.precision", "fp16"),),
    "fp32": (("train.precision", "fp32"),),
    "zero2": (("parallel.zero_stage", 2), ("parallel.deepspeed", "zero2")),
    "zero3": (("parallel.zero_stage", 3), ("parallel.deepspeed", "zero3")),
    "zero_2": (("parallel.zero_stage", 2), ("parallel.deepspeed", "zero2")),
    "zero_3": (("parallel.zero_stage", 3), ("parallel.deepspeed", "zero3")),
}
"""Values that stand for their setting."""
_WORD = late(r"[A-Za-z][A-Za-z0-9_.-]*[A-Za-z0-9]")
_AROUND = ("use_", "enable_"), ("_size",)
"""What people leave out of a setting's name."""
_WITHOUT = late(
    r"(?:\b(?:without|w/o|disabl(?:e|ed|ing)|(?:turn(?:ed|ing)?|switch(?:ed|ing)?) off|no"
    r"|remov(?:e|ed|ing)|dropp?(?:ed|ing)?|not (?:using|setting)|leaving out)\b"
    r"|不[开用加设]|没有?[开用加设]|未[开用]|关[掉闭了]|[去删拿]掉|禁用|取消|移除)"
    r"[\s`'\"“”:：-]*(?:the |any |了)?[\s`'\"“”-]*\Z",
    re.IGNORECASE,
)
_OFF_AFTER = late(
    r"\A[\s`'\"“”]*(?:=|:|to|is|was|set to|switched|turned|设[为成]|改[为成])?[\s`'\"“”]*"
    r"(?:(?:off|false|none|disabled|removed)\b|0(?![\d.])"
    r"|(?:给|都|也)?(?:关[掉闭了]|[去删]掉|不开|没开|禁用))",
    re.IGNORECASE,
)
_EITHER = late(r"\bwith (?:or|and) without\b|开不开|开[和与或]不开", re.IGNORECASE)
_NUMBER = late(
    r"\A[\s`'\"“”]*(?:=|:|：|of|to|at|is|设[为成]|改[为成]|[调降减]?[到成为]|是|只有)?[\s`'\"“”]*"
    r"(\d+(?:\.\d+)?)(?![\w.])",
    re.IGNORECASE,
)
_WELL = late(
    r"\b(?:works?|worked|working|fine(?![ -]?tun)|ok|okay|succeed(?:s|ed)?"
    r"|no (?:problems?|issues?|errors?|hangs?)|(?:is|are|was) gone|disappear(?:s|ed)"
    r"|(?:solve|fixe)[sd]|(?:runs?|trains?) (?:well|through|normally))\b"
    r"|正常|没有?问题|就好了?|能跑|可以(?:跑|训练|运行)|不再?(?:卡|报错|崩|OOM)|成功|解决",
    re.IGNORECASE,
)
_TOO = late(
    r"\b(?:also|even|(?<!stand )(?<!stands )(?<!standing )still|too|as well|either"
    r"|no (?:difference|effect|help)"
    r"|(?:does|did|do)(?: not|n['’]t) (?:help|change|matter)|chang(?:es|ed) nothing"
    r"|(?:the |with )same (?:error|problem|result|way))\b"
    r"|也(?!许)|仍|依然|还是|照样|同样|没用|无效|不管用|没有?(?:区别|变化|改善|效果)",
    re.IGNORECASE,
)
_ILL = late(
    r"\b(?:fail(?:s|ed)?|hangs?|hung|stuck|freezes?|crash(?:es|ed)?|oom|out of memory|errors?|nan"
    r"|dies|died)\b|卡[住死]|报错|爆|崩|挂[了掉]|不行|失败",
    re.IGNORECASE,
)


_CHANGED = late(
    r"\b(?:set|lower|reduc|decreas|increas|rais|chang|switch|tr(?:y|ied))\w*\b|[改换调降设减增试]",
    re.IGNORECASE,
)
"""What says that a setting was changed: what came of it may be told behind."""
_TRIED = late(r"\btr(?:y|ied|ying)\b|试", re.IGNORECASE)
_NONE_HELPED = late(
    r"\bnone of (?:it|them|these|this|those|that)\b[^.]{0,12}\b(?:help\w*|work\w*)"
    r"|\bnothing (?:help|work)\w*"
    r"|都(?:没有?用|不行|无效|一样|没有?效果)|均无效",
    re.IGNORECASE,
)
_STATED = late(
    r"(?:\b(?:no|not (?:using|enabl\w{2,3})|(?:have|did|do)(?: not|n['’]t) (?:use|enable|set))"
    r"|没有?[开用加设]|未[开用])[\s`'\"“”-]*\Z",
    re.IGNORECASE,
)
"""What says how the job runs, where "without" may compare it with another."""


class Trial(NamedTuple):
    """A setting as it was in a trial, and whether it worked then; None: it is so in this job."""

    param: str
    value: Scalar
    worked: bool | None


class _Mention(NamedTuple):
    """A setting that a clause names, by its parameters, with the value where that is named."""

    params: tuple[tuple[str, Scalar | None], ...]
    start: int
    end: int


def contrast_facts(notes: Sequence[Input], params: Mapping[str, Param]) -> Iterator[Fact]:
    """Derive what notes say of trials.

    `note.works_with.PARAM` and `note.fails_also_with.PARAM` hold the value of the trial, `none`
    where the setting was off. A switch that is merely said to be off is off.
    """
    names = _names(_Same(params)) if notes else {}
    told: dict[str, Origin] = {}
    for note in notes:
        lines = (line for line in (note.text or "").split("\n") if line and not line.isspace())
        text = "\n".join(lines)[:LONGEST]
        origin = Origin(source=note.name, line=1, text=" ".join(text.split()))
        for trial in trials(text, names):
            if trial.worked is not None:
                kind = f"{WORKS if trial.worked else FAILS}{trial.param}"
                told.setdefault(kind, origin)
                yield fact(kind, trial.value, origin, how="given")
            elif params[trial.param].type == "bool":
                yield fact(trial.param, False, origin, how="given")
    if told:
        yield fact(TRIALS, " ".join(told), *dict.fromkeys(told.values()), how="derived")


def trials(text: str, names: Mapping[str, str]) -> Iterator[Trial]:
    """Give the trials a note tells of; what came of one may stand in the clause behind it."""
    clauses = [text[start:end][:MOST_SAID] for start, end in clauses_of(text)]
    clauses = [clause for clause in clauses if clause.strip(MARKS).lower() not in JOINTS]
    for at, clause in enumerate(clauses):
        if is_asked(clause):
            continue
        found = list(_mentions(clause, names))
        behind = clauses[at + 1] if at + 1 < len(clauses) else ""
        told = "" if list(_mentions(behind, names)) or is_asked(behind) else behind
        for mention in found:
            yield from _trials(clause, mention, told)
        if _NONE_HELPED.search(clause) is not None:
            yield from _in_vain(clauses[max(0, at - MOST_LISTED) : at], names)


def _in_vain(clauses: Sequence[str], names: Mapping[str, str]) -> Iterator[Trial]:
    """Give the settings that a list names of what was tried, where none of it helped."""
    first = next((at for at, clause in enumerate(clauses) if _TRIED.search(clause)), len(clauses))
    for clause in clauses[first:]:
        for mention in _mentions(clause, names):
            is_off, named = _is_off(clause, mention), _number(clause[mention.end :])
            for param, own in mention.params:
                value = OFF if is_off and own is None else own if own is not None else named
                if value is not None:
                    yield Trial(param, value, False)


def _is_off(clause: str, mention: _Mention) -> bool:
    before = clause[max(0, mention.start - NEAR) : mention.start]
    return (
        _WITHOUT.search(before) is not None or _OFF_AFTER.search(clause[mention.end :]) is not None
    )


def _trials(clause: str, mention: _Mention, behind: str) -> Iterator[Trial]:
    before = clause[max(0, mention.start - NEAR) : mention.start]
    after = clause[mention.end :]
    either = _EITHER.search(before) is not None
    is_off = either or _is_off(clause, mention)
    for param, named in mention.params:
        value = named if named is not None else _number(after)
        if is_off and named is None:
            found = (_outcome(part, _ILL) for part in (clause, behind))
            worked = False if either else next((it for it in found if it is not None), None)
            if worked is not None or _STATED.search(before) is not None:
                yield Trial(param, OFF, worked)
        elif not is_off and value is not None:
            worked = _outcome(clause)
            if worked is None and _CHANGED.search(clause) is not None:
                worked = _outcome(behind)
            if worked is not None:
                yield Trial(param, value, worked)


def _number(after: str) -> Scalar | None:
    found = _NUMBER.search(after)
    if found is None:
        return None
    return float(found[1]) if "." in found[1] else int(found[1])


def _outcome(clause: str, ill: re.Pattern[str] | None = None) -> bool | None:
    """Say what came of a trial; a value that merely stands beside a failure is none (no `ill`)."""
    well = _WELL.search(clause)
    if well is not None:
        return not is_denied(clause, well.start())
    failed = _TOO.search(clause) or (ill is not None and ill.search(clause))
    return False if failed else None


def _mentions(clause: str, names: Mapping[str, str]) -> Iterator[_Mention]:
    """Give the settings a clause names, the longest name first, none twice."""
    words = list(_WORD.finditer(clause))
    at = 0
    while at < len(words):
        for many in range(min(MOST_WORDS, len(words) - at), 0, -1):
            span = words[at : at + many]
            between = (clause[a.end() : b.start()] for a, b in pairwise(span))
            if any(gap != " " for gap in between):
                continue
            name = _plain("_".join(word[0] for word in span))
            start, end = span[0].start(), span[-1].end()
            if name in VALUES:
                yield _Mention(VALUES[name], start, end)
            elif name in names:
                yield _Mention(((names[name], None),), start, end)
            else:
                continue
            at += many - 1
            break
        at += 1


class _Same:
    """Parameters, for what is worked out of them once for as long as they are the same object."""

    def __init__(self, params: Mapping[str, Param]) -> None:
        self.params = params

    def __hash__(self) -> int:
        return id(self.params)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.params is self.params


@lru_cache(maxsize=2)
def _names(known: _Same) -> dict[str, str]:
    """Map what people call a setting to it, where that is told by the name.

    One word is a setting's name only where it is that of a switch (packing, use_unsloth): as a word
    of the language it says too little.
    """
    called: dict[str, set[str]] = {}
    for param in known.params.values():
        for spelling in (one for many in param.spelled.values() for one in many):
            for name in (spelling.arg, spelling.env, *spelling.also):
                for short in _called(_plain(name.rpartition(".")[2])):
                    if "_" in short or (param.type == "bool" and "." not in name):
                        called.setdefault(short, set()).add(param.id)
    single = {name: _owner(name, ids) for name, ids in called.items()}
    return {**{name: one for name, one in single.items() if one is not None}, **ALIASES}


def _owner(name: str, ids: Collection[str]) -> str | None:
    """Give the parameter a name alone means: the only one with it, or the one that is called so.

    `param_offload` is the trained model's; those of the reference and the critic say more.
    """
    own = [one for one in ids if len(ids) == 1 or one.rpartition(".")[2] == name]
    return own[0] if len(own) == 1 else None


def _called(name: str) -> Iterator[str]:
    yield name
    heads, tails = _AROUND
    for head in ("", *heads):
        for tail in ("", *tails):
            if (head or tail) and name.startswith(head) and name.endswith(tail):
                yield name.removeprefix(head).removesuffix(tail)


def _plain(name: str) -> str:
    return name.lstrip("-").lower().replace("-", "_")

"""Questions in words: what is asked, how to find it out, what the answer means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from trainrx import frameworks
from trainrx.knowledge.store import Knowledge
from trainrx.model.facts import SYMPTOM
from trainrx.model.knowledge import FactEntry, Symptom
from trainrx.model.parts import Param
from trainrx.model.protocols import ProtocolStep
from trainrx.model.result import AnswerKind, Ask
from trainrx.model.text import Lang, Text
from trainrx.reason.differential import CLOSE, TELLING
from trainrx.reason.formulas import VERSION
from trainrx.reason.information import Shifts
from trainrx.reason.observations import NO, YES, Observation
from trainrx.reason.protocols import shifts_of
from trainrx.reason.score import Scored

LAUNCH, LOG, RANK_LOG, VERSIONS = "launch", "log", "rank-log", "versions"
WHOLE_LOG = "whole-log"
WHOLE = (LAUNCH, LOG)
"""Inputs that are missing where the fact `INPUT.given` is not true."""
MOST_PACKAGES = 3
MOST_READINGS = 4
MOST_CAUSES = 2
ARROW = " -> "
_INPUTS: Mapping[str, tuple[Text, Text]] = {
    LAUNCH: (
        Text(
            en="How was the job started? (script, command or config)",
            zh="任务是怎样启动的？（脚本、命令或配置文件）",
        ),
        Text(en="diagnose ... --cmd launch.sh", zh="diagnose ... --cmd launch.sh"),
    ),
    LOG: (
        Text(en="What did the job print?", zh="任务输出了什么？"),
        Text(
            en="diagnose ... --log train.log (the last 200 lines of every rank)",
            zh="diagnose ... --log train.log（每个 rank 的最后 200 行）",
        ),
    ),
    WHOLE_LOG: (
        Text(
            en="What did you see, and what came last? This log holds no known failure.",
            zh="出现了什么现象，任务最后输出了什么？这份日志里没有已知的故障信息。",
        ),
        Text(
            en=(
                "diagnose ... --log train.log --note 'it stops at step 40' (the log to its end, "
                "with the first Traceback or Error)"
            ),
            zh=(
                "diagnose ... --log train.log --note '卡在第 40 步'（日志要完整到结尾，"
                "包含最先出现的 Traceback 或 Error）"
            ),
        ),
    ),
    RANK_LOG: (
        Text(
            en="What did the rank that failed first print? This log only says that it failed.",
            zh="最先失败的 rank 输出了什么？这份日志只说明有进程失败。",
        ),
        Text(
            en=(
                "Add what the rank that failed first printed: --log rank0.log (`torchrun --log-dir "
                "logs --redirects 3 ...` keeps one file per rank)"
            ),
            zh=(
                "请附上最先失败的 rank 自己的输出：--log rank0.log（`torchrun --log-dir logs "
                "--redirects 3 ...` 可为每个 rank 单独保存日志）"
            ),
        ),
    ),
}
_VERSIONS = Text(en="Which releases are installed of {packages}?", zh="{packages} 装的是哪个版本？")
_VERSIONS_HOW = Text(
    en="`pip list > versions.txt`; diagnose ... --versions versions.txt",
    zh="`pip list > versions.txt`；diagnose ... --versions versions.txt",
)
_IS_IT_SO = Text(en="Is this so: {title}?", zh="是否如此：{title}？")
_TELL = Text(en="Please tell: {title}", zh="请告知：{title}")
_SEEN = Text(en="Do you see this: {title}?", zh="是否看到：{title}？")
_SAID = Text(en="What does it say?", zh="结果是什么？")
_SAY = {YES: Text(en="yes", zh="是"), NO: Text(en="no", zh="否")}
_LISTED = Text(en=", ", zh="、")
_OR = Text(en=" | ", zh=" | ")
_COMMAND = re.compile(r"`([a-z][\w-]*(?: [^`]*)?)`")
"""A command in a text: what has a dot in its first word is a file, or a key of one."""


class Question(NamedTuple):
    """A question by its id, with the observations it decides, or the step of a protocol it is."""

    id: str
    seen: tuple[Observation, ...] = ()
    step: ProtocolStep | None = None

    @property
    def outcomes(self) -> tuple[Shifts, ...]:
        """Give what can come out, as what it does to each cause."""
        if self.step is not None:
            return shifts_of(self.step.outcomes)
        return tuple(shifts for one in self.seen for shifts in one.outcomes)


class Phrasing:
    """Puts questions into words.

    `scored` are the causes they shall tell apart, best first; `framework` is the one that runs.
    """

    def __init__(
        self, knowledge: Knowledge, lang: Lang, scored: Sequence[Scored], *, framework: str = ""
    ) -> None:
        self._knowledge = knowledge
        self._framework = framework
        self._lang = lang
        self._titles = {item.cause.id: item.cause.title.in_(lang) for item in scored}

    def ask(self, question: Question, close: Sequence[str]) -> Ask | None:
        """Phrase a question; None where nobody knows how to find the answer.

        `close` are the two causes in front: it is said where the answer tells them apart.
        """
        splits = tuple(close) if close and _parts(question.outcomes, close) else ()
        if question.step is not None:
            return self._of_step(question.id, question.step, splits)
        phrased = self._phrased(question)
        if phrased is None:
            return None
        what, how, kind = phrased
        found = _COMMAND.search(how)
        return Ask(
            id=question.id,
            what=what,
            how=how,
            command=found[1] if found else "",
            answer=kind,
            reading=() if question.id in _INPUTS else tuple(self._readings(question.seen)),
            values=_values(self._knowledge.facts.get(question.id)),
            splits=splits,
        )

    def _of_step(self, ident: str, step: ProtocolStep, splits: tuple[str, ...]) -> Ask:
        readings = []
        for outcome in step.outcomes:
            means = [outcome.then.in_(self._lang)] if outcome.then is not None else []
            causes = [self._title(name) for name in self._best(outcome.causes)]
            means += [_OR.in_(self._lang).join(causes)] if causes and not means else []
            readings.append(ARROW.join([outcome.reads.in_(self._lang), *means]))
        return Ask(
            id=ident,
            what=(step.question or _SAID).in_(self._lang),
            how=step.how.in_(self._lang) if step.how is not None else "",
            command=step.command,
            answer=step.answer,
            reading=tuple(readings),
            values=tuple(outcome.id for outcome in step.outcomes),
            splits=splits,
        )

    def _best(self, causes: Sequence[str]) -> list[str]:
        """Take the causes an outcome names that are still possible, else all."""
        possible = [name for name in causes if name in self._titles]
        return (possible or list(causes))[:MOST_CAUSES]

    def _title(self, cause: str) -> str:
        known = self._knowledge.causes.get(cause)
        return cause if known is None else known.title.in_(self._lang)

    def _phrased(self, question: Question) -> tuple[str, str, AnswerKind] | None:
        """Give what is asked, how to find it out and the kind of the answer."""
        ident, lang = question.id, self._lang
        if ident in _INPUTS:
            what, how = _INPUTS[ident]
            return what.in_(lang), how.in_(lang), "output"
        if ident == VERSIONS:
            if not question.seen:
                return None
            packages = _LISTED.in_(lang).join(self._packages(question.seen))
            return _VERSIONS.in_(lang).format(packages=packages), _VERSIONS_HOW.in_(lang), "output"
        if ident.startswith(SYMPTOM):
            return self._of_symptom(self._knowledge.symptoms[ident.removeprefix(SYMPTOM)])
        return self._of_fact(self._knowledge.facts.get(ident) or self._knowledge.params.get(ident))

    def _packages(self, seen: Sequence[Observation]) -> list[str]:
        """Name the packages whose release says most; frameworks that may not run here last."""
        named = [one.name.removeprefix(VERSION) for one in seen]
        others = set(frameworks.names()) - {self._framework}
        return sorted(named, key=lambda name: name in others)[:MOST_PACKAGES]

    def _of_symptom(self, symptom: Symptom) -> tuple[str, str, AnswerKind] | None:
        lang = self._lang
        if symptom.found_by is None and symptom.question is None:
            return None
        template = _SEEN.in_(lang).format(title=symptom.title.in_(lang))
        what = symptom.question.in_(lang) if symptom.question is not None else template
        how = symptom.found_by.in_(lang) if symptom.found_by is not None else ""
        return what, how, "output" if symptom.found_by is not None else "yes_no"

    def _of_fact(self, entry: FactEntry | Param | None) -> tuple[str, str, AnswerKind] | None:
        if entry is None or entry.ask is None:
            return None
        lang = self._lang
        template = _IS_IT_SO if entry.type == "bool" else _TELL
        said = template.in_(lang).format(title=entry.title.in_(lang))
        what = entry.question.in_(lang) if entry.question is not None else said
        return what, entry.ask.in_(lang), "yes_no" if entry.type == "bool" else "value"

    def _readings(self, seen: Sequence[Observation]) -> Iterator[str]:
        """Say which cause each outcome speaks for, where it speaks for one of those possible."""
        told = [pair for one in seen[:1] for pair in zip(one.told, one.outcomes, strict=True)]
        for name, shifts in [pair for pair in told if not _is_number(pair[0])][:MOST_READINGS]:
            best = max(shifts, key=lambda cause: (shifts[cause], cause), default="")
            if best in self._titles and shifts[best] >= TELLING:
                said = _SAY[name].in_(self._lang) if name in _SAY else name
                yield f"{said}{ARROW}{self._titles[best]}"


def _values(entry: FactEntry | None) -> tuple[str, ...]:
    """Give the values a fact can have, where they are named."""
    return () if entry is None else entry.values


def _is_number(told: str) -> bool:
    """Tell whether an outcome is only a number between those that conditions name, or none."""
    return not told or told.lstrip("-").replace(".", "").isdigit()


def _parts(outcomes: Sequence[Shifts], close: Sequence[str]) -> bool:
    """Tell whether some outcome speaks differently of two causes."""
    first, second = close
    return any(
        abs(shifts.get(first, 0.0) - shifts.get(second, 0.0)) >= CLOSE for shifts in outcomes
    )

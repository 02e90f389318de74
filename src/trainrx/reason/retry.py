"""Would a plain restart help? From ranked causes and symptoms to one of four verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from trainrx.model.facts import Origin
from trainrx.model.fixing import RetryRule, RetryVerdict
from trainrx.model.result import CauseOut, SymptomSeen
from trainrx.model.text import Text
from trainrx.reason.conditions import Situation, decide

CLOSE = 0.15
"""Causes whose probabilities lie this near to the best one's may as well be the right one."""
SPEAKS = 0.3
"""Weight, in nats, below which a vote tells only how common a cause is."""
MOST_EVIDENCE = 3
HEALTHY = Text(
    en="The inputs show no failure, so nothing tells what a restart would do.",
    zh="输入中没有失败的迹象，无法判断重启是否有用。",
)
NOTHING = Text(
    en="No cause was found and the symptoms do not tell either; look at the whole log first.",
    zh="没有找到原因，仅凭现象也无法判断；请先查看完整日志。",
)
SPLIT = Text(
    en="Two causes stand close together and disagree: “{one}” would fail again, “{other}” would "
    "not.",
    zh="两个原因难分高下，结论相反：若是“{one}”则会再次失败，若是“{other}”则不会。",
)


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict, the rule it comes of, and the cause and lines it rests on."""

    verdict: RetryVerdict
    why: Text
    rule: RetryRule | None = None
    cause: CauseOut | None = None
    evidence: tuple[Origin, ...] = ()
    ranks: tuple[int, ...] = ()


def judge(
    causes: Sequence[CauseOut],
    symptoms: Sequence[SymptomSeen],
    rules: Sequence[RetryRule],
    situation: Situation,
    *,
    healthy: bool = False,
) -> Judged:
    """Judge a failure.

    Args:
        causes: ranked, best first.
        symptoms: what was seen; echoes say nothing of their own.
        rules: the first that applies counts.
        situation: decides whether the `when` of a rule holds; unknown does not count.
        healthy: nothing failed.
    """
    if healthy:
        return Judged(verdict="unknown", why=HEALTHY)
    roots = [item for item in symptoms if item.echo_of is None]
    found = [
        (cause, rule)
        for cause in leading(causes)
        if (rule := _first(rules, situation, _speaks_of_cause(cause))) is not None
    ]
    if found:
        return _agreed(found, roots)
    for item in roots:
        rule = _first(rules, situation, _speaks_of_symptom(item))
        if rule is not None:
            return Judged(
                verdict=rule.verdict,
                why=rule.why,
                rule=rule,
                evidence=item.evidence[:MOST_EVIDENCE],
                ranks=item.ranks,
            )
    return Judged(verdict="unknown", why=NOTHING)


def leading(causes: Sequence[CauseOut]) -> tuple[CauseOut, ...]:
    """Give the best cause and those close to it, as far as anything speaks for them."""
    best = causes[0].probability if causes else 0.0
    return tuple(
        cause
        for cause in causes
        if best - cause.probability <= CLOSE
        and any(reason.holds and reason.weight >= SPEAKS for reason in cause.reasons)
    )


def _agreed(found: Sequence[tuple[CauseOut, RetryRule]], roots: Sequence[SymptomSeen]) -> Judged:
    """Follow the best cause, unless one as good says the opposite of restarting."""
    cause, rule = found[0]
    lines = _evidence(cause, roots)
    for other, another in found[1:]:
        verdicts = {rule.verdict, another.verdict}
        if "deterministic" in verdicts and verdicts & {"transient", "bad-node"}:
            again, passes = (cause, other) if rule.verdict == "deterministic" else (other, cause)
            why = Text(
                en=SPLIT.en.format(one=again.title, other=passes.title),
                zh=SPLIT.zh.format(one=again.title, other=passes.title),
            )
            return Judged(verdict="unknown", why=why, cause=cause, evidence=lines)
    return Judged(
        verdict=rule.verdict,
        why=rule.why,
        rule=rule,
        cause=cause,
        evidence=lines,
        ranks=tuple(sorted({rank for item in roots for rank in item.ranks})),
    )


def _evidence(cause: CauseOut, roots: Sequence[SymptomSeen]) -> tuple[Origin, ...]:
    """Give the lines that speak for a cause, the weightiest first, then those of the failure."""
    holding = sorted(
        (reason for reason in cause.reasons if reason.holds and reason.weight > 0),
        key=lambda reason: -reason.weight,
    )
    lines = [origin for reason in holding for origin in reason.evidence if origin.line is not None]
    lines += [origin for item in roots for origin in item.evidence]
    return tuple(dict.fromkeys(lines))[:MOST_EVIDENCE]


def _first(
    rules: Sequence[RetryRule],
    situation: Situation,
    speaks: Callable[[RetryRule], bool],
) -> RetryRule | None:
    return next(
        (
            rule
            for rule in rules
            if speaks(rule) and (rule.when is None or decide(rule.when, situation) is True)
        ),
        None,
    )


def _speaks_of_cause(cause: CauseOut) -> Callable[[RetryRule], bool]:
    return lambda rule: cause.id in rule.causes or cause.family in rule.families


def _speaks_of_symptom(item: SymptomSeen) -> Callable[[RetryRule], bool]:
    return lambda rule: item.id in rule.symptoms or item.family in rule.symptom_families

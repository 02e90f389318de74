"""Which missing facts would change the order most, as questions a user can answer."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from trainrx.knowledge.conditions import facts_of, packages_of, symptoms_of
from trainrx.knowledge.store import Knowledge
from trainrx.model.facts import Facts
from trainrx.model.result import Ask
from trainrx.model.text import Lang, Text
from trainrx.reason.score import Scored

LAUNCH = Text(
    en="The launch command (script or config) is not here.", zh="没有启动命令（脚本或配置文件）。"
)
LAUNCH_HOW = Text(en="diagnose ... --cmd launch.sh", zh="diagnose ... --cmd launch.sh")
LOG = Text(en="The log is not here.", zh="没有日志。")
LOG_HOW = Text(
    en="diagnose ... --log train.log (the last 200 lines of every rank)",
    zh="diagnose ... --log train.log（每个 rank 的最后 200 行）",
)
RANK_LOG = Text(
    en="The log says that a process failed, not why.", zh="日志只说明有进程失败，没有写明原因。"
)
RANK_LOG_HOW = Text(
    en=(
        "Add what the rank that failed first printed: --log rank0.log (`torchrun --log-dir logs "
        "--redirects 3 ...` keeps one file per rank)"
    ),
    zh=(
        "请附上最先失败的 rank 自己的输出：--log rank0.log（`torchrun --log-dir logs "
        "--redirects 3 ...` 可为每个 rank 单独保存日志）"
    ),
)
VERSIONS = Text(en="The package versions are not known.", zh="各软件包版本未知。")
VERSIONS_HOW = Text(
    en="pip list > versions.txt; diagnose ... --versions versions.txt",
    zh="pip list > versions.txt; diagnose ... --versions versions.txt",
)
MOST = 4
LOOKED_AT = 6
TIED = 0.7
"""Two causes are tied while less than this lies between them (nats: odds of two to one)."""
VERSIONS_KEY = "versions"
SYMPTOM_KEY = "symptom."
_COMMAND = re.compile(r"`([a-z][^`]*)`")


def asks(
    scored: Sequence[Scored],
    facts: Facts,
    knowledge: Knowledge,
    lang: Lang,
    *,
    only_echoes: bool = False,
    answered: Collection[str] = (),
) -> tuple[Ask, ...]:
    """List questions, the most telling first.

    A whole missing input (launch, log) is one question, not many. Then come the observations by how
    much they would move the order of the best causes. `only_echoes`: the log tells that something
    failed, but not what. What was `answered`, if only with "unknown", is not asked again.
    """
    out: dict[str, Ask] = {}
    if only_echoes:
        out["rank"] = Ask(id="rank-log", what=RANK_LOG.in_(lang), how=RANK_LOG_HOW.in_(lang))
    if facts.value("launch.given") is not True:
        out["launch"] = Ask(id="launch", what=LAUNCH.in_(lang), how=LAUNCH_HOW.in_(lang))
    if facts.value("log.given") is not True:
        out["log"] = Ask(id="log", what=LOG.in_(lang), how=LOG_HOW.in_(lang))
    moves = _moves(scored[:LOOKED_AT], facts)
    tied = tuple(item.cause.id for item in scored[:2] if scored[0].score - item.score < TIED)
    for name in sorted(moves, key=lambda key: (-moves[key].total, key)):
        ask = _question(name, knowledge, lang)
        if ask is not None:
            splits = tied if len(tied) == 2 and moves[name].apart(tied) else ()
            out.setdefault(ask.how, msgspec.structs.replace(ask, splits=splits))
    return tuple(ask for ask in out.values() if ask.id not in answered)[:MOST]


class InformationGain(NamedTuple):
    """What an observation would do: to the order as a whole, and to each cause (nats)."""

    total: float
    shifts: Mapping[str, float]

    def apart(self, causes: Sequence[str]) -> bool:
        """Tell whether it speaks differently of two causes."""
        first, second = (self.shifts.get(name, 0.0) for name in causes)
        return abs(first - second) >= TIED


def _moves(scored: Sequence[Scored], facts: Facts) -> dict[str, InformationGain]:
    """Say for each open observation how far the shares of the causes move if it turns out so.

    That is half the L1 distance between the shares now and then, as with any two distributions.
    """
    now = _shares({item.cause.id: item.score for item in scored})
    open_: dict[str, dict[str, float]] = {}
    for item in scored:
        for name, weight in _unknown(item, facts):
            shifts = open_.setdefault(name, {})
            strongest = max((weight, shifts.get(item.cause.id, 0.0)), key=abs)
            shifts[item.cause.id] = strongest
    out = {}
    for name, shifts in open_.items():
        then = {item.cause.id: item.score + shifts.get(item.cause.id, 0.0) for item in scored}
        after = _shares(then)
        total = sum(abs(after[cause] - share) for cause, share in now.items()) / 2
        out[name] = InformationGain(total, shifts)
    return out


def _shares(scores: Mapping[str, float]) -> dict[str, float]:
    weights = {name: 1.0 / (1.0 + math.exp(-score)) for name, score in scores.items()}
    # what is none of them keeps its place, so that one cause alone can gain or lose too
    whole = sum(weights.values()) + 0.5
    return {name: weight / whole for name, weight in weights.items()}


def _unknown(item: Scored, facts: Facts) -> Iterable[tuple[str, float]]:
    """Give what the undecided votes of a cause rest on, with their signed weight."""
    undecided = {reason.id: reason.weight for reason in item.reasons if reason.holds is None}
    evidence = item.cause.evidence
    for vote in (*evidence.supports, *evidence.contradicts):
        if vote.id in undecided:
            names = [name for name in facts_of(vote.when) if name not in facts]
            names += [f"{SYMPTOM_KEY}{name}" for name in symptoms_of(vote.when)]
            names += [VERSIONS_KEY] if packages_of(vote.when) else []
            yield from ((name, undecided[vote.id]) for name in names)


def _question(name: str, knowledge: Knowledge, lang: Lang) -> Ask | None:
    if name == VERSIONS_KEY:
        return _ask(name, VERSIONS, VERSIONS_HOW, lang)
    if name.startswith(SYMPTOM_KEY):
        symptom = knowledge.symptoms[name.removeprefix(SYMPTOM_KEY)]
        return (
            None if symptom.found_by is None else _ask(name, symptom.title, symptom.found_by, lang)
        )
    entry = knowledge.facts.get(name) or knowledge.params.get(name)
    if entry is None or entry.ask is None:
        return None
    return _ask(name, entry.title, entry.ask, lang)


def _ask(ident: str, what: Text, how: Text, lang: Lang) -> Ask:
    """Make a question; the first thing in back quotes that is no option is its command."""
    said = how.in_(lang)
    found = _COMMAND.search(said)
    return Ask(id=ident, what=what.in_(lang), how=said, command=found[1] if found else "")

"""Which missing facts would change the order most, as questions a user can answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trainrx.kb.conditions import facts_of, packages_of
from trainrx.kb.store import Knowledge
from trainrx.model.facts import Facts
from trainrx.model.result import Ask
from trainrx.model.text import Lang, Text
from trainrx.rank.score import Scored

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


def asks(
    scored: Sequence[Scored],
    facts: Facts,
    knowledge: Knowledge,
    lang: Lang,
    *,
    only_echoes: bool = False,
) -> tuple[Ask, ...]:
    """List questions, the most telling first: the facts that unknown votes of the best causes need.

    A whole missing input (launch, log) is one question, not many. `only_echoes`: the log tells that
    something failed, but not what.
    """
    out: dict[str, Ask] = {}
    if only_echoes:
        out["rank"] = Ask(what=RANK_LOG.in_(lang), how=RANK_LOG_HOW.in_(lang))
    if facts.value("launch.given") is not True:
        out["launch"] = Ask(what=LAUNCH.in_(lang), how=LAUNCH_HOW.in_(lang))
    if facts.value("log.given") is not True:
        out["log"] = Ask(what=LOG.in_(lang), how=LOG_HOW.in_(lang))
    gain: dict[str, float] = {}
    for item in scored[:6]:
        room = item.probability * (1.0 - item.probability)
        for name, weight in _unknown(item, facts):
            gain[name] = gain.get(name, 0.0) + weight * room
    for name in sorted(gain, key=lambda key: (-gain[key], key)):
        ask = _question(name, knowledge, lang)
        if ask is not None:
            out.setdefault(ask.how, ask)
    return tuple(out.values())[:MOST]


def _unknown(item: Scored, facts: Facts) -> Iterable[tuple[str, float]]:
    unknown = {reason.id: abs(reason.weight) for reason in item.reasons if reason.holds is None}
    evidence = item.cause.evidence
    for vote in (*evidence.supports, *evidence.contradicts):
        if vote.id in unknown:
            for name in facts_of(vote.when):
                if name not in facts:
                    yield name, vote.weight
            if packages_of(vote.when):
                yield "versions", vote.weight


def _question(name: str, knowledge: Knowledge, lang: Lang) -> Ask | None:
    if name == "versions":
        return Ask(what=VERSIONS.in_(lang), how=VERSIONS_HOW.in_(lang))
    entry = knowledge.facts.get(name) or knowledge.params.get(name)
    if entry is None or entry.ask is None:
        return None
    return Ask(what=entry.title.in_(lang), how=entry.ask.in_(lang))

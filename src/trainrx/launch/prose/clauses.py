"""The clauses of a note, and whether what one states is true of the job that failed.

"It worked on an A100", "单卡没问题", "I plan to buy", "有人在 8 卡上": what such a clause states is
of another job. A clause that something works says little of the job too; where the same sentence
goes on to what fails, it stands back behind what other clauses state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainrx.evidence.denial import is_denied
from trainrx.model.facts import Origin
from trainrx.model.job import Input
from trainrx.model.pattern import late

LONGEST = 20_000
"""Characters of a note that are read, blank lines apart."""
SENTENCE = 1000
"""Characters of a sentence; what goes on is read as the next."""
_SENTENCE = late(r"[^。！？!?；;]*(?:[。！？!?；;]|\Z)")
_FULL_STOP = late(r"\.(?=\s|\Z)")
_BOUND = late(
    r"[,，]|[（(](?!\s*\d{1,3}\s*[Gg])|\b(?:but|whereas|although|though|however|yet)\b|但是?|不过"
    r"|然而|而(?!且)|却"
)
_ASKS = late(
    r"(?i)\bhow (?:many|much)\b|\b(?:can|could|should|would|may|will) (?:i|we|it|this|one|you)\b"
    r"|\bis (?:it|there|this) (?:an? )?(?:possible|way|example|enough)\b|\bwhat (?:hardware"
    r"|gpus?)\b"
    r"|\bwhich (?:gpus?|versions?|cards?)\b|\b(?:anyone|anybody|somebody) (?:has|have|tried|run)\b"
    r"|几(?:[张块台]|个?(?:卡|GPU|节点|机器))|多少|(?:能不能|可不可以|是否可以|够不够|有没有人)"
    r"|(?:可以|够|能|行)[^，。]{0,12}[吗么]"
)
_OTHERS = late(
    r"(?i)\b(?:an?other|other (?:users?|people|machines?|repos?|frameworks?)|others"
    r"|(?:somebody|someone|people|colleagues?|they) (?:else|has|have|in|on|with|says?|use)"
    r"|different (?:machine|box|server|cluster|repo)|(?:the )?(?:docs?|documentation|readme|paper"
    r"|official|authors?) (?:says?|specif\w+|recommend\w*|uses?|requires?)"
    r"|plan(?:ning|s)?(?: on| to)|going to (?:buy|rent|try|switch)|would like to|want to (?:buy"
    r"|rent)"
    r"|looks fixed)\b"
    r"|另一|其他|其它|别人|有人|楼主|提问者|官方(?:文档|教程|说|写|要求)|文档(?:里)?(?:写|说|要求)"
    r"|打算|准备(?:买|换|用|升)|考虑|计划|想(?:换|买|升级)|这个 ?issue"
)
_WANTED = late(
    r"(?i)\b(?:needs?|required?s?|requires|recommend(?:s|ed)?|supports?|insists?|wants?|allows?"
    r"|at least"
    r"|up to|at most|tested)\b|需要|至少|要求|推荐|建议|支持|只允?许|只让|最[高低]|上限|不支持"
)
_BACK_HERE = late(r"(?i)\b(?:i|i['’]m|i['’]ve|my|we|our|now|mine)\b|我|现在|目前")
_PAST = late(
    r"(?i)\b(?:before(?: (?:the|that|this|my|an?))? (?:upgrad\w+|updat\w+|chang\w+)|previously"
    r"|earlier|formerly|used to|yesterday|last (?:week|month)|(?:days|weeks) ago)\b|\A\W*before\b"
    r"|(?<![训练步骤存载])(?:之前|以前)|原来|原先|前几天|昨天|上周|上个?月|(?:升级|更新)前|旧版"
    r"|老版本|上一?个?版"
)
_WELL = late(
    r"(?i)\b(?:works?|worked|working|fine(?![ -]?tun)|ok|okay|succe(?:ss\w*|eds?|eded)|sufficient"
    r"|no (?:such )?(?:problems?|issues?|errors?|trouble)"
    r"|without (?:any )?(?:problems?|issues?|errors?|trouble)"
    r"|(?:does|do|did)(?: not|n['’]t)(?=\s*(?:\Z|[.,;]|(?:under|with|on|for|using)\b))|\w+s well"
    r"|(?:does|did|do)(?: not|n['’]t) (?:have (?:this|the|that)|happen|occur)"
    r"|(?:it|which|that|this|fine|happily|model|config|\d+B) (?:trains|loads|fits"
    r"|runs(?! out| into))"
    r"|(?:runs?|ran|trains?|trained|loads?) (?:well|through|normally|happily|fine|ok|without)"
    r"|can (?:train|run|load|fit)|(?:is |are )?runnable|(?:error|problem|issue|hang) (?:went away"
    r"|is gone|disappeared)|went away|normal(?:ly)?|able to run|(?:i|we) (?:have )?trained"
    r"|(?:is|are) (?:actually )?faster)\b"
    r"|(?:没(?:有)?|无)(?:这个|这|任何|此|该)?(?:问题|事|现象)|(?<!不)正常|可以(?:跑|训|运行"
    r"|加载)|是?可以的"
    r"|能(?:够)?(?:跑|训|加载|存|放得?下)|训得动|跑通|成功|没事|是好的|好好的|放得下|稳定|很稳"
    r"|还行|不会"
)
_ILL = late(
    r"(?i)\b(?:oom\w*|out of (?:\w+ )?memory|hangs?|hung|stuck|crash\w*|fail\w*|errors?|nan"
    r"|freez\w*"
    r"|dies|died|dead|kill\w*|timeouts?|times out|stops?|stopped|blow\w* up|slow\w*|does(?: not"
    r"|n['’]t)"
    r"|doesn['’]t|not (?:work\w*|enough|sufficient|fit)|can(?:not|['’]t)|refus\w+|broken|mismatch"
    r"|assert\w*|exception|wrong|worse|grow\w*|shoots?|grad_norm|loss|isn['’]t|won['’]t)\b"
    r"|爆|卡[住死]|卡在|报错|出错|挂|崩|失败|不[够足行动通了]|溢出|超时|异常|错误|被杀|慢|停|死机"
    r"|一样的错|一直涨|上涨|打满"
)
_FILLER = late(
    r"(?i)\b(?:this|that|the|it|same|code|script|config|also|all|both|everything|is|was|and|very"
    r"|just"
    r"|well)\b|同样|代码|脚本|配置|[就都也是的很上下]"
)
_GONE = late(r"(?i)\b(?:went away|is gone|disappeared)\b|就好了|消失")
_CONTENT = late(r"[A-Za-z0-9\u4e00-\u9fff]{2}")
_TOO = late(
    r"(?i)\bsame (?:error|problem|issue|result|thing|with|on|for|behaviou?r)\b|behaves the same"
    r"|\balike\b"
    r"|\bas well\b|, same\b|\btoo,? no\b|\btried\b.*\btoo\b|也(?:是)?(?:一样|不行|同样|没用|报错"
    r"|这样)|都(?:一样|不行|试|这样)|试过|试了"
)


_NOT = late(
    r"(?i)(?:\b(?:no|not|without|w/o|non)[- ]|n['’]t use |不(?:用|做|开|加|是|在)|没(?:有)?(?:用"
    r"|做|开|加)?|未)\s?(?:the )?\Z"
)
"""What stands right before a setting, or a moment, that is none here."""


class Clause(NamedTuple):
    """A clause that may state something of the job.

    Attributes:
        text: its words.
        origin: where it stands.
        sentence: the whole sentence.
        wanted: where it begins to say what something requires.
        rank: 0, or 1 where it says that something works and the sentence goes on to what does not.
    """

    text: str
    origin: Origin
    sentence: str
    rank: int
    wanted: int | None


def clauses(note: Input) -> Iterator[Clause]:
    """Give the clauses of a note that are about the job that failed."""
    left = LONGEST
    for number, line in enumerate((note.text or "").split("\n"), start=1):
        if left <= 0:
            return
        if line and not line.isspace():
            left -= len(line)
            for sentence in _sentences(line[: left + len(line)]):
                yield from _own(sentence, note.name, number)


def _sentences(line: str) -> Iterator[str]:
    for match in _SENTENCE.finditer(line):
        at = 0
        for stop in _FULL_STOP.finditer(match[0]):
            yield from _pieces(match[0][at : stop.end()])
            at = stop.end()
        if match[0][at:].strip():
            yield from _pieces(match[0][at:])


def _pieces(sentence: str) -> Iterator[str]:
    """Cut what is too long for a sentence: of each clause the whole of it is looked at."""
    yield from (sentence[at : at + SENTENCE] for at in range(0, len(sentence), SENTENCE))


def _own(sentence: str, name: str, line: int) -> Iterator[Clause]:
    if _ASKS.search(sentence) is not None:
        return
    parts = list(_parts(sentence))
    moods = [_mood(part) for part in parts]
    fails = any(mood == "ill" or _fails_too(part) for mood, part in zip(moods, parts, strict=True))
    bare = (mood == "well" and _is_bare(part) for mood, part in zip(moods, parts, strict=True))
    last_well = max((at for at, found in enumerate(bare) if found), default=-1)
    others = False
    for at, (part, mood) in enumerate(zip(parts, moods, strict=True)):
        others = (others and _BACK_HERE.search(part) is None) or _OTHERS.search(part) is not None
        is_past = _PAST.search(part) is not None or _TOO.search(part) is not None
        works_only = mood == "well" and not fails
        # what comes before "... is fine" is told of what is fine, where nothing fails
        if others or is_past or works_only or (not fails and at <= last_well):
            continue
        origin = Origin(source=name, line=line, text=part.strip())
        wanted = _WANTED.search(part)
        start = None if wanted is None else wanted.start()
        rank = 1 if mood == "well" and not _fails_too(part) else 0
        yield Clause(part, origin, sentence, rank, start)


def _parts(sentence: str) -> Iterator[str]:
    at = 0
    for bound in _BOUND.finditer(sentence):
        if sentence[at : bound.start()].strip():
            yield sentence[at : bound.start()]
        at = bound.end()
    if sentence[at:].strip():
        yield sentence[at:]


def _mood(part: str) -> str:
    """Tell whether a clause says that something works ("well") or does not ("ill")."""
    well = _WELL.search(part)
    if well is not None and not is_denied(part, well.start()):
        return "well"
    return "ill" if well is not None or _ILL.search(part) is not None else ""


def is_not(text: str, start: int) -> bool:
    """Tell whether what begins at a place is said not to be so."""
    return _NOT.search(text, max(0, start - 16), start) is not None


def _is_bare(part: str) -> bool:
    """Tell whether a clause says that something works, and not what: that stands before it."""
    return _GONE.search(part) is not None or not _CONTENT.search(
        _FILLER.sub(" ", _WELL.sub(" ", part))
    )


def _fails_too(part: str) -> bool:
    """Tell whether a clause says beside what works what does not (单卡能跑多卡不行)."""
    return _ILL.search(_WELL.sub(" ", part)) is not None


class Statement(NamedTuple):
    """Something a clause states: of which kind and what."""

    kind: str
    value: str | int
    clause: Clause


def agreed(found: Iterable[Statement]) -> Iterator[Statement]:
    """Give of each kind the one thing that is stated; nothing where two statements differ.

    A name that another goes on with (`A100`, `A100 80G`) does not differ from it.
    """
    by_kind: dict[str, list[Statement]] = {}
    for item in found:
        by_kind.setdefault(item.kind, []).append(item)
    for same in by_kind.values():
        best = min(item.clause.rank for item in same)
        first = [item for item in same if item.clause.rank == best]
        longest = max(first, key=lambda item: len(str(item.value)))
        if all(_goes_on(item.value, longest.value) for item in first):
            yield longest


def _goes_on(short: str | int, long: str | int) -> bool:
    if not (isinstance(short, str) and isinstance(long, str)):
        return short == long
    head, whole = short.lower(), long.lower()
    return whole == head or (whole.startswith(head) and whole[len(head)] in " .-_+")

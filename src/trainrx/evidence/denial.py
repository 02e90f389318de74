"""Whether what a log or a note says is denied, or does not count where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainrx.model.pattern import late

_NEGATION = late(
    r"(?:\b(?:no|not|never|without|cannot|nor|(?:avoid|prevent)\w{0,3}(?! th(?:is|ese)\b)"
    r"|rather than|instead of)"
    r"|n['’]t)\b(?: +(?!(?:and|but|then|yet|until|when|while|after|because|since|so|unless|only"
    r"|why|how|what|where|whether)\b)[\w'/-]{1,20}){0,3} *\Z"
    r"|(?:[没无未]|(?<![对起跑装放塞找连接载训动传存读认打进出收降])不)"
    r"(?:(?:有|会|再|曾|报|是|过|(?P<met>出现|发生|遇到|碰到|看到|发现)) ?){0,3}"
    r"(?:[^，。；,.;]{0,2}|(?(met)[^，。；,.;]{0,12}))\Z"
    r"|(?:避免|防止|以防|以免|免得|杜绝)了?(?!这)[^，。；,.;]{0,4}\Z",
    re.IGNORECASE,
)


_WITHIN = late(
    r"\b(?:no|not|never|without|cannot|nor)\b|n['’]t\b|没有?|未|不(?:再|会|曾|是|慢|卡)",
    re.IGNORECASE,
)
BEFORE = 60
"""Characters before a place in which its denial is looked for."""


def is_denied(text: str, start: int) -> bool:
    """Tell whether the few words before a place deny what begins there.

    Args:
        text: a sentence or a line.
        start: where what is said begins.
    """
    return _NEGATION.search(text, max(0, start - BEFORE), start) is not None


def is_doubled(text: str, start: int) -> bool:
    """Tell whether what denies a place is itself denied: "cannot train without running out"."""
    opens, _ = clause_at(text, start, start)
    return len(_WITHIN.findall(text, opens, start)) > 1


def is_negated(text: str, start: int, end: int) -> bool:
    """Tell whether the few words before a place, or words within it, deny what it says.

    Args:
        text: a sentence or a line.
        start: where what is said begins.
        end: where it ends.
    """
    return is_denied(text, start) or _WITHIN.search(text, start, end) is not None


REACH = 160
"""Characters on each side of a place that can belong to what is said of it."""
MARKS = " ,.;:!?()，。；：！？、（）"

_BOUND = late(
    r"[;:!?()—…。；：！？（）\n]|[,，、](?!\s*(?:or|nor|还是)\b)|\.(?=\s|\Z)| [-–] "
    r"|\b(?:but|however|though|although|whereas|and(?= (?:now|then|it|I|we|training|after)\b))\b"
    r"|但是?|不过|可是|然而|结果|却",
    re.IGNORECASE,
)
_HAD = late(
    r"\b(?:why|how come|how (?:can|could) (?:it|this)|because|caus(?:es?|ed|ing)|reasons?|explain"
    r"|solv(?:e|es|ing)|fix(?:es|ing)?|resolv(?:e|es|ing)|cure|help|get(?:ting)? rid|go away"
    r"|disappear|still|again|anyone|anybody|somebody|someone|else|you (?:know|reproduce|confirm)"
    r"|(?:avoid|prevent) (?:this|these)|related|due to|comes? from|normal|known|bug"
    r"|(?:not|never) expect)\b"
    r"|n['’]t expect"
    r"|(?:会不会|是不是|是否)是|为什么|为啥|为何|咋"
    r"|(?:怎么|如何)(?!避免(?!这)|防止(?!这)|预防|才)"
    r"|[免止]这|解决|修复|缓解|原因|导致的|引起|还是(?:会|在|一直)|每次|总是|又(?!怕)",
    re.IGNORECASE,
)
"""Words with which one asks about trouble there is."""
_SUBJECT = (
    r"(?:it|this|that|these|those|they|there|the|an?|any|my|our|I|we|one|such|both|either|using"
    r"|setting|training|fine-?tuning|q?lora|zero|fsdp|ddp|grpo|sft|dpo|full|batch|anything"
    r"|something|[\w./-]{0,20}\d[\w./-]{0,20})(?![\w-])"
)
_MODAL = r"(?:will|would|could|can|might|may|shall|should|do|does)"
_ASKED = late(
    rf"(?:^|\b(?:and|or|so|then|please|wonder|wondering|question)\b)\W{{0,3}}{_MODAL} {_SUBJECT}"
    r"|\b(?:(?:will|would|could|can|might|may|should|does) (?:it|this|there|they|I|we)"
    r"|do (?:they|I|we))\b.{0,80}\?"
    rf"|^\W{{0,3}}{_MODAL} (?!(?:you|not|be|have)\b)\w.{{0,120}}\?"
    rf"|\b(?:is|are) {_SUBJECT}(?: \w{{1,12}})? going to\b"
    r"|\b(?:sure|unsure|know|wonder\w{0,3}|check|tell|say|ask|see|unclear|question|curious|predict)"
    r" (?:me |us )?(?:if|whether)\b.{0,60}\b(?:will|would|might|may|could|can|going to|likely)\b"
    r"|\bwhat (?:happens |would happen |will happen )?if\b"
    r"|\bis (?:an? |any )?\w{1,12} (?:likely|possible|to be expected)\b"
    r"|会不会|会否|是否(?:会|可能)|能不能|够不够|有没有可能|可不可能"
    r"|(?:会|可能|容易|能|够)[^，。？?]{0,24}(?:吗|么|嘛|[？?])",
    re.IGNORECASE,
)
_FEARED = late(
    r"\b(?:worr(?:y|ied|ying)|afraid|scared|concerned|fear) (?:of|about"
    r"|(?:that|if|it|this|there)\b.{0,40}\b(?:will|would|might|may|could|can)\b)"
    r"|\b(?:risk|danger|chance|likelihood|probability|odds) (?:of|that|it|this|there)\b"
    r"|\brisk (?:an?|running|getting)\b"
    r"|\bin case (?:of|it|there|this|the)\b|\bexpect(?:ing)? (?:an?|any|to)\b"
    r"|(?<![恐哪])怕(?!的是)|担心|万一|风险",
    re.IGNORECASE,
)
_IS = r"(?:is|are|was|were|be|been|got|gets|now|already|finally|has|have|had|all|completely)"
_TROUBLE = (
    r"(?:OOM|memory|hangs?|leaks?|crash(?:es)?|nan|timeouts?|problems?|issues?|errors?|trouble|bug)"
)
_SIGN = r"(?:问题|现象|情况|报错|错误|异常|OOM|超时|卡死|卡住|卡顿|泄[漏露]|nan)"
_OVER = late(
    rf"\b(?:{_IS}|{_TROUBLE}) (?:{_IS} ){{0,3}}"
    r"(?:gone|cured|(?:solved|resolved|fixed)(?! (?:at|to|length|size|seed|in place)\b))\b"
    r"|\b(?:went away|gone away|disappeared|vanished|got rid of|gotten rid of"
    r"|managed to (?:get rid of|solve|fix|resolve))\b"
    r"|(?:\A\W*|\b(?:I|we|that|this|it|which|has|have|just|finally|already|upgrad\w{1,3}) )"
    r"(?:solved|fixed|resolved|cured|eliminated) (?:the|my|our|this|that|it|all|an?)\b"
    r"|(?:已经?|现在|终于|基本|成功|算是)[^，。没未不怎如]{0,4}(?:解决|修复|修好|搞定)"
    r"|(?:解决|修复|修好|搞定)了(?![吗么嘛])|(?:问题|现象)解决\W*\Z"
    rf"|{_SIGN}的?(?:问题|现象|情况)?(?:也|就|都|已经?|已){{0,2}}(?:消失|没有?|不见)了"
    r"|(?:现在|已经?|终于|就)(?:都|就|也)?(?:好了|正常了?\W*\Z)|恢复正常"
    r"|不再(?:出现|发生|报错|崩溃?|卡[死住]?|爆|挂|OOM)|没(?:有)?再(?:出现|发生|遇到|碰到)|不(?:会)?(?:再)?出现了",
    re.IGNORECASE,
)
_LASTS = late(
    r"\b(?:not|never|unless|cannot|thought|should|supposed|claims?|until|again|still|only|if|when"
    r"|unable|tried|need|want|would|could|nothing|goes?|sets?)\b|n['’]t\b"
    r"|\b(?:process(?:es)?|workers?|GPUs?|cards?|servers?|actors?|nodes?|files?|checkpoints?"
    r"|containers?|pods?) (?:is|are|was|were|has|have) "
    r"|[没未](?:有|能|被)?(?:真正|完全|彻底)?(?:解决|修复|修好|搞定|消失)|不了|无法|以为"
    r"|才(?:能)?(?:解决|消失|正常)|还(?:是|没)|仍|又|想|希望|求|[？?]",
    re.IGNORECASE,
)
"""Words with which an end is doubted, denied, or bound to a condition."""
_BACK = late(
    r"\b(?:downgrad\w{1,3}|revert\w{0,3}|roll(?:ed|ing)? back|(?:going|went|switch\w{2,3}) back"
    r"|older (?:version|release))\b|换回|退回|回退|降级|降回|旧版",
    re.IGNORECASE,
)
"""What ends by going back is there in what one wants to run."""
_NO_MORE = late(
    r"\b(?:no longer|(?:does|did|do|has|have)(?: not|n['’]t)) "
    r"(?:occur\w{0,3}|happen\w{0,3}|appear\w{0,2}|com(?:e|es|ing) up|show\w{0,2} up)\b"
    r"(?! (?:if|when|with|without|on|in|until|before|for)\b)[^?？]{0,40}\Z",
    re.IGNORECASE,
)
_ONCE = late(
    r"\b(?:used to|previously|formerly|before|earlier|at first|initially"
    r"|(?:it|this|that|training) (?:was|had been))\b"
    r"|之前|以前|原来(?!的)|原先|曾经|本来|刚开始",
    re.IGNORECASE,
)
_SINCE = late(
    r"\b(?:(?:is|are|was|were|been|got|now|already) (?:solved|fixed|resolved|gone)"
    r"|works? (?:fine )?now|(?:fine|ok|okay|good|normal) now"
    r"|(?:solved|fixed|resolved|cured) (?:it|this|that)"
    r"|now (?:(?:is|it|it['’]s|all|everything|works?|runs?) ){0,3}"
    r"(?:fine|ok|okay|good|normal|works|runs|fast))\b"
    r"|(?:已经?|现在|后来)(?:都|就|也)?(?:解决|好了|正常|没事|恢复|不再|可以了|没问题|不会了)"
    r"|解决了|恢复正常|就(?:好了|正常了|没事了)",
    re.IGNORECASE,
)


def is_ruled_out(text: str, start: int, end: int) -> bool:
    """Tell whether the trouble named at a place of a note is none: denied, or moot.

    Args:
        text: a note, or a line of it.
        start: where the trouble begins.
        end: where it ends.
    """
    return is_denied(text, start) or is_moot(text, start, end)


def is_moot(text: str, start: int, end: int) -> bool:
    """Tell whether the trouble named at a place is asked about, feared, or over.

    Args:
        text: a note, or a line of it.
        start: where the trouble begins.
        end: where it ends.
    """
    # what a phrase takes in of the marks around it bounds its clause too
    end -= len(text[start:end]) - len(text[start:end].rstrip(MARKS))
    opens, closes = clause_at(text, start, end)
    if is_unsaid(text[opens:closes]):
        return True
    if _ONCE.search(text, opens, closes) is None or _BACK.search(text, opens, end + REACH):
        return False
    reach = ((end, end + REACH), (max(0, opens - REACH), opens))
    return any(_SINCE.search(text, *part) is not None for part in reach)


def is_unsaid(clause: str) -> bool:
    """Tell whether a clause asks about, fears or ends what it names, rather than reports it."""
    return (_BACK.search(clause) is None and _is_over(clause)) or is_asked(clause)


def is_asked(clause: str) -> bool:
    """Tell whether a clause asks about or fears what it names."""
    asked = _ASKED.search(clause) is not None or _FEARED.search(clause) is not None
    return asked and _HAD.search(clause) is None


def _is_over(clause: str) -> bool:
    if _NO_MORE.search(clause) is not None:
        return True
    return _OVER.search(clause) is not None and _LASTS.search(clause) is None


def clauses_of(text: str) -> Iterator[tuple[int, int]]:
    """Give where the clauses of a text begin and end; a mark that ends one belongs to it."""
    at = 0
    for bound in _BOUND.finditer(text):
        if bound.end() > at:
            yield at, bound.end()
            at = bound.end()
    if at < len(text):
        yield at, len(text)


def clause_at(text: str, start: int, end: int) -> tuple[int, int]:
    """Give where the clause begins and ends that a place lies in."""
    opens = first = max(0, start - REACH)
    for bound in _BOUND.finditer(text, first, start):
        opens = bound.end()
    close = _BOUND.search(text, end, end + REACH)
    return opens, min(len(text), end + REACH) if close is None else close.end()

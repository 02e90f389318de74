"""The hardware a clause states: cards with their memory and number, machines, cards of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from trainrx.launch.prose.clauses import Clause, Statement
from trainrx.model.hardware import Gpu
from trainrx.model.pattern import late

CARD, MEMORY = "card", "memory"
GPUS, NODES, SEVERAL = "gpus", "nodes", "several gpus"
PER_NODE, IN_ALL = "gpus per node", "gpus in all"
MOST = 10_000
"""Cards of a job; a larger number counts something else."""
OF_ONE_MACHINE = 8
"""So many cards beside a number of machines may be those of each."""
NEAR = 32
"""Characters on each side of a card's name that can hold its number and memory."""
_DIGITS = "一二三四五六七八九"
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {
    **{word: at for at, word in enumerate(_WORDS, start=1)},
    **{sign: at for at, sign in enumerate(_DIGITS, start=1)},
    "十": 10,
    "十二": 12,
    "十六": 16,
    "三十二": 32,
    "两": 2,
    "双": 2,
    "单": 1,
    "sixteen": 16,
    "single": 1,
    "dual": 2,
}
_NUMBER = (
    r"(?<![第同每另哪某那这外比])(?<!最后)(?<!其中)(?<!最后 )(?<!其中 )(?<![>/])(?<!> )"
    rf"(?:(?<![A-Za-z0-9_.])\d{{1,5}}|\b(?:{'|'.join(_WORDS)}|sixteen|single|dual)\b"
    rf"|三十二|十[二六]|(?<![十百])[{_DIGITS}十两单双])"
)
_AS_SIZES = (40, 80)
_SIZES = "10|11|12|16|20|22|24|32|40|48|64|80|94|96|128|141|144|180|192|288"
_SIZE = rf"(?<![\d.])(?:{_SIZES})\s?G(?:i?B)?(?![A-Za-z])"
_MAKER = r"(?:NVIDIA|GeForce|Tesla|RTX|Quadro|Ascend|AMD|Instinct|昇腾|华为|英伟达|显卡|plain)"
_COUNT_BEFORE = late(
    rf"({_NUMBER})\s*(?:[x×*]|[张块个卡]|-?card)?\s*(?:的\s*)?(?:{_SIZE}\s*(?:的\s*)?)?"
    rf"(?:{_MAKER}[\s-]*){{0,2}}\Z",
    re.IGNORECASE,
)
_SIZE_BEFORE = late(rf"({_SIZE})\s*(?:的\s*)?(?:{_MAKER}[\s-]*){{0,2}}\Z", re.IGNORECASE)
_SIZE_AFTER = late(
    rf"\As?(?:-SXM\d?|-PCIe)?(?: (?:only )?(?:has|have"
    rf"|with))?[\s(（-]{{0,2}}({_SIZE})(?!\s*(?:RAM|内存))",
    re.IGNORECASE,
)
_COUNT_AFTER = late(
    r"\As?\s*[)）]?\s*(?:GPUs?|cards?|显?卡)?\s*(?:[x×*]\s*(?P<times>\d{1,2})(?![\w.])"
    rf"|(?P<zh>\d{{1,3}}|[{_DIGITS}两双])\s*[张块卡](?![死住顿在]))",
    re.IGNORECASE,
)
_NOT_A_CARD = late(r"\A\s*(?:steps?|步|条|samples?|个|MiB|MB|%|tokens?|:\d|万)", re.IGNORECASE)
_OF_MACHINES = late(r"\A\s*(?:nodes?|machines?|servers?|节点|机器)", re.IGNORECASE)
_CARDS = late(
    rf"({_NUMBER})(?:\s|-|\s?[x×*]\s?)(?:{_SIZE}[\s-]?)?(?:NVIDIA |identical )?"
    r"(?:GPUs?|cards?|NPUs)\b(?!\s*(?:hours|hrs|util|mem|#))"
    rf"|({_NUMBER})\s?[张块个]?\s?(?:{_SIZE}\s?的?\s?)?(?:显?卡|GPU|NPU)(?![死住顿会]"
    rf"|在(?!\s?[\w-]+ ?上)|的?显存)",
    re.IGNORECASE,
)
_MACHINES = late(
    rf"({_NUMBER})[ -](?:\w{{1,8}} )?(?:nodes?|machines?|servers?|hosts?)\b"
    rf"|({_NUMBER})\s?[台个]?\s?(?:机器?(?![会型构制])|节点|服务器|主机)"
    rf"|({_NUMBER})\s?台(?=\s?[A-Z])",
    re.IGNORECASE,
)
_GRID = late(
    r"(?<![\w.])(?P<nodes>\d{1,3})\s?(?P<said>nodes?\s)?[x×*]\s?(?P<each>8|4|16)"
    r"(?=\s?(?:张|卡|块|[x×*]|GPUs?|[AHVBL]\d{2,3}))",
    re.IGNORECASE,
)
_EACH = late(
    r"\beach (?:node|machine|server|equipped|with|has|having)\b|\bper (?:node|machine|server"
    r"|host)\b"
    r"|(?:nodes?|machines?|servers?) (?:with|of)\s|\b(?:GPUs|cards|[ABHL]\d{2,3}s?) each\b"
    r"|每(?:台|机|个?节点|个?机器)|多(?:台|机|节点)|multiple (?:nodes|machines)",
    re.IGNORECASE,
)
_IN_ALL = late(r"\b(?:total|altogether|over)\b|共|总", re.IGNORECASE)
_ROLES = late(
    r"(?:GPUs?|cards?) (?:for|of|runs?|serves?|as) (?:the |a )?(?:trainer|training|vllm|sglang"
    r"|rollout"
    r"|inference|server|generation)|(?:trainer|inference|rollout|generation|server) (?:GPUs?|cards)"
    r"|(?:卡|GPU)(?:做|用于|跑|来|用来|进行)?\s?(?:推理|部署|rollout|vllm|sglang|采样|生成)",
    re.IGNORECASE,
)
"""Cards that have a part of the job each: none of the numbers is that of the job."""
_ALONE = late(
    rf"({_SIZE})\s?的?\s?(?:of )?(?:VRAM|显存|显?卡|cards?\b|GPUs?\b|(?:GPU"
    rf"|video) memory)(?!\s?[用占到以])"
    rf"|(?:显存|VRAM|(?:GPU|video) memory)\s?(?:只有|是|为|of|is|:|：|大小|有)?\s?({_SIZE})"
    rf"|(?:显?卡|GPU)(?:是|为)?\s?({_SIZE})|(?:cards|GPUs) (?:of|with) ({_SIZE})"
    rf"|\d\s?[*x×]\s?({_SIZE})"
    rf"|\b({_SIZE}) (?:isn['’]t|is not) enough",
    re.IGNORECASE,
)
_SEVERAL = late(
    r"多卡|\b(?:multi[- ]?(?:GPU|card)|(?:multiple|several) (?:GPUs|cards))", re.IGNORECASE
)
_USED = late(
    r"\b(?:uses?|used|using|takes?|took|needs?|at|to|peak\w*|allocat\w+|about|around|free|grow\w*"
    r"|goes|from|asks?(?: for)?)\s*\Z|[占用到至剩近约涨了]\s*\Z|申请\s*\Z",
    re.IGNORECASE,
)
"""What stands before memory that is in use, or asked for."""
_UNUSUAL = ("A2", "A16")
"""Names that are more often something else."""
_FORM = late(r"-(?:SXM\d?|PCIe|NVL|3e|unified|\d+GB(?:/die|-unified)?)(?=-|\Z)")
_PREFIX = late(r"^(?:RTX-(?!6000|8000)|Quadro-|Ascend-(?:A3-)?)")


def hardware(clause: Clause, gpus: Sequence[Gpu]) -> Iterator[Statement]:
    """Read the hardware one clause states."""
    if clause.wanted is not None:
        return
    cards = list(_cards(clause.text, gpus))
    yield from (Statement(CARD, card, clause) for card, _ in cards)
    if not cards:
        yield from _memory(clause)
    if not _ROLES.search(clause.sentence):
        yield from _numbers(clause, [count for _, count in cards if count is not None])
    if _SEVERAL.search(clause.text):
        yield Statement(SEVERAL, 1, clause)
    for found in _MACHINES.finditer(clause.text):
        number = _number(found)
        if number is not None:
            yield Statement(NODES, number, clause)


def whole_job(stated: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Give the numbers of the whole job; cards that may be one machine's or all stay open.

    Args:
        stated: the numbers the clauses agree on, by `GPUS`, `NODES` and `PER_NODE`.
    """
    nodes, cards, each = stated.get(NODES), stated.get(GPUS), stated.get(PER_NODE)
    if nodes is not None:
        yield "hardware.nodes", nodes
    if IN_ALL in stated:
        yield "hardware.gpus", stated[IN_ALL]
        return
    if cards == 1 and SEVERAL in stated:
        cards = None
    if cards is None:
        if each is not None and nodes is not None:
            yield "hardware.gpus", each * nodes
    elif nodes is None or nodes == 1 or (cards > OF_ONE_MACHINE and cards % nodes == 0):
        yield "hardware.gpus", cards
    elif cards < nodes:
        yield "hardware.gpus", cards * nodes


def _numbers(clause: Clause, of_cards: Sequence[int]) -> Iterator[Statement]:
    grid = _GRID.search(clause.text)
    if grid is not None:
        yield Statement(GPUS, int(grid["nodes"]) * int(grid["each"]), clause)
        if grid["said"]:
            yield Statement(NODES, int(grid["nodes"]), clause)
        return
    kind = PER_NODE if _EACH.search(clause.text) is not None else GPUS
    kind = IN_ALL if _IN_ALL.search(clause.text) is not None else kind
    counted = of_cards or map(_number, _CARDS.finditer(clause.text))
    for count in counted:
        if count is not None:
            yield Statement(kind, count, clause)


def _memory(clause: Clause) -> Iterator[Statement]:
    for found in _ALONE.finditer(clause.text):
        before = clause.text[max(0, found.start() - NEAR) : found.start()]
        if _USED.search(before) is None:
            size = next(group for group in found.groups() if group)
            yield Statement(MEMORY, _plain(size), clause)


def _cards(text: str, gpus: Sequence[Gpu]) -> Iterator[tuple[str, int | None]]:
    """Give the cards a text names, with their memory, and how many."""
    for found in _names(tuple(sorted({gpu.id for gpu in gpus}))).finditer(text):
        before = text[max(0, found.start() - NEAR) : found.start()]
        after = text[found.end() : found.end() + NEAR]
        if found[0].isdecimal() and _NOT_A_CARD.search(after):
            continue
        number = None
        size = _SIZE_AFTER.search(after)
        behind = after if size is None else after[size.end() :]
        if not _OF_MACHINES.search(behind):
            number = _number(_COUNT_BEFORE.search(before) or _COUNT_AFTER.search(behind))
        size = size or _SIZE_BEFORE.search(before)
        if number in _AS_SIZES and size is None:
            number = None  # H100*80 is a card of 80 GB
        name = re.sub(r"^([A-Z]{1,2})-(?=\d)", r"\1", found[0].upper())
        yield name if size is None else f"{name} {_plain(size[1])}", number


def _plain(size: str) -> str:
    return f"{size.upper().partition('G')[0].strip()}G"


def _number(found: re.Match[str] | None) -> int | None:
    text = "" if found is None else next((part for part in found.groups() if part), "")
    number = int(text) if text.isdecimal() else _NUMBERS.get(text.lower())
    return number if number is not None and 0 < number <= MOST else None


def family(ident: str) -> str:
    """Give the name a card goes by among people: without maker, form and memory."""
    return _PREFIX.sub("", _FORM.sub("", ident))


@lru_cache(maxsize=4)
def _names(idents: tuple[str, ...]) -> re.Pattern[str]:
    """Give the pattern of the names cards go by among people."""
    names = set(map(family, idents))
    spelled = sorted(names - {*_UNUSUAL}, key=len, reverse=True)
    words = "|".join(_spelled(name) for name in spelled)
    return re.compile(
        rf"(?:(?<![A-Za-z0-9_.])|(?<=\d[xX])|(?<=RTX))(?:{words})(?=s?(?![A-Za-z0-9_]"
        rf"|\.\d))",
        re.IGNORECASE,
    )


def _spelled(name: str) -> str:
    ends = "[1-4]?" if name.endswith("0B") else ""
    text = name.replace("Ti", "-Ti").replace("-", "[ -]?")
    return re.sub(r"^([A-Z]{1,2})(?=\d)", r"\1-?", text) + ends

"""Cards as people and nvidia-smi name them: `A100-80G`, `8x RTX 4090`, `24GiB`, `910B`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from trainrx.model.findings import Unread
from trainrx.model.hardware import Gpu
from trainrx.model.pattern import late

USABLE_SHARE = 0.985
"""What torch reports of the nominal size where no report of the card is known: the median of
`torch_total_gib / memory_gb` over the cards in kb/gpus.yaml that have both."""

MAX_TEXT = 4_000
MAX_CARDS = 100_000

_NUMERALS = {"单": 1, "一": 1, "双": 2, "两": 2, "四": 4, "八": 8}
_NUMERAL = "".join(_NUMERALS)
_COUNT_FIRST = late(
    r"^(?:(\d{1,6})\s*(?:[xX×*]\s*|(?:张|块|卡)\s*(?:的\s*)?)(?=\S)|(\d{1,2})\s+(?=[A-Za-z])(?![GM]i?B?\b)"
    rf"|(?:单机)?([{_NUMERAL}])(?:张|块|卡)\s*)"
)
_COUNT_LAST = late(
    r"(?:\s*[×*]\s*|(?:\s|(?<=\d)|(?<=\dG)|(?<=\dGB)|(?<=\dGiB))[xX]\s*|\s)"
    rf"(\d{{1,6}}|[{_NUMERAL}])\s*(张|块|卡|GPUs?|cards?)?$",
    re.IGNORECASE,
)
_TWO_NUMBERS = late(r"^(\d{1,6})\s*[xX×*]\s*(\d{1,6})$")
_NUMBERED_CARD = late(r"^[1-9]0[1-9]0$")
"""Cards known by a number alone: 1080, 3090, 4090."""
LEAST_MEMORY = 16
"""A smaller number beside `x` counts cards: none with so little GiB trains."""
_MEMORY = late(
    r"(?<![A-Za-z0-9.])(\d{1,6}(?:\.\d{1,3})?)\s*(MiB|MB|GiB|GB|Gb|G)(?![A-Za-z])", re.IGNORECASE
)
_BARE = late(r"^(\d{1,3}(?:\.\d{1,3})?)$")
_NOISE = late(
    r"nvidia|geforce|tesla|quadro|ascend|huawei|amd|instinct|blackwell|generation|workstation|edition"
    r"|sxm\d?|pcie|hbm\d?e?|graphics|(?:memory|显存)|gpu|rtx|[^a-z0-9]"
)
_SIZE = late(r"-?\d{1,9}GB(?:/die|-unified)?", re.IGNORECASE)
_HEADER = late(r"memory\.total|^\s*name\s*,", re.IGNORECASE)


class GpuReading(msgspec.Struct, frozen=True, kw_only=True):
    """What a text says of the hardware.

    `gib`: memory torch can see on one card, GiB; None when the name alone leaves it open. `count`:
    cards named. `unread`: what is missing or not understood, in words for the user.
    """

    gpu: Gpu | None = None
    gib: float | None = None
    count: int | None = None
    unread: Unread | None = None


def read_gpu(text: str, gpus: Sequence[Gpu], source: str = "--gpu") -> GpuReading:
    """Read a card's name, its memory, or both, with or without a number of cards.

    A name that several sizes of card share (`A100`) gives the card's family but no memory. The
    output of `nvidia-smi --query-gpu=name,memory.total --format=csv` is understood too.
    """
    lines = [line.strip() for line in text[:MAX_TEXT].splitlines() if line.strip()]
    rows = [line for line in lines if not _HEADER.search(line)]
    if not rows:
        return GpuReading(unread=_unread(source, "no GPU is named", text))
    body, count = card_and_count(rows[0].strip("\"'")[:200])
    if len(rows) > 1:
        count = len(rows)
    if count is not None and not 1 <= count <= MAX_CARDS:
        return GpuReading(unread=_unread(source, "no number of cards a job can have", text))
    memory, is_nominal = _memory(body)
    name = _MEMORY.sub(" ", body).strip(" ,-_()（）")
    if not name or _BARE.match(name):
        return _by_memory(memory, is_nominal, count, source, text)
    found = _by_smi_name(body, gpus)
    if found:
        # the size is part of such a name; only what stands beside it is a memory of its own
        memory, _ = _memory(re.sub(found[0].name_regex, " ", body, flags=re.IGNORECASE))
    else:
        found = _by_short_name(name, gpus)
    if not found:
        reading = _by_memory(memory, is_nominal, count, source, text)
        return msgspec.structs.replace(reading, unread=_unknown(source, name, gpus))
    return _choose(found, name, memory, count, source)


def usable_gib(gpu: Gpu) -> float:
    """Give what torch sees of a card, GiB: as reported where known, else 98.5 % of its size."""
    if gpu.torch_total_gib:
        # the lower of two in the middle
        sizes = sorted(gpu.torch_total_gib)
        return sizes[(len(sizes) - 1) // 2]
    return round(gpu.memory_gb * USABLE_SHARE, 2)


def least_gib(name: str, gpus: Sequence[Gpu]) -> float | None:
    """Give what torch sees of the smallest card of a name that several sizes go by, GiB."""
    sizes = {gpu.memory_gb: usable_gib(gpu) for gpu in gpus if _SIZE.sub("", gpu.id) == name}
    return min(sizes.values()) if len(sizes) > 1 else None


def _choose(
    found: Sequence[Gpu], name: str, memory: float | None, count: int | None, source: str
) -> GpuReading:
    """Pick the card of the stated size; without one, sizes that differ leave memory open."""
    sizes = sorted({gpu.memory_gb for gpu in found})
    if memory is None:
        if len(sizes) == 1:
            return GpuReading(gpu=found[0], gib=usable_gib(found[0]), count=count)
        listed = " or ".join(f"{size:g}" for size in sizes)
        reason = f"{name} exists with {listed} GB; say which, e.g. `--gpu {name}-{sizes[-1]:g}G`"
        return GpuReading(
            gpu=_without_memory(found), count=count, unread=_unread(source, reason, name)
        )
    fitting = [gpu for gpu in found if abs(gpu.memory_gb - memory) <= 0.05 * gpu.memory_gb]
    if fitting:
        return GpuReading(gpu=fitting[0], gib=usable_gib(fitting[0]), count=count)
    gib = round(memory * USABLE_SHARE, 2)
    return GpuReading(gpu=_without_memory(found), gib=gib, count=count)


def _without_memory(found: Sequence[Gpu]) -> Gpu:
    """Give what all cards of one name share: capability and number formats, no totals."""
    first = found[0]
    family = _SIZE.sub("", first.id)
    return msgspec.structs.replace(first, id=family, torch_total_gib=())


def _by_memory(
    memory: float | None, is_nominal: bool, count: int | None, source: str, text: str
) -> GpuReading:
    if memory is None or not 1 <= memory <= 2048:
        return GpuReading(count=count, unread=_unread(source, "no GPU or memory is named", text))
    gib = round(memory * USABLE_SHARE, 2) if is_nominal else memory
    return GpuReading(gib=gib, count=count)


def _memory(body: str) -> tuple[float | None, bool]:
    """Give a stated memory in GiB; a whole number is the nominal size of a card."""
    found = list(_MEMORY.finditer(body))
    if found:
        last = found[-1]
        amount = float(last[1])
        if last[2].lower() in {"mib", "mb"}:
            return round(amount / 1024, 2), True
        return amount, amount == int(amount)
    bare = _BARE.match(body)
    if bare is None:
        return None, False
    amount = float(bare[1])
    return amount, amount == int(amount)


def card_and_count(text: str) -> tuple[str, int | None]:
    """Split off a number of cards: `8x A100`, `A100*8`, `8卡A100`, `4090x8`."""
    body = text.strip()
    both = _TWO_NUMBERS.match(body)
    if both is not None and _is_card(both[1], beside=both[2]):
        return both[1], int(both[2])
    first = _COUNT_FIRST.match(body)
    if first is not None:
        return body[first.end() :].strip(), _number(first[1] or first[2] or first[3])
    last = _COUNT_LAST.search(body)
    if last is not None and (last[2] or not last[0][0].isspace() or last[0].strip()[0] in "xX×*"):
        return body[: last.start()].strip(), _number(last[1])
    return body, None


def _is_card(number: str, *, beside: str) -> bool:
    """Tell whether the first of two numbers is the card: `4090x8`, not `8x4090` or `8x24`."""
    if _NUMBERED_CARD.match(number):
        return True
    return int(beside) < LEAST_MEMORY <= int(number)


def _number(digits: str) -> int:
    return _NUMERALS.get(digits) or int(digits)


def _by_smi_name(body: str, gpus: Sequence[Gpu]) -> list[Gpu]:
    """Find cards by the name nvidia-smi prints."""
    return [gpu for gpu in gpus if re.search(gpu.name_regex, body, re.IGNORECASE)]


def _by_short_name(name: str, gpus: Sequence[Gpu]) -> list[Gpu]:
    """Find cards by the short name people use: the model without maker, form and size."""
    short = _short(name)
    return [gpu for gpu in gpus if short and short in _short_names(gpu)]


def _short(name: str) -> str:
    return _NOISE.sub("", name.lower())


def _short_names(gpu: Gpu) -> Iterable[str]:
    family = _short(_SIZE.sub("", gpu.id))
    return family, family.removeprefix("a3")


def _unknown(source: str, name: str, gpus: Sequence[Gpu]) -> Unread:
    # only a name that is not known pays for this import
    from difflib import get_close_matches

    near = get_close_matches(name, [_SIZE.sub("", gpu.id) for gpu in gpus], n=3, cutoff=0.4)
    hint = f"; similar names: {', '.join(dict.fromkeys(near))}" if near else ""
    reason = f"the GPU {name[:60]!r} is not known{hint}; its memory alone works too: `--gpu 24GiB`"
    return _unread(source, reason, name)


def _unread(source: str, reason: str, text: str) -> Unread:
    return Unread(source=source, reason=reason, text=text.strip()[:200])

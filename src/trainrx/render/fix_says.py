"""What is said of a proposal, in sentences: shared by the forms for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainrx.model.fixing import Dropped, Proposal
from trainrx.model.memory import Refusal
from trainrx.model.planning import ProofCheck, Standing
from trainrx.model.result import FixOut
from trainrx.model.text import Lang
from trainrx.render import fix_words as words
from trainrx.render.words import LISTED, PAREN

MOST_CLAIMS = 6
PLAIN = ("guards", "lint")
"""Checks that find nothing when they hold, and so have nothing to tell."""


def memory_text(item: Proposal, lang: Lang) -> str:
    """Say the peak before and after against the card; "" where it is not known."""
    found = item.predicted
    if found is None:
        return ""
    verdict = words.FITS if found.high_gib <= found.limit_gib else words.MORE_LIKELY
    return words.MEMORY_SAYS.in_(lang).format(
        before=f"{found.before_gib:.1f}",
        after=f"{found.after_gib:.1f}",
        limit=f"{found.limit_gib:.1f}",
        low=f"{found.low_gib:.1f}",
        high=f"{found.high_gib:.1f}",
        verdict=verdict.in_(lang),
    )


def batch_text(item: Proposal, lang: Lang) -> str:
    """Say what becomes of the effective batch; "" where it is not known."""
    before, after = item.batch.before, item.batch.after
    if after is None:
        return ""
    if before is None or before == after:
        return words.BATCH_SAME.in_(lang).format(n=after)
    return words.BATCH_OTHER.in_(lang).format(before=before, after=after)


def speed_text(item: Proposal, lang: Lang) -> str:
    """Say how much longer a step takes; "" where nothing tells."""
    if item.slowdown is None:
        return ""
    low, high = item.slowdown
    if low == high == 1.0:
        return words.SPEED_SAME.in_(lang)
    return words.SPEED_SAYS.in_(lang).format(low=f"{low:g}", high=f"{high:g}")


def still_lines(refused: Sequence[Standing], lang: Lang) -> Iterator[str]:
    """Say what still stops the launch, and what to do about it."""
    for item in refused:
        said = words.STILL_SAYS.in_(lang) if item.todo else "{title}"
        yield said.format(title=item.title, todo=item.todo)


def why_lines(item: Proposal, lang: Lang) -> Iterator[str]:
    """Give the claims with the source each rests on."""
    for claim in item.claims[:MOST_CLAIMS]:
        source = words.SOURCE.in_(lang).format(url=claim.source) if claim.source else ""
        if claim.text or source:
            yield " ".join(part for part in (claim.text, source) if part)


def checked_text(checks: Sequence[ProofCheck], lang: Lang) -> str:
    """Name the checks that hold, each once, but for such as had nothing to look at."""
    told = (check for check in checks if check.holds and (check.detail or check.name in PLAIN))
    said = (check_name(check.name, lang) for check in told)
    return LISTED.in_(lang).join(dict.fromkeys(said))


def check_name(name: str, lang: Lang) -> str:
    """Name a check; one without words keeps its id."""
    known = words.CHECK.get(name)
    return name if known is None else known.in_(lang)


def failed_text(item: Dropped, lang: Lang) -> str:
    """Say what was tried and which check it failed."""
    first = item.failed[0] if item.failed else ProofCheck(name="", holds=False)
    said = words.TOO_MUCH if first.name == "memory" else words.FAILED
    return said.in_(lang).format(
        spelled=item.spelled or item.title, check=check_name(first.name, lang), detail=first.detail
    )


def refusal_text(refusal: Refusal, lang: Lang) -> str:
    """Say why nothing was searched on the memory model."""
    # most reasons name the option that is missing
    asks = "" if "--" in refusal.reason else LISTED.in_(lang).join(refusal.asks)
    return refusal.reason + (PAREN.in_(lang).format(asks) if asks else "")


def as_fix(item: Proposal) -> FixOut:
    """Give a proposal as a fix, for what shows its lines."""
    return FixOut(
        id=item.id,
        title=item.title,
        safety=item.safety,
        cost=item.cost,
        changes=item.changes,
        commands=item.commands,
    )

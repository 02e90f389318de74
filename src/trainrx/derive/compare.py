"""What differs from a launch that worked, defaults included."""

from __future__ import annotations

from collections.abc import Iterable

from trainrx.model.facts import Fact, Facts, fact

LOWERED, RAISED, CHANGED, DROPPED, ADDED = "lowered", "raised", "changed", "dropped", "added"


def changed_facts(now: Facts, good: Facts, params: Iterable[str]) -> tuple[Fact, ...]:
    """Give `changed.<parameter>` for each parameter whose effective value differs.

    `dropped`: the good launch set it and this one does not; `added`: the reverse. The origins are
    those of the good launch, then of this one.
    """
    return tuple(item for name in params if (item := _compare(name, now.get(name), good.get(name))))


def _compare(name: str, now: Fact | None, good: Fact | None) -> Fact | None:
    before, after = (item.value if item else None for item in (good, now))
    if before == after or (before is None and _is_default(now)):
        return None
    if after is None and _is_default(good):
        return None
    origins = (*(good.origins if good else ()), *(now.origins if now else ()))
    verdict = CHANGED
    if after is None or (_is_default(now) and not _is_default(good)):
        verdict = DROPPED
    elif before is None:
        verdict = ADDED
    elif _number(before) is not None and _number(after) is not None:
        verdict = RAISED if float(after) > float(before) else LOWERED
    return fact(f"changed.{name}", verdict, *origins, how="derived")


def _is_default(item: Fact | None) -> bool:
    return item is None or item.how in ("printed", "default", "assumed")


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value)

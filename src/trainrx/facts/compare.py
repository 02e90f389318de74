"""What differs from a launch that worked, defaults included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainrx.model.facts import Fact, Facts, Origin, fact

LOWERED, RAISED, CHANGED, DROPPED, ADDED = "lowered", "raised", "changed", "dropped", "added"
LIMITS = frozenset(
    {
        "train.max_length",
        "vision.max_pixels",
        "vision.video_max_pixels",
        "vision.max_frames",
        "vllm.max_model_len",
        "rlhf.max_completion_length",
    }
)
"""Unset means unlimited here: a release that no longer sets one lifts a limit."""
DEFAULT = frozenset({"default", "assumed"})
MAX_VALUE = 40


def changed_facts(now: Facts, good: Facts, params: Iterable[str]) -> tuple[Fact, ...]:
    """Give `changed.<parameter>` for each parameter whose effective value differs.

    `dropped`: the good launch set it and this one does not, or a limit that held by default holds
    no longer; `added`: the reverse. The origins are those of the good launch, then of this one.
    Where nobody set the parameter on either side, the releases differ: `moved.<parameter>` says the
    same, and both name the default of each side.
    """
    return tuple(item for name in params for item in _differences(name, now, good))


def _differences(name: str, now: Facts, good: Facts) -> Iterator[Fact]:
    after, before = now.get(name), good.get(name)
    if _by_release(name, now, good):
        verdict = _verdict(before, after)
        origins: tuple[Origin, ...] = (_named(name, before, after),)
        yield fact(f"moved.{name}", verdict, *origins, how="derived")
    elif _is_told(before, after):
        verdict = _verdict(before, after)
        origins = (
            *(before.origins if before else ()),
            *(after.origins if after else ()),
        )
    else:
        return
    yield fact(f"changed.{name}", verdict, *origins, how="derived")


def _is_told(before: Fact | None, after: Fact | None) -> bool:
    """Tell whether the values differ and somebody set one of them."""
    old, new = (item.value if item else None for item in (before, after))
    if old == new or (old is None and _is_default(after)):
        return False
    return not (new is None and _is_default(before))


def _by_release(name: str, now: Facts, good: Facts) -> bool:
    """Tell whether the same framework decides a parameter on both sides, and decides otherwise."""
    before, after = good.get(name), now.get(name)
    running = now.text("launch.framework")
    if not running or running != good.text("launch.framework"):
        return False
    if before is None or before.how not in DEFAULT:
        return False
    if after is None:
        return name in LIMITS and now.is_unset(name)
    return after.how in DEFAULT and after.value != before.value


def _verdict(before: Fact | None, after: Fact | None) -> str:
    old, new = (item.value if item else None for item in (before, after))
    if after is None or (_is_default(after) and not _is_default(before)):
        return DROPPED
    if before is None:
        return ADDED
    numbers = _number(old), _number(new)
    if numbers[0] is not None and numbers[1] is not None:
        return RAISED if numbers[1] > numbers[0] else LOWERED
    return CHANGED


def _named(name: str, before: Fact | None, after: Fact | None) -> Origin:
    old, new = (_shown(item) for item in (before, after))
    return Origin(source="defaults", text=f"{name}: {old} -> {new}")


def _shown(item: Fact | None) -> str:
    value = None if item is None else item.value
    if value is None:
        return "unset"
    return (str(value).lower() if isinstance(value, bool) else str(value))[:MAX_VALUE]


def _is_default(item: Fact | None) -> bool:
    return item is None or item.how in ("printed", "default", "assumed")


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value)

"""The arithmetic of a fix: what a parameter becomes."""

from __future__ import annotations

from trainrx.model.facts import Facts, Scalar
from trainrx.model.knowledge import Amount


class NotComputable(Exception):  # noqa: N818  # an answer, not an error
    """The present value is needed and unknown; `hint` says the change in words."""

    def __init__(self, hint: str) -> None:
        super().__init__(hint)
        self.hint = hint


def target(name: str, wanted: Scalar | Amount, facts: Facts) -> Scalar:
    """Give the new value of a parameter; the present one when it is right as it is.

    Raises:
        NotComputable: the amount is relative and what it is relative to is unknown.
    """
    if not isinstance(wanted, Amount):
        return wanted
    present = facts.number(name)
    if present is not None and _is_right(present, wanted):
        value = facts.value(name)
        return present if value is None else value
    if wanted.value is not None and not isinstance(wanted.value, float):
        return wanted.value
    return _clamp(_base(name, wanted, facts, present), wanted)


def _is_right(present: float, wanted: Amount) -> bool:
    low, high = wanted.right_if_at_least, wanted.right_if_at_most
    if low is None and high is None:
        return False
    return (low is None or present >= low) and (high is None or present <= high)


def _base(name: str, wanted: Amount, facts: Facts, present: float | None) -> float:
    if isinstance(wanted.value, float):
        return wanted.value
    if wanted.fact is not None:
        base = facts.number(wanted.fact)
        if base is None:
            raise NotComputable(wanted.fact)
    else:
        base = present
        if base is None:
            raise NotComputable(name)
    return base * (1.0 if wanted.times is None else wanted.times) + (wanted.plus or 0.0)


def _clamp(value: float, wanted: Amount) -> Scalar:
    if wanted.at_least is not None:
        value = max(value, wanted.at_least)
    if wanted.at_most is not None:
        value = min(value, wanted.at_most)
    if wanted.whole and isinstance(wanted.value, float) is False:
        return max(int(value), 0)
    return round(value, 4)

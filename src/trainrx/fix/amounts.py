"""The arithmetic of a fix: what a parameter becomes."""

from __future__ import annotations

from trainrx.model.facts import Facts, Scalar
from trainrx.model.knowledge import Amount
from trainrx.model.text import Text


class NotComputable(Exception):  # noqa: N818  # an answer, not an error
    """The fact `name` is needed and unknown."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def in_words(wanted: Scalar | Amount, named: Text | None = None) -> Text:
    """Say a relative amount in words; `named` is what it is taken from, if not the value itself."""
    times = wanted.times if isinstance(wanted, Amount) else None
    if named is not None:
        return Text(en=f"<{named.en}>", zh=f"<{named.zh}>")
    if times == 0.5:
        return Text(en="half of the present value", zh="当前值的一半")
    if times == 2:
        return Text(en="twice the present value", zh="当前值的两倍")
    if times is not None:
        return Text(en=f"{times:g} x the present value", zh=f"当前值的 {times:g} 倍")
    plus = wanted.plus if isinstance(wanted, Amount) else None
    return Text(en=f"the present value {plus or 0:+g}", zh=f"当前值 {plus or 0:+g}")


def target(
    name: str, wanted: Scalar | Amount, facts: Facts, otherwise: float | None = None
) -> Scalar:
    """Give the new value of a parameter; the present one when it is right as it is.

    `otherwise` is what it is at present where no fact tells.

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
    return _clamp(_base(name, wanted, facts, otherwise if present is None else present), wanted)


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
    # significant digits, not places: a learning rate is small
    return float(f"{value:.4g}")

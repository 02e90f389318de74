"""What other settings did, as a note tells, against what the fixes of a cause would change."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.facts.contrasts import FAILS, OFF, TRIALS, WORKS
from trainrx.model.facts import Facts, Scalar
from trainrx.model.knowledge import Amount, Cause, Fix
from trainrx.model.result import Reason
from trainrx.model.text import Lang, Text

WORKED = 2.0
"""Weight of a change that was tried and worked, for the causes whose fixes make it (nats)."""
FAILED = 1.5
"""Weight of one that was tried in vain, against a cause all of whose fixes make it (nats)."""
WORKED_WHY = Text(
    en="The user says that it works with another {param}, which a fix of it changes.",
    zh="用户说换一个 {param} 就正常，而它的修复正是改这一项。",
)
FAILED_WHY = Text(
    en="The user says that it fails with another {param} too, which a fix of it changes.",
    zh="用户说换一个 {param} 也一样失败，而它的修复正是改这一项。",
)


def trial_reasons(cause: Cause, facts: Facts, lang: Lang) -> Iterator[Reason]:
    """Give the votes of what was tried for and against a cause.

    A change in vain weighs by the share of the fixes that set something which make it.
    """
    setting = [fix for fix in cause.fixes if fix.set or fix.unset]
    told = (facts.text(TRIALS) or "").split() if setting else []
    for item in filter(None, map(facts.get, told)):
        head = WORKS if item.kind.startswith(WORKS) else FAILS
        param, tried = item.kind.removeprefix(head), item.value
        made = [fix for fix in setting if tried is not None and _makes(fix, param, tried, facts)]
        if not made:
            continue
        worked = head == WORKS
        why = WORKED_WHY if worked else FAILED_WHY
        yield Reason(
            id=item.kind,
            text=why.in_(lang).format(param=param.rpartition(".")[2]),
            weight=WORKED if worked else -FAILED * len(made) / len(setting),
            holds=True,
            evidence=item.origins,
        )


def _makes(fix: Fix, param: str, tried: Scalar, facts: Facts) -> bool:
    """Tell whether a fix makes the change of a trial."""
    if tried == OFF:
        return param in fix.unset or _is_off(fix.set.get(param))
    to = fix.set.get(param)
    if isinstance(to, Amount):
        now = facts.number(param)
        if to.times is None or isinstance(tried, str):
            return False
        # without the value it has now only the least is known to be lower
        return (tried < now) is (to.times < 1) if now is not None else to.times < 1 >= tried
    return to is not None and to == tried and type(to) is type(tried)


def _is_off(to: Scalar | Amount | None) -> bool:
    return to is False or (not isinstance(to, (bool, Amount)) and to in (0, 1, "none", "no", "off"))

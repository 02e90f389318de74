"""The proof of an edit: the launch as it is read again must be what was meant, and must do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from trainrx.model.facts import Facts, Scalar
from trainrx.model.job import Argument, RawLaunch
from trainrx.model.memory import Prediction, Refusal
from trainrx.model.planning import ProofCheck
from trainrx.model.result import Change

TOLERANCE_GIB = 0.3
TOLERANCE = 0.03
"""How far the figure of a plan may lie from that of its patched launch (GiB, share): the planner
works on a workload, the proof on the files."""
MOST_NAMED = 4
IN_FILES = ("arg", "env", "config_file")
"""Kinds of change a launch or its configurations can hold."""
SET = ("read", "given", "derived")


class LaunchReading(msgspec.Struct, frozen=True, kw_only=True):
    """A launch as it is read: its facts, the guards it breaks, its memory, what lint says of it.

    `guards` and `findings` map ids to a line for people; `findings` None: it was not linted.
    `launch` None: no launch was found. `style` is how it takes its arguments. `arguments` are those
    of its framework with their values, wherever they stand. `edited` are the changed texts of files
    that say what data is.
    """

    launch: RawLaunch | None
    facts: Facts
    guards: Mapping[str, str]
    memory: Prediction | Refusal
    findings: Mapping[str, str] | None = None
    style: Literal["arg", "config"] = "arg"
    arguments: Mapping[str, Argument] = {}
    edited: Mapping[str, str] = {}


def parsed(before: LaunchReading, after: LaunchReading) -> ProofCheck:
    """Check that the launch is still the same program, and that nothing else got lost."""
    old, new = before.launch, after.launch
    if old is None or new is None:
        return ProofCheck(name="parsed", holds=False, detail="no launch is found any more")
    same = (old.framework, old.command, old.program) == (new.framework, new.command, new.program)
    lost = len(new.defects) > len(old.defects) or (old.args_complete and not new.args_complete)
    said = f"{new.framework} {new.command}".strip()
    return ProofCheck(name="parsed", holds=same and not lost, detail=said)


def spelled(
    changes: Sequence[Change], after: LaunchReading, wanted: Mapping[str, Scalar]
) -> ProofCheck:
    """Check that each value reads back as it was meant.

    Args:
        changes: what was written.
        after: the patched launch.
        wanted: canonical parameter to value, where a plan says it.
    """
    wrong = list(_misread(changes, after, wanted))
    read = [change.spelled for change in changes if change.kind in IN_FILES]
    return ProofCheck(name="spelled", holds=not wrong, detail=", ".join(wrong or read))


def guards(after: LaunchReading, void: Collection[str] = ()) -> ProofCheck:
    """Check that the framework takes the launch, be it the edit or not that it objects to.

    Args:
        after: the patched launch.
        void: ids of objections that do not stop this job: it was seen to train.
    """
    left = [title for ident, title in after.guards.items() if ident not in void]
    return ProofCheck(name="guards", holds=not left, detail=_some(left))


def lint(after: LaunchReading, void: Collection[str] = ()) -> ProofCheck | None:
    """Check that the launch has no defect; None where it was not linted."""
    if after.findings is None:
        return None
    own = {ident: text for ident, text in after.findings.items() if ident not in after.guards}
    left = [text for ident, text in own.items() if ident not in void]
    return ProofCheck(name="lint", holds=not left, detail=_some(left))


def standing(
    before: LaunchReading, after: LaunchReading, void: Collection[str] = ()
) -> Mapping[str, str] | None:
    """Give what stopped the launch before and still does, by id; None where the edit adds to it."""
    old, new = objections(before), objections(after)
    if any(ident not in old for ident in new):
        return None
    return {ident: text for ident, text in new.items() if ident not in void}


def objections(found: LaunchReading) -> dict[str, str]:
    """Give what stops a launch: checks of its packages, and what lint calls an error."""
    return {**(found.findings or {}), **found.guards}


def batch(before: LaunchReading, after: LaunchReading, promised: int | None) -> ProofCheck | None:
    """Check that the effective batch is what was promised; None where it is not known."""
    old = before.facts.number("batch.effective")
    new = after.facts.number("batch.effective")
    if new is None:
        return None
    holds = promised is None or int(new) == promised
    shown = f"{int(new)}" if old is None or old == new else f"{int(old)} -> {int(new)}"
    return ProofCheck(name="batch", holds=holds, detail=shown)


def memory(
    after: LaunchReading, promised: float | None = None, scale: float = 1.0
) -> ProofCheck | None:
    """Check that the patched launch fits the card, and needs what its plan said (GiB).

    None where no figure or no card is known: then nothing is claimed. `scale` corrects the model by
    what the job was seen to take.
    """
    found = after.memory
    if isinstance(found, Refusal) or found.limit_gib is None:
        return None
    gib, low, high = (scale * value for value in (found.card.gib, found.card.low, found.card.high))
    fits = gib <= found.limit_gib and scale * found.need_gib <= found.limit_gib
    off = promised is not None and abs(gib - promised) > max(TOLERANCE_GIB, TOLERANCE * promised)
    detail = f"{gib:.1f} / {found.limit_gib:.1f} GiB ({low:.1f}-{high:.1f})"
    if off and promised is not None:
        detail += f" != {promised:.1f}"
    return ProofCheck(name="memory", holds=fits and not off, detail=detail)


def _misread(
    changes: Iterable[Change], after: LaunchReading, wanted: Mapping[str, Scalar]
) -> Iterator[str]:
    for change in changes:
        if change.kind not in IN_FILES or not change.canonical:
            continue
        found = after.facts.get(change.canonical)
        value = None if found is None else found.value
        if change.action == "remove":
            if found is not None and found.how in ("read", "given"):
                yield f"{change.param} is still set"
            continue
        told = _number(change.to) if isinstance(value, (int, float)) else None
        meant = wanted.get(change.canonical, told)
        if found is None or found.how not in SET:
            yield f"{change.param} is not set"
        elif meant is not None and not same_value(meant, value):
            yield f"{change.param} reads back as {value}, not {meant}"


def _number(text: str | None) -> Scalar | None:
    """Read the value of a change that is a plain number; words are left to the frameworks."""
    try:
        return float(text or "")
    except ValueError:
        return None


def same_value(meant: Scalar, read: Scalar | None) -> bool:
    """Compare values as a framework does: 1 and 1.0 are one, True and 1 are not."""
    if isinstance(meant, bool) or isinstance(read, bool):
        return meant is read
    if isinstance(meant, (int, float)) and isinstance(read, (int, float)):
        return abs(meant - read) <= 1e-9 * max(1.0, abs(meant))
    return meant == read


def _some(texts: Sequence[str]) -> str:
    more = f" (+{len(texts) - MOST_NAMED})" if len(texts) > MOST_NAMED else ""
    return "; ".join(texts[:MOST_NAMED]) + more

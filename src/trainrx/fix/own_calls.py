"""Calls of the job's own program that a library refused: what is to be renamed stands there."""

from __future__ import annotations

import msgspec

from trainrx.fix.changes import Target, rewritten
from trainrx.launch.places import base
from trainrx.model.facts import Origin
from trainrx.model.result import Change

_TOLD = ("failure.in_own_code", "failure.own_call_refused")


def own_call(job: Target) -> Origin | None:
    """Give the line of the program at hand that makes the call which was refused."""
    if job.launch is None or not job.launch.program_read:
        return None
    if not any(job.facts.value(name) is True for name in _TOLD):
        return None
    file, _, line = (job.facts.text("failure.own_place") or "").rpartition(":")
    own = file == base(job.launch.program) and line.isdecimal()
    return Origin(source=job.launch.program, line=int(line)) if own else None


def in_own_call(change: Change, job: Target) -> Change:
    """Give a change of code as one of a keyword, where the program at hand makes the call."""
    if change.kind != "code" or not change.param.isidentifier():
        return change
    at = own_call(job)
    if at is None:
        return change
    if change.action == "remove":
        return msgspec.structs.replace(change, kind="arg", now="set", at=at)
    if change.action != "switch" or not (change.to or "").isidentifier():
        return change
    name = change.to or ""
    return rewritten("arg", name, name, name, before=change.param, at=at)

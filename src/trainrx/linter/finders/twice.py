"""Arguments that stand twice in one command: only the last one counts."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.catalog.catalog import plain
from trainrx.linter.job import LintedJob, RuleHit
from trainrx.model.job import RawArg

_GATHERING = ("append", "extend")


def find(job: LintedJob) -> Iterator[RuleHit]:
    """Give each argument that is written again, at the place that does not count."""
    if not job.launch.framework:
        return
    last: dict[str, RawArg] = {}
    for arg in reversed(job.launch.args):
        name = plain(arg.name)
        later = last.setdefault(name, arg)
        if later is arg or arg.sign not in ("", "=") or not arg.origin.line:
            continue
        if arg.values is None or later.values is None or _gathers(name, job):
            continue
        same = arg.values == later.values
        at = job.texts.flag(arg)
        values = {
            "name": _shown(arg),
            "value": " ".join(arg.values)[:60],
            "kept": " ".join(later.values)[:60],
            "line": str(later.origin.line or ""),
        }
        rule = "argument-repeated" if same else "argument-given-twice"
        yield RuleHit(rule, at, values)


def _gathers(name: str, job: LintedJob) -> bool:
    known = job.taken().get(name)
    return known is not None and known.type.startswith(_GATHERING)


def _shown(arg: RawArg) -> str:
    return arg.name if arg.via == "config" or "." in arg.name else f"--{arg.name}"

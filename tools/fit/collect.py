"""From labelled cases to pairs of a case and a candidate cause, with what spoke for and against."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from accuracy import Names, arguments, holds

from fit.pair import Pair
from trainrx.api.answer import Conclusion, roots, shown, target
from trainrx.api.inputs import Given, Request, gather
from trainrx.api.pipeline import conclude
from trainrx.fix.plan import plan
from trainrx.kb.store import Knowledge
from trainrx.model.result import FixOut
from trainrx.rank.order import candidates
from trainrx.rank.score import Scored, logit


def pairs(cases: Iterable[dict[str, Any]], knowledge: Knowledge) -> Iterator[Pair]:
    """Run each case and give its candidates with the weights their authors judged."""
    names = Names()
    for index, case in enumerate(cases):
        done = conclude(_given(case, knowledge), knowledge)
        for scored in _candidates(done):
            fixes = [_plain(fix) for fix in plan(scored.cause, target(done, [scored.cause])).fixes]
            yield Pair(
                case=index,
                cause=scored.cause.id,
                prior=logit(scored.prior),
                votes=tuple((reason.id, reason.weight) for reason in scored.counted),
                right=holds({"fixes": fixes}, case["fixes"], names),
            )


def _given(case: dict[str, Any], knowledge: Knowledge) -> Given:
    with tempfile.TemporaryDirectory() as name:
        words = arguments(case, Path(name), note=True)
        told: dict[str, list[str]] = {}
        for option, value in zip(words[::2], words[1::2], strict=True):
            told.setdefault(option.removeprefix("--"), []).append(value)
        last = {key: values[-1] for key, values in told.items()}
        return gather(
            Request(
                cmd=tuple(told.get("cmd", ())),
                config=tuple(told.get("config", ())),
                env=last.get("env"),
                versions_file=last.get("versions"),
                logs=tuple(told.get("log", ())),
                gpu=last.get("gpu"),
                gpus=int(last["gpus"]) if "gpus" in last else None,
                nodes=int(last["nodes"]) if "nodes" in last else None,
                notes=tuple(told.get("note", ())),
            ),
            knowledge,
        )


def _candidates(done: Conclusion) -> list[Scored]:
    seen, echo_of = shown(done)
    active = roots(seen, echo_of, done.knowledge)
    failed = any(done.knowledge.symptoms[name].is_failure for name in active)
    if not failed:
        return []
    return candidates(
        done.knowledge.causes, done.reasoning, active=active, failed=failed, lang="en"
    )


def _plain(fix: FixOut) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.to_builtins(fix)
    return made

"""From labelled cases to pairs of a case and a candidate cause, with what spoke for and against."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from accuracy import Names, arguments, holds, plain

from fit.pair import Pair
from trainrx.diagnosis.conclusion import Conclusion, roots, shown, target
from trainrx.diagnosis.pipeline import conclude
from trainrx.facts.releases import package_in_question
from trainrx.fix.plan import plan as plan_fixes
from trainrx.fix.versions import FRAMEWORK
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.given import gather
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError
from trainrx.model.result import FixOut
from trainrx.reason.order import candidates
from trainrx.reason.score import Scored, logit

FAIR = 1.0
"""Votes for a cause that together make it more than one of its kind (nats)."""


def pairs(cases: Iterable[dict[str, Any]], loaded: LoadedKnowledge) -> Iterator[Pair]:
    """Run each case and give its candidates with the weights their authors judged.

    Many causes share a fix (upgrade the framework). Of the candidates whose changes hold what
    worked, those right are the ones something of the case speaks for, else the one its authors
    judge likeliest; of the others the label says nothing. "Upgrade the framework" is right too
    where nothing tells the tool which one that is, for that is no matter of the cause.
    """
    names = Names()
    for index, case in enumerate(cases):
        try:
            done = concluded(case, loaded)
        except UsageError as error:
            print(f"{case['id']}: {error}", file=sys.stderr)
            continue
        found = _candidates(done)
        held = [_holds(scored, case, done, names) for scored in found]
        meant = [
            named or _means_upgrade(scored, case, done)
            for scored, named in zip(found, held, strict=True)
        ]
        right = explaining([scored for scored, it in zip(found, meant, strict=True) if it])
        for scored, named, means in zip(found, held, meant, strict=True):
            yield Pair(
                case=index,
                cause=scored.cause.id,
                prior=logit(scored.prior),
                votes=tuple((reason.id, reason.weight) for reason in scored.counted),
                holds=named,
                right=True if scored.cause.id in right else None if means else False,
            )


def explaining(found: Sequence[Scored]) -> set[str]:
    """Name the causes that explain a case, of those whose changes hold what worked."""
    spoken_for = {scored.cause.id for scored in found if _support(scored) >= FAIR}
    likeliest = max(found, key=lambda scored: (scored.score, scored.cause.id), default=None)
    return spoken_for or ({likeliest.cause.id} if likeliest is not None else set())


def _support(scored: Scored) -> float:
    return sum(reason.weight for reason in scored.counted if reason.weight > 0)


def _holds(scored: Scored, case: dict[str, Any], done: Conclusion, names: Names) -> bool:
    fixes = [_plain(fix) for fix in plan_fixes(scored.cause, target(done)).fixes]
    return holds({"fixes": fixes}, case["fixes"], names)


def concluded(case: dict[str, Any], loaded: LoadedKnowledge) -> Conclusion:
    """Work out all that an answer to a case is made of.

    Raises:
        UsageError: the inputs of the case cannot be used.
    """
    with tempfile.TemporaryDirectory() as name:
        return concluded_in(Path(name), case, loaded)


def concluded_in(folder: Path, case: dict[str, Any], loaded: LoadedKnowledge) -> Conclusion:
    """Work it out below a folder, which stays: a log is read as a stream, when it is needed.

    Raises:
        UsageError: the inputs of the case cannot be used.
    """
    request = _request(arguments(case, folder, note=True))
    return conclude(gather(request, loaded.whole), loaded)


def _request(words: Sequence[str]) -> Request:
    told: dict[str, list[str]] = {}
    for option, value in zip(words[::2], words[1::2], strict=True):
        told.setdefault(option.removeprefix("--"), []).append(value)
    last = {key: values[-1] for key, values in told.items()}
    return Request(
        cmd=tuple(told.get("cmd", ())),
        config=tuple(told.get("config", ())),
        env=last.get("env"),
        versions_file=last.get("versions"),
        logs=tuple(told.get("log", ())),
        cards=tuple(told.get("gpu", ())),
        gpus=int(last["gpus"]) if "gpus" in last else None,
        nodes=int(last["nodes"]) if "nodes" in last else None,
        notes=tuple(told.get("note", ())),
        framework=last.get("framework"),
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


def _means_upgrade(scored: Scored, case: dict[str, Any], done: Conclusion) -> bool:
    """Tell whether a cause wants the framework upgraded, that worked, and it could not be named."""
    asks = any(item.name == FRAMEWORK for fix in scored.cause.fixes for item in fix.packages)
    worked = any(
        fix["action"] == "upgrade" and plain(str(fix["param"])) == plain(case["framework"])
        for fix in case["fixes"]
    )
    return asks and worked and not package_in_question(done.facts)


def _plain(fix: FixOut) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.to_builtins(fix)
    return made

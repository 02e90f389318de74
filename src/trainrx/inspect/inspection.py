"""`inspect_launch()`: every launch of the inputs as its framework would understand it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from trainrx.evidence.arguments import Dump
from trainrx.facts.all import log_versions
from trainrx.frameworks import framework_of
from trainrx.inspect.describe import InspectContext, describe
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.knowledge.store import Knowledge
from trainrx.launch.given import Given, gather
from trainrx.launch.images import image_versions
from trainrx.launch.job import all_launches, dumped_launch, pasted_launch, printed_launch, settle
from trainrx.launch.request import Request
from trainrx.model import __version__
from trainrx.model.errors import UsageError
from trainrx.model.facts import Fact, How, Origin
from trainrx.model.findings import Unread
from trainrx.model.inspection import InspectedJob, Inspection
from trainrx.model.job import NOTE, RawLaunch
from trainrx.model.result import Tool
from trainrx.model.text import Lang

MOST_ROUNDS = 16
"""Launches of one command that are resolved: rounds of loops differ in what the loops go over."""


class LogReadings(msgspec.Struct, frozen=True, kw_only=True):
    """What the logs tell: facts, package versions, printed arguments, and what is of no use.

    `told` are facts a note mentions: they give way to what is set, as its versions do.
    """

    facts: tuple[Fact, ...] = ()
    told: tuple[Fact, ...] = ()
    versions: dict[str, str] = {}
    dumps: tuple[Dump, ...] = ()
    unread: tuple[Unread, ...] = ()


def inspect_launch(request: Request, loaded: LoadedKnowledge) -> Inspection:
    """Resolve every launch: each argument with its effective value and where that comes from.

    Values are as they stand: secrets are not masked.
    """
    jobs, unread = jobs_of(request, loaded, request.lang)
    return Inspection(tool=tool(loaded.launches), lang=request.lang, jobs=jobs, unread=unread)


def jobs_of(
    request: Request, loaded: LoadedKnowledge, lang: Lang
) -> tuple[tuple[InspectedJob, ...], tuple[Unread, ...]]:
    """Give every launch of the inputs as a job, and what could not be used.

    Raises:
        UsageError: an input cannot be used, or none holds a launch.
    """
    knowledge = loaded.launches
    given = gather(request, knowledge)
    seen = read_logs(given, loaded)
    launches, problems = _launches(given, seen.dumps)
    if not launches:
        raise UsageError(_no_launch(request, (*problems, *given.unread)))
    around = InspectContext(
        knowledge=knowledge,
        facts=(*given.facts, *seen.facts),
        told=seen.told,
        stated=given.stated,
        env=given.env.variables,
        versions={**seen.versions, **given.versions},
        version_how=_version_how(given, seen),
        lang=lang,
        named={},
    )
    groups, repeated = _bounded(_grouped(launches))
    jobs = tuple(_job(group, given, around, seen.dumps) for group in groups)
    told = {item for job in jobs for item in job.unread}
    unread = dict.fromkeys((*repeated, *given.unread, *problems, *seen.unread))
    return jobs, tuple(item for item in unread if item not in told)


def _version_how(given: Given, seen: LogReadings) -> dict[str, How]:
    stated = (name for name, text in given.stated.versions.items() if seen.versions[name] == text)
    told = dict.fromkeys((*stated, *given.versions), _GIVEN)
    return dict.fromkeys(seen.versions, _READ) | told


_READ: How = "read"
_GIVEN: How = "given"


def tool(knowledge: Knowledge) -> Tool:
    """Say who answers; no inference engine has a part in it."""
    return Tool(name="trainrx", version=__version__, kb=knowledge.digest, engine="")


def read_logs(given: Given, loaded: LoadedKnowledge) -> LogReadings:
    """Scan logs and notes for facts, versions and printed arguments; without it costs nothing."""
    if not (given.logs or given.notes):
        return LogReadings()
    notes = given.stated
    # the scanner of logs costs more than all the rest
    from trainrx.evidence.arguments import logged_arguments
    from trainrx.evidence.detector import detector_of

    found = loaded.made(detector_of).detect((*given.logs, *given.notes))
    told = [item for item in found.facts if any(at.source == NOTE for at in item.origins)]
    return LogReadings(
        facts=tuple(item for item in found.facts if item not in told),
        told=(*notes.facts, *told),
        versions={**notes.versions, **log_versions(found.facts)},
        dumps=logged_arguments(given.logs),
        unread=found.unread,
    )


def _launches(given: Given, dumps: Sequence[Dump]) -> tuple[list[RawLaunch], tuple[Unread, ...]]:
    found, unread = all_launches(given)
    if found:
        return found, unread
    raw, further = launch_in_logs(given, dumps)
    return [] if raw is None else [raw], (*unread, *further)


def launch_in_logs(
    given: Given, dumps: Sequence[Dump]
) -> tuple[RawLaunch | None, tuple[Unread, ...]]:
    """Give a launch that is pasted into a log, or that its program printed."""
    if not given.logs:
        return None, ()
    # the scanner of logs is loaded only where there is one
    from trainrx.evidence.launches import embedded_launches

    raw, further = pasted_launch(given.logs)
    if raw is None:
        raw = printed_launch(embedded_launches(given.logs)) or dumped_launch(dumps)
    return raw, further


def _grouped(launches: Sequence[RawLaunch]) -> list[list[RawLaunch]]:
    """Put the launches of one job on several machines together."""
    groups: dict[object, list[RawLaunch]] = {}
    for index, raw in enumerate(launches):
        key = (raw.origin.source, raw.job) if raw.job else index
        groups.setdefault(key, []).append(raw)
    return list(groups.values())


def _bounded(
    groups: Sequence[list[RawLaunch]],
) -> tuple[list[list[RawLaunch]], tuple[Unread, ...]]:
    """Keep the first launches of each command, and say how often a loop starts it beyond these."""
    seen = Counter[Origin]()
    kept = []
    for group in groups:
        place = group[0].origin
        seen[place] += 1
        if seen[place] <= MOST_ROUNDS:
            kept.append(group)
    reason = "this command is started {count} times: the first {kept} are resolved"
    return kept, tuple(
        Unread(
            source=place.source,
            line=place.line,
            text=place.text,
            reason=reason.format(count=count, kept=MOST_ROUNDS),
        )
        for place, count in seen.items()
        if count > MOST_ROUNDS
    )


def _job(
    group: Sequence[RawLaunch], given: Given, around: InspectContext, dumps: Sequence[Dump]
) -> InspectedJob:
    raw = group[0]
    own = framework_of(raw.framework)
    image = image_versions(raw)
    around = around._replace(
        versions=own.own_versions({**image, **around.versions}),
        version_how=own.own_versions({**dict.fromkeys(image, _READ), **around.version_how}),
    )
    launch = settle(raw, given, versions=around.versions, knowledge=around.knowledge, dumps=dumps)
    return describe(launch, around._replace(nodes=tuple(other.origin for other in group[1:])))


def _no_launch(request: Request, unread: Sequence[Unread]) -> str:
    named = (*request.paths, *request.cmd, *request.config, *request.logs)
    reasons = "\n".join(f"  {item.source}: {item.reason}" for item in unread[:5])
    said = f"no launch found in {', '.join(named)}" if named else "no launch to look at"
    return f"{said}\n{reasons}".rstrip()

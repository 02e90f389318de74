"""`compare_launches()`: what differs between two launches once both are resolved."""

from __future__ import annotations

from collections.abc import Iterable
from os import fspath

import msgspec

from trainrx.inspect.inspection import jobs_of, tool
from trainrx.inspect.pairing import compare_facts, pair_values
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import PathLike, Request, request_of
from trainrx.model.findings import Unread
from trainrx.model.inspection import Comparison, InspectedJob, Pair, Sided, Topic

_ORDER: tuple[Topic, ...] = (
    "vision",
    "memory",
    "batch",
    "parallel",
    "model",
    "tuner",
    "rlhf",
    "data",
    "optimizer",
    "environment",
    "saving",
    "other",
)
"""What kills a job first comes first."""


def compare_launches(good: Request, bad: Request, loaded: LoadedKnowledge) -> Comparison:
    """Say what differs between two launches: defaults included, renamed arguments matched.

    Of several launches on one side the first training command is compared.
    """
    before, further_good, unread_good = _one(good, loaded)
    after, further_bad, unread_bad = _one(bad, loaded)
    paired = pair_values(before, after)
    facts = _sorted(compare_facts(before, after))
    changes, lone = _sorted(paired.changes), _sorted(paired.lone)
    weighty = any(pair.matters for pair in (*changes, *lone, *facts))
    return Comparison(
        tool=tool(loaded.launches),
        verdict="differs" if weighty else "same",
        good=_sided(before, further_good),
        bad=_sided(after, further_bad),
        lang=bad.lang,
        changes=changes,
        facts=facts,
        lone=lone,
        open=_sorted(paired.open),
        renamed=_sorted(paired.renamed),
        defaults=_sorted(paired.defaults),
        same=paired.same,
        unread=tuple(dict.fromkeys((*unread_good, *unread_bad))),
    )


def side(request: Request, path: PathLike, versions: PathLike | dict[str, str] | None) -> Request:
    """Ask for one side: its file, and the versions that are its own."""
    if versions is not None:
        own = request_of((), {"versions": versions})
        request = msgspec.structs.replace(
            request, versions=own.versions, versions_file=own.versions_file
        )
    return msgspec.structs.replace(request, paths=(fspath(path),))


def _one(request: Request, loaded: LoadedKnowledge) -> tuple[InspectedJob, int, tuple[Unread, ...]]:
    """Resolve one side: its first training command, and how many more there are."""
    jobs, unread = jobs_of(request, loaded, request.lang)
    training = [job for job in jobs if job.role == "trainer"] or list(jobs)
    return training[0], len(jobs) - 1, (*unread, *training[0].unread)


def _sided(job: InspectedJob, further: int) -> Sided:
    return Sided(
        place=job.place,
        framework=job.framework,
        command=job.command,
        version=job.version,
        version_how=job.version_how,
        task=job.task,
        model=job.model,
        further=further,
    )


def _sorted(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Put what matters first, then by topic, then what somebody set before defaults."""
    return tuple(sorted(pairs, key=_rank))


def _rank(pair: Pair) -> tuple[bool, int, bool, str]:
    given = any(side is not None and side.given for side in (pair.good, pair.bad))
    return not pair.matters, _ORDER.index(pair.topic), not given, pair.name

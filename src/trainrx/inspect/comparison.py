"""`compare_launches()`: what differs between two launches once both are resolved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from trainrx.inspect.inspection import jobs_of, tool
from trainrx.inspect.pairing import compare_facts, pair_values
from trainrx.knowledge.load import load
from trainrx.knowledge.store import Knowledge
from trainrx.launch.given import Request
from trainrx.model.findings import Unread
from trainrx.model.inspection import Comparison, InspectedJob, Pair, Sided, Topic
from trainrx.model.text import Lang

PathLike = Path | str
Versions = PathLike | dict[str, str] | None
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


def compare_launches(
    good: PathLike,
    bad: PathLike,
    *,
    versions_good: Versions = None,
    versions_bad: Versions = None,
    lang: Lang = "en",
    kb: Sequence[PathLike] = (),
    stdin: bytes | None = None,
) -> Comparison:
    """Say what differs between two launches: defaults included, renamed arguments matched.

    Of several launches in one file the first training command is compared.

    Args:
        good: a script, config or run folder; the launch that worked, or came first.
        bad: the other one; "-" is `stdin`.
        versions_good: any listing of package versions for the first, or a mapping name to version.
        versions_bad: the same for the second.
        lang: language of the titles of derived facts.
        kb: folders of further knowledge.
        stdin: the bytes "-" stands for.

    Raises:
        UsageError: an input cannot be used or holds no launch; says what to do.
        KnowledgeError: a folder of further knowledge is malformed.
    """
    knowledge = load([Path(k) for k in kb], launches=True)
    before, further_good, unread_good = _one(good, versions_good, knowledge, lang, stdin)
    after, further_bad, unread_bad = _one(bad, versions_bad, knowledge, lang, stdin)
    paired = pair_values(before, after)
    facts = _sorted(compare_facts(before, after))
    changes, lone = _sorted(paired.changes), _sorted(paired.lone)
    weighty = any(pair.matters for pair in (*changes, *lone, *facts))
    return Comparison(
        tool=tool(knowledge),
        verdict="differs" if weighty else "same",
        good=_sided(before, further_good),
        bad=_sided(after, further_bad),
        lang=lang,
        changes=changes,
        facts=facts,
        lone=lone,
        open=_sorted(paired.open),
        renamed=_sorted(paired.renamed),
        defaults=_sorted(paired.defaults),
        same=paired.same,
        unread=tuple(dict.fromkeys((*unread_good, *unread_bad))),
    )


def _one(
    path: PathLike, versions: Versions, knowledge: Knowledge, lang: Lang, stdin: bytes | None
) -> tuple[InspectedJob, int, tuple[Unread, ...]]:
    """Resolve one side: its first training command, and how many more there are."""
    request = Request(
        paths=(str(path),),
        versions=versions if isinstance(versions, dict) else None,
        versions_file=None if versions is None or isinstance(versions, dict) else str(versions),
        stdin=stdin,
    )
    jobs, unread = jobs_of(request, knowledge, lang)
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

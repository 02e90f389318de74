"""`fix()`: the changed launch, proved before it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trainrx.api.answer import Conclusion, answer
from trainrx.api.asked import Inputs, PathLike, request_of
from trainrx.api.bench import Bench
from trainrx.api.inputs import Given, gather
from trainrx.api.pipeline import conclude
from trainrx.api.proposals import MEMORY, Tried, numbered, try_fix, try_plan
from trainrx.api.reread import Surroundings
from trainrx.detect.arguments import logged_arguments
from trainrx.kb.load import load
from trainrx.model.errors import UsageError
from trainrx.model.fixing import FixAnswer, FixedCause, FixVerdict
from trainrx.model.memory import Refusal
from trainrx.model.planning import Planned
from trainrx.model.result import CauseOut, Change, Diagnosis, Unread
from trainrx.model.text import Lang
from trainrx.model.tokens import TokenStats
from trainrx.rank.retry import leading

if TYPE_CHECKING:
    from typing_extensions import Unpack

LOOKED_AT = 5
MOST_REMEDIES = 8
"""Remedies of one cause that are tried; each takes a reading of the launch."""


def fix(  # noqa: PLR0913  # the contract's inputs, one keyword each
    paths: PathLike | Sequence[PathLike] = (),
    *,
    keep: Sequence[str] = (),
    plan: int = 1,
    data: PathLike | None = None,
    lang: Lang = "en",
    kb: Sequence[PathLike] = (),
    rules: Sequence[PathLike] = (),
    **inputs: Unpack[Inputs],
) -> FixAnswer:
    """Say what to change in the files of a launch, as edits that passed their checks.

    Nothing is written: `trainrx.patch.write_files` does that with `Proposal.patched`.

    Args:
        paths: run folders, scripts, configs or logs; "-" is `stdin`.
        keep: parameters that must stay as they are, by the framework's name or the canonical one.
        plan: which proposal is chosen, from 1.
        data: the training data, for the lengths of its samples.
        lang: language of the answer's texts.
        kb: folders of further knowledge.
        rules: folders of further rules.
        inputs: what is known of the job besides, as `diagnose()` takes it.

    Raises:
        UsageError: an input cannot be used, or there is no proposal of that number.
        KnowledgeError: a folder of further knowledge is malformed.
    """
    knowledge = load([Path(folder) for folder in kb], [Path(folder) for folder in rules])
    given = gather(request_of(paths, inputs), knowledge)
    done = conclude(given, knowledge, lang)
    diagnosis = answer(done, LOOKED_AT)
    lengths, unread = lengths_of(data)
    bench = Bench(surroundings(given, done, lengths), done.launch)
    found = _worked(diagnosis, done, bench, keep, lang)
    return _chosen(msgspec.structs.replace(found, unread=(*diagnosis.unread, *unread)), plan)


def surroundings(
    given: Given, done: Conclusion, lengths: TokenStats | None = None
) -> Surroundings:
    """Give what stays as it is while the launch of a conclusion is edited."""
    return Surroundings(
        given=given,
        knowledge=done.knowledge,
        versions=done.versions,
        known=done.facts,
        dumps=tuple(logged_arguments(given.logs)),
        lengths=lengths,
        lang=done.lang,
    )


def lengths_of(data: PathLike | None) -> tuple[TokenStats | None, tuple[Unread, ...]]:
    """Measure how long the samples of the user's data are."""
    if data is None:
        return None, ()
    # the readers of data are loaded only where there is some
    from trainrx.parse.token_lengths import token_lengths

    found = token_lengths(Path(data))
    reasons = (text.removeprefix(f"{data}: ") for text in found.problems)
    return found.stats, tuple(Unread(source=str(data), reason=text) for text in reasons)


def _worked(
    diagnosis: Diagnosis, done: Conclusion, bench: Bench, keep: Sequence[str], lang: Lang
) -> FixAnswer:
    causes = leading(diagnosis.causes)
    about_memory = [cause for cause in causes if cause.family in MEMORY]
    tried: list[Tried] = []
    no_plan: Refusal | None = None
    if about_memory or (not causes and exceeds(bench)):
        plans = _plans(done, bench, keep)
        if isinstance(plans, Refusal):
            no_plan = plans
        else:
            cause = about_memory[0] if about_memory else None
            tried += [try_plan(item, bench, lang, cause) for item in plans]
    for cause in causes[:1]:
        kept = (item for item in cause.fixes if not _touches(item.changes, keep))
        tried += [try_fix(item, cause, bench) for item in list(kept)[:MOST_REMEDIES]]
    return FixAnswer(
        tool=diagnosis.tool,
        job=diagnosis.job,
        lang=lang,
        verdict=_verdict(tried, causes, bench),
        cause=_cause(causes[0]) if causes else None,
        proposals=numbered([item.proved for item in tried if item.proved is not None]),
        manual=numbered([item.by_hand for item in tried if item.by_hand is not None]),
        dropped=tuple(item.dropped for item in tried if item.dropped is not None),
        no_plan=no_plan,
    )


def _chosen(found: FixAnswer, number: int) -> FixAnswer:
    """Choose a proposal by its number.

    Raises:
        UsageError: there is none of that number.
    """
    count = len(found.proposals)
    if count and not 1 <= number <= count:
        raise UsageError(
            f"--plan {number}: there are {count} proposals, expected a number from 1 to {count}"
        )
    return msgspec.structs.replace(found, chosen=number if count else 0)


def exceeds(bench: Bench) -> bool:
    """Tell whether the launch is foreseen not to fit its card."""
    found = bench.before.memory
    return not isinstance(found, Refusal) and found.verdict == "does-not-fit"


def _touches(changes: Iterable[Change], keep: Sequence[str]) -> bool:
    """Tell whether a remedy changes what the user pinned."""
    pinned = {name.lstrip("-").replace("-", "_") for name in keep}
    return any(
        change.canonical in pinned or change.param.lstrip("-").replace("-", "_") in pinned
        for change in changes
    )


def _verdict(tried: Sequence[Tried], causes: Sequence[CauseOut], bench: Bench) -> FixVerdict:
    if any(item.proved is not None for item in tried):
        return "proved"
    if any(item.by_hand is not None for item in tried):
        return "manual"
    return "nothing-proved" if causes or exceeds(bench) else "nothing-to-fix"


def _cause(cause: CauseOut) -> FixedCause:
    return FixedCause(
        id=cause.id,
        title=cause.title,
        family=cause.family,
        verdict=cause.verdict,
        probability=cause.probability,
    )


def _plans(
    done: Conclusion, bench: Bench, keep: Sequence[str]
) -> Sequence[Planned] | Refusal:
    return ()

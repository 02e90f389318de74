"""Ways out of what was concluded: plans and remedies tried on a copy of the launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from trainrx.diagnosis.conclusion import Conclusion
from trainrx.evidence.arguments import logged_arguments
from trainrx.fix.plan import MEMORY
from trainrx.inputs.hardware import least_gib
from trainrx.knowledge.store import Knowledge
from trainrx.memory.job import refusal
from trainrx.model.facts import Fact, Facts, fact
from trainrx.model.findings import Edit, Finding
from trainrx.model.fixing import FixAnswer, FixedCause, FixVerdict, Proposal
from trainrx.model.hardware import TokenStats
from trainrx.model.knowledge import Family
from trainrx.model.memory import Refusal
from trainrx.model.parts import Reference
from trainrx.model.progress import begin
from trainrx.model.result import CauseOut, Diagnosis, FixOut
from trainrx.model.safety import graver
from trainrx.model.text import Text
from trainrx.prove.attempt import TrialLaunch
from trainrx.prove.mending import begun
from trainrx.prove.proposal_notes import assumed
from trainrx.prove.proposals import Tried, goes_first, numbered, touches, try_edits, try_fix
from trainrx.prove.recheck import IN_FILES
from trainrx.prove.reread import LaunchContext
from trainrx.reason.retry import leading

if TYPE_CHECKING:
    from trainrx.prove.memory_plans import Searched

LEAST = Text(
    en="{name} is sold with several sizes of memory: the figures are those of the smallest, "
    "{gib} GiB. With --gpu and the size a plan may change less.",
    zh="{name} 有多种显存容量，这里按最小的 {gib} GiB 计算；用 --gpu 写明容量，改动可能更少。",
)
OUT_OF_MEMORY: Family = "oom"
MOST_REMEDIES = 8
"""Remedies of one cause that are tried."""


def trial_of(
    done: Conclusion,
    found: tuple[Finding, ...] | None = None,
    lengths: TokenStats | None = None,
) -> TrialLaunch:
    """Give the launch of a conclusion as one to be edited and tried; `found` is what lint finds."""
    around = LaunchContext(
        given=done.given,
        knowledge=done.knowledge,
        versions=done.versions,
        known=Facts((*done.facts, *least_card(done.facts, done.knowledge))),
        refused=done.refused,
        dumps=tuple(logged_arguments(done.given.logs)),
        lengths=lengths,
        lang=done.lang,
        linted=done.loaded,
        found=found,
    )
    return TrialLaunch(around, done.launch)


def ways_out(
    diagnosis: Diagnosis,
    done: Conclusion,
    trial: TrialLaunch,
    keep: Sequence[str] = (),
    *,
    first: bool = False,
) -> FixAnswer:
    """Try plans and remedies on a copy of the launch; what passes is proposed, best first.

    Args:
        diagnosis: the answer whose causes are to be met.
        done: what it was made of.
        trial: the launch.
        keep: parameters that must stay as they are.
        first: only the first proposal is wanted: nothing is tried once it stands.
    """
    begin("proving")
    causes = leading(diagnosis.causes)
    about_memory = [cause for cause in causes if cause.family in MEMORY]
    if len(about_memory) == len(causes):
        # what is wrong with the script goes first; a cause that is an error of lint is its remedy
        trial = trial.mended(diagnosis.findings)
    trial.keep = keep
    framework = done.facts.text("launch.framework") or ""
    plans: Sequence[Tried] = ()
    no_plan: Refusal | None = None
    failed = [item for item in diagnosis.symptoms if item.family and item.echo_of is None]
    short = any(item.family == OUT_OF_MEMORY for item in failed)
    if about_memory or (not causes and (short or _rather_exceeds(trial))):
        plans, no_plan = _plans(diagnosis, trial, about_memory, keep)
    elif not causes and not begun(done.facts):
        no_plan = _untold(trial)
    remedies = _behind_the_program(_remedies(diagnosis, done, trial, keep))
    all_ways = chain(plans, remedies, _short(no_plan, trial, keep))
    tried = list(_to_the_first(all_ways, framework) if first else all_ways)
    proved = [item.proved for item in tried if item.proved is not None]
    proposals = numbered((_on_least(item, trial.around) for item in proved), framework)
    return FixAnswer(
        tool=diagnosis.tool,
        job=diagnosis.job,
        lang=done.lang,
        verdict=_verdict(
            proposals,
            tried,
            trouble=bool(causes) or exceeds(trial) or bool(trial.stops()),
            # what failed is no job without anything to mend, whatever it was
            known=no_plan is None and not failed,
        ),
        cause=_cause(causes[0]) if causes else None,
        proposals=proposals,
        manual=numbered([item.by_hand for item in tried if item.by_hand is not None]),
        dropped=tuple(item.dropped for item in tried if item.dropped is not None),
        no_plan=None if no_plan is None else in_words(no_plan, trial.around),
        refused=trial.stops(),
    )


def _remedies(
    diagnosis: Diagnosis, done: Conclusion, trial: TrialLaunch, keep: Sequence[str]
) -> Iterator[Tried]:
    """Try the remedies of the best cause, one when it is asked for: each is a reading."""
    for cause in leading(diagnosis.causes)[:1]:
        sources = _sources(done, cause)
        kept = [item for item in cause.fixes if not touches(item, keep)]
        for item in kept[:MOST_REMEDIES]:
            edits = _edits_of(item, diagnosis.findings)
            if edits:
                yield try_edits(item, cause, trial, edits)
            else:
                yield try_fix(item, cause, trial, sources)


def _behind_the_program(found: Iterable[Tried]) -> Iterator[Tried]:
    """Leave releases to a person that stand behind a change of the program, known in full.

    The release is what the program has to be right for; an older one comes second, and brings its
    own troubles.
    """
    known = False
    for item in found:
        if known and item.proved is not None and not item.proved.diff:
            safety = graver("manual", item.proved.safety)
            yield Tried(by_hand=msgspec.structs.replace(item.proved, safety=safety))
        else:
            yield item
        changes = () if item.by_hand is None else item.by_hand.changes
        known = known or any(
            one.kind in ("code", *IN_FILES) and (one.to is not None or one.action == "remove")
            for one in changes
        )


def _edits_of(remedy: FixOut, findings: Sequence[Finding]) -> list[Edit]:
    """Give what lint proposes against all errors, where the remedy is one of its edits."""
    errors = [item for item in findings if item.severity == "error" and item.fix is not None]
    if all(item.rule != remedy.id for item in errors):
        return []
    return [edit for item in errors if item.fix is not None for edit in item.fix.edits]


def _to_the_first(found: Iterable[Tried], framework: str) -> Iterator[Tried]:
    """Give what is tried up to a proposal that nothing found later is numbered before."""
    for item in found:
        yield item
        if item.proved is not None and goes_first(item.proved, framework):
            return


def exceeds(trial: TrialLaunch) -> bool:
    """Tell whether the launch is foreseen not to fit its card."""
    found = trial.before.memory
    return not isinstance(found, Refusal) and found.likely_exceeds


def _rather_exceeds(trial: TrialLaunch) -> bool:
    """Tell whether the launch is too large if what is not known is as it is assumed."""
    found = trial.before.memory
    return not isinstance(found, Refusal) and found.rather_exceeds


def _untold(trial: TrialLaunch) -> Refusal | None:
    """Say why it cannot be told whether the launch fits its card; None where it can."""
    found = trial.before.memory
    if isinstance(found, Refusal):
        return found
    asks = ("hardware.gpu_gib",)
    if found.limit_gib is None:
        return Refusal(kind="unknown", id="no-card", reason="no card is known", asks=asks)
    if found.verdict != "cannot-say":
        return None
    figures = {"low": found.card.low, "high": found.card.high, "limit": found.limit_gib}
    values = {name: f"{gib:.1f}" for name, gib in figures.items()}
    return refusal(
        "unknown", "open", {**values, "asks": " ".join(assumed(found.deciding, trial.around))}
    )


def _sources(done: Conclusion, cause: CauseOut) -> Mapping[str, Reference]:
    """Give the source each remedy of a cause rests on, by the remedy's id."""
    entry = done.knowledge.causes.get(cause.id)
    if entry is None:  # an error of lint has its sources itself
        return {}
    known = {ref.id: ref for ref in entry.references}
    return {fix.id: known[fix.ref] for fix in entry.fixes if fix.ref in known}


def least_card(facts: Facts, knowledge: Knowledge) -> Iterator[Fact]:
    """Take the smallest of the cards a name may mean: what fits it fits the others."""
    named = facts.get("hardware.gpu")
    gib = None if named is None else least_gib(str(named.value), knowledge.gpus)
    if named is not None and gib is not None and "hardware.gpu_gib" not in facts:
        yield fact("hardware.gpu_gib", gib, *named.origins, how="assumed")


def _on_least(item: Proposal, around: LaunchContext) -> Proposal:
    """Say of figures that they are those of the smallest card."""
    card = around.known.get("hardware.gpu_gib")
    if card is None or card.how != "assumed" or item.predicted is None:
        return item
    name = around.known.text("hardware.gpu") or ""
    said = LEAST.in_(around.lang).format(name=name, gib=f"{card.value:.0f}")
    return msgspec.structs.replace(item, notes=(*item.notes, said))


def in_words(item: Refusal, around: LaunchContext) -> Refusal:
    """Say why there is no plan in the language of the answer, in the user's spelling."""
    # what settles a launch is loaded only where it is needed
    from trainrx.estimation.phrasing import refused
    from trainrx.prove.candidates import subject_of

    subject = subject_of(around)
    if subject is None:
        return item
    return refused(item, subject.launch, around.knowledge, around.lang)


def _verdict(
    proposals: Sequence[Proposal],
    tried: Sequence[Tried],
    *,
    trouble: bool,
    known: bool,
) -> FixVerdict:
    if proposals and proposals[0].refused:
        return "not-enough"
    if proposals:
        return "checked" if proposals[0].lacks or proposals[0].assumes else "proved"
    if any(item.by_hand is not None for item in tried):
        return "manual"
    if trouble:
        return "nothing-proved"
    return "nothing-to-fix" if known else "unknown"


def _cause(cause: CauseOut) -> FixedCause:
    return FixedCause(
        id=cause.id,
        title=cause.title,
        family=cause.family,
        verdict=cause.verdict,
        probability=cause.probability,
    )


def _short(why: Refusal | None, trial: TrialLaunch, keep: Sequence[str]) -> Iterator[Tried]:
    if why is not None and why.not_enough:
        from trainrx.prove.memory_plans import ways_that_fall_short

        yield from ways_that_fall_short(why, trial, keep=keep, failed=trial.ran_out)


def _plans(
    diagnosis: Diagnosis, trial: TrialLaunch, causes: Sequence[CauseOut], keep: Sequence[str]
) -> Searched:
    """Search for plans; a failure that was seen is known to be one, whatever the model says."""
    # the search is loaded only where memory is what is short
    from trainrx.prove.memory_plans import memory_plans

    seen = any(item.family in MEMORY and item.echo_of is None for item in diagnosis.symptoms)
    if seen:
        trial.failed()
    return memory_plans(trial, causes[0] if causes else None, keep=keep, failed=seen)

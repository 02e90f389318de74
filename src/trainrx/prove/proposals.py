"""Plans and remedies as proposals: each is tried, and only what passes is offered."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from trainrx.diagnosis.foreseen import compared
from trainrx.facts.packages import package_facts
from trainrx.fix.changes import pinned_change
from trainrx.fix.pins import consistent_set
from trainrx.fix.plan import MEMORY
from trainrx.fix.versions import install_command
from trainrx.knowledge.packages import read_requirements
from trainrx.linter.given import ESTIMATED
from trainrx.model.facts import Facts
from trainrx.model.findings import Edit
from trainrx.model.fixing import Batch, Claim, Dropped, Proposal, TermChange
from trainrx.model.memory import Prediction, Refusal
from trainrx.model.parts import Reference, Safety
from trainrx.model.planning import Aim, Planned, ProofCheck
from trainrx.model.result import CauseOut, Change, FixOut, Predicted
from trainrx.model.safety import BY_HAND, graver
from trainrx.model.text import Lang, Text
from trainrx.prove.attempt import Attempt, Promise, TrialLaunch, pinned
from trainrx.prove.planner import FILL
from trainrx.prove.proposal_notes import (
    assumed,
    cost_of,
    host_memory,
    joined_claims,
    left_standing,
    lost,
    mended_first,
    needs,
    new_files,
    weaker,
)
from trainrx.prove.recheck import IN_FILES
from trainrx.prove.reread import LaunchContext
from trainrx.prove.stamp import lacking, lacking_of_releases

AIM: dict[Aim, Text] = {
    "least-change": Text(en="least change", zh="改动最小"),
    "fastest": Text(en="fastest that fits", zh="放得下的方案中最快"),
    "most-headroom": Text(en="most headroom", zh="余量最大"),
    "another-way": Text(en="another way", zh="换一种办法"),
    "frees-most": Text(en="frees most", zh="最省显存"),
}
TIGHT = Text(
    en="Nothing leaves a margin: this frees most, and just fits by the estimate. Watch the first "
    "steps.",
    zh="没有任何改法能留出余量：这是最省显存的改法，按估算刚好放得下，请留意最初几步。",
)
_NONE: Mapping[str, Reference] = {}


class Tried(NamedTuple):
    """What came of trying one idea: exactly one of the three."""

    proved: Proposal | None = None
    by_hand: Proposal | None = None
    dropped: Dropped | None = None


def try_plan(plan: Planned, trial: TrialLaunch, lang: Lang) -> Tried:
    """Try a plan in the files."""
    wanted = {name: value for move in plan.moves for name, value in move.values}
    enough = plan.aim != "frees-most"
    attempt = trial.attempt(plan.changes, wanted, promise=_promise(plan, trial), must_fit=enough)
    standing = () if attempt.standing is None else trial.standing(attempt.standing)
    if not enough:
        # the plan says itself by how much it falls short
        standing = (*(one for one in standing if one.id not in ESTIMATED), *plan.refused)
    title = " · ".join(AIM[aim].in_(lang) for aim in (plan.aim, *plan.also))
    if attempt.outcome == "failed":
        return Tried(dropped=_dropped(plan.aim, title, plan.changes, attempt))
    proposal = Proposal(
        number=0,
        kind="plan",
        id=plan.aim,
        title=title,
        safety=weaker(plan.safety, attempt),
        also=plan.also,
        changes=attempt.changes,
        claims=(*_claims(plan, lang), *joined_claims(attempt, lang)),
        commands=tuple(move.beside for move in plan.moves if move.beside),
        needs=needs(attempt, trial),
        notes=(
            *([TIGHT.in_(lang)] if enough and plan.after.gib > FILL * plan.limit_gib else []),
            *mended_first(attempt, trial),
            *left_standing(attempt, trial),
            *new_files(attempt, lang),
            *host_memory(attempt, trial, lang),
            *lost(attempt.renamed, lang),
        ),
        predicted=(predicted := _planned(plan)),
        assumes=_assumed(attempt, trial),
        terms=_terms(predicted, trial, attempt),
        batch=_batch(trial, attempt, plan),
        slowdown=plan.slowdown,
        quality=plan.quality,
        checks=(*_still(plan.checks, attempt), *attempt.checks),
        refused=standing or plan.refused,
        patched=attempt.patched,
        diff=attempt.diff,
    )
    if attempt.outcome == "by-hand":
        return Tried(by_hand=proposal)
    return Tried(proved=replace(proposal, lacks=lacking(proposal, attempt, trial)))


def _still(checks: Sequence[ProofCheck], attempt: Attempt) -> Iterator[ProofCheck]:
    """Give the checks of a plan, but for those the files were put to once more."""
    again = {check.name for check in attempt.checks}
    yield from (check for check in checks if check.name not in again or check.name == "memory")


def _try_packages(
    fix: FixOut, cause: CauseOut, trial: TrialLaunch, sources: Mapping[str, Reference]
) -> Tried | None:
    """Try to install what a remedy wants, with all that must change beside it."""
    changes = _version_set(fix, trial.around)
    if changes is None:
        return None
    check = _packages_check(changes, trial.around)
    if not check.holds:
        attempt = Attempt(outcome="failed", checks=(check,))
        return Tried(dropped=_dropped(fix.id, fix.title, changes, attempt))
    proposal = Proposal(
        number=0,
        kind="fix",
        id=fix.id,
        title=fix.title,
        safety=fix.safety,
        cause=cause.id,
        changes=changes,
        claims=_said(sources.get(fix.id), trial.around.lang),
        cost=fix.cost,
        steps=fix.steps,
        commands=_pip_line(changes),
        notes=fix.notes,
        checks=(check,),
    )
    known = trial.around.knowledge.causes.get(cause.id)
    # that a newer release of what failed may do is a hope, whatever it was that failed
    if known is not None and known.generic:
        return Tried(by_hand=proposal)
    return Tried(proved=replace(proposal, lacks=lacking_of_releases(proposal, fix, trial, cause)))


def settled(fix: FixOut) -> bool:
    """Tell whether a remedy is an edit of files that destroys nothing, each value being known."""
    return (
        bool(fix.changes)
        and fix.destroys is None
        and all(
            change.kind in IN_FILES and (change.to is not None or change.action == "remove")
            for change in fix.changes
        )
    )


def try_fix(
    fix: FixOut, cause: CauseOut, trial: TrialLaunch, sources: Mapping[str, Reference] = _NONE
) -> Tried:
    """Try a remedy of the knowledge; one that does not make a job fit that must is dropped."""
    if (
        not fix.destroys
        and _installs(fix)
        and (tried := _try_packages(fix, cause, trial, sources)) is not None
    ):
        return tried
    about_memory = cause.family in MEMORY
    attempt = (
        trial.attempt(fix.changes, must_fit=about_memory)
        if settled(fix)
        else Attempt(outcome="by-hand")
    )
    return _proposed(fix, cause, trial, attempt, sources)


def try_edits(fix: FixOut, cause: CauseOut, trial: TrialLaunch, edits: Sequence[Edit]) -> Tried:
    """Try what lint proposes against an error of the launch."""
    return _proposed(fix, cause, trial, trial.attempt_edits(edits), _NONE, certain=True)


def _proposed(
    fix: FixOut,
    cause: CauseOut,
    trial: TrialLaunch,
    attempt: Attempt,
    sources: Mapping[str, Reference],
    *,
    certain: bool = False,
) -> Tried:
    if attempt.outcome == "failed":
        return Tried(dropped=_dropped(fix.id, fix.title, fix.changes, attempt))
    safe, lang = fix.safety == "safe", trial.around.lang
    proposal = Proposal(
        number=0,
        kind="fix",
        id=fix.id,
        title=fix.title,
        safety=_safety(fix, attempt),
        cause=cause.id,
        changes=attempt.changes or fix.changes,
        claims=(*_said(sources.get(fix.id), lang), *joined_claims(attempt, lang)),
        cost=cost_of(fix, attempt, lang),
        steps=fix.steps,
        commands=fix.commands,
        destroys=fix.destroys,
        needs=needs(attempt, trial),
        notes=(
            *fix.notes,
            *mended_first(attempt, trial),
            *left_standing(attempt, trial),
            *new_files(attempt, lang),
            *host_memory(attempt, trial, lang),
            *lost(attempt.changes if safe else attempt.renamed, lang),
        ),
        predicted=(predicted := _predicted(trial, attempt) if _is_short(cause, trial) else None),
        assumes=_assumed(attempt, trial) if predicted is not None else (),
        terms=_terms(predicted, trial, attempt),
        batch=_batch(trial, attempt, None),
        checks=attempt.checks,
        refused=() if attempt.standing is None else trial.standing(attempt.standing),
        patched=attempt.patched,
        diff=attempt.diff,
    )
    if attempt.outcome == "by-hand":
        return Tried(by_hand=proposal)
    known = trial.around.knowledge.causes.get(cause.id)
    remedy = next((one for one in known.fixes if one.id == fix.id), None) if known else None
    lacks = lacking(proposal, attempt, trial, cause=cause, remedy=remedy, certain=certain)
    return Tried(proved=replace(proposal, lacks=lacks))


def _is_short(cause: CauseOut, trial: TrialLaunch) -> bool:
    """Tell whether memory is the trouble: it was, or the launch is foreseen not to fit."""
    found = trial.before.memory
    foreseen = not isinstance(found, Refusal) and found.rather_exceeds
    return cause.family in MEMORY or foreseen


def _safety(fix: FixOut, attempt: Attempt) -> Safety:
    """Give the safety of all that is changed: that of the remedy, or of what had to join it."""
    if attempt.outcome == "by-hand":
        return graver("manual", fix.safety)
    return weaker(fix.safety, attempt)


def _said(ref: Reference | None, lang: Lang) -> tuple[Claim, ...]:
    """Say what a source says: there is no such text but the English one."""
    return () if ref is None else (Claim(text=ref.says if lang == "en" else "", source=ref.url),)


def touches(fix: FixOut, keep: Sequence[str]) -> bool:
    """Tell whether a remedy changes what the user pinned."""
    return any(pinned(change, keep) for change in fix.changes)


def numbered(proposals: Iterable[Proposal], framework: str = "") -> tuple[Proposal, ...]:
    """Number proposals from 1; of several that change the same, or nearly so, the first stays.

    What is enough goes first, and of remedies those that are edits: a version is not changed
    lightly. An older release of `framework` goes last: a script is to be right for what is
    installed.
    """
    kept: dict[frozenset[tuple[str, str | None]], Proposal] = {}

    def rank(item: Proposal) -> tuple[bool, bool, bool]:
        return (_goes_back(item, framework), bool(item.refused), _is_by_hand(item))

    for item in sorted(proposals, key=rank):
        changed = frozenset((c.param, c.to) for c in item.changes)
        if item.kind == "plan" or not any(_is_most_of(changed, plan) for plan in kept):
            kept.setdefault(changed, item)
    return tuple(replace(item, number=number) for number, item in enumerate(kept.values(), start=1))


def goes_first(item: Proposal, framework: str) -> bool:
    """Tell whether no proposal that is found later is numbered before this one."""
    return not (_goes_back(item, framework) or item.refused or _is_by_hand(item))


def _is_most_of(changed: frozenset[tuple[str, str | None]], plan: Collection[object]) -> bool:
    """Tell whether a remedy is what a proposal above it does, less one detail."""
    return bool(changed) and changed <= frozenset(plan) and len(plan) - len(changed) == 1


def _goes_back(item: Proposal, framework: str) -> bool:
    """Tell whether a proposal puts an older release of a framework in the place of its own."""
    return any(
        change.kind == "package" and change.param == framework and change.action == "downgrade"
        for change in item.changes
    )


def _is_by_hand(item: Proposal) -> bool:
    return item.kind == "fix" and item.safety in BY_HAND


def _promise(plan: Planned, trial: TrialLaunch) -> Promise:
    """Say what a plan promises, on the scale its figures have."""
    found = trial.before.memory
    if plan.before is None or isinstance(found, Refusal):
        return Promise(batch=plan.batch_after)
    scale = plan.before.gib / found.card.gib
    return Promise(batch=plan.batch_after, gib=plan.after.gib, scale=scale)


def _claims(plan: Planned, lang: Lang) -> Iterator[Claim]:
    for move in plan.moves:
        yield Claim(text=move.why.in_(lang), source=move.source)
    told = {move.source for move in plan.moves}
    yield from (Claim(text="", source=source) for source in plan.sources if source not in told)


def _predicted(trial: TrialLaunch, attempt: Attempt) -> Predicted | None:
    before = trial.before.memory
    after = None if attempt.reading is None else attempt.reading.memory
    if isinstance(before, Refusal) or after is None or isinstance(after, Refusal):
        return None
    return compared(before, after, trial.scale) if trial.scale else None


def _planned(plan: Planned) -> Predicted | None:
    """Give the plan's own figures, where there is no file to read them from again."""
    if plan.before is None:
        return None
    return Predicted(
        before_gib=round(plan.before.gib, 1),
        after_gib=round(plan.after.gib, 1),
        limit_gib=round(plan.limit_gib, 1),
        low_gib=round(plan.after.low, 1),
        high_gib=round(plan.after.high, 1),
    )


def _assumed(attempt: Attempt, trial: TrialLaunch) -> tuple[str, ...]:
    """Say what the figure of the changed launch rests on, of what nobody knows."""
    found = (attempt.reading or trial.before).memory
    return () if isinstance(found, Refusal) else assumed(found.hoped_for, trial.around)


def _terms(
    predicted: Predicted | None, trial: TrialLaunch, attempt: Attempt
) -> tuple[TermChange, ...]:
    """Say what the figures before and after are made of, where both launches can be read."""
    before = trial.before.memory
    after = None if attempt.reading is None else attempt.reading.memory
    if predicted is None or not isinstance(before, Prediction) or not isinstance(after, Prediction):
        return ()
    was, will = _shares(before, predicted.before_gib), _shares(after, predicted.after_gib)
    return tuple(
        TermChange(name=name, before_gib=was.get(name, 0.0), after_gib=will.get(name, 0.0))
        for name in sorted(
            {**was, **will}, key=lambda name: -max(was.get(name, 0.0), will.get(name, 0.0))
        )
    )


def _shares(found: Prediction, whole: float) -> dict[str, float]:
    """Divide a figure among the terms of a prediction, GiB."""
    scale = whole / sum(term.gib for term in found.on_card)
    return {term.name: round(scale * term.gib, 2) for term in found.on_card}


def _batch(trial: TrialLaunch, attempt: Attempt, plan: Planned | None) -> Batch:
    if attempt.reading is None:
        return Batch() if plan is None else Batch(before=plan.batch_before, after=plan.batch_after)
    return Batch(
        before=_whole(trial.before.facts.number("batch.effective")),
        after=_whole(attempt.reading.facts.number("batch.effective")),
    )


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _dropped(ident: str, title: str, changes: Sequence[Change], attempt: Attempt) -> Dropped:
    spelled = " ".join(change.spelled for change in changes)
    return Dropped(id=ident, title=title, spelled=spelled, failed=attempt.failed)


def _installs(fix: FixOut) -> bool:
    """Tell whether a remedy is nothing but packages, each with the range it must be in."""
    return bool(fix.changes) and all(
        change.kind == "package" and change.to is not None for change in fix.changes
    )


def _version_set(fix: FixOut, around: LaunchContext) -> tuple[Change, ...] | None:
    """Find versions that do what a remedy wants and fit all others; None where none are known.

    The framework stays as it is unless it is what the remedy changes, or no set has it.
    """
    wanted = {change.param: change.to or "" for change in fix.changes}
    installed = around.versions
    if not all(name in installed for name in wanted):
        return None
    framework = around.known.text("launch.framework") or ""
    keep = (framework,) if framework and framework not in wanted else ()
    known = read_requirements()
    found = consistent_set(installed, known, keep=keep, wanted=wanted)
    if found is None and keep:
        found = consistent_set(installed, known, wanted=wanted)
    return None if not found else tuple(pinned_change(n, installed[n], v) for n, v in found.items())


def _packages_check(changes: Iterable[Change], around: LaunchContext) -> ProofCheck:
    """Check that with these versions nothing contradicts what a release says it needs."""
    after = dict(around.versions) | {c.param: (c.to or "").removeprefix("==") for c in changes}
    facts = Facts(item for item in around.known if not item.kind.startswith("packages."))
    found = Facts(package_facts(facts, after))
    detail = found.text("packages.conflicts") or ", ".join(c.spelled for c in changes)
    return ProofCheck(
        name="packages", holds=found.value("packages.fit") is not False, detail=detail
    )


def _pip_line(changes: tuple[Change, ...]) -> tuple[str, ...]:
    """Give the one command that installs a set; pip then checks it as a whole."""
    return install_command(changes)

"""The headline plan: the changes that together are predicted to work, as `diagnose fix` proves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from trainrx.diagnosis.answer import LOOKED_AT
from trainrx.diagnosis.conclusion import Conclusion
from trainrx.diagnosis.foreseen import compared
from trainrx.fix.plan import MEMORY
from trainrx.launch.request import Request
from trainrx.model.fixing import FixAnswer, Proposal
from trainrx.model.memory import Prediction, Refusal
from trainrx.model.result import CauseOut, Diagnosis, FixOut, Predicted, ProvedPlan
from trainrx.model.text import Text
from trainrx.prove.price import price
from trainrx.verdict.command import fix_command

F = TypeVar("F", Proposal, FixOut)
NO_FIT = Text(
    en="no change of settings is predicted to fit: {why}",
    zh="预计没有任何参数改动能放得下：{why}",
)
NOT_PROVED = Text(
    en="no change could be proved: with {spelled} still {why}",
    zh="没有改动通过验证：改用 {spelled} 后仍然 {why}",
)
NO_CHANGE = Text(en="no ready-made change is known for this cause", zh="这个原因没有现成的改法")


def plan_for(answer: Diagnosis, done: Conclusion, request: Request) -> ProvedPlan | None:
    """Give what to change; None where nothing is to be changed, or nobody can say what.

    Where the launch is at hand, its changes are made on a copy and checked, as `diagnose fix` does;
    otherwise the first remedy of the best cause is given as it stands.
    """
    if answer.verdict in ("unknown", "healthy", "no_problem_foreseen"):
        return None
    if not answer.causes and answer.verdict not in ("will_not_fit", "at_risk"):
        return None
    if not _is_at_hand(answer.causes, done):
        return _as_known(answer)
    # the search is loaded only where something is to be tried
    from trainrx.prove.fixing import trial_of, ways_out

    looked_at = msgspec.structs.replace(answer, causes=answer.causes[:LOOKED_AT])
    trial = trial_of(done, answer.findings)
    memory = trial.before.memory
    likely = not isinstance(memory, Refusal) and memory.likely_exceeds
    if not answer.causes and answer.verdict == "at_risk" and not likely:
        return None
    plan = _from_trial(ways_out(looked_at, done, trial, first=True), request)
    if plan is None:
        return _as_known(answer)
    return _too_large(plan, memory) if answer.verdict == "will_fail" else plan


def _is_at_hand(causes: Sequence[CauseOut], done: Conclusion) -> bool:
    """Tell whether there is a launch to try: a pasted one will do for the memory it takes."""
    if done.launch is None:
        return False
    about_memory = not causes or causes[0].family in MEMORY
    return about_memory or bool(done.given.scripts or done.given.configs)


def _too_large(plan: ProvedPlan, memory: Prediction | Refusal) -> ProvedPlan:
    """Say of a plan against a refusal that the job will not fit either, where that is so."""
    if plan.predicted or isinstance(memory, Refusal) or not memory.likely_exceeds:
        return plan
    return msgspec.structs.replace(plan, predicted=compared(memory, memory), fits=False)


def _from_trial(found: FixAnswer, request: Request) -> ProvedPlan | None:
    """Give the first proposal, else why there is none, else what is left to be done by hand."""
    if found.proposals:
        return _proposed(found.proposals[0], found, fix_command(request))
    refusal = found.no_plan
    by_hand = _fitting(found.manual)
    if refusal is not None and refusal.not_enough:
        said = NO_FIT.in_(found.lang).format(why=refusal.reason)
        return ProvedPlan(reason=said, fits=False, steps=by_hand.steps if by_hand else "")
    if by_hand is not None:
        return _proposed(by_hand, found, "")
    if found.dropped:
        return _dropped(found)
    return None if refusal is None else ProvedPlan(reason=refusal.reason)


def _proposed(item: Proposal, found: FixAnswer, command: str) -> ProvedPlan:
    """Give a proposal as the plan; what still stops the launch leaves it unproved."""
    still = (f"{one.title}: {one.todo}" if one.todo else one.title for one in item.refused)
    return ProvedPlan(
        title=item.title,
        changes=item.changes,
        commands=(*(need.command for need in item.needs), *item.commands),
        destroys=item.destroys,
        steps="\n".join((*([item.steps] if item.steps else []), *still)),
        predicted=item.predicted,
        proved=bool(command) and not (item.refused or item.assumes or item.lacks),
        lacks=item.lacks,
        fits=fits(item.predicted),
        assumes=item.assumes,
        safety=item.safety,
        cost=price(item, found.lang),
        command=command,
    )


def _dropped(found: FixAnswer) -> ProvedPlan:
    item = found.dropped[0]
    failed = item.failed[0] if item.failed else None
    said = NOT_PROVED.in_(found.lang).format(
        spelled=item.spelled or item.title, why=failed.detail if failed else ""
    )
    return ProvedPlan(reason=said, fits=False if failed and failed.name == "memory" else None)


def _as_known(answer: Diagnosis) -> ProvedPlan | None:
    """Give the first remedy of the best cause as it stands in the knowledge."""
    if not answer.causes:
        return None
    fix = _fitting(answer.causes[0].fixes)
    if fix is None:
        return ProvedPlan(reason=NO_CHANGE.in_(answer.lang))
    return ProvedPlan(
        title=fix.title,
        changes=fix.changes,
        commands=fix.commands,
        destroys=fix.destroys,
        steps=fix.steps,
        predicted=fix.predicted,
        fits=fits(fix.predicted),
        safety=fix.safety,
        cost=fix.cost,
    )


def _fitting(ways: Sequence[F]) -> F | None:
    """Give the first that is not predicted to exceed the card, rather one that destroys nothing."""
    mild = sorted(ways, key=lambda item: item.destroys is not None)
    fine = (item for item in mild if fits(item.predicted) is not False)
    return next(fine, next(iter(ways), None))


def fits(found: Predicted | None) -> bool | None:
    """Tell whether the predicted peak lies within the card; None where it is not known."""
    return None if found is None else found.after_gib <= found.limit_gib

"""What the verdict claims, of which cause, and what an answer without a problem rests on."""

from __future__ import annotations

from trainrx.model.result import CauseOut, Diagnosis, Verdict
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.cause import sure
from trainrx.render.document import View

STYLE_OF: dict[Verdict, str] = {
    "diagnosed": "bad",
    "suspected": "doubt",
    "unknown": "doubt",
    "healthy": "good",
    "will_fail": "bad",
    "will_not_fit": "bad",
    "at_risk": "doubt",
    "no_problem_foreseen": "good",
}
_SETTINGS = frozenset(
    ("train", "tuner", "freeze", "vision", "parallel", "rlhf", "vllm", "model", "nccl", "alloc")
)
FORESEEN = ("will_fail", "will_not_fit", "at_risk", "no_problem_foreseen")
NAMES_NO_CAUSE = ("unknown", "healthy", "no_problem_foreseen")


def named_cause(answer: Diagnosis) -> CauseOut | None:
    """Give the cause the verdict speaks of."""
    named = () if answer.verdict in NAMES_NO_CAUSE else answer.causes
    return named[0] if named else None


def headline(answer: Diagnosis, best: CauseOut | None, view: View) -> doc.Headline:
    """Say the verdict and what it claims."""
    word = view.say((words.MD_TITLE if view.post else words.VERDICT)[answer.verdict])
    style = STYLE_OF[answer.verdict]
    if best is None or answer.verdict in FORESEEN:
        return doc.Headline(word, style, _foreseen(answer, view))
    if view.post:
        return doc.Headline(word, style, best.title, sure(best, view))
    family = view.say(words.FAMILY[best.family])
    return doc.Headline(word, style, family + view.say(words.COMMA) + sure(best, view))


def tells_memory(answer: Diagnosis) -> bool:
    """Tell whether the headline says what the launch is predicted to take."""
    known = answer.plan is not None and answer.plan.predicted is not None
    return answer.verdict == "will_not_fit" and known


def _foreseen(answer: Diagnosis, view: View) -> str:
    """Say what the verdict claims; of a launch that does not fit by how much."""
    memory = answer.plan.predicted if answer.plan is not None else None
    if memory is None or not tells_memory(answer):
        open_ = answer.verdict == "unknown" and _is_before_the_run(answer)
        return view.say(words.FIT_NOT_TOLD if open_ else words.CLAIM[answer.verdict])
    figures = {"need": f"{memory.before_gib:.1f}", "card": f"{memory.limit_gib:.1f}"}
    return view.say(words.NEEDS, **figures)


def _is_before_the_run(answer: Diagnosis) -> bool:
    """Tell a launch with a card of which nothing else was given, and nothing is foreseen."""
    facts = answer.facts
    launch = facts.get("launch.given") is True and "hardware.gpu_gib" in facts
    seen = facts.get("log.given") is True or answer.symptoms or answer.causes
    return launch and not seen


def checked(answer: Diagnosis, view: View) -> tuple[doc.Node, ...]:
    """Say what an answer without a problem rests on."""
    if answer.verdict not in ("healthy", "no_problem_foreseen"):
        return ()
    first, *limits = _rests_on(answer, view)
    mind = view.say(words.WARNINGS)
    return (
        doc.Labelled(view.say(words.CHECKED), (first,), most=2),
        *(doc.Labelled(mind, (limit,), most=2) for limit in limits),
    )


def _rests_on(answer: Diagnosis, view: View) -> tuple[str, ...]:
    """Say what a healthy verdict rests on, and what it does not cover."""
    facts = answer.facts
    settings = sum(name.split(".")[0] in _SETTINGS for name in facts)
    parts = [view.say(words.COUNT_SETTINGS, n=settings)] if settings else []
    has_log = facts.get("log.given") is True or bool(answer.symptoms)
    if has_log:
        parts.append(view.say(words.COUNT_SIGNS))
    parts.append(view.say(words.KNOWLEDGE, version=answer.tool.kb))
    limits: list[Text] = []
    if not has_log:
        limits.append(words.HEALTHY_LAUNCH_ONLY)
    elif facts.get("log.finished") is not True:
        limits.append(words.HEALTHY_UNFINISHED)
    if facts.get("launch.given") is False:
        limits.append(words.HEALTHY_LOG_ONLY)
    return (view.say(words.LISTED).join(parts), *(view.say(text) for text in limits))

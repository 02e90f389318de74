"""Whether the job fits on the card, where the model and the card are known."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.linter.job import LintedJob, RuleHit

_WASTED = 0.35


def find(job: LintedJob) -> Iterator[RuleHit]:
    """Give what the memory model says of a training on a card that was named."""
    limit = job.facts.number("hardware.gpu_gib")
    known = job.facts.number("model.params_b")
    if limit is None or known is None or job.launch.role != "trainer":
        return
    # the memory model is imported only where there is something to predict
    from trainrx.knowledge.load import load
    from trainrx.memory.facts import memory_facts
    from trainrx.memory.predict import predict
    from trainrx.memory.workload import workload_of
    from trainrx.model.facts import Facts
    from trainrx.model.memory import Refusal
    from trainrx.models.facts import shape_of

    knowledge = load(launches=True)
    shape = shape_of(job.facts, knowledge.models)
    facts = Facts(job.facts)
    facts.add(*memory_facts(facts, shape, job.versions.get("torch", "")))
    found = workload_of(facts, shape, None, models=knowledge.models, datasets=knowledge.datasets)
    if isinstance(found, Refusal):
        return
    result = predict(found[0], knowledge.memory)
    if isinstance(result, Refusal) or result.verdict is None:
        return
    values = {
        "need": f"{result.need_gib:.1f}",
        "low": f"{result.card.low:.1f}",
        "high": f"{result.card.high:.1f}",
        "limit": f"{limit:.1f}",
    }
    at = job.texts.whole(job.launch.origin)
    if result.verdict == "does-not-fit":
        sure = result.allocated.low > limit
        yield RuleHit("memory-exceeds-card" if sure else "memory-may-exceed-card", at, values)
    elif result.verdict == "tight":
        yield RuleHit("memory-is-tight", at, values)
    elif result.card.high < _WASTED * limit:
        yield RuleHit("card-mostly-unused", at, values)

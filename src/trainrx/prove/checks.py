"""What a plan must prove before it is shown, beside its memory: batch, checks of the framework."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainrx.frameworks import framework_of
from trainrx.knowledge.guards import broken
from trainrx.model.facts import Facts, Scalar
from trainrx.model.levers import Guard
from trainrx.model.memory import Workload
from trainrx.model.parts import Condition
from trainrx.model.planning import ProofCheck
from trainrx.reason.conditions import holds

ENGINE_SPARE = 1.0
"""GiB an engine needs beside weights and one request: graphs and activations of its own."""


def refusals_of(guards: Iterable[Guard], framework: str) -> dict[str, Condition]:
    """Give the conditions under which the packages of a job refuse its launch."""
    found: dict[str, Condition] = {}
    for guard in guards:
        own = guard.package == framework or not framework_of(guard.package).owns_names
        condition = broken(guard) if guard.effect == "reject" and own else None
        if condition is not None:
            found[guard.id] = condition
    return found


def refused_by(
    conditions: Mapping[str, Condition], facts: Facts, versions: Mapping[str, str]
) -> frozenset[str]:
    """Give the ids of the checks that refuse a job."""
    return frozenset(
        ident for ident, test in conditions.items() if holds(test, facts, versions) is True
    )


def guards_check(before: frozenset[str], after: frozenset[str]) -> ProofCheck:
    """Say whether the framework takes the launch with the changes."""
    new = sorted(after - before)
    left = sorted(after & before)
    detail = ", ".join(new) if new else f"refused already before: {', '.join(left)}" if left else ""
    return ProofCheck(name="guards", holds=not after, detail=detail)


def generations_check(before: Facts, after: Facts) -> ProofCheck:
    """Say whether num_generations divides the generation batch."""
    name = "batch.divisible_by_generations"
    worse = after.value(name) is False and before.value(name) is not False
    batch, wanted = after.number("batch.generation"), after.number("rlhf.num_generations")
    detail = f"{batch:g} / {wanted:g}" if batch and wanted else ""
    return ProofCheck(name="generations", holds=not worse, detail=detail)


def batch_check(before: Facts, after: Facts) -> ProofCheck:
    """Say what becomes of the effective batch; it never changes unsaid."""
    old, new = before.number("batch.effective"), after.number("batch.effective")
    if old is None or new is None:
        return ProofCheck(name="batch", holds=True, detail="not known")
    return ProofCheck(name="batch", holds=True, detail=f"{old:g} -> {new:g}")


def engine_check(before: Facts, after: Facts) -> ProofCheck:
    """Say whether the engine still has room for its weights and one request."""
    room, need = after.number("vllm.room_gib"), after.number("vllm.request_gib")
    if after.text("vllm.mode") != "colocate" or room is None:
        return ProofCheck(name="engine", holds=True)
    enough = room >= (need or 0.0) + ENGINE_SPARE
    old = before.number("vllm.room_gib")
    kept = old is not None and room >= old
    return ProofCheck(name="engine", holds=enough or kept, detail=f"{room:.1f} GiB of cache")


def hardware_check(values: Mapping[str, Scalar], facts: Facts) -> ProofCheck:
    """Say whether the cards can do what is asked."""
    precision = facts.text("train.precision")
    if precision == "bf16" and facts.value("hardware.bf16") is False:
        touched = "train.precision" in values
        return ProofCheck(name="hardware", holds=not touched, detail="no bf16 below 8.0")
    old = facts.number("hardware.compute_capability")
    needs = values.get("train.attention") == "flash_attn"
    return ProofCheck(name="hardware", holds=not (needs and old is not None and old < 8.0))


def host_check(facts: Facts, peak_gib: float) -> ProofCheck:
    """Say whether the machine has the RAM; unknown RAM refuses nothing."""
    ram = facts.number("hardware.host_ram_gib")
    holds_ = ram is None or peak_gib <= ram
    return ProofCheck(name="host", holds=holds_, detail=f"{peak_gib:.0f} GiB of RAM per machine")


def read_again_check(values: Mapping[str, Scalar], facts: Facts) -> ProofCheck:
    """Say whether the changed launch, read again, has the values of the plan."""
    other = [
        f"{name}={facts.value(name)}"
        for name, value in values.items()
        if not _same(facts.value(name), value)
    ]
    return ProofCheck(name="read-again", holds=not other, detail=", ".join(other))


def _same(one: Scalar | None, other: Scalar) -> bool:
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return float(one) == float(other)
    return one == other


def engine_room(work: Workload, weights_gib: float, request_gib: float) -> bool:
    """Tell whether a candidate's share leaves the engine room for weights and one request."""
    roll = work.rollout
    if roll.mode != "colocate" or roll.share is None or not work.card_gib:
        return True
    ranks = max(1, roll.tensor_parallel)
    need = weights_gib / ranks + request_gib / ranks + ENGINE_SPARE
    return roll.share * work.card_gib >= need

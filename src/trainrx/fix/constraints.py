"""What a framework refuses: a fix that runs into its guards is repaired or not shown."""

from __future__ import annotations

import msgspec

from trainrx.facts.batch import effective_batch, generation_batch
from trainrx.facts.reading import framework
from trainrx.frameworks import framework_of
from trainrx.model.facts import Facts, Scalar, fact
from trainrx.model.text import Text


class RequiredValue(msgspec.Struct, frozen=True, kw_only=True):
    """A further value a fix needs to be accepted, and why."""

    set: dict[str, Scalar]
    why: Text


def applied(facts: Facts, changes: dict[str, Scalar]) -> Facts:
    """Give the facts as they are once the changes are made."""
    after = Facts(fact(name, value) for name, value in changes.items())
    stage = str(changes.get("parallel.deepspeed", ""))
    if stage.startswith("zero") and stage[4:5].isdigit():
        after.add(fact("parallel.zero_stage", int(stage[4])))
    processes = changes.get("parallel.processes_per_node")
    if isinstance(processes, int):
        nodes = int(facts.number("hardware.nodes") or 1)
        after.add(fact("parallel.world_size", processes * nodes))
    after.add(*facts)
    return after


def repair(facts: Facts, changes: dict[str, Scalar]) -> RequiredValue | None:
    """Make a GRPO batch divisible by its generations again; None when nothing is needed.

    Some frameworks refuse a generation batch that is not a multiple of num_generations.

    Raises:
        ValueError: no number of generations of at least 2 divides the batch.
    """
    after = applied(facts, changes)
    framework = framework_of(facts.text("launch.framework"))
    if facts.text("launch.task") != "grpo" or not framework.refuses_uneven_groups:
        return None
    wanted, batch = after.number("rlhf.num_generations"), generation_batch(after)
    if not wanted or batch is None or batch % int(wanted) == 0:
        return None
    if (facts.number("rlhf.num_generations"), generation_batch(facts)) == (wanted, batch):
        return None  # it is so already, and this fix has no part in it
    fitting = [k for k in range(2, int(wanted) + 1) if batch % k == 0]
    if not fitting:
        raise ValueError(f"no number of generations divides a batch of {batch}")
    why = Text(
        en=f"the generation batch becomes {batch}: num_generations must divide it",
        zh=f"每次生成的 batch size 变为 {batch}，num_generations 必须能整除它",
    )
    return RequiredValue(set={"rlhf.num_generations": fitting[-1]}, why=why)


def keep_batch(facts: Facts, changes: dict[str, Scalar]) -> dict[str, Scalar]:
    """Give the accumulation that keeps the effective batch when the micro-batch changes.

    Nothing when either is unknown or no whole number does it.
    """
    micro, accum = facts.number("train.micro_batch"), facts.number("train.grad_accum")
    wanted = changes.get("train.micro_batch")
    if micro is None or accum is None or not isinstance(wanted, int) or wanted < 1:
        return {}
    samples = int(micro * accum)
    return {"train.grad_accum": samples // wanted} if samples % wanted == 0 else {}


def impossible(facts: Facts, changes: dict[str, Scalar]) -> Text | None:
    """Say why the hardware cannot do a change; None when it can, or when we do not know."""
    if changes.get("train.precision") == "bf16" and facts.value("hardware.bf16") is False:
        card = facts.text("hardware.gpu") or "this card"
        return Text(
            en=f"{card} has no bf16 hardware (compute capability below 8.0)",
            zh=f"{card} 没有 bf16 硬件（计算能力低于 8.0）",
        )
    return None


def batch_note(facts: Facts, changes: dict[str, Scalar]) -> Text | None:
    """Say what becomes of the effective batch when a fix touches one of its factors."""
    factors = ("train.micro_batch", "train.grad_accum", "parallel.processes_per_node")
    if not any(name in changes for name in factors):
        return None
    before, after = _batch(facts), _batch(applied(facts, changes))
    if before is None or after is None:
        return None
    if before == after:
        return Text(en=f"the effective batch stays {before}", zh=f"等效 batch保持 {before} 不变")
    return Text(
        en=f"the effective batch goes from {before} to {after}",
        zh=f"等效 batch由 {before} 变为 {after}",
    )


def alters_batch(facts: Facts, changes: dict[str, Scalar]) -> bool:
    """Tell whether another number of samples may go into a step; not known to stay counts, too."""
    if framework(facts).global_batch:
        return False
    factors = {"train.micro_batch", "train.grad_accum", "parallel.processes_per_node"}
    touched = factors & changes.keys()
    before, after = _batch(facts), _batch(applied(facts, changes))
    if before is None or after is None:
        return len(touched) == 1
    return before != after


def _batch(facts: Facts) -> int | None:
    told = effective_batch(facts) if framework(facts).global_batch else None
    if told is not None:
        # the accumulation follows from it
        return told
    micro, accum = facts.number("train.micro_batch"), facts.number("train.grad_accum")
    world = facts.number("parallel.world_size")
    if micro is None or accum is None or world is None:
        return None
    return int(micro * accum * world)

"""Which cards do what in preference and online training: trainer, rollout, reference, reward."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.facts.reading import degrees, derived, framework, task
from trainrx.model.facts import Fact, Facts

TRAINING = frozenset(
    {"sft", "pt", "grpo", "dpo", "ppo", "kto", "rm", "orpo", "simpo", "cpo", "gkd"}
)
ONLINE = frozenset({"grpo", "ppo"})
ENGINE = ("vllm.tensor_parallel", "vllm.pipeline_parallel", "vllm.data_parallel")
SERVERS = frozenset({"rollout", "deploy", "serve", "vllm-serve"})
COMPARES = frozenset({"dpo", "kto", "ppo", "grpo"})
"""Tasks that compare with a reference model; ORPO, SimPO and CPO do without one."""


def role_facts(facts: Facts) -> tuple[Fact, ...]:
    """Derive `role.*`: how many GPUs train and generate, and which further models are held."""
    out = Facts(facts)
    for step in (_mode, _trainer, _rollout, _reference, _critic, _reward, _all_roles):
        out.add(*step(out))
    return tuple(item for item in out if item.kind not in facts)


def rollout_mode(facts: Facts) -> Iterator[Fact]:
    """Give `vllm.mode` where it follows from other settings."""
    runs = framework(facts)
    if facts.text("vllm.mode") is not None or not runs.has_engine(facts):
        return
    found = runs.rollout_mode(facts)
    if found is None:
        yield from _mode_by_cards(facts)
    elif found[0]:
        yield derived(facts, "vllm.mode", found[0], *found[1])


def _mode_by_cards(facts: Facts) -> Iterator[Fact]:
    workers = facts.number("vllm.num_infer_workers")
    processes = facts.number("parallel.processes_per_node")
    per_node = facts.number("hardware.gpus_per_node")
    sources = ("vllm.num_infer_workers", "parallel.processes_per_node", "parallel.visible_gpus")
    if per_node is None or processes is None:
        return
    if processes >= per_node:
        # no card is left for an engine of its own
        yield derived(facts, "vllm.mode", "colocate", *sources)
    elif workers is not None and processes + workers <= per_node:
        yield derived(facts, "vllm.mode", "async", *sources)


def _mode(facts: Facts) -> Iterator[Fact]:
    mode = facts.text("vllm.mode")
    if task(facts) in TRAINING and task(facts) not in (*ONLINE, "gkd"):
        yield derived(facts, "role.rollout_mode", "none", "launch.task")
    elif task(facts) in ONLINE and framework(facts).samples_itself(facts):
        sources = ("vllm.enabled", "vllm.num_infer_workers")
        yield derived(facts, "role.rollout_mode", "none", *sources)
    elif mode is not None and framework(facts).has_engine(facts):
        overlaps = facts.value("rlhf.async") is True
        found = "async" if overlaps or mode == "async" else mode
        yield derived(facts, "role.rollout_mode", found, "vllm.mode", "rlhf.async")


def _trainer(facts: Facts) -> Iterator[Fact]:
    world = facts.whole("parallel.world_size")
    if task(facts) not in TRAINING or world is None:
        return
    per_node = facts.whole("hardware.gpus_per_node")
    if world == 1 and framework(facts).spans_cards and per_node != 1:
        # one process may spread the model over all cards it sees
        return
    sources = ("parallel.processes_per_node", "parallel.nodes")
    yield derived(facts, "role.trainer_gpus", world, *sources)


def _rollout(facts: Facts) -> Iterator[Fact]:
    mode, trainer = facts.text("role.rollout_mode"), facts.whole("role.trainer_gpus")
    sources = ("vllm.mode", "vllm.num_infer_workers", *ENGINE)
    if (facts.text("launch.command") or "") in SERVERS:
        size = degrees(facts, *ENGINE)
        if size is not None:
            yield derived(facts, "role.rollout_gpus", size, "launch.given", *ENGINE)
    elif mode == "none":
        yield derived(facts, "role.rollout_gpus", 0, "launch.task", "vllm.enabled")
    elif mode == "colocate" and trainer is not None:
        yield derived(facts, "role.rollout_gpus", trainer, *sources)
    elif mode in ("async", "server"):
        engines, size = facts.whole("vllm.num_infer_workers"), facts.degree(ENGINE[0])
        if engines is not None and size is not None:
            yield derived(facts, "role.rollout_gpus", engines * size, *sources)


def _reference(facts: Facts) -> Iterator[Fact]:
    held = _holds_reference(facts)
    if held is not None:
        sources = ("rlhf.reference_model", "rlhf.beta", "tuner.type", "launch.task")
        yield derived(facts, "role.reference", held, *sources)


def _holds_reference(facts: Facts) -> bool | None:
    """Tell whether a reference model of its own is loaded; None when it cannot be told."""
    kind = task(facts)
    if kind in COMPARES:
        return framework(facts).has_reference(facts, kind)
    return False if kind in TRAINING - {"gkd"} else None


def _critic(facts: Facts) -> Iterator[Fact]:
    kind = task(facts)
    critic = framework(facts).has_critic(facts, kind) if kind in TRAINING else None
    if critic is not None:
        sources = ("rlhf.critic_enabled", "rlhf.advantage", "launch.task")
        yield derived(facts, "role.critic", critic, *sources)


def _reward(facts: Facts) -> Iterator[Fact]:
    held = _holds_reward_model(facts)
    if held is not None:
        sources = ("rlhf.reward_model", "rlhf.reward_model_enabled", "rlhf.remote_reward")
        yield derived(facts, "role.reward_model", held, *sources, "launch.task")


def _holds_reward_model(facts: Facts) -> bool | None:
    """Tell whether a reward model takes part; a service elsewhere and an adapter do not count."""
    if task(facts) not in ONLINE:
        return False if task(facts) in TRAINING else None
    enabled = facts.value("rlhf.reward_model_enabled")
    if isinstance(enabled, bool):
        return enabled
    unknown = (facts.text("launch.unresolved") or "").split()
    if "rlhf.remote_reward" in facts or "rlhf.remote_reward" in unknown:
        return False
    return framework(facts).has_reward_model(facts, task(facts))


def _all_roles(facts: Facts) -> Iterator[Fact]:
    """Add up the cards of all roles, those that share them counted once."""
    if not framework(facts).roles_apart(facts) or "hardware.gpus" in facts:
        return
    trainer, mode = facts.whole("role.trainer_gpus"), facts.text("role.rollout_mode")
    engines = facts.whole("role.rollout_gpus")
    if trainer is None or engines is None:
        return
    sources = (
        "parallel.processes_per_node",
        "parallel.nodes",
        "vllm.num_infer_workers",
        "vllm.mode",
    )
    if mode == "colocate":
        yield derived(facts, "hardware.gpus", trainer, *sources)
    elif facts.text("vllm.mode") == "server":
        others = _other_roles(facts, trainer)
        if others is not None:
            yield derived(facts, "hardware.gpus", trainer + engines + others, *sources)


def _other_roles(facts: Facts, trainer: int) -> int | None:
    """Count the cards of reference, critic and reward model; None when one is unknown."""
    sizes: dict[str, int] = {}
    for role, held in (
        ("reference", "reference"),
        ("critic", "critic"),
        ("reward", "reward_model"),
    ):
        takes_part = facts.value(f"role.{held}")
        size = degrees(facts, f"rlhf.{role}_nodes", f"rlhf.{role}_gpus_per_node")
        if facts.number(f"rlhf.{role}_nodes") == 0:
            size = 0
        if takes_part is None or (takes_part and size is None):
            return None
        sizes[role] = size or 0 if takes_part else 0
    if facts.value("rlhf.colocate_actor_reference") is True and sizes["reference"] == trainer:
        sizes["reference"] = 0
    if facts.value("rlhf.colocate_critic_reward") is True and sizes["critic"]:
        sizes["reward"] = 0
    return sum(sizes.values())

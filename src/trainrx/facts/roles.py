"""Which cards do what in preference and online training: trainer, rollout, reference, reward."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.facts.reading import (
    degree,
    degrees,
    derived,
    framework,
    is_unset,
    roles_apart,
    task,
    whole,
)
from trainrx.frameworks.common.traits import having
from trainrx.model.facts import Fact, Facts
from trainrx.versions.ranges import in_range

TRAINING = frozenset(
    {"sft", "pt", "grpo", "dpo", "ppo", "kto", "rm", "orpo", "simpo", "cpo", "gkd"}
)
ONLINE = frozenset({"grpo", "ppo"})
ENGINE = ("vllm.tensor_parallel", "vllm.pipeline_parallel", "vllm.data_parallel")
SERVERS = frozenset({"rollout", "deploy", "serve", "vllm-serve"})
COMPARES = frozenset({"dpo", "kto", "ppo", "grpo"})
"""Tasks that compare with a reference model; ORPO, SimPO and CPO do without one."""
HYBRID = having("hybrid_engine")
ADAPTERS = frozenset({"lora", "qlora", "dora", "adalora", "longlora"})


def role_facts(facts: Facts) -> tuple[Fact, ...]:
    """Derive `role.*`: how many GPUs train and generate, and which further models are held."""
    out = Facts(facts)
    for step in (_mode, _trainer, _rollout, _reference, _critic, _reward, _all_roles):
        out.add(*step(out))
    return tuple(item for item in out if item.kind not in facts)


def rollout_mode(facts: Facts) -> Iterator[Fact]:
    """Give `vllm.mode` where it follows from other settings.

    ms-swift: an address of a server (from 3.3.1 on) means that the engine is there; else before 3.5
    as many workers as cards means colocate, and 3.5 to 3.11.0 take colocate (rlhf_args.py:
    _init_grpo); OpenRLHF: engines have cards of their own unless
    all models are colocated (cli/train_ppo_ray.py).
    """
    if facts.text("vllm.mode") is not None or not _has_engine(facts):
        return
    if framework(facts) == "openrlhf":
        if is_unset(facts, "vllm.mode"):
            yield derived(facts, "vllm.mode", "server", "vllm.num_infer_workers")
        return
    if framework(facts) in HYBRID:
        # the hybrid engine: actor and engine take turns on the same cards
        yield derived(facts, "vllm.mode", "colocate", "vllm.enabled", "rollout.engine")
        return
    version = facts.text("launch.framework_version")
    if framework(facts) == "ms-swift" and facts.text("vllm.server_host"):
        yield derived(facts, "vllm.mode", "server", "vllm.server_host")
        return
    if framework(facts) == "ms-swift" and version and in_range(version, ">=3.5,<3.11.1"):
        if is_unset(facts, "vllm.server_host"):
            yield derived(facts, "vllm.mode", "colocate", "vllm.enabled")
        return
    yield from _mode_by_cards(facts)


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


def _has_engine(facts: Facts) -> bool:
    if framework(facts) == "openrlhf":
        return roles_apart(facts) and whole(facts, "vllm.num_infer_workers") is not None
    if framework(facts) in HYBRID:
        return facts.text("rollout.engine") in ("vllm", "sglang") or _vllm(facts) is True
    return _vllm(facts) is True


def _vllm(facts: Facts) -> bool | None:
    value = facts.value("vllm.enabled")
    return value if isinstance(value, bool) else None


def _mode(facts: Facts) -> Iterator[Fact]:
    mode = facts.text("vllm.mode")
    if task(facts) in TRAINING and task(facts) not in (*ONLINE, "gkd"):
        yield derived(facts, "role.rollout_mode", "none", "launch.task")
    elif task(facts) in ONLINE and _samples_itself(facts):
        sources = ("vllm.enabled", "vllm.num_infer_workers")
        yield derived(facts, "role.rollout_mode", "none", *sources)
    elif mode is not None and _has_engine(facts):
        overlaps = facts.value("rlhf.async") is True
        found = "async" if overlaps or mode == "async" else mode
        yield derived(facts, "role.rollout_mode", found, "vllm.mode", "rlhf.async")


def _samples_itself(facts: Facts) -> bool:
    """Tell whether the trained model generates without an engine.

    LLaMA-Factory's PPO does at every release (train/ppo/trainer.py). OpenRLHF has an engine under
    Ray alone, and where engines are asked for (cli/train_ppo_ray.py).
    """
    if framework(facts) == "llamafactory":
        return True
    if framework(facts) != "openrlhf":
        return _vllm(facts) is False and not _has_engine(facts)
    engines = facts.number("vllm.num_infer_workers")
    return not roles_apart(facts) or engines == 0 or is_unset(facts, "vllm.num_infer_workers")


def _trainer(facts: Facts) -> Iterator[Fact]:
    world = whole(facts, "parallel.world_size")
    if task(facts) not in TRAINING or world is None:
        return
    per_node = whole(facts, "hardware.gpus_per_node")
    if world == 1 and framework(facts) != "openrlhf" and per_node != 1:
        # one process may spread the model over all cards it sees
        return
    sources = ("parallel.processes_per_node", "parallel.nodes")
    yield derived(facts, "role.trainer_gpus", world, *sources)


def _rollout(facts: Facts) -> Iterator[Fact]:
    mode, trainer = facts.text("role.rollout_mode"), whole(facts, "role.trainer_gpus")
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
        engines, size = whole(facts, "vllm.num_infer_workers"), degree(facts, ENGINE[0])
        if engines is not None and size is not None:
            yield derived(facts, "role.rollout_gpus", engines * size, *sources)


def _reference(facts: Facts) -> Iterator[Fact]:
    held = _holds_reference(facts)
    if held is not None:
        sources = ("rlhf.reference_model", "rlhf.beta", "tuner.type", "launch.task")
        yield derived(facts, "role.reference", held, *sources)


def _holds_reference(facts: Facts) -> bool | None:
    """Tell whether a reference model of its own is loaded; None when it cannot be told.

    ms-swift (rlhf_args.py: full tuning only; none for GRPO with beta 0), LLaMA-Factory
    (train/trainer_utils.py: create_ref_model), TRL (GRPO without beta 0, and no adapter), verl
    (a KL term, and no LoRA: `ref_in_actor`), EasyR1 (unless `disable_kl`, and no LoRA), OpenRLHF
    (KL coefficient above 0), NeMo RL (never on the card: models/policy/workers,
    reference_model_state_dict).
    """
    kind = task(facts)
    if kind not in TRAINING:
        return None
    if kind not in COMPARES:
        return False if kind != "gkd" else None
    if framework(facts) == "nemo-rl":
        # its weights lie on the host and change places with the policy's
        return False
    by_framework = {
        "verl": _verl_reference,
        "easyr1": _easyr1_reference,
        "openrlhf": _openrlhf_reference,
    }
    if framework(facts) in by_framework:
        return by_framework[framework(facts)](facts)
    tuner = facts.text("tuner.type")
    if framework(facts) == "llamafactory" and "rlhf.reference_model" in facts:
        return True
    if tuner is None or framework(facts) not in ("ms-swift", "llamafactory", "trl"):
        return None
    if tuner in ADAPTERS:
        # the adapter is switched off instead
        return False
    return _grpo_reference(facts) if kind == "grpo" else True


def _grpo_reference(facts: Facts) -> bool | None:
    beta = facts.number("rlhf.beta")
    if beta is not None:
        version = facts.text("launch.framework_version") or ""
        early = framework(facts) == "trl" and in_range(version, "<0.16") is not False
        return True if beta else (None if early else False)
    # the default of ms-swift is 0.04
    return True if framework(facts) == "ms-swift" and is_unset(facts, "rlhf.beta") else None


def _verl_reference(facts: Facts) -> bool | None:
    terms = [facts.value(f"rlhf.kl_in_{place}") for place in ("loss", "reward")]
    if facts.text("tuner.type") == "lora":
        return False
    if True in terms:
        return True if facts.text("tuner.type") == "full" else None
    return False if terms == [False, False] else None


def _easyr1_reference(facts: Facts) -> bool | None:
    """Read `algorithm.disable_kl`: without it there is one, wherever the KL term goes."""
    counts, tuner = facts.value("rlhf.kl_in_reward"), facts.text("tuner.type")
    if counts is False or tuner == "lora":
        return False
    return True if counts is True and tuner == "full" else None


def _openrlhf_reference(facts: Facts) -> bool | None:
    if task(facts) in ("dpo", "kto"):
        return True
    beta = facts.number("rlhf.beta")
    return None if beta is None else beta > 0


def _critic(facts: Facts) -> Iterator[Fact]:
    critic = _has_critic(facts)
    if critic is not None:
        sources = ("rlhf.critic_enabled", "rlhf.advantage", "launch.task")
        yield derived(facts, "role.critic", critic, *sources)


def _has_critic(facts: Facts) -> bool | None:
    """Tell whether a value model of its own is trained; LLaMA-Factory's is a head of the actor."""
    kind = task(facts)
    if kind not in TRAINING:
        return None
    if framework(facts) in HYBRID | {"openrlhf"} and kind in ONLINE:
        given = facts.value("rlhf.critic_enabled")
        if isinstance(given, bool):
            return given
        estimator = facts.text("rlhf.advantage")
        if estimator is None and framework(facts) == "openrlhf" and not roles_apart(facts):
            # a value model unless told otherwise, at every release (cli/train_ppo.py)
            return True if is_unset(facts, "rlhf.advantage") else None
        return None if estimator is None else estimator == "gae"
    if kind != "ppo":
        return False
    return {"llamafactory": False, "ms-swift": True, "trl": True}.get(framework(facts))


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
    if "rlhf.remote_reward" in facts or framework(facts) == "easyr1":
        # EasyR1 scores by a function (workers/reward)
        return False
    if framework(facts) == "llamafactory":
        kind = facts.text("rlhf.reward_model_kind")
        return None if kind is None else kind == "full"
    return None if framework(facts) == "verl" else _names_reward_model(facts)


def _names_reward_model(facts: Facts) -> bool | None:
    if "rlhf.reward_model" in facts:
        return True
    if framework(facts) == "ms-swift" and is_unset(facts, "rlhf.reward_model"):
        return task(facts) == "ppo"
    # OpenRLHF loads one unless a service scores
    scored_here = framework(facts) == "openrlhf" and is_unset(facts, "rlhf.remote_reward")
    return True if scored_here else None


def _all_roles(facts: Facts) -> Iterator[Fact]:
    """Add up the cards of OpenRLHF's roles, those that share them counted once."""
    if not roles_apart(facts) or "hardware.gpus" in facts:
        return
    trainer, mode = whole(facts, "role.trainer_gpus"), facts.text("role.rollout_mode")
    engines = whole(facts, "role.rollout_gpus")
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
        if takes_part is None or (takes_part and size is None):
            return None
        sizes[role] = size or 0 if takes_part else 0
    if facts.value("rlhf.colocate_actor_reference") is True and sizes["reference"] == trainer:
        sizes["reference"] = 0
    if facts.value("rlhf.colocate_critic_reward") is True and sizes["critic"]:
        sizes["reward"] = 0
    return sum(sizes.values())

"""What kind of job a launch is: sft, pt, grpo, dpo, ppo, kto, rm, infer, export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trainrx.model.facts import Origin
from trainrx.model.job import RawArg, RawLaunch, Setting
from trainrx.model.pattern import late

DEPLOYS: Mapping[str, str] = {
    "deploy": "deploy",
    "serve": "deploy",
    "api": "deploy",
    "app": "deploy",
    "app_ui": "deploy",
    "rollout": "rollout",
    "vllm_serve": "rollout",
    "eval": "eval",
    "evaluate": "eval",
}
"""Stages that are inference as a task: served to users, to a trainer, or scored."""

_COMMANDS = {
    **dict.fromkeys(DEPLOYS, "infer"),
    "infer": "infer",
    "sample": "infer",
    "chat": "infer",
    "webchat": "infer",
    "inference": "infer",
    "generation": "infer",
    "batch_inference": "infer",
    "interactive_chat": "infer",
    "export": "export",
    "merge_lora": "export",
    "reward": "rm",
    "pretrain": "pt",
    "prm": "rm",
    "kd": "gkd",
    "distillation": "gkd",
    "finetune": "sft",
    "benchmark": "sft",
}
_SAME = frozenset({"sft", "pt", "grpo", "dpo", "ppo", "kto", "rm", "orpo", "simpo", "cpo", "gkd"})
_PREFERENCE = frozenset({"orpo", "simpo"})
_STEPS: Mapping[str, str] = {"ppo_ray": "ppo", "rloo": "ppo", "online_dpo": "dpo"}
_POLICY_GRADIENT = {
    "verl": ("ppo", "ppo_trainer"),
    "easyr1": ("ppo",),
    "slime": ("train",),
    "miles": ("train",),
    "openrlhf": ("ppo", "ppo_ray"),
}
_SLIME = ("slime", "miles")
_GROUPED = frozenset({"grpo", "group_norm", "dr_grpo", "grpo_passk"})
"""Estimators that compare the completions of one prompt: GRPO by another name."""
_AXOLOTL = {"ipo": "dpo", "dpo": "dpo", "simpo": "simpo", "orpo": "orpo", "kto": "kto"}
_AXOLOTL |= {"grpo": "grpo", "gdpo": "grpo"}

_STAGE_SCRIPT = late(r"(?:.*[/\\])?train_(sft|pt|rm|ppo|dpo)\.py")

Told = tuple[str, tuple[Origin, ...]]
NOTHING: Told = ("", ())


def task_of(
    launch: RawLaunch, configs: Sequence[RawArg], settings: Mapping[str, Setting]
) -> tuple[str, tuple[Origin, ...]]:
    """Name the task and where it stands; "" when it cannot be told."""
    command = launch.command.lower().removeprefix("megatron").strip().replace("-", "_")
    command = command.removeprefix("train_")
    if launch.framework == "llamafactory" and command == "train":
        return _llamafactory(launch, configs)
    if launch.framework == "axolotl" and command == "train":
        return _axolotl(launch, configs, settings)
    if command in _POLICY_GRADIENT.get(launch.framework, ()) or "rlhf.advantage" in settings:
        return _supervised(launch, configs) or _policy_gradient(launch, settings)
    if command in _COMMANDS:
        return _COMMANDS[command], (launch.origin,)
    kind = settings.get("rlhf.type")
    if command in _SAME:
        # ms-swift 2.x also took `swift dpo`; what --rlhf_type says there is the same
        return command, (launch.origin,)
    if kind is not None and isinstance(kind.value, str):
        return kind.value, kind.origins or (launch.origin,)
    if launch.framework == "ms-swift" and command == "rlhf":
        # RLHFArguments.rlhf_type is dpo at every release that has it
        return ("dpo", (launch.origin,)) if kind is None and launch.args_complete else NOTHING
    return (_STEPS[command], (launch.origin,)) if command in _STEPS else NOTHING


def _llamafactory(launch: RawLaunch, configs: Sequence[RawArg]) -> Told:
    """Read `stage` (default sft) and, for dpo, the loss that makes it ORPO or SimPO.

    Before 0.1 each stage had a script of its own (`src/train_ppo.py`).
    """
    stage = _find("stage", launch, configs)
    named = _STAGE_SCRIPT.fullmatch(launch.program)
    if stage is None and named is not None:
        return named[1], (launch.origin,)
    if stage is None:
        return ("sft", (launch.origin,)) if _is_complete(launch, configs) else NOTHING
    name = stage.values[0].lower() if stage.values else ""
    if name not in _SAME:
        return NOTHING
    loss = _find("pref_loss", launch, configs)
    if name == "dpo" and loss is not None:
        if loss.values is None:
            return NOTHING
        if loss.values and loss.values[0].lower() in _PREFERENCE:
            return loss.values[0].lower(), (stage.origin, loss.origin)
    return name, (stage.origin,)


def _axolotl(launch: RawLaunch, configs: Sequence[RawArg], settings: Mapping[str, Setting]) -> Told:
    """Read `rl`; without it and without a reward model it is supervised fine-tuning."""
    kind = settings.get("rlhf.type")
    if kind is not None:
        found = _AXOLOTL.get(kind.value.lower()) if isinstance(kind.value, str) else None
        return (found, kind.origins) if found else NOTHING
    for name in ("reward_model", "process_reward_model"):
        arg = _find(name, launch, configs)
        if arg is not None and arg.values and arg.values[0].lower() == "true":
            return "rm", (arg.origin,)
    return ("sft", (launch.origin,)) if _is_complete(launch, configs) else NOTHING


def _supervised(launch: RawLaunch, configs: Sequence[RawArg]) -> Told | None:
    """Tell the supervised training of slime, a loss of its own in the same program."""
    loss = _find("loss_type", launch, configs) if launch.framework in _SLIME else None
    told = loss is not None and loss.values == ("sft_loss",)
    return ("sft", (loss.origin,)) if loss is not None and told else None


def _policy_gradient(launch: RawLaunch, settings: Mapping[str, Setting]) -> Told:
    """Tell GRPO from PPO by the advantage estimator.

    Unset it is gae in verl and OpenRLHF, grpo in EasyR1 (verl/trainer/config.py) and in slime
    (slime/utils/arguments.py).
    """
    estimator = settings.get("rlhf.advantage")
    if estimator is None:
        unset = "grpo" if launch.framework in ("easyr1", *_SLIME) else "ppo"
        return (unset, (launch.origin,)) if launch.args_complete else NOTHING
    if not isinstance(estimator.value, str):
        return NOTHING
    name = "grpo" if estimator.value.lower() in _GROUPED else "ppo"
    return name, estimator.origins or (launch.origin,)


def _find(name: str, launch: RawLaunch, configs: Sequence[RawArg]) -> RawArg | None:
    """Find an argument: on the command line, where the last one counts, else in a file."""
    for group in (launch.args, configs):
        found = [arg for arg in group if arg.name == name]
        if found:
            return found[-1]
    return None


def _is_complete(launch: RawLaunch, configs: Sequence[RawArg]) -> bool:
    return launch.args_complete and bool(configs or launch.args)

"""What kind of job a launch is: sft, pt, grpo, dpo, ppo, kto, rm, infer, export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trainrx.frameworks import framework_of
from trainrx.model.facts import Origin
from trainrx.model.job import RawArg, RawLaunch, Setting

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
TRAINING = frozenset(
    {"sft", "pt", "grpo", "dpo", "ppo", "kto", "rm", "orpo", "simpo", "cpo", "gkd"}
)
_STEPS: Mapping[str, str] = {"ppo_ray": "ppo", "rloo": "ppo", "online_dpo": "dpo"}
_GROUPED = frozenset({"grpo", "group_norm", "dr_grpo", "grpo_passk"})
"""Estimators that compare the completions of one prompt: GRPO by another name."""
TaskFound = tuple[str, tuple[Origin, ...]]
NOTHING: TaskFound = ("", ())


def task_of(
    launch: RawLaunch, configs: Sequence[RawArg], settings: Mapping[str, Setting]
) -> tuple[str, tuple[Origin, ...]]:
    """Name the task and where it stands; "" when it cannot be told."""
    command = launch.command.lower().removeprefix("megatron").strip().replace("-", "_")
    command = command.removeprefix("train_")
    framework = framework_of(launch.framework)
    told = framework.task(command, launch, configs, settings)
    if told is not None:
        return told
    if command in framework.policy_gradient or "rlhf.advantage" in settings:
        return _policy_gradient(launch, settings, framework.unset_advantage)
    if command in _COMMANDS:
        return _COMMANDS[command], (launch.origin,)
    kind = settings.get("rlhf.type")
    if command in TRAINING:
        # ms-swift 2.x also took `swift dpo`; what --rlhf_type says there is the same
        return command, (launch.origin,)
    if kind is not None and isinstance(kind.value, str):
        return kind.value, kind.origins or (launch.origin,)
    if command in framework.default_tasks:
        unset = kind is None and launch.args_complete
        return (framework.default_tasks[command], (launch.origin,)) if unset else NOTHING
    return (_STEPS[command], (launch.origin,)) if command in _STEPS else NOTHING


def _policy_gradient(launch: RawLaunch, settings: Mapping[str, Setting], unset: str) -> TaskFound:
    """Tell GRPO from PPO by the advantage estimator."""
    estimator = settings.get("rlhf.advantage")
    if estimator is None:
        return (unset, (launch.origin,)) if launch.args_complete else NOTHING
    if not isinstance(estimator.value, str):
        return NOTHING
    name = "grpo" if estimator.value.lower() in _GROUPED else "ppo"
    return name, estimator.origins or (launch.origin,)


def find(name: str, launch: RawLaunch, configs: Sequence[RawArg]) -> RawArg | None:
    """Find an argument: on the command line, where the last one counts, else in a file."""
    for group in (launch.args, configs):
        found = [arg for arg in group if arg.name == name]
        if found:
            return found[-1]
    return None


def is_complete(launch: RawLaunch, configs: Sequence[RawArg]) -> bool:
    """Tell whether all arguments are at hand: one that is not among them is not set."""
    return launch.args_complete and bool(configs or launch.args)

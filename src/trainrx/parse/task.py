"""What kind of job a launch is: sft, pt, grpo, dpo, ppo, kto, rm, infer, export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trainrx.model.facts import Origin
from trainrx.model.job import RawArg, RawLaunch, Setting

_COMMANDS = {
    "infer": "infer",
    "deploy": "infer",
    "rollout": "infer",
    "eval": "infer",
    "app": "infer",
    "app-ui": "infer",
    "sample": "infer",
    "serve": "infer",
    "export": "export",
    "merge-lora": "export",
    "train_sft": "sft",
    "train_dpo": "dpo",
    "train_kto": "kto",
    "train_rm": "rm",
    "train_ppo_ray": "ppo",
    "reward": "rm",
}
_SAME = frozenset({"sft", "pt", "grpo", "dpo", "ppo", "kto", "rm", "orpo", "simpo", "cpo", "gkd"})
_STAGES = _SAME


def task_of(
    launch: RawLaunch, configs: Sequence[RawArg], settings: Mapping[str, Setting]
) -> tuple[str, tuple[Origin, ...]]:
    """Name the task and where it stands; "" when it cannot be told."""
    command = launch.command.lower().removeprefix("megatron").strip()
    if command in _COMMANDS:
        return _COMMANDS[command], (launch.origin,)
    if command in _SAME:
        return command, (launch.origin,)
    kind = settings.get("rlhf.type")
    if kind is not None and isinstance(kind.value, str):
        return kind.value, kind.origins
    if launch.framework == "llamafactory":
        for arg in (*launch.args, *configs):
            if arg.name == "stage" and arg.values and arg.values[0] in _STAGES:
                return arg.values[0], (arg.origin,)
    return "", ()

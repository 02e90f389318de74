"""OpenRLHF: https://github.com/OpenRLHF/OpenRLHF."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.script import argument_names
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.job import Role
from trainrx.model.pattern import late

_SCRIPT = late(r"train_(?P<name>sft|ppo|ppo_ray|dpo|rm|kto|kd|prm)\.py")


class OpenRlhf(Framework):
    """OpenRLHF's modules, and their scripts copied elsewhere."""

    name = "openrlhf"
    spelled = True
    programs = ("openrlhf",)
    path = late(r"(?:.*[./])?openrlhf[./]cli[./](?P<name>\w+?)(?:\.py)?")
    command_roles: ClassVar[Mapping[str, Role]] = {
        "serve-rm": "reward",
        "batch-inference": "inference",
        "interactive-chat": "inference",
        "lora-combiner": "export",
    }
    policy_gradient = frozenset({"ppo", "ppo_ray"})
    refuses_unknown = True
    lora_by_rank = True

    def recognise(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read its modules; a copy of a script is known by its arguments."""
        found = self.by_path(entry)
        script = _SCRIPT.fullmatch(entry.name)
        if found is not None or script is None:
            return found
        names = argument_names(entry.args)
        own = "pretrain" in names and names & {"zero_stage", "micro_train_batch_size"}
        return self.launch(script["name"].replace("_", "-"), entry.args) if own else None


FRAMEWORK = OpenRlhf()

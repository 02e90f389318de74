"""MindSpeed-RL of Ascend: https://gitee.com/ascend/MindSpeed-RL (cli/train_grpo.py)."""

from __future__ import annotations

from typing import ClassVar

from trainrx.frameworks.base import Framework
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.pattern import late


class MindSpeedRl(Framework):
    """Its programs, which Hydra gives a file of `configs/`."""

    name = "mindspeed-rl"
    folders: ClassVar[tuple[str, ...]] = ("mindspeed_rl", "MindSpeed-RL")
    path = late(r"(?:.*/)?cli/train_(?P<name>grpo|ppo|dpo|dapo)\.py")
    parser = "hydra"
    takes_overrides = True
    omegaconf = True
    composed = True
    memory_measured = False

    def by_path(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read a launch that names a file: others keep programs in `cli`, too."""
        named = any(word.text.startswith(("--config-name", "-cn")) for word in entry.args)
        return super().by_path(entry) if named else None


FRAMEWORK = MindSpeedRl()

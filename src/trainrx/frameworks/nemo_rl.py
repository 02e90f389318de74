"""NVIDIA NeMo RL: https://github.com/NVIDIA-NeMo/RL."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class NemoRl(Framework):
    """NVIDIA NeMo RL."""

    name = "nemo-rl"
    repository = "NVIDIA-NeMo/RL"
    takes_overrides = True
    omegaconf = True
    only_assigns = True
    edits_assigned = True
    nested_files = True
    nests_changes = True
    sections = True
    lora_by_rank = True
    fsdp2 = True


FRAMEWORK = NemoRl()

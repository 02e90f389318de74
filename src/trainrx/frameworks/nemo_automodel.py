"""NVIDIA NeMo Automodel: https://github.com/NVIDIA-NeMo/Automodel."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class NemoAutomodel(Framework):
    """NVIDIA NeMo Automodel."""

    name = "nemo-automodel"
    repository = "NVIDIA-NeMo/Automodel"
    nested_files = True
    nests_changes = True
    sections = True
    lora_by_rank = True
    fsdp2 = True


FRAMEWORK = NemoAutomodel()

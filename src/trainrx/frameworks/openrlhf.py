"""OpenRLHF: https://github.com/OpenRLHF/OpenRLHF."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class OpenRlhf(Framework):
    """OpenRLHF."""

    name = "openrlhf"
    refuses_unknown = True
    lora_by_rank = True


FRAMEWORK = OpenRlhf()

"""Trinity-RFT: https://github.com/modelscope/Trinity-RFT."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class TrinityRft(Framework):
    """Trinity-RFT."""

    name = "trinity-rft"
    also_called = ("trinity",)
    builds_on = ("verl",)


FRAMEWORK = TrinityRft()

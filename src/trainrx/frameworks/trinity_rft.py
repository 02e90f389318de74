"""Trinity-RFT: https://github.com/modelscope/Trinity-RFT."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class TrinityRft(Framework):
    """Trinity-RFT."""

    name = "trinity-rft"
    folders = ("trinity",)
    plain_folders = True
    also_called = ("trinity",)
    builds_on = ("verl",)


FRAMEWORK = TrinityRft()

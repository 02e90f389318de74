"""SkyRL: https://github.com/NovaSky-AI/SkyRL."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class SkyRl(Framework):
    """SkyRL."""

    name = "skyrl"


FRAMEWORK = SkyRl()

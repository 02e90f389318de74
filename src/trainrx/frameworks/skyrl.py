"""SkyRL: https://github.com/NovaSky-AI/SkyRL."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class SkyRl(Framework):
    """SkyRL."""

    name = "skyrl"
    folders = ("skyrl", "skyrl_train", "SkyRL")


FRAMEWORK = SkyRl()

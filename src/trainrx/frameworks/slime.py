"""slime: https://github.com/THUDM/slime."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class Slime(Framework):
    """slime."""

    name = "slime"


FRAMEWORK = Slime()

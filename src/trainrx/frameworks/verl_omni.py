"""verl-omni, which builds on verl: https://github.com/verl-project/verl-omni."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class VerlOmni(Framework):
    """verl-omni."""

    name = "verl-omni"
    builds_on = ("verl",)


FRAMEWORK = VerlOmni()

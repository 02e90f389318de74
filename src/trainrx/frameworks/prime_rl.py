"""PRIME-RL: https://github.com/PrimeIntellect-ai/prime-rl."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class PrimeRl(Framework):
    """PRIME-RL."""

    name = "prime-rl"
    folders = ("prime_rl", "prime-rl")


FRAMEWORK = PrimeRl()

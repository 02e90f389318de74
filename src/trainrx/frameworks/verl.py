"""verl: https://github.com/volcengine/verl."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class Verl(Framework):
    """verl."""

    name = "verl"
    takes_overrides = True
    omegaconf = True
    only_assigns = True
    edits_assigned = True
    nested_files = True
    lora_by_rank = True
    hybrid_engine = True


FRAMEWORK = Verl()

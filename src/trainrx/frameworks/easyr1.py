"""EasyR1, a fork of verl: https://github.com/hiyouga/EasyR1."""

from __future__ import annotations

from trainrx.frameworks.base import Framework


class EasyR1(Framework):
    """EasyR1."""

    name = "easyr1"
    fork_of = "verl"
    installed_as = "verl"  # setup.py of EasyR1
    takes_overrides = True
    omegaconf = True
    only_assigns = True
    edits_assigned = True
    nested_files = True
    nests_changes = True
    lora_by_rank = True
    hybrid_engine = True


FRAMEWORK = EasyR1()

"""Numbers of a DeepSpeed file that have to give way where the argument of the same meaning changes.

The Trainer fills in "auto" and refuses any other value that differs from its own argument:
https://github.com/huggingface/transformers/blob/v4.52.4/src/transformers/integrations/deepspeed.py
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from trainrx.model.facts import Facts
from trainrx.model.result import Change

AUTO = "auto"
TRAINERS = frozenset({"transformers", "trl", "llamafactory", "ms-swift"})
_BATCH = frozenset({"train.micro_batch", "train.grad_accum", "parallel.processes_per_node"})
_KEYS = {
    "deepspeed.micro_batch": ("train_micro_batch_size_per_gpu", frozenset({"train.micro_batch"})),
    "deepspeed.grad_accum": ("gradient_accumulation_steps", frozenset({"train.grad_accum"})),
    "deepspeed.train_batch": ("train_batch_size", _BATCH),
}


def autos(changes: Sequence[Change], facts: Facts, held: Collection[str]) -> Iterator[Change]:
    """Give the keys that are to be left to the Trainer, of those a DeepSpeed file holds."""
    if facts.text("launch.framework") not in TRAINERS:
        return
    names = {change.canonical for change in changes}
    for kind, (key, means) in _KEYS.items():
        value = facts.value(kind)
        if value is not None and key in held and not names.isdisjoint(means):
            yield Change(
                kind="config_file",
                param=key,
                canonical="",
                action="set",
                now="set",
                from_=str(value),
                to=AUTO,
                spelled=f"{key}: {AUTO}",
            )

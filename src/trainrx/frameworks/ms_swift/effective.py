"""What ms-swift computes after parsing: one function per group of commands, by major version.

Read in the `__post_init__`s of swift/llm/utils/argument.py (2.x), swift/llm/argument and
swift/trainers/arguments.py (3.x), swift/arguments and swift/trainers/arguments.py (4.x); the bounds
are the first and last tags that hold the statement (3.0.0 to 4.6.0).
"""

from __future__ import annotations

from trainrx.frameworks.common.sheet import Sheet
from trainrx.frameworks.common.view import UNKNOWN, ArgumentView, Held, Worked, negate
from trainrx.frameworks.ms_swift.effective_base import base
from trainrx.frameworks.ms_swift.effective_train import train, train_before

_TRAINING = frozenset({"sft", "pt", "rlhf"})
_SERVING = frozenset({"infer", "deploy", "rollout", "export", "eval", "app", "sample"})
_MEGATRON = frozenset({"megatron sft", "megatron pt", "megatron rlhf"})


def effective(view: ArgumentView) -> Worked:
    """Give what differs from the parsed values; web-ui computes nothing."""
    newer = view.since("3.0.0")
    sheet = Sheet(view)
    if newer is False:
        from trainrx.frameworks.ms_swift.effective_2 import effective_2

        effective_2(sheet)
    elif newer is None:
        return _undecided(view)
    elif view.command in _TRAINING:
        _training(sheet)
    elif view.command in _SERVING:
        from trainrx.frameworks.ms_swift.effective_serving import serving_after, serving_before

        serving_before(sheet)
        base(sheet)
        serving_after(sheet)
    elif view.command in _MEGATRON:
        _megatron(sheet)
    return sheet.written


def _megatron(sheet: Sheet) -> None:
    """Overwrite what the commands inherit and do not use (swift/megatron/argument/train_args.py).

    3.6 writes "only support full" there; before it nothing reads the tuner.
    """
    sheet.set("train_type", "full", negate(sheet.since("3.7.0")))
    sheet.set("sequence_parallel_size", sheet.get("context_parallel_size"), sheet.since("3.4.1"))


def _training(sheet: Sheet) -> None:
    train_before(sheet)
    if sheet.view.command != "rlhf":
        base(sheet)
        train(sheet)
        return
    from trainrx.frameworks.ms_swift.effective_rlhf import rlhf_after, rlhf_before

    rlhf_before(sheet)
    base(sheet)
    train(sheet)
    rlhf_after(sheet)


def _undecided(view: ArgumentView) -> Worked:
    """2.x or later is not known: what only one of them computes is open, unless it is given."""
    names = ("gradient_accumulation_steps", "learning_rate", "beta", "loss_type", "eval_steps")
    found: dict[str, Held] = {n: UNKNOWN for n in names if view.has(n) and not view.given(n)}
    checkpointing = "gradient_checkpointing"
    if view.command in _TRAINING and view.has(checkpointing) and not view.given(checkpointing):
        # 2.x fills in what 3.0 declares
        found[checkpointing] = True
    return found

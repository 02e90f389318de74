"""What becomes of the columns of a data set before rewards see them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

_ALIASES: Mapping[str, tuple[str, ...]] = {
    "system": ("system", "system_prompt"),
    "query": ("query", "prompt", "input", "instruction", "question", "problem"),
    "response": (
        *("response", "answer", "output", "targets", "target", "answer_key", "answers", "solution"),
        *("text", "completion", "content"),
    ),
}
_TALKS = frozenset({"messages", "conversation", "conversations"})
_ALPACA = frozenset({"instruction", "input"})
_TAKEN = frozenset({"system", "query", "response", "history"})
"""Columns that become messages."""
_GIVEN = frozenset(
    {"completions", "messages", "images", "videos", "audios", "tools", "objects", "trainer_state"}
    | {"prompt_id", "request_id", "finish_reason", "is_truncated", "rollout_infos", "kwargs"}
    | {"response_token_ids", "trajectory_inputs", "global_step", "chat_template_kwargs", "channel"}
)
"""What a reward is given whatever the data is (rl_core/data.py: to_reward_row)."""


def reward_inputs(columns: Sequence[str]) -> frozenset[str]:
    """Give what rewards are handed: columns that become messages are not, but for `solution`.

    Of a group of names that mean the same one is renamed, of several none
    (dataset/preprocessor/core.py: safe_rename_columns).
    """
    held = frozenset(columns)
    if held & _TALKS:
        return _GIVEN | held - {"system", "system_prompt"}
    if held >= _ALPACA:
        return _GIVEN | held - {"instruction", "input", "output", *_TAKEN}
    meant = {name: group for group, names in _ALIASES.items() for name in names}
    counts = Counter(meant[name] for name in held if name in meant)
    renamed = {name for name in held if counts.get(meant.get(name, "")) == 1}
    return _GIVEN | (held - renamed - _TAKEN) | (held & {"solution"})

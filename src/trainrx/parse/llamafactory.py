"""Recognise LLaMA-Factory: `llamafactory-cli train`, `lmf`, `src/train.py` and older scripts.

https://github.com/hiyouga/LLaMA-Factory
"""

from __future__ import annotations

import re

from trainrx.model.job import Word
from trainrx.model.pattern import late
from trainrx.parse.launchers import Entry

_COMMANDS = frozenset({"train", "chat", "eval", "export", "api", "webchat", "webui"})
_MODULE = late(r"(?:.*[./])?(?:llamafactory|llmtuner)[./](?:launcher|cli|train[./]tuner)(?:\.py)?")
_TRAIN = late(r"train(?:_bash|_sft|_pt|_rm|_ppo|_dpo)?\.py")
_OWN_FLAGS = frozenset({"--stage", "--finetuning_type", "--lora_target", "--template"})


def recognise(entry: Entry) -> tuple[str, tuple[Word, ...]] | None:
    """Give command and arguments of a LLaMA-Factory launch, None when it is none."""
    if not entry.module and entry.name in ("llamafactory-cli", "lmf", "llamafactory"):
        return _subcommand(entry.args)
    if _MODULE.fullmatch(entry.path.text):
        return _subcommand(entry.args) or ("train", entry.args)
    if entry.module or not _TRAIN.fullmatch(entry.name):
        return None
    in_source = re.search(r"(?:^|/)src/[^/]+$", entry.path.text) is not None
    own = any(word.text.partition("=")[0] in _OWN_FLAGS for word in entry.args)
    if entry.name == "train_bash.py" or own or (in_source and _plain(entry)):
        return "train", entry.args
    return None


def _plain(entry: Entry) -> bool:
    """Tell `src/train.py` with a config (or nothing) from another project's `src/train.py`."""
    if entry.name != "train.py":
        return False
    return not entry.args or entry.args[0].text.endswith((".yaml", ".yml", ".json"))


def _subcommand(args: tuple[Word, ...]) -> tuple[str, tuple[Word, ...]] | None:
    if args and args[0].text in _COMMANDS:
        return args[0].text, args[1:]
    return None

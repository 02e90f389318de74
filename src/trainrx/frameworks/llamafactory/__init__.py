"""Recognise LLaMA-Factory: `llamafactory-cli train`, `lmf`, `src/train.py` and older scripts.

https://github.com/hiyouga/LLaMA-Factory
"""

from __future__ import annotations

import re

from trainrx.frameworks.base import Framework
from trainrx.launchers.entries import EntryPoint
from trainrx.model.job import RawLaunch, Word
from trainrx.model.pattern import late

_COMMANDS = frozenset({"train", "chat", "eval", "export", "api", "webchat", "webui"})
_MODULE = late(r"(?:.*[./])?(?:llamafactory|llmtuner)[./](?:launcher|cli|train[./]tuner)(?:\.py)?")
_TRAIN = late(r"train(?:_bash|_sft|_pt|_rm|_ppo|_dpo)?\.py")
_OWN_FLAGS = frozenset({"--stage", "--finetuning_type", "--lora_target", "--template"})


_FIRST_SCRIPTS = late(r"train_(?:sft|pt|rm|ppo|dpo)\.py")
_HALVES = frozenset({"max_source_length", "max_target_length"})


def releases_with(launch: RawLaunch) -> str | None:
    """Tell the releases that have the program of a launch; None where many do.

    `src/train_bash.py` was there to 0.7.0 and took the place of one script for each stage in 0.0.9;
    0.2.0 made one `cutoff_len` of the two lengths.
    """
    script = launch.program.rpartition("/")[2]
    if _FIRST_SCRIPTS.fullmatch(script):
        return "<0.0.9"
    if script != "train_bash.py":
        return None
    return "<0.2" if any(arg.name in _HALVES for arg in launch.args) else "<0.7.1"


def recognise(entry: EntryPoint) -> tuple[str, tuple[Word, ...]] | None:
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


def _plain(entry: EntryPoint) -> bool:
    """Tell `src/train.py` with a config (or nothing) from another project's `src/train.py`."""
    if entry.name != "train.py":
        return False
    return not entry.args or entry.args[0].text.endswith((".yaml", ".yml", ".json"))


def _subcommand(args: tuple[Word, ...]) -> tuple[str, tuple[Word, ...]] | None:
    if args and args[0].text in _COMMANDS:
        return args[0].text, args[1:]
    return None


class LlamaFactory(Framework):
    """LLaMA-Factory."""

    name = "llamafactory"
    refuses_unknown = True
    takes_overrides = True
    omegaconf = True
    edits_assigned = True


FRAMEWORK = LlamaFactory()

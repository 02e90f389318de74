"""What the program says in English where it is made, in Chinese: found in a catalogue of messages.

Sources stay in English. A message is matched with the catalogue when it is shown, values and all;
what is not found stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from trainrx.model.text import Lang, Text

TEXTS = Path(__file__).parent / "texts"
_VALUE = re.compile(r"\{(\w+)\}")


def said(message: str, lang: Lang) -> str:
    """Say a message of the program in a language."""
    return chinese(message) if lang == "zh" else message


def chinese(message: str) -> str:
    """Say a message in Chinese: as the text does that has most words of its own in common."""
    for pattern, text in _patterns():
        found = pattern.fullmatch(message)
        if found is not None:
            values = {name: chinese(value) for name, value in found.groupdict("").items()}
            return text.format(**values)
    return message


def messages() -> tuple[Path, ...]:
    """Name the catalogues of messages."""
    return tuple(sorted(TEXTS.glob("*.yaml")))


@lru_cache(maxsize=4)
def catalogue(path: Path) -> tuple[Text, ...]:
    """Read a catalogue of texts."""
    # an answer in Chinese needs no PyYAML: only messages do
    from trainrx.knowledge.yaml12 import read_yaml

    return msgspec.convert(read_yaml(path), tuple[Text, ...])


@lru_cache(maxsize=1)
def _patterns() -> Sequence[tuple[re.Pattern[str], str]]:
    def own_words(text: Text) -> int:
        return len(_VALUE.sub("", text.en))

    def pattern(template: str) -> re.Pattern[str]:
        plain = re.sub(r"\\([{}])", r"\1", re.escape(template))
        return re.compile(_VALUE.sub(r"(?P<\1>.*?)", plain), re.DOTALL)

    texts = (text for path in messages() for text in catalogue(path))
    ordered = sorted(texts, key=own_words, reverse=True)
    return [(pattern(text.en), text.zh) for text in ordered]

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

import trainrx
from trainrx.model.text import Text
from trainrx.render import inspect_words

# what Chinese users write in Latin letters too, and what must be typed as it stands
LATIN = {
    *("GPU", "vLLM", "RLHF", "ZeRO", "attention", "batch", "token", "step", "rollout", "offload"),
    *("GiB", "B", "num", "generations", "None", "all", "versions", "CRLF", "bash", "CR", "shell"),
    *("dos", "unix", "x"),
}


def texts() -> Iterator[tuple[str, Text]]:
    for name, value in vars(inspect_words).items():
        if isinstance(value, Text):
            yield name, value
        elif isinstance(value, dict) and name.isupper():
            for key, text in value.items():
                yield f"{name}[{key}]", text


def fields(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize(("name", "text"), [*texts()])
def test_both_languages_say_something_with_the_same_places(name, text):
    assert text.en, name
    assert text.zh, name
    assert fields(text.en) == fields(text.zh), name


@pytest.mark.parametrize(("name", "text"), [*texts()])
def test_no_english_stands_in_the_chinese(name, text):
    latin = set(re.findall(r"[A-Za-z]+", re.sub(r"\{\w*\}", "", text.zh)))

    assert latin <= LATIN, name
    assert not re.search("[\u4e00-\u9fff]", text.en), name


def test_every_word_is_used():
    folder = Path(trainrx.__file__).parent / "render"
    source = "".join(p.read_text(encoding="utf-8") for p in folder.glob("*.py"))

    unused = [
        name
        for name, value in vars(inspect_words).items()
        if name.isupper()
        and isinstance(value, (Text, dict))
        and not re.search(rf"\bwords\.{name}\b", source)
    ]

    assert unused == []

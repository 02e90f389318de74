from __future__ import annotations

import re
import string
from collections.abc import Iterator
from pathlib import Path

import diagnoses
import msgspec
import pytest

import trainrx
from trainrx.model import reasons
from trainrx.model.text import Text, language
from trainrx.render import inspect_words, render, words
from trainrx.render.document import View

# what Chinese users write in Latin letters too, and what must be typed as it stands
LATIN = {
    *(
        "OOM",
        "loss",
        "NaN",
        "step",
        "traceback",
        "checkpoint",
        "rollout",
        "vLLM",
        "rank",
        "GPU",
        "GiB",
        "nat",
    ),
    *("pip", "freeze", "nvidia", "smi", "explain", "note", "diagnose", "kb", "list", "lint", "fix"),
    *("id", "estimate"),
}
LATIN_INSPECT = {
    *("GPU", "vLLM", "RLHF", "ZeRO", "attention", "batch", "token", "step", "rollout", "offload"),
    *("GiB", "B", "num", "generations", "None", "all", "versions", "CRLF", "bash", "CR", "shell"),
    *("dos", "unix", "x"),
}
RENDER = Path(trainrx.__file__).parent / "render"


def texts() -> Iterator[tuple[str, Text, set[str]]]:
    for module, latin in ((words, LATIN), (inspect_words, LATIN_INSPECT)):
        for name, value in vars(module).items():
            if isinstance(value, Text):
                yield name, value, latin
            elif isinstance(value, dict) and name.isupper():
                for key, text in value.items():
                    yield f"{name}[{key}]", text, latin


def fields(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_both_languages_say_something_with_the_same_places():
    uneven = [
        name
        for name, text, _ in texts()
        if not text.en or not text.zh or fields(text.en) != fields(text.zh)
    ]

    assert uneven == []


def test_no_english_stands_in_the_chinese():
    for name, text, latin in texts():
        found = set(re.findall(r"[A-Za-z]+", re.sub(r"\{[\w!]*\}", "", text.zh)))

        assert found <= latin, name
        assert not re.search("[\u4e00-\u9fff]", text.en), name


def test_every_reason_for_an_unknown_value_is_said_in_both_languages():
    assert set(inspect_words.WHY) == set(reasons.ALL)


@pytest.mark.parametrize("module", [words, inspect_words])
def test_every_word_is_used(module):
    own = Path(module.__file__ or "").name
    paths = [path for path in RENDER.parent.rglob("*.py") if path.name != own]
    source = "".join(path.read_text(encoding="utf-8") for path in paths)
    used = set(re.findall(r"\b(?:words|said)\.(\w+)", source))

    unused = [
        name
        for name, value in vars(module).items()
        if name.isupper()
        and name != "PHASE"
        and isinstance(value, (Text, dict))
        and name not in used
    ]

    assert unused == []


@pytest.mark.parametrize("name", diagnoses.ALL)
def test_a_chinese_page_holds_english_only_in_ids_flags_and_quotes(name):
    answer = diagnoses.ALL[name]("zh")
    bare = msgspec.structs.replace(
        answer,
        symptoms=(),
        plan=None,
        unread=(),
        asks=(),
        facts={},
        causes=tuple(
            msgspec.structs.replace(cause, reasons=(), fixes=(), already_right=(), effects=())
            for cause in answer.causes
        ),
    )

    text = render(bare, "text", View("zh", 80))

    chrome = re.sub(r"(?m)^任务 .*$|\S*launch\.sh\S*|--\S+ \S+|知识库 \S+", "", text)
    latin = set(re.findall(r"[A-Za-z]{2,}", re.sub(r"`[^`]*`", "", chrome)))
    assert latin <= {
        "OOM",
        "diagnose",
        "MAX",
        "PIXELS",
        "token",
        "rank",
        "attention",
        "flash",
        "attn",
        "bf",
        "float",
    }


@pytest.mark.parametrize(
    ("environment", "lang"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW"}, "zh"),
        ({"LC_ALL": "", "LANG": "zh"}, "zh"),
        ({"LANG": "de_DE"}, "en"),
    ],
)
def test_the_language_is_chosen_as_posix_does(environment, lang):
    assert language(environment) == lang


def test_an_unnamed_phase_keeps_its_id():
    assert words.phase("train", "zh") == "训练中"
    assert words.phase("lunch", "zh") == "lunch"

from __future__ import annotations

import re

import pytest

from trainrx.knowledge.catalogs import read_old_names
from trainrx.knowledge.load import load
from trainrx.models.families import AUDIO, FAMILY, OMNI, VISION, family_of, own_type_of

NAMES = {
    name.lower()
    for names in (
        *((shape.id, *shape.aliases) for shape in load(launches=True).models),
        *((item.name, item.ms, item.hf) for item in read_old_names()),
    )
    for name in names
}


def test_looking_for_words_first_changes_no_family() -> None:
    assert len(NAMES) > 500
    for name in NAMES:
        first = next((family for family, _, words in FAMILY if re.search(words, name)), None)
        assert family_of(name) == first, name


@pytest.mark.parametrize("pattern", [VISION, OMNI, AUDIO])
def test_looking_for_words_first_changes_no_answer(pattern: re.Pattern[str]) -> None:
    source = pattern._source[0]
    for name in NAMES:
        assert bool(pattern.search(name)) == bool(re.search(source, name)), name


@pytest.mark.parametrize(
    ("name", "releases"),
    [
        ("Qwen/QwQ-32B", "before-4"),
        ("/models/DeepSeek-R1-Distill-Llama-8B", "before-4"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "before-4"),
        ("Qwen/Qwen2.5-Math-7B-Instruct", "before-4"),
        ("mistralai/Mistral-Nemo-Instruct-2407", "always"),
        ("HuggingFaceH4/zephyr-7b-beta", "always"),
        ("Qwen/Qwen2.5-7B-Instruct", None),
        ("Qwen/Qwen2.5-Coder-7B-Instruct", None),
        ("mistralai/Mistral-7B-Instruct-v0.2", None),
        ("meta-llama/Llama-3.1-8B-Instruct", None),
    ],
)
def test_the_name_tells_whether_a_type_of_its_own_stands_for_it(name, releases):
    assert own_type_of(name) == releases

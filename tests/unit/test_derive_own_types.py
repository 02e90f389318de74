from __future__ import annotations

import pytest

from trainrx.derive.own_types import own_type_of


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

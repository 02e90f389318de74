from __future__ import annotations

import pytest

from trainrx.frameworks import frameworks
from trainrx.model.parts import Reference
from trainrx.prove.levers import owner, source_for
from unit.workloads import knowledge

SWIFT = "https://github.com/modelscope/ms-swift/blob/v3.8.0/docs/a.md"
TRL = "https://huggingface.co/docs/trl/v1.6.0/reducing_memory_usage"
PAPER = "https://arxiv.org/abs/2205.14135"


def refs(**urls):
    return [Reference(id=name, kind="doc", url=url, says="so") for name, url in urls.items()]


@pytest.mark.parametrize(
    ("url", "framework"),
    [
        (SWIFT, "ms-swift"),
        (TRL, "trl"),
        ("https://github.com/hiyouga/LLaMA-Factory/issues/1", "llamafactory"),
        ("https://github.com/verl-project/verl/blob/main/a.rst", "verl"),
        ("https://github.com/OpenRLHF/OpenRLHF/issues/2", "openrlhf"),
        ("https://docs.vllm.ai/en/latest/features/sleep_mode/", ""),
        ("https://huggingface.co/docs/transformers/en/grad_checkpointing", ""),
        (PAPER, ""),
    ],
)
def test_an_address_tells_whose_it_is(url, framework):
    assert owner(url) == framework


@pytest.mark.parametrize(
    ("framework", "url"),
    [("ms-swift", SWIFT), ("trl", TRL), ("openrlhf", PAPER), ("", PAPER)],
)
def test_a_source_is_of_the_framework_of_the_job_or_of_none(framework, url):
    assert source_for(refs(a=SWIFT, b=TRL, c=PAPER), "a", framework) == url


def test_what_holds_for_all_stays():
    assert source_for(refs(a=SWIFT, c=PAPER), "c", "ms-swift") == PAPER


def test_a_foreign_source_is_better_than_none():
    assert source_for(refs(a=SWIFT), "a", "verl") == SWIFT


def test_levers_every_framework_has_words_for_have_a_source_for_each():
    common = ("flash-attention", "gradient-checkpointing", "micro-batch", "max-length", "sharding")
    for name in (*common, "lora", "four-bit-base", "engine-share", "fused-head", "max-pixels"):
        lever = knowledge().levers[name]
        for framework in (one.name for one in frameworks() if one.spelled and one.owns_names):
            for step in lever.steps:
                found = source_for(lever.references, step.ref, framework)
                assert owner(found) in ("", framework), (name, framework)

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.inspect.topics import topic_of
from trainrx.knowledge.load import load
from trainrx.render.inspect_words import TOPIC


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("model_name_or_path", "model"),
        ("cutoff_len", "batch"),
        ("freeze_vision_tower", "tuner"),
        ("image_max_pixels", "vision"),
        ("torch_dtype", "memory"),
        ("gradient_checkpointing_kwargs", "memory"),
        ("lr_scheduler_type", "optimizer"),
        ("adam_epsilon", "optimizer"),
        ("epsilon_high", "rlhf"),
        ("vllm_gpu_memory_utilization", "rlhf"),
        ("report_to", "saving"),
        ("dataset_num_proc", "data"),
        ("actor_rollout_ref.actor.ppo_mini_batch_size", "batch"),
        ("actor_rollout_ref.model.lora.rank", "tuner"),
        ("actor_rollout_ref.rollout.gpu_memory_utilization", "rlhf"),
        ("trainer.n_gpus_per_node", "parallel"),
        ("something-nobody-knows", "other"),
    ],
)
def test_a_name_is_put_where_one_would_look_for_it(name, topic):
    assert topic_of(name) == topic


def test_the_meaning_goes_before_the_name():
    assert topic_of("model_output", "vision.max_pixels") == "vision"


def test_a_new_setting_of_the_training_needs_no_line_here():
    assert topic_of("something-nobody-knows", "train.something_new") == "optimizer"
    assert topic_of("something_logging", "train.something_new") == "saving"


def test_every_parameter_has_a_topic():
    spelled = {
        name: [s.arg or s.env for group in param.spelled.values() for s in group]
        for name, param in load().params.items()
    }

    lost = [n for n, names in spelled.items() if all(topic_of(x, n) == "other" for x in names)]

    assert lost == []


@given(st.text())
def test_any_name_has_a_topic(name):
    assert topic_of(name) in TOPIC

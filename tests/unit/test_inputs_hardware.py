from __future__ import annotations

from statistics import median, median_low

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from trainrx.inputs.hardware import USABLE_SHARE, read_gpu, usable_gib
from trainrx.knowledge.places import shipped
from trainrx.model.hardware import Gpu, ModelShape

KB = shipped()[0]
GPUS = msgspec.convert(yaml.safe_load((KB / "gpus.yaml").read_text("utf-8")), tuple[Gpu, ...])
MODELS = msgspec.convert(
    yaml.safe_load((KB / "models.yaml").read_text("utf-8")), tuple[ModelShape, ...]
)


@pytest.mark.parametrize(
    ("text", "card", "gib", "count"),
    [
        ("A100-80G", "A100-SXM4-80GB", 79.25, None),
        ("NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB", 79.25, None),
        ("NVIDIA A100 80GB PCIe", "A100-PCIe-80GB", 78.8, None),
        ("A100 40G", "A100-SXM4-40GB", 39.38, None),
        ("8x A100 80GB", "A100-SXM4-80GB", 79.25, 8),
        ("A100-80G x8", "A100-SXM4-80GB", 79.25, 8),
        ("8*A100-80G", "A100-SXM4-80GB", 79.25, 8),
        ("8卡A100-80G", "A100-SXM4-80GB", 79.25, 8),
        ("4张3090", "RTX-3090-24GB", 23.7, 4),
        ("4090", "RTX-4090-24GB", 23.64, None),
        ("RTX 4090", "RTX-4090-24GB", 23.64, None),
        ("RTX4090", "RTX-4090-24GB", 23.64, None),
        ("NVIDIA GeForce RTX 4090 D", "RTX-4090-D-24GB", 23.64, None),
        ("3090", "RTX-3090-24GB", 23.7, None),
        ("A800", "A800-SXM4-80GB", 79.25, None),
        ("A800-80G", "A800-SXM4-80GB", 79.25, None),
        ("A30", "A30-24GB", 23.5, None),
        ("A10", "A10-24GB", 21.99, None),
        ("A10G", "A10G-24GB", 22.49, None),
        ("A6000", "RTX-A6000-48GB", 47.28, None),
        ("V100-32G", "V100-SXM2-32GB", 31.74, None),
        ("Tesla V100-SXM2-16GB", "V100-SXM2-16GB", 15.78, None),
        ("H20", "H20-96GB", 95.0, None),
        ("H200", "H200-141GB", 139.0, None),
        ("GH200", "GH200-96GB", 94.56, None),
        ("NVIDIA GH200 480GB", "GH200-96GB", 94.56, None),
        ("双卡3090", "RTX-3090-24GB", 23.7, 2),
        ("8 A100-80G", "A100-SXM4-80GB", 79.25, 8),
        ("8×H100", "H100-SXM-80GB", 79.11, 8),
        ("L40S", "L40S-48GB", 44.42, None),
        ("910B", "Ascend-910B-64GB", 60.96, None),
        ("Ascend910B4", "Ascend-910B4-32GB", 31.52, None),
        ("T4", "T4-16GB", 14.75, None),
        ("4090x8", "RTX-4090-24GB", 23.64, 8),
        ("4090*8", "RTX-4090-24GB", 23.64, 8),
        ("4090x16", "RTX-4090-24GB", 23.64, 16),
        ("4090 八卡", "RTX-4090-24GB", 23.64, 8),
        ("8 x 4090", "RTX-4090-24GB", 23.64, 8),
        ("8x4090", "RTX-4090-24GB", 23.64, 8),
        ("两张3090", "RTX-3090-24GB", 23.7, 2),
        ("单机八卡4090", "RTX-4090-24GB", 23.64, 8),
        ("A100 80G x 8", "A100-SXM4-80GB", 79.25, 8),
        ("A100-80Gx8", "A100-SXM4-80GB", 79.25, 8),
        ("A100 80G 8卡", "A100-SXM4-80GB", 79.25, 8),
        ("H20*2", "H20-96GB", 95.0, 2),
    ],
)
def test_names_people_use(text, card, gib, count):
    reading = read_gpu(text, GPUS)

    assert reading.gpu is not None
    assert (reading.gpu.id, reading.gib) == (card, gib)
    assert reading.count == count
    assert reading.unread is None


@pytest.mark.parametrize(
    ("text", "gib"),
    [("24GiB", 23.64), ("24G", 23.64), ("80", 78.8), ("24 GB", 23.64), ("23.65 GiB", 23.65)],
)
def test_memory_alone_is_enough(text, gib):
    reading = read_gpu(text, GPUS)

    assert (reading.gpu, reading.gib, reading.unread) == (None, gib, None)


@pytest.mark.parametrize(
    ("text", "gib", "count"), [("8x24", 23.64, 8), ("24x8", 23.64, 8), ("64x40", 39.4, 64)]
)
def test_of_two_plain_numbers_the_one_a_card_can_have_is_the_memory(text, gib, count):
    reading = read_gpu(text, GPUS)

    assert (reading.gpu, reading.gib, reading.count) == (None, gib, count)


@pytest.mark.parametrize("text", ["0xA100-80G", "999999x4090", "A100-80G*0"])
def test_a_number_of_cards_no_job_has_is_not_understood(text):
    reading = read_gpu(text, GPUS)

    assert reading.unread is not None
    assert (reading.gpu, reading.count) == (None, None)


@pytest.mark.parametrize(("text", "sizes"), [("A100", "40 or 80"), ("V100", "16 or 32")])
def test_name_of_several_sizes_leaves_memory_open(text, sizes):
    reading = read_gpu(text, GPUS)

    assert reading.gib is None
    assert reading.unread is not None
    assert f"{sizes} GB" in reading.unread.reason
    assert reading.gpu is not None
    assert reading.gpu.bf16 is (text == "A100")
    assert reading.gpu.torch_total_gib == ()


def test_output_of_nvidia_smi_is_read():
    text = (
        "name, memory.total [MiB]\n"
        "NVIDIA A800-SXM4-80GB, 81920 MiB\n"
        "NVIDIA A800-SXM4-80GB, 81920 MiB\n"
    )

    reading = read_gpu(text, GPUS)

    assert reading.gpu is not None
    assert (reading.gpu.id, reading.gib, reading.count) == ("A800-SXM4-80GB", 79.25, 2)


def test_unknown_card_names_its_neighbours():
    reading = read_gpu("RTX 3080 Ti", GPUS)

    assert (reading.gpu, reading.gib) == (None, None)
    assert reading.unread is not None
    assert "RTX-3090Ti" in reading.unread.reason


def test_unknown_card_with_memory_still_gives_memory():
    reading = read_gpu("Zeta 9 32GB", GPUS)

    assert reading.gib == 31.52
    assert reading.unread is not None


@pytest.mark.parametrize("text", ["", " \n", "0", "99999GB"])
def test_nothing_usable_is_said_so(text):
    reading = read_gpu(text, GPUS)

    assert reading.gib is None
    assert reading.unread is not None


@given(st.text(max_size=80))
def test_any_text_is_answered(text):
    reading = read_gpu(text, GPUS)

    assert reading.gib is not None or reading.unread is not None
    assert reading.gib is None or 0 < reading.gib <= 2048


def test_every_card_is_found_by_its_own_id():
    for card in GPUS:
        reading = read_gpu(card.id, GPUS)
        assert reading.gpu is not None, card.id
        assert reading.gib is not None, card.id
        assert abs(reading.gib - usable_gib(card)) <= 0.06 * card.memory_gb, card.id


def test_usable_share_is_what_reports_say():
    known = [median_low(g.torch_total_gib) / g.memory_gb for g in GPUS if g.torch_total_gib]

    assert abs(median(known) - USABLE_SHARE) < 0.001


def test_v100_has_no_bf16_and_a100_has():
    bf16 = {card.id: card.bf16 for card in GPUS}

    assert bf16["V100-SXM2-32GB"] is False
    assert bf16["A100-SXM4-80GB"] is True


def test_models_with_window_attention_are_those_with_the_vision_tower_of_qwen2_5():
    windowed = {m.id.split("/")[1] for m in MODELS if m.window_attention}

    assert windowed == {
        *(f"Qwen2.5-VL-{size}B-Instruct" for size in (3, 7, 32, 72)),
        *(f"Qwen2.5-Omni-{size}B" for size in (3, 7)),
        "MiMo-VL-7B-RL",
    }
    assert all(m.vision for m in MODELS if m.window_attention)


def test_active_parameters_are_fewer_than_all():
    mixed = [m for m in MODELS if m.active_b is not None]

    assert len(mixed) > 10
    assert all(m.params_b and m.experts and 0 < m.active_b < m.params_b for m in mixed)

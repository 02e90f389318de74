"""Lines that were broken at a margin are made whole."""

from __future__ import annotations

import textwrap

import pytest

from trainrx.inputs.paste.post import split_post

ERROR = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.27 GiB. GPU 0 has a total "
    "capacity of 79.11 GiB of which 5.12 GiB is free. Including non-PyTorch memory, this process "
    "has 73.98 GiB memory in use."
)
COMMAND = (
    "CUDA_VISIBLE_DEVICES=0,1 swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora "
    "--dataset /data/a.jsonl --per_device_train_batch_size 4 --gradient_accumulation_steps 8"
)
SAID = (
    "Since the update of the driver our fine-tuning of a seven billion model stops after the "
    "first evaluation, on every machine of the cluster that has more than one card."
)


def wrapped(text: str, width: int) -> str:
    lines = (
        textwrap.wrap(line, width, break_on_hyphens=False) or [""] for line in text.split("\n")
    )
    return "\n".join(part for parts in lines for part in parts)


def cut(text: str, width: int) -> str:
    """Break lines as a terminal does: at a column, within words."""
    return "\n".join(
        line[at : at + width] for line in text.split("\n") for at in range(0, len(line), width)
    )


def text_of(post: str, kind: str) -> str:
    return "\n".join(part.text for part in split_post(post, "x").parts if part.kind == kind)


@pytest.mark.parametrize("width", [72, 80, 100])
def test_what_a_mail_broke_is_whole_again(width):
    post = wrapped(f"{SAID}\n\n{COMMAND}\n\n{ERROR}", width)

    script = text_of(post, "script").replace("\\\n", "").split()

    assert ERROR in text_of(post, "log")
    assert script == COMMAND.split()
    assert SAID in text_of(post, "prose")


@pytest.mark.parametrize("width", [80, 90, 120])
def test_what_a_terminal_cut_is_whole_again(width):
    log = text_of(cut(f"{ERROR}\n{ERROR}", width), "log")

    assert [line for line in log.split("\n") if line] == [ERROR, ERROR]


def test_lines_made_whole_are_told():
    post = split_post(f"```bash\n{wrapped(COMMAND.replace(' --', ' '), 72)}\n```\n", "x")

    assert {repair.what for repair in post.repairs} == {"margin"}


def test_a_configuration_with_long_lines_is_not_joined():
    text = (
        "model_name_or_path: /mnt/storage/models/checkpoints/qwen2.5-7b-instruct-2025-01\n"
        "output_dir: /mnt/storage/runs/experiments/qwen2.5-7b-instruct-lora-2025-01-first\n"
        "bf16: true\nlogging_steps: 10"
    )

    assert text_of(f"```\n{text}\n```\n", "config") == text


def test_lines_of_a_log_that_end_at_the_same_column_are_not_joined():
    text = "\n".join(
        f"[INFO:swift] step {at} of 9000 took 3.1 s, loss 1.25, lr 1e-05, memory 61.2 GiB"
        for at in range(1000, 1005)
    )

    assert text_of(text, "log") == text


def test_a_word_that_fills_the_margin_is_no_wider_one():
    path = "/" + "/".join(["opt", "lib", "python3.11", "dist-packages", "vllm", "models"] * 2)
    line = f'ERROR 03-10 17:16:32 [core.py:1229]   File "{path[:70]}.py", line 752, in load_weights'

    assert line.split() == text_of(wrapped(f"{SAID}\n\n{line}", 78), "log").split()

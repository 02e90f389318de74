"""Edits of Python programs: what is changed, and what is left alone."""

from __future__ import annotations

from textwrap import dedent

import pytest
from patching import change, patch_text, removal, renaming

from trainrx.fix.patch.sources import source_with
from trainrx.fix.patch.wanted import Want
from trainrx.model.result import Change

PROGRAM = dedent(
    """\
    import argparse
    import torch
    from peft import LoraConfig
    from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig
    from trl import SFTConfig, SFTTrainer

    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--warmup-ratio", type=float, default=0.1)
    opts = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained("m", trust_remote_code=True)
    model = AutoModelForCausalLM.from_pretrained("m", torch_dtype=torch.float16)
    args = SFTConfig(
        output_dir="x",
        learning_rate=opts.lr,
        warmup_ratio=opts.warmup_ratio,
        per_device_train_batch_size=2 * 4,  # 80 GB
        max_length=2048, packing=True,
        optim='adamw_torch'
    )
    args.bf16 = True
    generation = GenerationConfig(max_length=64)
    lora = LoraConfig(r=64, target_modules=["q_proj"])
    trainer = SFTTrainer(model, args=args, peft_config=lora, tokenizer=tokenizer)
    """
)
KWARGS = change(
    "gradient_checkpointing_kwargs", '{"use_reentrant": false, "n": [1, null]}', action="add"
)


@pytest.mark.parametrize(
    ("wanted", "old", "new"),
    [
        (change("per_device_train_batch_size", "1"), "=2 * 4,", "=1,"),
        (change("max_length", "1024"), "2048", "1024"),
        (change("bf16", "false"), "bf16 = True", "bf16 = False"),
        (change("lora_r", "8"), "r=64", "r=8"),
        (change("torch_dtype", "bfloat16"), "torch.float16", "torch.bfloat16"),
        (change("torch_dtype", "auto"), "torch.float16", '"auto"'),
        (change("optim", "adafactor"), "'adamw_torch'", "'adafactor'"),
        (
            change("lora_alpha", "16", action="add"),
            '["q_proj"])',
            '["q_proj"], lora_alpha=16)',
        ),
        (
            change("attn_implementation", "sdpa", action="add"),
            "torch.float16)",
            'torch.float16, attn_implementation="sdpa")',
        ),
        (
            KWARGS,
            "'adamw_torch'\n",
            """'adamw_torch',
    gradient_checkpointing_kwargs={"use_reentrant": False, "n": [1, None]}
""",
        ),
        (removal("packing"), " packing=True,\n", "\n"),
        (removal("max_length"), "max_length=2048, ", ""),
        (removal("optim"), ",\n    optim='adamw_torch'\n", "\n"),
        (removal("warmup_ratio"), "    warmup_ratio=opts.warmup_ratio,\n", ""),
        (renaming("tokenizer", "processing_class"), " tokenizer=tok", " processing_class=tok"),
    ],
)
def test_an_argument_is_changed_where_the_program_sets_it(
    wanted: Change, old: str, new: str
) -> None:
    assert PROGRAM.count(old) == 1

    done = patch_text("python train.py\n", wanted, texts={"train.py": PROGRAM})

    assert not done.left
    assert [item.name for item in done.files] == ["train.py"]
    assert done.files[0].after.rstrip() == PROGRAM.replace(old, new).rstrip()


@pytest.mark.parametrize(
    ("command", "wanted", "after"),
    [
        ("python train.py\n", change("learning_rate", "1e-5"), "python train.py --lr 1e-5\n"),
        (
            "python train.py --lr 1e4 --x\n",
            change("learning_rate", "1e-5"),
            "python train.py --lr 1e-5 --x\n",
        ),
        (
            "python train.py\n",
            change("warmup_ratio", "0.05"),
            "python train.py --warmup-ratio 0.05\n",
        ),
    ],
)
def test_an_option_of_the_program_is_set_on_its_command(
    command: str, wanted: Change, after: str
) -> None:
    done = patch_text(command, wanted, texts={"train.py": PROGRAM})

    assert not done.left
    assert [(item.name, item.after) for item in done.files] == [("run.sh", after)]


@pytest.mark.parametrize(
    "program",
    [
        PROGRAM.replace("2 * 4", "BATCH"),
        PROGRAM.replace("2 * 4", "batch()"),
        PROGRAM + "args.per_device_train_batch_size = 3\n",
        PROGRAM.replace("2 * 4", "1" + " + 1" * 4000),
        PROGRAM + "x = \n",
    ],
)
def test_what_hangs_on_more_than_one_place_is_left_to_its_owner(program: str) -> None:
    want = Want("arg", "per_device_train_batch_size", ("1",))

    assert source_with("train.py", program, want) is None


def test_columns_are_counted_where_python_ends_its_lines() -> None:
    program = '"""A page break \x0c and \u2028 in a text."""\n' + PROGRAM

    after = source_with("train.py", program, Want("arg", "max_length", ("9",)))

    assert after == program.replace("2048", "9")

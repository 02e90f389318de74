from __future__ import annotations

from pathlib import Path

import pytest

from trainrx.api import translate
from trainrx.model.errors import UsageError
from trainrx.model.translation import Translated, Translation
from trainrx.translation.launch import diff_of


def of(
    tmp_path: Path, text: str, to: str, from_: str = "", framework: str = "ms-swift"
) -> Translated:
    return whole(tmp_path, text, to, from_, framework).launches[0]


def whole(
    tmp_path: Path, text: str, to: str, from_: str = "", framework: str = "ms-swift"
) -> Translation:
    path = tmp_path / "run.sh"
    path.write_text(text, encoding="utf-8")
    return translate(
        path,
        to={framework: to},
        from_={framework: from_} if from_ else None,
        edits=True,
    )


def now(item: Translated, given: str) -> tuple[str, tuple[str, ...]]:
    found = next(one for one in item.arguments if one.given == given)
    return found.outcome, found.now


@pytest.mark.parametrize(
    ("given", "to", "written"),
    [
        ("--sft_type lora", "3.2.1", ("renamed", ("--train_type lora",))),
        ("--sft_type lora", "4.6.0", ("renamed", ("--tuner_type lora",))),
        ("--dtype fp32", "3.2.1", ("renamed", ("--torch_dtype float32",))),
        ("--dtype AUTO", "3.2.1", ("dropped", ())),
        ("--deepspeed default-zero3", "3.2.1", ("value", ("--deepspeed zero3",))),
        ("--batch_size 2", "3.2.1", ("renamed", ("--per_device_train_batch_size 2",))),
        ("--learning_rate 1e-4", "4.6.0", ("kept", ("--learning_rate 1e-4",))),
        ("--do_sample false", "3.2.1", ("replaced", ("--temperature 0",))),
        ("--use_flash_attn true", "4.6.0", ("replaced", ("--attn_impl flash_attn",))),
        ("--template_type qwen2-vl", "3.2.1", ("renamed", ("--template qwen2_vl",))),
        ("--lora_target_modules ALL", "3.2.1", ("renamed", ("--target_modules all-linear",))),
        (
            "--lora_target_modules q_proj v_proj",
            "3.2.1",
            ("renamed", ("--target_modules q_proj v_proj",)),
        ),
        (
            "--quantization_bit 4",
            "3.2.1",
            ("replaced", ("--quant_bits 4", "--quant_method bnb")),
        ),
        ("--streaming_buffer_size 100", "3.2.1", ("missing", ())),
        ("--streaming_buffer_size 100", "4.6.0", ("replaced", ("--shuffle_buffer_size 100",))),
    ],
)
def test_an_argument_of_2_in_later_words(
    tmp_path: Path, given: str, to: str, written: tuple[str, tuple[str, ...]]
) -> None:
    script = f"swift sft --model_id_or_path /m --model_type qwen2_5-7b-instruct {given}\n"

    found = of(tmp_path, script, to, "2.6.1")

    assert now(found, given) == written


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("--load ckpt", ("renamed", ("--mcore_model ckpt",))),
        ("--save out", ("renamed", ("--output_dir out",))),
        ("--save_interval 5", ("renamed", ("--save_steps 5",))),
        ("--max_epochs 1", ("renamed", ("--num_train_epochs 1",))),
        ("--no_bias_dropout_fusion true", ("renamed", ("--bias_dropout_fusion false",))),
    ],
)
def test_megatron_3_to_4_and_back(
    tmp_path: Path, given: str, written: tuple[str, tuple[str, ...]]
) -> None:
    found = of(tmp_path, f"megatron sft --dataset d.jsonl {given}\n", "4.6.0", "3.10.0")
    again = of(tmp_path, f"{found.text}\n", "3.10.0", "4.6.0")

    assert now(found, given) == written
    assert now(again, written[1][0])[1] == (given,)


def test_the_model_type_alone_names_the_model(tmp_path: Path) -> None:
    found = of(tmp_path, "swift sft --model_type qwen2_5-7b-instruct --dataset d.jsonl\n", "4.6")

    assert now(found, "--model_type qwen2_5-7b-instruct") == (
        "replaced",
        ("--model Qwen/Qwen2.5-7B-Instruct",),
    )


def test_numbers_of_rows_stand_behind_the_data_sets(tmp_path: Path) -> None:
    script = (
        "swift sft --model_type qwen2_5-7b-instruct --dataset alpaca-zh mine.jsonl "
        "--train_dataset_sample 100 --self_cognition_sample 7\n"
    )

    found = of(tmp_path, script, "3.2.1")

    assert (
        "--dataset 'AI-ModelScope/alpaca-gpt4-data-zh#100' 'mine.jsonl#100' "
        "'swift/self-cognition#7'" in found.text
    )


def test_a_task_that_was_a_command_is_an_argument_now(tmp_path: Path) -> None:
    answer = whole(tmp_path, "swift orpo --model_type qwen2_5-7b-instruct\n", "3.2.1")

    assert answer.launches[0].command_now == "rlhf"
    assert "+swift rlhf --model Qwen/Qwen2.5-7B-Instruct" in diff_of(answer)
    assert "--rlhf_type orpo" in diff_of(answer)


def test_defaults_that_changed_come_with_the_line_that_keeps_them(tmp_path: Path) -> None:
    found = of(
        tmp_path, "swift sft --model_type qwen2_5-7b-instruct --dataset d.jsonl\n", "3.2.1", "2.6.1"
    )

    keeps = {one.name: (one.before, one.after, one.keep) for one in found.defaults}
    assert keeps["max_length"] == (2048, None, "--max_length 2048")
    assert keeps["lora_target_modules"][2] == "--target_modules q_proj k_proj v_proj"


def test_a_default_the_launch_does_not_rely_on_is_not_told(tmp_path: Path) -> None:
    script = "swift sft --model_type qwen2_5-7b-instruct --max_length 512 --max_steps 3\n"

    found = of(tmp_path, script, "3.2.1", "2.6.1")

    assert not {one.name for one in found.defaults} & {"max_length", "num_train_epochs"}


def test_only_the_name_changes_where_the_value_is_a_variable(tmp_path: Path) -> None:
    script = 'swift sft --model_id_or_path /m --sft_type "$1" --batch_size $BS\n'

    answer = whole(tmp_path, script, "3.2.1", "2.6.1")

    assert '--train_type "$1" --per_device_train_batch_size $BS' in diff_of(answer)


def test_a_value_set_in_a_variable_is_changed_there(tmp_path: Path) -> None:
    script = "DS=default-zero2\nswift sft --model_id_or_path /m --deepspeed $DS\n"

    edits = diff_of(whole(tmp_path, script, "3.2.1", "2.6.1"))

    assert "+DS=zero2\n" in edits
    assert "--deepspeed $DS" in edits


def test_a_command_the_target_lacks_is_refused(tmp_path: Path) -> None:
    found = of(tmp_path, "megatron sft --load x\n", "2.6.1", "3.10.0")

    assert not found.complete
    assert "megatron sft" in found.refused[0].reason


@pytest.mark.parametrize(
    ("framework", "script", "from_", "to", "given", "written"),
    [
        (
            "llamafactory",
            "llamafactory-cli train --dpo_beta 0.2",
            "0.7.1",
            "0.9.3",
            "--dpo_beta 0.2",
            "--pref_beta 0.2",
        ),
        (
            "llamafactory",
            "llamafactory-cli train --stage orpo",
            "0.7.1",
            "0.9.3",
            "--stage orpo",
            "--stage dpo",
        ),
        (
            "trl",
            "trl sft --max_seq_length 512",
            "0.15.0",
            "0.20.0",
            "--max_seq_length 512",
            "--max_length 512",
        ),
        (
            "trl",
            "trl sft --max_length 512",
            "0.20.0",
            "0.15.0",
            "--max_length 512",
            "--max_seq_length 512",
        ),
    ],
)
def test_other_frameworks(
    tmp_path: Path, framework: str, script: str, from_: str, to: str, given: str, written: str
) -> None:
    found = of(tmp_path, f"{script}\n", to, from_, framework)

    assert now(found, given)[1][0] == written


def test_a_version_nobody_released_is_a_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no release of ms-swift"):
        of(tmp_path, "swift sft --model /m\n", "banana")


def test_another_framework_is_a_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="between versions of one framework"):
        of(tmp_path, "swift sft --model /m\n", "0.9.3", framework="llamafactory")


def test_keys_of_a_file_keep_their_comments(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(
        "model_name_or_path: /m\nimage_resolution: 262144  # small\n"
        "stage: sft\ntemplate: qwen2_vl\nfinetuning_type: lora\n"
    )

    answer = translate(
        path, to={"llamafactory": "0.9.3"}, from_={"llamafactory": "0.9.1"}, edits=True
    )

    assert "+image_max_pixels: 262144  # small\n" in diff_of(answer)

"""Names a framework will refuse, and whose names apply where no launch tells."""

from __future__ import annotations

import pytest

from trainrx import diagnose
from trainrx.catalog.catalog import KnownArgument
from trainrx.catalog.names import framework_facts, meant_by, nearest_choice
from trainrx.model.facts import Facts, Origin, fact
from unit.workloads import knowledge


def facts_of(tmp_path, command, **versions):
    script = tmp_path / "launch.sh"
    script.write_text(command, encoding="utf-8")
    return diagnose(cmd=script, versions=versions).facts


@pytest.mark.parametrize(
    ("command", "version", "expected"),
    [
        ("swift sft --model m --sft_type lora", "3.2.1", "sft_type -> train_type"),
        ("swift sft --model_id_or_path m --dataset d", "3.2.1", "model_id_or_path -> model"),
        ("swift sft --model m --train_type lora", "3.2.1", None),
        ("swift sft --model_id_or_path m --sft_type lora", "2.6.1", None),
        ("torchrun train.py --sft_type lora", "3.2.1", None),
        ("swift sft --model m --model_type qwen2_5", "4.6.0", "model_type qwen2_5 -> qwen2"),
        ("swift sft --model m --model_type qwen2_5", "3.2.1", None),
        ("swift sft --model m --model_type my_own_type", "4.6.0", None),
        (
            "swift sft --model m --model_type qwen2-vl-7b-instruct",
            "3.2.1",
            "model_type qwen2-vl-7b-instruct -> qwen2_vl",
        ),
    ],
)
def test_a_name_of_another_version_is_told_with_its_name_of_today(
    tmp_path, command, version, expected
):
    found = facts_of(tmp_path, command, **{"ms-swift": version})

    assert found.get("launch.renamed_argument") == expected


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        ("--lora_rnk 8", "lora_rnk -> lora_rank"),
        ("--lora_arnk 8", "lora_arnk -> lora_rank"),
        ("--lora_ranks 8", "lora_ranks -> lora_rank"),
        ("--lora_rang 8", "lora_rang -> lora_rank"),
        ("-lora_rank 8", "-lora_rank -> --lora_rank"),
        ("--lora_rank 8", None),
        ("--lora_ran 8", None),
        ("--some_plugin_option 8", None),
    ],
)
def test_a_name_one_letter_off_is_told(tmp_path, flag, expected):
    found = facts_of(tmp_path, f"swift sft --model m {flag}\n", **{"ms-swift": "3.2.1"})

    assert found.get("launch.misspelt_argument") == expected


def test_the_only_trainer_installed_is_taken_for_the_framework():
    made = framework_facts(Facts(), {"ms-swift": "3.2.1", "trl": "0.16.0"})

    assert {item.kind: item.value for item in made} == {
        "launch.framework": "ms-swift",
        "launch.framework_version": "3.2.1",
    }


@pytest.mark.parametrize(
    ("facts", "versions"),
    [
        ((), {"ms-swift": "3.2.1", "llamafactory": "0.9.3"}),
        ((), {"trl": "0.16.0"}),
        ((fact("launch.given", True, Origin(source="x")),), {"ms-swift": "3.2.1"}),
    ],
)
def test_nothing_is_guessed_where_several_or_a_launch_could_tell(facts, versions):
    assert framework_facts(Facts(facts), versions) == ()


def test_what_a_launch_sets_goes_before_what_a_note_says(tmp_path):
    script = tmp_path / "launch.sh"
    script.write_text("swift sft --model Qwen/Qwen2-VL-7B-Instruct --train_type full\n")

    found = diagnose(cmd=script, note="LoRA of Qwen2.5-VL-72B goes OOM").facts

    assert found["model.name"] == "Qwen/Qwen2-VL-7B-Instruct"
    assert found["tuner.type"] == "full"


def test_what_a_note_says_goes_before_a_default(tmp_path):
    script = tmp_path / "launch.sh"
    script.write_text("swift sft --model Qwen/Qwen2.5-7B-Instruct\n")

    found = diagnose(cmd=script, note="full-parameter training goes OOM").facts

    assert found["tuner.type"] == "full"


def test_a_message_pasted_into_a_note_counts():
    result = diagnose(note="it ends with ValueError: remaining_argv: ['--sft_type', 'lora']")

    assert "remaining-argv" in [seen.id for seen in result.symptoms]


DTYPES = ("bfloat16", "float16", "float32", None)


def known(name: str, *choices: str | None) -> KnownArgument:
    return KnownArgument(name, "ms-swift", 1, "str", None, True, choices, ())


@pytest.mark.parametrize(
    ("value", "meant"), [("bf16", "bfloat16"), ("fp32", "float32"), ("half", "float16")]
)
def test_a_word_of_another_release_is_the_choice_that_means_the_same(
    value: str, meant: str
) -> None:
    params = knowledge().params

    assert meant_by(value, known("torch_dtype", *DTYPES), "ms-swift", params) == meant


def test_a_word_nobody_knows_is_not_guessed_at() -> None:
    params = knowledge().params

    assert meant_by("int8", known("torch_dtype", *DTYPES), "ms-swift", params) == ""


def test_a_slip_is_the_choice_beside_it() -> None:
    assert nearest_choice("gpro", ["dpo", "grpo"]) == "grpo"
    assert nearest_choice("GRPO", ["dpo", "grpo"]) == "grpo"
    assert nearest_choice("sft", ["dpo", "grpo"]) == ""


def test_of_two_choices_as_near_none_is_meant() -> None:
    assert nearest_choice("dppo", ["dpo", "ppo", "kto"]) == ""

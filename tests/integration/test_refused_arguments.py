"""Arguments a program does not take: what to write instead, from the log, the launch, or both."""

from __future__ import annotations

import pytest

from trainrx import diagnose
from trainrx.api import fix_launch

SFT = "swift sft \\\n  --model Qwen/Qwen2.5-7B-Instruct \\\n  --dataset a.jsonl"


def answer(tmp_path, log="", cmd="", versions=None, lang="en"):
    given = {}
    for option, name, text in (("logs", "train.log", log), ("cmd", "launch.sh", cmd)):
        if text:
            (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")
            given[option] = [tmp_path / name]
    return diagnose(**given, versions=versions, lang=lang)


def changes(result):
    """Give what the first cause says to change: action and spelling, fix by fix."""
    return [[(c.action, c.spelled) for c in fix.changes] for fix in result.causes[0].fixes]


@pytest.mark.parametrize(
    ("log", "versions", "cause", "first", "second"),
    [
        pytest.param(
            "ValueError: remaining_argv: ['--sft_type', 'lora']",
            {"ms-swift": "3.x"},
            "argument-of-another-version",
            ("switch", "--train_type lora"),
            ("downgrade", 'pip install "ms-swift<3.0.0"'),
            id="an-old-name-and-only-the-series-is-known",
        ),
        pytest.param(
            "ValueError: remaining_argv: ['--train_type', 'full']",
            {"ms-swift": "2.6.1"},
            "argument-of-another-version",
            ("switch", "--sft_type full"),
            ("upgrade", 'pip install "ms-swift>=3.0.0,<4.1.0"'),
            id="a-new-name-given-to-an-old-release",
        ),
        pytest.param(
            "ValueError: remaining_argv: ['--rpo_alpha', '0.1']",
            {"ms-swift": "2.5.0.dev0"},
            "argument-of-another-version",
            ("remove", "--rpo_alpha 0.1"),
            ("upgrade", 'pip install "ms-swift>=2.5.0.post1"'),
            id="a-development-version-older-than-the-argument",
        ),
        pytest.param(
            "ValueError: Some keys are not used by the HfArgumentParser: ['image_resolution']",
            {"llamafactory": "0.9.3"},
            "argument-of-another-version",
            ("switch", "image_max_pixels"),
            ("downgrade", 'pip install "llamafactory>=0.9.0,<0.9.2"'),
            id="a-key-of-a-file-renamed",
        ),
        pytest.param(
            "TypeError: GRPOConfig.__init__() got an unexpected keyword argument 'vllm_mode'",
            {"trl": "0.16.0"},
            "argument-gone-from-library",
            ("upgrade", 'pip install "trl>=0.18.0"'),
            ("remove", "vllm_mode"),
            id="a-keyword-that-newer-releases-have",
        ),
        pytest.param(
            "TypeError: SFTConfig.__init__() got an unexpected keyword argument 'packing_strategi'",
            {"trl": "0.23.0"},
            "argument-misspelt",
            ("switch", "packing_strategi: packing_strategy"),
            None,
            id="a-keyword-misspelt",
        ),
        pytest.param(
            "train_ppo_ray.py: error: unrecognized arguments: --zero_stage 3",
            {"openrlhf": "0.11.0"},
            "argument-of-another-version",
            ("switch", "--ds.zero_stage 3"),
            ("downgrade", 'pip install "openrlhf<0.10.2"'),
            id="argparse-of-another-framework",
        ),
        pytest.param(
            "deepspeed: error: unrecognized arguments: --num_gpuss=8",
            {},
            "argument-misspelt",
            ("switch", "--num_gpus 8"),
            None,
            id="an-option-of-the-launcher-misspelt",
        ),
        pytest.param(
            "sft.py: error: argument --sft_type/--sft-type: invalid choice: 'longlra' "
            "(choose from 'lora', 'full', 'longlora', 'adalora')",
            {"ms-swift": "2.6.1"},
            "argument-value-refused",
            ("switch", "--sft_type longlora"),
            None,
            id="a-choice-misspelt",
        ),
        pytest.param(
            "[ERROR:swift] Unable to parse string: 'default-zero2'",
            {"ms-swift": "3.2.1"},
            "argument-of-another-version",
            ("switch", "--deepspeed zero2"),
            None,
            id="a-preset-of-another-release",
        ),
        pytest.param(
            "pydantic_core._pydantic_core.ValidationError: 1 validation error for "
            "DeepSpeedZeroConfig\nuse_all_reduce_for_fetch_params\n  Extra inputs are not "
            "permitted [type=extra_forbidden, input_value=True, input_type=bool]",
            {"deepspeed": "0.14.0"},
            "argument-of-another-version",
            ("remove", "use_all_reduce_for_fetch_params"),
            ("upgrade", 'pip install "deepspeed>=0.14.3"'),
            id="a-key-of-the-deepspeed-configuration",
        ),
        pytest.param(
            "Could not override 'actor_rollout_ref.rollout.tensor_parallel_siz'.",
            {"verl": "0.4.0"},
            "argument-misspelt",
            ("switch", "actor_rollout_ref.rollout.tensor_model_parallel_size"),
            None,
            id="a-key-of-hydra-misspelt",
        ),
        pytest.param(
            "ValueError: remaining_argv: ['--max_num_frames', '16']",
            {"ms-swift": "3.3.0"},
            "variable-given-as-argument",
            ("switch", "MAX_NUM_FRAMES=16"),
            None,
            id="a-variable-behind-the-command",
        ),
    ],
)
def test_the_message_alone_gives_the_change(tmp_path, log, versions, cause, first, second):
    result = answer(tmp_path, log=log, versions=versions)

    assert result.causes[0].id == cause
    listed = [change for fix in changes(result) for change in fix]
    assert listed[0] == first
    assert second is None or listed[1] == second


def test_an_argument_of_another_command_is_told_from_the_launch_alone(tmp_path):
    log = (
        "Traceback (most recent call last):\n"
        '  File "/opt/venv/lib/python3.11/site-packages/swift/cli/sft.py", line 10, in <module>\n'
        "    sft_main()\n"
        '  File "/opt/venv/lib/python3.11/site-packages/swift/llm/train/sft.py", line 28, in x\n'
        "    super().__init__(args)"
    )
    result = answer(tmp_path, log=log, cmd=f"{SFT} \\\n  --train_type lora --log_completions true")

    assert result.causes[0].id == "argument-of-another-command"
    assert changes(result)[0] == [("remove", "--log_completions true")]
    assert "`swift rlhf`" in result.causes[0].fixes[0].notes[0]


def test_a_run_that_got_past_its_arguments_is_not_blamed_on_them(tmp_path):
    log = (
        "***** Running training *****\n"
        "{'loss': 1.2, 'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': 0.01}\n"
        "Traceback (most recent call last):\n"
        "RuntimeError: shape mismatch"
    )
    result = answer(tmp_path, log=log, cmd=f"{SFT} \\\n  --train_type lora --log_completions true")

    likely = [cause.id for cause in result.causes if cause.verdict == "likely"]
    assert "argument-of-another-command" not in likely


def test_an_unknown_release_gets_the_name_of_each_series(tmp_path):
    result = answer(tmp_path, log="ValueError: remaining_argv: ['--sft_type', 'lora']")

    fix = result.causes[0].fixes[0]
    assert fix.changes[0].spelled == "--train_type lora"
    assert fix.notes == (
        "--sft_type: --train_type in ms-swift >=3.0.0,<4.1.0, --tuner_type in ms-swift >=4.0.0",
    )


def test_files_of_a_traceback_tell_the_series(tmp_path):
    log = (
        '  File "/opt/venv/lib/python3.11/site-packages/swift/pipelines/base.py", line 40, in x\n'
        "    raise ValueError(f'remaining_argv: {remaining_argv}')\n"
        "ValueError: remaining_argv: ['--sft_type', 'lora']"
    )
    result = answer(tmp_path, log=log)

    assert changes(result)[0] == [("switch", "--tuner_type lora")]


def test_a_value_the_right_name_does_not_take_is_left_open(tmp_path):
    log = "ValueError: remaining_argv: ['--train_type', 'sft']"

    change = answer(tmp_path, log=log, versions={"ms-swift": "2.6.1"}).causes[0].fixes[0].changes[0]

    assert (change.param, change.to) == ("sft_type", None)
    assert change.spelled.startswith("--sft_type lora|full|")


def test_all_refused_arguments_are_settled_by_one_fix(tmp_path):
    log = (
        "ValueError: remaining_argv: ['--sft_type', 'lora', '--lora_rnak', '8', '--dtype', 'bf16']"
    )

    result = answer(tmp_path, log=log, versions={"ms-swift": "3.2.1"})

    assert changes(result)[0] == [
        ("switch", "--train_type lora"),
        ("switch", "--lora_rank 8"),
        ("switch", "--torch_dtype bfloat16"),
    ]


def test_a_message_cut_in_the_middle_raises_nothing(tmp_path):
    log = "ValueError: remaining_argv: ['--sft_type', 'lo"

    result = answer(tmp_path, log=log, versions={"ms-swift": "3.2.1"})

    assert changes(result)[0] == [("switch", "train_type")]


def test_the_note_is_in_the_language_of_the_reader(tmp_path):
    log = "ValueError: remaining_argv: ['--sft_type', 'lora']"

    result = answer(tmp_path, log=log, versions={"ms-swift": "3.x"}, lang="zh")

    assert result.causes[0].fixes[0].notes == (
        "ms-swift >=3.0.0,<4.0.0 的各版本中，--sft_type 均为 --train_type",
    )


@pytest.mark.parametrize(
    ("written", "versions", "log", "after"),
    [
        (
            "--sft_type lora",
            {"ms-swift": "3.2.1"},
            "ValueError: remaining_argv: ['--sft_type', 'lora']",
            "--train_type lora",
        ),
        (
            "--deepspeed default-zero2",
            {"ms-swift": "3.2.1"},
            "[ERROR:swift] Unable to parse string: 'default-zero2'",
            "--deepspeed zero2",
        ),
        (
            "--dtype bf16",
            {"ms-swift": "3.4.1"},
            "ValueError: remaining_argv: ['--dtype', 'bf16']",
            "--torch_dtype bfloat16",
        ),
        (
            "--log_completions true",
            {"ms-swift": "3.4.1"},
            "ValueError: remaining_argv: ['--log_completions', 'true']",
            "",
        ),
    ],
)
def test_the_script_is_edited(tmp_path, written, versions, log, after):
    (tmp_path / "launch.sh").write_text(f"{SFT} \\\n  {written}\n", encoding="utf-8")
    (tmp_path / "train.log").write_text(log, encoding="utf-8")

    found = fix_launch(cmd=tmp_path / "launch.sh", logs=[tmp_path / "train.log"], versions=versions)

    patched = found.proposals[0].patched
    assert patched is not None
    tail = f" \\\n  {after}" if after else ""
    assert patched.files[0].after == f"{SFT}{tail}\n"

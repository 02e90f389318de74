"""Edits of shell scripts: what is asked for, and not a byte more."""

from __future__ import annotations

import subprocess
from pathlib import Path
from textwrap import dedent

import pytest
from patching import change, patch_text, patched_script, removal, renaming

from trainrx.fix.patch import patch_launch
from trainrx.launch.find import find_launches
from trainrx.shell import read_script

SCRIPT = dedent(
    """\
    #!/bin/bash
    # one node
    export CUDA_VISIBLE_DEVICES=0,1
    NPROC_PER_NODE=2 \\
    swift sft \\
        --model Qwen/Qwen2.5-7B \\
        --max_length "2048" \\
        --target_modules q_proj v_proj \\
        --learning_rate=1e-4 \\
        --packing true 2>&1 | tee train.log
    """
)


def test_value_is_replaced_where_it_stands_and_keeps_its_quotes() -> None:
    after = patched_script(SCRIPT, change("max_length", "1024"))

    assert after == SCRIPT.replace('"2048"', '"1024"')


def test_value_behind_an_equals_sign_is_replaced() -> None:
    after = patched_script(SCRIPT, change("learning_rate", "1e-5"))

    assert after == SCRIPT.replace("=1e-4", "=1e-5")


def test_several_values_become_one() -> None:
    after = patched_script(SCRIPT, change("target_modules", "all-linear"))

    assert after == SCRIPT.replace("q_proj v_proj", "all-linear")


def test_one_value_becomes_several() -> None:
    wanted = change("packing", "a b", spelled="--packing a b")

    after = patched_script(SCRIPT, wanted)

    assert after == SCRIPT.replace("--packing true", "--packing a b")


def test_flag_is_removed_with_its_line() -> None:
    after = patched_script(SCRIPT, removal("target_modules"))

    assert after == SCRIPT.replace("    --target_modules q_proj v_proj \\\n", "")


def test_last_flag_is_removed_with_the_continuation_above() -> None:
    after = patched_script(SCRIPT, removal("packing"))

    assert after == SCRIPT.replace(" \\\n    --packing true", "")


def test_flag_is_added_on_a_line_of_its_own_behind_the_last() -> None:
    after = patched_script(SCRIPT, change("lora_rank", "8", action="add"))

    assert after == SCRIPT.replace("--packing true", "--packing true \\\n    --lora_rank 8")


def test_flag_is_added_within_the_line_of_a_command_of_one_line() -> None:
    after = patched_script("swift sft --model m", change("lora_rank", "8", action="add"))

    assert after == "swift sft --model m --lora_rank 8"


def test_flag_is_added_with_an_equals_sign_where_all_have_one() -> None:
    script = "swift sft --model=m --max_length=5\n"

    after = patched_script(script, change("lora_rank", "8", action="add"))

    assert after == "swift sft --model=m --max_length=5 --lora_rank=8\n"


def test_misspelt_name_is_put_right_with_its_value_kept() -> None:
    script = "swift sft --model m --max_lenght  2048 --packing true\n"

    after = patched_script(script, renaming("max_lenght", "max_length"))

    assert after == script.replace("max_lenght", "max_length")


def test_name_of_another_release_is_replaced_with_its_value() -> None:
    script = "swift sft --model_type m --sft_type lora \\\n  --seed 1\n"
    wanted = change("train_type", "lora", action="switch", from_="--sft_type lora")

    after = patched_script(script, wanted)

    assert after == script.replace("--sft_type", "--train_type")


def test_line_ends_of_windows_are_kept() -> None:
    script = "swift sft --model m \\\r\n  --max_length 2048 \\\r\n  --lr 1\r\nexit 0\r\n"
    wanted = (change("max_length", "1"), change("seed", "7", action="add"), removal("lr"))

    after = patched_script(script, *wanted)

    expected = "swift sft --model m \\\r\n  --max_length 1 \\\r\n  --seed 7\r\nexit 0\r\n"
    assert after == expected


def test_variable_used_once_is_changed_where_it_is_set() -> None:
    script = "LEN=2048  # tokens\nswift sft --model m --max_length $LEN\n"

    after = patched_script(script, change("max_length", "1024"))

    assert after == script.replace("2048", "1024")


def test_default_of_a_variable_is_changed() -> None:
    script = "swift sft --model m --max_length ${LEN:-2048}\n"

    after = patched_script(script, change("max_length", "1024"))

    assert after == script.replace("2048", "1024")


def test_variable_set_from_its_own_default_keeps_that_form() -> None:
    script = 'LEN="${LEN:-2048}"\nswift sft --model m --max_length "$LEN"\n'

    after = patched_script(script, change("max_length", "1024"))

    assert after == script.replace("2048", "1024")


def test_variable_that_others_need_is_replaced_at_its_use() -> None:
    script = "LEN=2048\nswift sft --model m --max_length $LEN --output_dir out_$LEN\n"

    after = patched_script(script, change("max_length", "1024"))

    assert after == script.replace("--max_length $LEN", "--max_length 1024")


def test_variable_that_is_only_printed_besides_is_changed_where_it_is_set() -> None:
    script = 'LEN=2048\necho "length $LEN"\nswift sft --model m --max_length $LEN\n'

    after = patched_script(script, change("max_length", "1024"))

    assert after == script.replace("2048", "1024")


def test_value_that_a_branch_decides_is_replaced_at_its_use() -> None:
    script = "if nvidia-smi; then LEN=1; else LEN=2; fi\nswift sft --model m --max_length $LEN\n"

    after = patched_script(script, change("max_length", "1024"))

    assert after == script.replace("$LEN", "1024")


ARRAY = dedent(
    """\
    ARGS=(
      --model m   # the model
      --max_length 2048   # tokens
    )
    ARGS+=(--seed 1)
    swift sft "${ARGS[@]}" "$@"
    """
)


def test_array_is_edited_with_its_comments_kept() -> None:
    wanted = (change("max_length", "1024"), removal("seed"))

    after = patched_script(ARRAY, *wanted)

    assert after == ARRAY.replace("2048", "1024").replace("--seed 1", "")


def test_argument_is_added_to_the_array_behind_a_comment() -> None:
    script = ARRAY.replace("ARGS+=(--seed 1)\n", "")

    after = patched_script(script, change("bf16", "true", action="add"))

    assert after == script.replace("# tokens\n", "# tokens\n  --bf16 true\n")


def test_arguments_in_a_quoted_variable_are_edited() -> None:
    script = 'EXTRA="--seed 1 --max_length 2048"\nswift sft --model m $EXTRA\n'

    after = patched_script(script, change("max_length", "9"), removal("seed"))

    assert after == 'EXTRA="--max_length 9"\nswift sft --model m $EXTRA\n'


def test_command_in_a_string_for_another_shell_is_edited() -> None:
    script = """bash -c "cd /x && swift sft --model m --max_length 2048"\n"""

    after = patched_script(script, change("max_length", "9"))

    assert after == script.replace("2048", "9")


TWO = "swift sft --model a --max_length 5\nswift sft --model b --max_length 5\n"


@pytest.mark.parametrize(("number", "model"), [(0, "a"), (1, "b")])
def test_of_several_commands_only_the_judged_one_is_changed(number: int, model: str) -> None:
    after = patched_script(TWO, change("max_length", "4"), number=number)

    line = f"--model {model} --max_length"
    assert after == TWO.replace(f"{line} 5", f"{line} 4")


def test_all_nodes_of_one_job_are_changed_alike() -> None:
    script = (
        "ssh a 'torchrun --nnodes 2 --node_rank 0 train.py --max_length 8'\n"
        "ssh b 'torchrun --nnodes 2 --node_rank 1 train.py --max_length 8'\n"
    )

    after = patched_script(script, change("max_length", "4"))

    assert after == script.replace("--max_length 8", "--max_length 4")


def test_argument_of_the_launcher_is_changed() -> None:
    script = "torchrun --nproc_per_node=8 train.py --seed 1\n"

    after = patched_script(script, change("nproc_per_node", "4"))

    assert after == script.replace("=8", "=4")


def test_argument_of_the_launcher_is_added_in_front_of_the_program() -> None:
    script = "deepspeed train.py --seed 1\n"

    after = patched_script(script, change("num_gpus", "4", action="add"))

    assert after == "deepspeed --num_gpus 4 train.py --seed 1\n"


@pytest.mark.parametrize(
    "script",
    [
        "MAX_PIXELS=1 swift sft --model m\n",
        "export MAX_PIXELS=1\nswift sft --model m\n",
        "export A=2 MAX_PIXELS='1' B=3\nswift sft --model m\n",
        "MAX_PIXELS=1\nexport MAX_PIXELS\nswift sft --model m\n",
        "PIXELS=1\nexport MAX_PIXELS=$PIXELS\nswift sft --model m\n",
        "env MAX_PIXELS=1 swift sft --model m\n",
        "docker run -e MAX_PIXELS=1 image swift sft --model m\n",
        "docker run --env=MAX_PIXELS=1 image swift sft --model m\n",
        "srun --export=ALL,MAX_PIXELS=1,B=2 swift sft --model m\n",
        "mpirun -x MAX_PIXELS=1 swift sft --model m\n",
        "declare -x MAX_PIXELS=1\nswift sft --model m\n",
    ],
)
def test_variable_of_the_environment_is_changed_in_every_style(script: str) -> None:
    after = patched_script(script, change("MAX_PIXELS", "77", kind="env"))

    assert "77" in after
    shown = after.replace("'77'", "77").replace("77", "1")
    assert shown == script.replace("'1'", "1")


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("A=1 swift sft --model m\n", "A=1 NEW=5 swift sft --model m\n"),
        ("A=1 \\\nswift sft --model m\n", "A=1 \\\nNEW=5 \\\nswift sft --model m\n"),
        ("export A=1 # x\nswift sft --x m\n", "export A=1 # x\nexport NEW=5\nswift sft --x m\n"),
        ("env A=1 swift sft --model m\n", "env A=1 NEW=5 swift sft --model m\n"),
        (
            "docker run -e A=1 image swift sft --model m\n",
            "docker run -e A=1 -e NEW=5 image swift sft --model m\n",
        ),
        (
            "docker run image swift sft --model m\n",
            "docker run -e NEW=5 image swift sft --model m\n",
        ),
        (
            "srun --export=ALL,A=1 swift sft --model m\n",
            "srun --export=ALL,A=1,NEW=5 swift sft --model m\n",
        ),
        ("swift sft --model m\n", "NEW=5 swift sft --model m\n"),
        ("swift sft \\\n  --model m\n", "NEW=5 \\\nswift sft \\\n  --model m\n"),
    ],
)
def test_variable_of_the_environment_is_added_in_the_style_in_use(
    script: str, expected: str
) -> None:
    after = patched_script(script, change("NEW", "5", kind="env", action="add"))

    assert after == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("A=1 B=2 swift sft --model m\n", "B=2 swift sft --model m\n"),
        ("A=1 \\\nB=2 \\\nswift sft --model m\n", "B=2 \\\nswift sft --model m\n"),
        ("export A=1\nswift sft --model m\n", "swift sft --model m\n"),
        ("export B=2 A=1\nswift sft --model m\n", "export B=2\nswift sft --model m\n"),
        ("docker run -e A=1 i swift sft --model m\n", "docker run i swift sft --model m\n"),
        (
            "srun --export=ALL,A=1 swift sft --model m\n",
            "srun --export=ALL swift sft --model m\n",
        ),
    ],
)
def test_variable_of_the_environment_is_removed(script: str, expected: str) -> None:
    after = patched_script(script, removal("A", kind="env"))

    assert after == expected


def test_variable_that_another_launch_needs_is_set_for_one_command() -> None:
    script = "export A=1\nswift sft --model m\nswift sft --model other\n"

    after = patched_script(script, change("A", "2", kind="env"), number=1)

    assert after == script.replace("swift sft --model other", "A=2 swift sft --model other")


def test_value_with_blanks_and_quotes_is_one_word() -> None:
    script = "swift sft --model m --system x\n"
    words = """say "no" and don't"""

    after = patched_script(script, change("system", words, spelled=""))

    shown = subprocess.run(
        ["bash", "-c", after.replace("swift", "printf '%s\\n'")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.split("\n")[-2] == words


def test_what_is_so_already_changes_nothing() -> None:
    wanted = (change("max_length", "2048"), removal("seed"))

    assert patched_script(SCRIPT, *wanted) == SCRIPT


def test_file_that_is_sourced_serves_others_and_stays() -> None:
    script = "source env.sh\nswift sft --model m --max_length $LEN\n"
    wanted = (change("max_length", "5"), change("NEW", "1", kind="env", action="add"))

    done = patch_text(script, *wanted, texts={"env.sh": "LEN=9\nexport A=1\n"})

    assert [item.name for item in done.files] == ["run.sh"]
    assert done.files[0].after == "source env.sh\nNEW=1 swift sft --model m --max_length 5\n"


def test_argument_in_a_file_that_is_sourced_is_changed_there() -> None:
    script = 'source args.sh\nswift sft "${ARGS[@]}"\n'

    done = patch_text(script, change("seed", "5"), texts={"args.sh": "ARGS=(--model m --seed 1)\n"})

    assert [(item.name, item.after) for item in done.files] == [
        ("args.sh", "ARGS=(--model m --seed 5)\n")
    ]


def test_argument_that_becomes_a_variable_is_taken_out() -> None:
    script = "swift sft --model m --max_pixels 5 --seed 1\n"
    wanted = change("MAX_PIXELS", "5", kind="env", action="switch", from_="--max_pixels 5")

    after = patched_script(script, wanted)

    assert after == "MAX_PIXELS=5 swift sft --model m --seed 1\n"


def test_old_name_beside_the_new_one_is_taken_out() -> None:
    script = "swift sft --sft_type lora --train_type full\n"
    wanted = change("train_type", "lora", action="switch", from_="--sft_type lora")

    after = patched_script(script, wanted)

    assert after == "swift sft --train_type lora\n"


def test_sets_of_the_same_loop_are_changed_together() -> None:
    script = "for lr in 1 2; do\n  swift sft --lr $lr --max_length 5\ndone\n"

    after = patched_script(script, change("max_length", "4"))

    assert after == script.replace("max_length 5", "max_length 4")


FOLDERS = Path(__file__).parents[1] / "healthy", Path(__file__).parents[2] / "examples"
REAL = sorted(place for folder in FOLDERS for place in folder.glob("**/*.sh"))


@pytest.mark.parametrize("place", REAL, ids=lambda place: place.parent.name)
def test_real_scripts_take_changes_of_every_sort(place: Path) -> None:
    text = place.read_bytes().decode()
    script = read_script(text, "run.sh")
    for launch in find_launches(script)[:1]:
        own = [arg.name for arg in launch.args if arg.name != "config"]
        wanted = [
            change("brand_new", "1", action="add", spelled="brand_new=1" * bool(launch.configs)),
            change("BRAND_NEW", "1", kind="env", action="add"),
            *(change(name, "77") for name in own[-1:]),
            *(removal(name) for name in own[1:2] if name != own[-1]),
        ]

        done = patch_launch(launch, script, {"run.sh": text}, wanted)

        after = find_launches(read_script(done.files[0].after, "run.sh"))[0]
        found = {arg.name: arg.values for arg in after.args}
        assert not done.left
        assert found["brand_new"] == ("1",)
        assert {item.name: item.value for item in after.env}["BRAND_NEW"] == "1"
        assert all(found[name] == ("77",) for name in own[-1:])
        kept = [arg for arg in launch.args if arg.name not in {*own[-1:], *own[1:2]}]
        assert all(found[arg.name] == arg.values for arg in kept)


def test_flag_given_twice_is_removed_wherever_it_stands() -> None:
    script = "swift sft --seed 1 \\\n  --max_length 5 \\\n  --seed 2\n"

    assert patched_script(script, removal("seed")) == "swift sft \\\n  --max_length 5\n"


def test_flag_given_twice_is_renamed_in_both_places() -> None:
    script = "swift sft --sed 1 --max_length 5 --sed 2\n"

    after = patched_script(script, renaming("sed", "seed"))

    assert after == script.replace("--sed", "--seed")


def test_last_of_two_decides_and_is_changed() -> None:
    script = "swift sft --seed 1 --max_length 5 --seed 2\n"

    assert patched_script(script, change("seed", "9")) == script.replace("--seed 2", "--seed 9")


@pytest.mark.parametrize(
    ("script", "to", "expected"),
    [
        ("swift sft --packing\n", "false", "swift sft --packing false\n"),
        ("swift sft --packing false\n", "", "swift sft --packing\n"),
        ("swift sft --packing=false\n", "", "swift sft --packing\n"),
        ("swift sft --packing true\n", "", "swift sft --packing true\n"),
    ],
)
def test_switches_are_turned_on_and_off(script: str, to: str, expected: str) -> None:
    assert patched_script(script, change("packing", to)) == expected


def test_fewer_values_keep_the_first_ones_places() -> None:
    script = "swift sft --dataset 'a b' \\\n   c \\\n   d --seed 1\n"
    wanted = change("dataset", "x y", spelled="--dataset x y")

    assert patched_script(script, wanted) == "swift sft --dataset 'x' \\\n   y --seed 1\n"


def test_overrides_of_hydra_are_changed_added_and_removed() -> None:
    script = (
        "python3 -m verl.trainer.main_ppo \\\n    data.max_response_length=2048 \\\n"
        "    +actor.offload=False \\\n    trainer.n_gpus_per_node=8 $@\n"
    )
    wanted = (
        change("actor.offload", "True", spelled="actor.offload=True"),
        change("data.train_batch_size", "64", spelled="data.train_batch_size=64"),
        removal("data.max_response_length"),
    )

    after = patched_script(script, *wanted)

    assert after == (
        "python3 -m verl.trainer.main_ppo \\\n    +actor.offload=True \\\n"
        "    trainer.n_gpus_per_node=8 \\\n    data.train_batch_size=64 $@\n"
    )


def test_command_without_arguments_takes_one() -> None:
    assert patched_script("swift sft\n", change("seed", "1")) == "swift sft --seed 1\n"

"""Which of several launches ran."""

from __future__ import annotations

import msgspec
import pytest

from trainrx import diagnose
from trainrx.evidence.arguments import logged_arguments
from trainrx.knowledge.load import load
from trainrx.launch.choice import WHICH
from trainrx.launch.given import gather
from trainrx.launch.job import find_choice
from trainrx.launch.replies import Replies
from trainrx.launch.request import Request
from trainrx.model.facts import fact

KNOWLEDGE = load(launches=True)
SCRIPT = """\
swift sft --model {model} --dataset d --output_dir output/{name} \\
  --per_device_train_batch_size {batch} --lora_rank 8 > {name}.log 2>&1
"""
OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
    "capacity of 79.15 GiB of which 1.00 GiB is free.\n"
)
A = {"name": "first", "model": "Qwen/Qwen2.5-7B-Instruct", "batch": 2}
B = {"name": "second", "model": "Qwen/Qwen2.5-VL-7B-Instruct", "batch": 16}


def written(folder, log, name="train.log"):
    for number, one in enumerate((A, B)):
        path = folder / f"run_{'ab'[number]}.sh"
        path.write_text(SCRIPT.format(**one), encoding="utf-8")
    place = folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(log, encoding="utf-8")


def chosen(folder, *facts):
    given = gather(Request(paths=(str(folder),)), KNOWLEDGE)
    given = msgspec.structs.replace(given, replies=Replies(facts=facts))
    return find_choice(given, logged_arguments(given.logs))


def value(choice, name):
    return next((arg.values for arg in choice.launch.args if arg.name == name), None)


@pytest.mark.parametrize(
    ("log", "name"),
    [
        ("+ swift sft --model Qwen/Qwen2.5-VL-7B-Instruct --dataset d\n", "train.log"),
        ("args: SftArguments(model='x', output_dir='output/second', seed=1)\n", "train.log"),
        ("Downloading Model [Qwen/Qwen2.5-VL-7B-Instruct] to directory\n", "train.log"),
        ("[INFO:swift] per_device_train_batch_size: 16\n", "train.log"),
        ("step 1\n", "second.log"),
        ("step 1\n", "output/second/train.log"),
    ],
)
def test_the_launch_that_a_log_shows_is_chosen(tmp_path, log, name):
    written(tmp_path, log + OOM, name)

    choice = chosen(tmp_path)

    assert value(choice, "per_device_train_batch_size") == ("16",)
    assert not choice.alternatives
    assert [item.source.rpartition("/")[2] for item in choice.unread] == ["run_a.sh"]


def test_where_nothing_shows_it_only_what_all_set_counts_and_it_is_asked(tmp_path):
    written(tmp_path, OOM)

    found = diagnose(tmp_path, versions={"ms-swift": "3.5.3"})

    assert "train.micro_batch" not in found.facts
    assert not found.job.model
    assert found.facts["tuner.rank"] == 8
    ask = found.asks[0]
    assert ask.id == WHICH
    assert [text.rpartition("/")[2] for text in ask.values] == ["run_a.sh", "run_b.sh"]


@pytest.mark.parametrize(("said", "batch"), [("run_b.sh", "16"), ("1", "2")])
def test_the_answer_to_the_question_decides(tmp_path, said, batch):
    written(tmp_path, OOM)

    choice = chosen(tmp_path, fact(WHICH, said, how="given"))

    assert value(choice, "per_device_train_batch_size") == (batch,)
    assert not choice.alternatives


def test_launches_that_say_the_same_are_no_question(tmp_path):
    for name in "ab":
        script = "swift sft --model m --dataset d --per_device_train_batch_size 4\n"
        (tmp_path / f"{name}.sh").write_text(script, encoding="utf-8")
    (tmp_path / "train.log").write_text(OOM, encoding="utf-8")

    choice = chosen(tmp_path)

    assert value(choice, "per_device_train_batch_size") == ("4",)
    assert not choice.alternatives


def test_the_script_in_the_folder_of_the_log_goes_before_others(tmp_path):
    for name, one in (("first", A), ("second", B)):
        (tmp_path / name).mkdir()
        script = SCRIPT.format(**one).replace(f"> {name}.log", "> log")
        (tmp_path / name / "run.sh").write_text(script, encoding="utf-8")
    (tmp_path / "first" / "train.log").write_text(OOM, encoding="utf-8")

    assert value(chosen(tmp_path), "per_device_train_batch_size") == ("2",)


def test_different_frameworks_are_told_apart_by_the_paths_a_log_prints(tmp_path):
    (tmp_path / "a.sh").write_text("swift sft --model m --dataset d\n", encoding="utf-8")
    (tmp_path / "b.sh").write_text("llamafactory-cli train --stage sft\n", encoding="utf-8")
    trace = 'Traceback (most recent call last):\n  File "/x/llamafactory/train/a.py", line 1\n'
    (tmp_path / "train.log").write_text(trace + OOM, encoding="utf-8")

    assert chosen(tmp_path).launch.framework == "llamafactory"


def test_launches_of_different_frameworks_have_nothing_in_common(tmp_path):
    (tmp_path / "a.sh").write_text("swift sft --model m --dataset d\n", encoding="utf-8")
    (tmp_path / "b.sh").write_text("llamafactory-cli train --stage sft\n", encoding="utf-8")
    (tmp_path / "train.log").write_text(OOM, encoding="utf-8")

    choice = chosen(tmp_path)

    assert choice.launch is None
    assert len(choice.alternatives) == 2


def test_without_a_run_the_first_is_judged(tmp_path):
    written(tmp_path, OOM)
    (tmp_path / "train.log").unlink()

    assert value(chosen(tmp_path), "per_device_train_batch_size") == ("2",)


TRIED = (
    "swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset d --train_type full --deepspeed {zero}\n"
)
FIRST, SECOND = (f"```bash\n{TRIED.format(zero=zero)}```\n" for zero in ("zero2", "zero3"))
PRINTED = f"```\n{OOM}```\n"


def posted(folder, *blocks):
    (folder / "post.txt").write_text("\n".join(blocks), encoding="utf-8")
    return chosen(folder)


@pytest.mark.parametrize(
    ("blocks", "zero"),
    [
        (("I ran this, why does it stop?", FIRST, PRINTED, "I also tried zero3:", SECOND), "zero2"),
        (("This is fine, I think:", FIRST, "but not this:", SECOND, PRINTED, "Why?"), None),
        (("With zero2 I see", FIRST, PRINTED, "and with zero3 we see", SECOND, PRINTED), None),
        (
            ("Why?", f"```bash\n{TRIED.format(zero='zero2')}{TRIED.format(zero='zero3')}```"),
            "zero2",
        ),
    ],
    ids=["log behind the first", "log behind both", "a log behind each", "one script"],
)
def test_of_launches_in_a_post_the_one_with_its_log_behind_it_is_chosen(tmp_path, blocks, zero):
    choice = posted(tmp_path, *blocks)

    assert value(choice, "deepspeed") == ((zero,) if zero else None)
    assert value(choice, "train_type") == ("full",)
    assert len(choice.alternatives) == (0 if zero else 2)


def test_launches_of_two_frameworks_in_a_post_are_not_mixed():
    other = "llamafactory-cli train --stage sft --model_name_or_path Qwen/Qwen2.5-7B --dataset d"
    blocks = ("We tried both, none of them works:", FIRST, f"```bash\n{other}\n```\n", PRINTED)

    answer = diagnose(["-"], stdin="\n".join(blocks).encode(), gpu="A100-80G")

    assert answer.job.framework is None
    assert [ask.id for ask in answer.asks][:1] == [WHICH]
    assert answer.asks[0].values == ("<stdin>:3", "<stdin>:7")


def test_a_training_in_a_post_is_judged_and_not_the_export_behind_it(tmp_path):
    export = "```bash\nswift export --adapters output/checkpoint-1 --merge_lora true\n```\n"

    choice = posted(tmp_path, "Why does it stop?", FIRST, PRINTED, "then I wanted to run", export)

    assert choice.launch.command == "sft"
    assert not choice.alternatives

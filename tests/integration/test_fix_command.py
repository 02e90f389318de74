"""`diagnose fix` from the command line to the changed files."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import trainrx
from trainrx.cli import main
from trainrx.render.formats.json import FOLDER, schemas

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TWO_A800 = ("--versions", "versions.txt", "--log", "train.log", "--gpu", "A800-80G", "--gpus", "2")
FULL = """\
#!/bin/bash
# full fine-tuning, one card
BATCH=8            # samples per card
swift sft \\
    --model Qwen/Qwen2.5-7B-Instruct \\
    --train_type lora \\
    --dataset "my data.jsonl" \\
    --max_length 8192 \\
    --per_device_train_batch_size $BATCH \\
    --gradient_accumulation_steps 2 \\
    --torch_dtype bfloat16  # end
"""
SWIFT = ("--versions", "ms-swift==3.2.1,transformers==4.49.0,torch==2.5.1")
OOM = (
    "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.64 GiB. GPU 0 has a "
    "total capacity of 23.69 GiB of which 1.02 GiB is free. Including non-PyTorch memory, this "
    "process has 22.66 GiB memory in use. Of the allocated memory 21.85 GiB is allocated by "
    "PyTorch, and 312.31 MiB is reserved by PyTorch but unallocated.\n"
)


@pytest.fixture
def example(tmp_path, monkeypatch):
    place = tmp_path / "job"
    shutil.copytree(EXAMPLES / "01-vl7b-grpo-2xA800-80g", place)
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def lora(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "launch.sh").write_text(FULL, encoding="utf-8")
    (tmp_path / "train.log").write_text(OOM, encoding="utf-8")
    return tmp_path


def run(capsys, *argv):
    status = main(["fix", *argv])
    said = capsys.readouterr()
    return status, said.out, said.err


def read(capsys, *argv):
    status, out, _ = run(capsys, *argv, "--format", "json")
    return status, json.loads(out)


OPTIONAL = {"bitsandbytes", "deepspeed", "liger-kernel"}
"""Packages a plan may need that a list of one version cannot show."""


def lacks(answer):
    """Name what keeps the first proposal from being proved."""
    return {text.partition(":")[0] for text in answer["proposals"][0]["lacks"]}


def test_the_whole_output_is_a_patch_that_applies(example, capsys):
    status, out, _ = run(capsys, "launch.sh", *TWO_A800)
    done = subprocess.run(["git", "apply", "-"], input=out, text=True, check=False, cwd=example)

    assert (status, done.returncode) == (0, 0)
    assert "MAX_PIXELS=602112" in (example / "launch.sh").read_text()
    assert all(
        line.startswith(("#", " ", "+", "-", "@", "diff ", "\\")) for line in out.splitlines()
    )


@pytest.mark.usefixtures("example")
def test_the_head_says_cause_memory_batch_and_sources(capsys):
    _, out, _ = run(capsys, "launch.sh", *TWO_A800)
    head = out[: out.index("diff --git")]

    for said in (
        "Image size is not capped",
        "GiB of 79.2 per GPU",
        "effective batch 4, unchanged",
        "[https://",
        "linted",
        "--plan 2",
    ):
        assert said in head


@pytest.mark.usefixtures("example")
def test_each_proposal_passed_all_its_checks_and_fits(capsys):
    _, answer = read(capsys, "launch.sh", *TWO_A800)

    first = answer["proposals"][0]
    assert answer["verdict"] == "checked"
    assert lacks(answer) == {"memory"}
    assert first["predicted"]["high_gib"] > first["predicted"]["limit_gib"]
    for item in answer["proposals"]:
        assert all(check["holds"] for check in item["checks"])
        predicted = item["predicted"]
        assert predicted["after_gib"] <= predicted["limit_gib"]
        for when in ("before_gib", "after_gib"):
            whole = sum(term[when] for term in item["terms"])
            assert whole == pytest.approx(predicted[when], abs=0.2)
        assert {"parsed", "spelled", "guards", "memory", "lint"} <= {
            check["name"] for check in item["checks"]
        }


@pytest.mark.usefixtures("example")
def test_what_failed_a_check_is_told_and_not_offered(capsys):
    _, answer = read(capsys, "launch.sh", *TWO_A800)
    offered = {item["id"] for item in answer["proposals"]}

    assert answer["dropped"]
    assert all(item["failed"] for item in answer["dropped"])
    assert offered.isdisjoint(item["id"] for item in answer["dropped"])


@pytest.mark.usefixtures("example")
def test_the_answer_follows_its_schema(capsys):
    _, answer = read(capsys, "launch.sh", *TWO_A800)

    Draft202012Validator(json.loads((FOLDER / "fix.schema.json").read_text())).validate(answer)


@pytest.mark.parametrize("name", ["fix.schema.json", "plan.schema.json"])
def test_the_schemas_are_the_committed_ones(name):
    assert (FOLDER / name).read_text(encoding="utf-8") == schemas()[name]


def test_write_changes_the_file_once_and_keeps_the_old_one(example, capsys):
    before = (example / "launch.sh").read_text()

    status, out, _ = run(capsys, "launch.sh", *TWO_A800, "--write")

    assert status == 0
    assert "launch.sh.bak" in out
    assert (example / "launch.sh.bak").read_text() == before
    assert "MAX_PIXELS=602112" in (example / "launch.sh").read_text()


@pytest.mark.usefixtures("example")
def test_a_written_fix_leaves_nothing_foreseen_to_fail(capsys):
    run(capsys, "launch.sh", *TWO_A800, "--write")

    answer = trainrx.estimate("launch.sh", versions="versions.txt", gpu="A800-80G", gpus=2)

    assert answer.verdict in ("fits", "tight")


@pytest.mark.usefixtures("example")
def test_another_plan_is_shown_by_its_number(capsys):
    _, first = read(capsys, "launch.sh", *TWO_A800)
    _, second = read(capsys, "launch.sh", *TWO_A800, "--plan", "2")

    assert (first["chosen"], second["chosen"]) == (1, 2)
    assert first["proposals"][0]["diff"] != second["proposals"][1]["diff"]


@pytest.mark.usefixtures("example")
def test_a_plan_that_does_not_exist_is_wrong_use(capsys):
    status, out, err = run(capsys, "launch.sh", *TWO_A800, "--plan", "77")

    assert (status, out) == (2, "")
    assert "expected a number from 1 to" in err


@pytest.mark.usefixtures("example")
def test_what_is_pinned_stays(capsys):
    _, answer = read(
        capsys, "launch.sh", *TWO_A800, "--keep", "vllm_gpu_memory_utilization,MAX_PIXELS"
    )

    changed = {c["param"] for item in answer["proposals"] for c in item["changes"]}
    assert changed.isdisjoint({"vllm_gpu_memory_utilization", "MAX_PIXELS"})


@pytest.mark.usefixtures("lora")
def test_a_variable_is_edited_where_it_is_defined_and_the_batch_is_kept(capsys):
    _, answer = read(capsys, "launch.sh", "--log", "train.log", *SWIFT, "--gpus", "1")

    assert "memory" in lacks(answer) <= {"memory", *OPTIONAL}
    for item in answer["proposals"]:
        after = item["patched"]["files"][0]["after"] if item["patched"]["files"] else FULL
        assert "# samples per card" in after
        assert '"my data.jsonl"' in after
        if any(c["param"] == "per_device_train_batch_size" for c in item["changes"]):
            assert "--per_device_train_batch_size $BATCH" in after
            assert "BATCH=8 " not in after


def test_a_launch_that_fits_needs_nothing(lora, capsys):
    path = lora / "launch.sh"
    path.write_text(FULL.replace("BATCH=8", "BATCH=1").replace("8192", "2048"))

    status, out, _ = run(capsys, "launch.sh", *SWIFT, "--gpu", "H200", "--gpus", "1")

    assert status == 0
    assert out.startswith("# NOTHING TO FIX")
    assert "diff --git" not in out


@pytest.mark.usefixtures("lora")
def test_a_log_alone_gives_no_patch(capsys):
    status, out, _ = run(capsys, "train.log")

    assert status == 1
    assert "diff --git" not in out


@pytest.mark.usefixtures("lora")
def test_to_print_and_to_write_at_once_is_wrong_use(capsys):
    status, _, err = run(capsys, "launch.sh", "--diff", "--write")

    assert status == 2
    assert "give one of the two" in err


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("form", ["text", "markdown"])
def test_the_forms_for_people_name_plan_and_patch(lang, form, capsys):
    _, out, _ = run(capsys, "launch.sh", *TWO_A800, "--lang", lang, "--format", form)

    assert "+MAX_PIXELS=602112 \\" in out
    assert {"en": "Memory", "zh": "显存"}[lang] in out


def test_a_secret_beside_the_change_is_in_no_form(example, capsys):
    path = example / "launch.sh"
    text = path.read_text().replace(
        "NPROC_PER_NODE=2", "WANDB_API_KEY=abcdef0123456789abcdef \\\nNPROC_PER_NODE=2"
    )
    path.write_text(text)

    _, shared, _ = run(capsys, "launch.sh", *TWO_A800, "--format", "markdown")
    _, own, _ = run(capsys, "launch.sh", *TWO_A800)
    _, bare, _ = run(capsys, "launch.sh", *TWO_A800, "--no-redact")

    assert "abcdef0123456789" not in shared
    assert "abcdef0123456789" not in own
    assert "abcdef0123456789" in bare


def test_versions_that_clash_give_one_pip_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "launch.sh").write_text("swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset d\n")
    (tmp_path / "train.log").write_text(
        "ImportError: cannot import name 'shard_checkpoint' from 'transformers.modeling_utils' "
        "(/opt/conda/lib/python3.11/site-packages/transformers/modeling_utils.py)\n"
    )
    versions = "ms-swift==3.2.1,transformers==4.57.0,torch==2.5.1,trl==0.16.0,peft==0.14.0"

    _, answer = read(capsys, "launch.sh", "--log", "train.log", "--versions", versions)
    first = answer["proposals"][0]

    assert len(first["commands"]) == 1
    assert first["commands"][0].startswith('pip install "transformers==4.')
    assert first["checks"] == [
        {"name": "packages", "holds": True, "detail": first["checks"][0]["detail"]}
    ]


def test_write_refuses_standard_input(example, capsys, monkeypatch):
    data = (example / "launch.sh").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))

    status, _, err = run(capsys, "--cmd", "-", *TWO_A800, "--write")

    assert status == 2
    assert "standard input" in err


@pytest.mark.usefixtures("lora")
def test_without_a_figure_it_is_checked_but_not_proved(capsys):
    _, answer = read(capsys, "launch.sh", "--note", "CUDA out of memory in the first step", *SWIFT)

    assert answer["verdict"] == "checked"
    assert all(item["predicted"] is None for item in answer["proposals"])


def test_a_program_whose_words_are_not_known_is_not_edited(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "launch.sh").write_text("python my_own_trainer.py --batch 4\n")

    _, answer = read(
        capsys, "launch.sh", "--note", "CUDA out of memory in the first step", "--gpu", "24GiB"
    )

    assert answer["proposals"] == []


def test_nothing_given_is_wrong_use(capsys):
    assert run(capsys, "--lang", "en")[0] == 2


GRPO = """\
CUDA_VISIBLE_DEVICES=0,1 NPROC_PER_NODE=2 swift rlhf --rlhf_type grpo \\
    --model Qwen/Qwen2.5-7B-Instruct --use_vllm false --train_type lora --dataset math.jsonl \\
    --max_length 2048 --max_completion_length 2048 --per_device_train_batch_size 8 \\
    --num_generations 8 --reward_funcs format --torch_dtype bfloat16
"""
TWO_24G = (*SWIFT, "--gpu", "24GiB", "--gpus", "2")
EVAL = "swift-grpo-eval-batch-not-multiple"


@pytest.fixture
def grpo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "launch.sh").write_text(GRPO, encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("grpo")
def test_no_proposal_leaves_a_refusal_that_has_a_remedy(capsys):
    status, answer = read(capsys, "launch.sh", *TWO_24G, "--note", "CUDA out of memory")

    assert (status, answer["verdict"]) == (0, "checked")
    assert "memory" in lacks(answer) <= {"memory", *OPTIONAL}
    for item in answer["proposals"]:
        assert item["refused"] == []
        assert all(check["holds"] for check in item["checks"])


@pytest.mark.usefixtures("grpo")
def test_an_edit_that_leaves_a_refusal_is_not_proved(capsys):
    keep = "per_device_eval_batch_size,num_generations"
    words = ("launch.sh", *TWO_24G, "--note", "CUDA out of memory", "--keep", keep)
    status, answer = read(capsys, *words)
    _, page, _ = run(capsys, *words)

    assert (status, answer["verdict"]) == (1, "not-enough")
    assert [item["id"] for item in answer["proposals"][0]["refused"]] == [EVAL]
    assert page.startswith("# NOT ENOUGH")
    assert "refused: The evaluation batch of GRPO" in " ".join(page.replace("#", "").split())
    assert "PROVED" not in page


@pytest.mark.usefixtures("grpo")
def test_a_refusal_does_not_count_where_the_log_shows_training(grpo, capsys):
    log = "{'loss': 0.1, 'grad_norm': 0.2, 'learning_rate': 1e-6, 'epoch': 0.1}\n" * 3 + OOM
    (grpo / "train.log").write_text(log, encoding="utf-8")
    keep = ("--keep", "per_device_eval_batch_size,num_generations")
    status, answer = read(capsys, "launch.sh", *TWO_24G, "--log", "train.log", *keep)

    assert (status, answer["verdict"]) == (0, "checked")
    assert "memory" in lacks(answer) <= {"memory", *OPTIONAL}


def test_what_lint_calls_an_error_is_told_with_the_edit(lora, capsys):
    text = FULL.replace("bfloat16", "int8")
    (lora / "launch.sh").write_text(text, encoding="utf-8")
    status, answer = read(
        capsys, "launch.sh", *SWIFT, "--gpu", "80GiB", "--gpus", "1", "--note", "CUDA out of memory"
    )

    assert (status, answer["verdict"]) == (1, "not-enough")
    assert "int8" in answer["proposals"][0]["refused"][0]["title"]


def test_a_value_that_is_no_choice_is_put_right_along_with_a_plan(lora, capsys):
    text = FULL.replace("bfloat16", "bf16")
    (lora / "launch.sh").write_text(text, encoding="utf-8")
    card = ("--gpu", "80GiB", "--gpus", "1")
    _, answer = read(capsys, "launch.sh", *SWIFT, *card, "--note", "CUDA out of memory")

    assert answer["verdict"] == "proved"
    for item in answer["proposals"]:
        assert "+    --torch_dtype bfloat16" in item["diff"]


def test_the_choice_a_log_refused_is_put_right(lora, capsys):
    (lora / "launch.sh").write_text(FULL.replace("bfloat16", "bf16"), encoding="utf-8")
    (lora / "train.log").write_text(
        "sft.py: error: argument --torch_dtype/--torch-dtype: invalid choice: 'bf16' (choose from "
        "'bfloat16', 'float16', 'float32', None)\n",
        encoding="utf-8",
    )
    status, answer = read(capsys, "launch.sh", *SWIFT, "--log", "train.log")

    assert (status, answer["verdict"]) == (0, "proved")
    assert answer["cause"]["id"] == "argument-value-refused"
    assert [change["spelled"] for change in answer["proposals"][0]["changes"]] == [
        "--torch_dtype bfloat16"
    ]


def test_a_file_behind_a_flag_is_given_as_this_release_takes_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "launch.sh").write_text("swift sft --config train.yaml  # now\n", encoding="utf-8")
    (tmp_path / "train.yaml").write_text(
        "model: Qwen/Qwen2.5-7B-Instruct\ntuner_type: lora\ndataset: a.jsonl\n", encoding="utf-8"
    )
    _, new = read(capsys, "launch.sh", "--versions", "ms-swift==4.6.0")
    _, old = read(capsys, "launch.sh", "--versions", "ms-swift==3.12.0")

    assert new["verdict"] == "proved"
    assert "+swift sft train.yaml  # now" in new["proposals"][0]["diff"]
    assert all("train.yaml  # now" not in item["diff"] for item in old["proposals"])

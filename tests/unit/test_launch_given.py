"""A part that is misread never spoils the others."""

from __future__ import annotations

import json

import pytest

from command_line import run

LAUNCH = "swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type full --deepspeed zero2"
LOG = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.27 GiB."
MISREAD = {
    "YAML that is none": ("yaml", "model_name_or_path: [x\n  stage: : sft\n\t- bad"),
    "JSON that was cut": ("json", '{"zero_optimization": {"stage": 3, "offload_opt'),
    "a program that was cut": ("python", "from trl import SFTConfig\nargs = SFTConfig(out='x',"),
    "Python that sets nothing": ("python", "import torch\nprint(torch.__version__\nx = 1"),
    "quotes that do not close": ("bash", "echo 'now it starts\nexport A=1"),
    "a table of nothing": ("text", "Package    Version\n---------- -------\nfoo bar baz"),
    "a manifest that is none": ("yaml", "apiVersion: v1\nkind: Pod\nspec: ["),
}


@pytest.mark.parametrize("name", MISREAD)
def test_what_is_misread_in_a_post_leaves_the_rest_as_it_is(tmp_path, name):
    language, part = MISREAD[name]
    post = f"My job stops, why?\n```bash\n{LAUNCH}\n```\n```\n{LOG}\n```\n"
    (tmp_path / "post.md").write_text(f"{post}```{language}\n{part}\n```\n")

    done = run(["post.md", "--format", "json"], tmp_path)

    assert done.status == 0
    assert '"ms-swift"' in done.out
    assert '"cuda-oom"' in done.out


@pytest.mark.parametrize("command", ["lint", "estimate", "inspect", "plan", "fix", "translate"])
def test_every_command_takes_a_post_for_the_launch_in_it(tmp_path, command):
    (tmp_path / "post.md").write_text(f"Does it fit, what do you think?\n```bash\n{LAUNCH}\n```\n")
    more = (
        ["--to", "ms-swift==4.0.0"]
        if command == "translate"
        else ["--gpu", "A100-80G", "--gpus", "8"]
    )

    done = run([command, "post.md", *more], tmp_path)

    assert done.status in (0, 1)
    assert not done.err


def test_python_that_sets_nothing_of_a_training_is_named_and_not_read_as_shell(tmp_path):
    code = "import torch\n\ndef check(:\n    print(torch.__version__)"
    (tmp_path / "post.md").write_text(
        f"What is it?\n```bash\n{LAUNCH}\n```\n```python\n{code}\n```\n"
    )

    answer = json.loads(run(["post.md", "--format", "json"], tmp_path).out)

    assert [(item["line"], item["reason"]) for item in answer["unread"]] == [
        (6, "is Python that sets no arguments of a training")
    ]


POST = (
    f"Why does it stop, what can I do?\n```bash\nswift sft\n  {{}}\n  --lora_ranks 8\n```\n{LOG}\n"
)


def test_lint_judges_the_launch_of_a_post_and_writes_nothing_into_it(tmp_path):
    text = POST.format(LAUNCH.removeprefix("swift sft ") + " --dataset d")
    (tmp_path / "post.md").write_text(text)

    done = run(["lint", "post.md", "--fix", "--versions", "ms-swift==3.5.3"], tmp_path)

    assert "post.md:5:3: error: --lora_ranks is unknown" in done.out
    assert "1 file: 1 error" in done.out
    assert (tmp_path / "post.md").read_text() == text


def test_fix_writes_nothing_into_a_post_it_had_to_repair(tmp_path):
    text = POST.format(LAUNCH.removeprefix("swift sft ") + " --dataset d")
    (tmp_path / "post.md").write_text(text)

    run(["fix", "post.md", "--write", "--gpu", "A100-80G", "--gpus", "8"], tmp_path)

    assert (tmp_path / "post.md").read_text() == text


def test_what_nothing_in_a_run_folder_takes_is_no_configuration_of_the_job(tmp_path):
    (tmp_path / "launch.sh").write_text(f"{LAUNCH} --learnig_rate 1e-4\npython own.py own.yaml\n")
    (tmp_path / "environment.yml").write_text("name: train\ndependencies:\n  - python=3.11\n")
    (tmp_path / "own.yaml").write_text("lerning_rate: 1e-4\n")
    (tmp_path / "ds.json").write_text('{"zero_optimization": {"stage": 3}}')

    done = run([".", "--format", "json"], tmp_path)

    left = {item["source"]: item["reason"] for item in json.loads(done.out)["unread"]}
    assert [name for name, why in left.items() if "no configuration" in why] == ["environment.yml"]
    assert "environment.yml" not in json.dumps(json.loads(done.out)["findings"])


def test_the_only_file_of_a_folder_is_looked_at_whatever_it_is(tmp_path):
    (tmp_path / "own.yaml").write_text("lerning_rate: 1e-4\n")

    done = run([".", "--format", "json"], tmp_path)

    assert "no configuration" not in done.out

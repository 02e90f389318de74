"""Prompts are taken off, and say what stands below them."""

from __future__ import annotations

import pytest

from trainrx.inputs.paste.post import split_post

COMMAND = "swift sft --model Qwen/Qwen3-8B --train_type lora"
PRINTED = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
PROMPTS = (
    "$ ",
    "(base) user@host:~/work$ ",
    "(train) root@4f1c2d:/workspace# ",
    "[user@node01 exp]$ ",
    "user@mac work % ",
    "PS C:\\Users\\user> ",
    "C:\\work>",
    "bash-5.1$ ",
    "sh-4.2# ",
    "➜  work git:(main) ✗ ",
    "+ ",
    "!",
    ">>> !",
    "In [3]: !",
)


def texts(text: str, kind: str) -> list[str]:
    return [part.text for part in split_post(text, "x").parts if part.kind == kind]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_command_behind_a_prompt_is_one_and_its_output_a_log(prompt):
    text = f"{prompt}{COMMAND}\n{PRINTED}\n"

    assert texts(text, "script") == [COMMAND]
    assert texts(text, "log") == [PRINTED]


@pytest.mark.parametrize(
    ("command", "output", "kind"),
    [
        ("cat conf/train.yaml", "lr: 1e-5\nepochs: 3", "config"),
        ("cat run.sh", "source ./env\nmodel=Qwen/Q\nbash inner.sh $model", "script"),
        ("cat ds.json", '{"bf16": {"enabled": true}}', "config"),
        ("head -3 train.py", "import torch\nx = 3\nprint(x)", "python"),
        ("pip list | grep torch", "torch      2.6.0\ntorchvision   0.21.0", "versions"),
        ("python --version", "Python 3.11.4", "versions"),
        ("swift env", "- `ms-swift` version: 3.9.1", "versions"),
        ("printenv", "NCCL_DEBUG=INFO\nOMP_NUM_THREADS=1", "env"),
    ],
)
def test_a_command_says_what_it_printed(command, output, kind):
    text = f"(base) user@host:~$ {command}\n{output}\n(base) user@host:~$ \n"

    found = "\n".join(texts(text, kind))

    assert output in found


def test_a_command_at_a_prompt_goes_on_over_lines():
    text = (
        "user@host:~$ accelerate launch \\\n> --num_processes 4 \\\n> train.py\nuser@host:~$ ls\n"
    )

    assert texts(text, "script")[0] == "accelerate launch \\\n--num_processes 4 \\\ntrain.py"


def test_cells_of_a_notebook_are_what_their_magic_says():
    text = (
        "%%bash\nexport NPROC_PER_NODE=2\nswift sft --model Q\n\n"
        "In [4]: trainer.train()\nOut[4]: TrainOutput(global_step=3, training_loss=1.2)\n"
    )

    assert "swift sft --model Q" in texts(text, "script")[0]
    assert texts(text, "python") == ["trainer.train()"]
    assert texts(text, "log") == ["TrainOutput(global_step=3, training_loss=1.2)"]


def test_a_file_that_a_cell_writes_is_what_its_name_says():
    text = "%%writefile train.yaml\nlearning: fast\nsteps: 30\n"

    assert texts(text, "config") == ["learning: fast\nsteps: 30"]


def test_python_at_its_prompt_is_python():
    text = ">>> import torch\n>>> x = torch.zeros(3)\n>>> model.train()\n"

    assert texts(text, "python") == ["import torch\nx = torch.zeros(3)\nmodel.train()"]


@pytest.mark.parametrize(
    "text", ["costs $ 5 a day", "# swift sft is what I use", "50 % of the steps", "a + b = c"]
)
def test_other_signs_are_no_prompts(text):
    post = split_post(text, "x")

    assert "".join(part.text for part in post.parts).endswith(text.removeprefix("# "))

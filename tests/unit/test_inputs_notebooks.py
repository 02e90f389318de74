"""Notebooks: what is code, what a shell was asked, what was printed, what somebody says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx import api
from trainrx.evidence.detector import Detector
from trainrx.inputs.containers import notebook, percent_script
from trainrx.inputs.content import Content, Found
from trainrx.inputs.files import read_path, read_stdin
from trainrx.knowledge.load import load
from trainrx.model.job import Input

TRAINING = [
    "from trl import SFTConfig, SFTTrainer\n",
    "args = SFTConfig(output_dir='out', per_device_train_batch_size=8)\n",
    "SFTTrainer('Qwen/Qwen2.5-7B-Instruct', args=args).train()",
]
OOM = "CUDA out of memory. Tried to allocate 9.27 GiB."


def code(source: list[str] | str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": list(outputs)}


def said(*source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": list(source)}


def printed(*text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": list(text)}


def failed(*trace: str) -> dict[str, Any]:
    return {"output_type": "error", "ename": "E", "evalue": OOM, "traceback": list(trace)}


def text_of(*cells: dict[str, Any], indent: int | None = 1) -> str:
    whole = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=indent)


def read(text: str) -> Found:
    found = notebook.contained(Content("a.ipynb", data=text.encode()))
    assert found is not None
    return found


def lines_of(item: Input) -> dict[int, str]:
    return {n: line for n, line in enumerate((item.text or "").split("\n"), 1) if line}


def test_each_line_stands_where_it_stands_in_the_file() -> None:
    text = text_of(
        said("# My run\n", "It stops at once."),
        code(["!pip install trl\n", *TRAINING], printed("Collecting trl\n")),
    )
    raw = text.split("\n")

    inputs, unread = read(text)

    assert unread == []
    assert [item.kind for item in inputs] == ["note", "script", "script", "log"]
    for item in inputs:
        for number, line in lines_of(item).items():
            assert line == "pass" or json.dumps(line)[1:-1] in raw[number - 1]


def test_the_older_form_is_read_too() -> None:
    sheet = {
        "worksheets": [
            {
                "cells": [
                    {
                        "cell_type": "code",
                        "input": TRAINING,
                        "outputs": [{"output_type": "pyerr", "traceback": [OOM]}],
                    }
                ]
            }
        ],
        "nbformat": 3,
        "nbformat_minor": 0,
    }

    inputs, _ = read(json.dumps(sheet, indent=1))

    assert [item.kind for item in inputs] == ["script", "log"]


def test_cells_in_one_line_of_json_keep_their_order() -> None:
    inputs, _ = read(text_of(code("".join(TRAINING)), code("print(1)\nprint(2)"), indent=None))

    assert [line for _, line in sorted(lines_of(inputs[0]).items())][:3] == [
        line.rstrip("\n") for line in TRAINING
    ]


@pytest.mark.parametrize(
    ("source", "script"),
    [
        (["!swift sft --lr {lr} \\\n", "  --model x"], ["swift sft --lr ${lr} \\", "  --model x"]),
        (["%%bash\n", "swift sft --model x"], ["swift sft --model x"]),
        (["%env A=1\n", "%set_env B 2\n", "%cd /w"], ["export A=1", "export B=2", "cd /w"]),
        (["%%capture\n", "!pip install trl"], ["pip install trl"]),
        (["out = !nvidia-smi"], ["nvidia-smi"]),
        (["if x:\n", "    !swift sft --model x"], ["swift sft --model x"]),
        (
            ["%%writefile a.yaml\n", "stage: sft"],
            ["cat > a.yaml <<'END_OF_CELL'", "stage: sft", "END_OF_CELL"],
        ),
    ],
)
def test_what_is_for_a_shell_is_a_script(source: list[str], script: list[str]) -> None:
    inputs, _ = read(text_of(code(source)))

    assert [item.kind for item in inputs] == ["script"]
    assert list(lines_of(inputs[0]).values()) == script


def test_python_that_trains_nothing_is_no_launch() -> None:
    inputs, _ = read(text_of(code(["import torch\n", "print(torch.__version__)"]), said("hello")))

    assert [item.kind for item in inputs] == ["note"]


def test_a_cell_for_another_language_and_a_picture_are_named() -> None:
    picture = {"output_type": "display_data", "data": {"image/png": "iVBO", "text/plain": "<F>"}}

    inputs, unread = read(text_of(code(["%%R\n", "plot(x)"], picture)))

    assert inputs == []
    assert [item.text for item in unread] == ["%%R", "image/png"]
    assert all(item.line for item in unread)


def test_a_coloured_traceback_of_ipython_names_the_place_of_the_failure() -> None:
    place = (
        "\x1b[0;31mFile \x1b[0;32m/opt/lib/python3.11/site-packages/peft/peft_model.py:9\x1b[0m,"
        " in \x1b[0;36mPeftModel.forward\x1b[0;34m(self)\x1b[0m\n\x1b[1;32m      8\x1b[0m x\n"
        "\x1b[0;32m----> 9\x1b[0m y"
    )
    head = "\x1b[0;31mOutOfMemoryError\x1b[0m      Traceback (most recent call last)"
    log = read(text_of(code(["x"], failed(head, place, f"OutOfMemoryError: {OOM}"))))[0][-1]

    detected = Detector(tuple(load().symptoms.values())).detect([log])

    hits = [hit for one in detected.symptoms for hit in one.hits if hit.frame is not None]
    assert {hit.frame for hit in hits} == {("peft", "peft/peft_model.py", "PeftModel.forward")}


def test_a_damaged_notebook_says_so() -> None:
    inputs, (unread,) = read(text_of(code(TRAINING))[:-40])

    assert inputs == []
    assert unread.reason.startswith("is a notebook that is damaged or cut off")


def test_a_notebook_alone_is_diagnosed(tmp_path: Path) -> None:
    path = tmp_path / "train.ipynb"
    path.write_text(text_of(code(TRAINING, failed(f"torch.OutOfMemoryError: {OOM}"))))

    answer = api.diagnose(paths=[path])

    assert answer.job.framework == "trl"
    assert any(item.family == "oom" for item in answer.symptoms)


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("# %%\nimport torch\n# %%\n!swift sft --model x\n", "swift sft --model x"),
        ("import torch\n# !pip install trl==0.12.0\n", "pip install trl==0.12.0"),
        ("import os\n# %%bash\n# swift sft --model x\n", "swift sft --model x"),
    ],
)
def test_a_notebook_as_a_python_file_holds_commands(text: str, script: str) -> None:
    inputs, _ = percent_script.contained(Content("a.py", data=text.encode())) or ([], [])

    assert "".join(line for item in inputs for line in lines_of(item).values()) == script


def test_a_plain_program_is_no_notebook() -> None:
    text = "".join(TRAINING) + "\n"

    assert percent_script.contained(Content("a.py", data=text.encode())) is None
    (item,), _ = read_stdin(text.encode(), name="a.py")
    assert item.spans == ()


def test_a_post_with_commands_behind_marks_is_no_notebook() -> None:
    text = "It stops at once, why?\n\n!swift sft --model x\nimport torch\n"

    assert percent_script.contained(Content("-", data=text.encode(), pasted=True)) is None


def test_a_folder_gives_its_notebook(tmp_path: Path) -> None:
    (tmp_path / "train.ipynb").write_text(text_of(code(TRAINING)))

    (item,), _ = read_path(tmp_path)

    assert item.kind == "script"


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["cell_type", "source", "outputs", "output_type", "data", "text", "cells"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.integers(0, 400))
def test_whatever_a_notebook_holds_nothing_is_raised(cells: object, cut: int) -> None:
    whole = json.dumps({"cells": cells, "x": {"cell_type": "code"}, "nbformat": 4})

    for text in (whole, whole[:cut]):
        notebook.contained(Content("a.ipynb", data=text.encode("utf-8", "replace")))

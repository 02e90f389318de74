"""Pictures are named, and what was read off one is put right where its form leaves no doubt."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx import api
from trainrx.inputs.containers import picture, screenshot_text
from trainrx.inputs.content import Content
from trainrx.inputs.files import read_stdin
from trainrx.model.errors import UsageError

READ_OFF = """\
swift sft —model Qwen/Qwen2.5-7B-Instruct —train_type lora
Traceback（most recent call last）：
File “/opt/lib/python3.10/site-packages/swift/cli/sft.py”，line 7，in <module>
sft_main()
File "/opt/lib/python3.10/site-packages/peft/
peft_model.py”, line281,in forward
return self.model()
torch.OutOfMemoryError：CUDA out of memory. Tried to allocate9.27GiB. GPU 0 has a total capacity
"""
PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0"
WEBP = b"RIFF\x10\0\0\0WEBPVP8 "


def test_a_traceback_that_was_read_off_a_picture_has_its_form_again() -> None:
    inputs, unread = read_stdin(READ_OFF.encode())

    log = next(item.text or "" for item in inputs if item.kind == "log").split("\n")
    assert log[1] == "Traceback (most recent call last):"
    assert log[2].endswith('site-packages/swift/cli/sft.py", line 7, in <module>')
    assert log[4].endswith('peft/peft_model.py", line 281, in forward')
    assert log[5] == ""
    assert log[7].startswith("torch.OutOfMemoryError: CUDA out of memory. Tried")
    assert "Tried to allocate 9.27 GiB" in log[7]
    assert any(item.reason == screenshot_text.REPAIRED for item in unread)


def test_its_command_has_the_dashes_that_a_shell_knows() -> None:
    inputs, _ = read_stdin(READ_OFF.encode())

    script = next(item.text or "" for item in inputs if item.kind == "script")
    assert script.startswith("swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora")


@pytest.mark.parametrize(
    "text",
    [
        'Traceback (most recent call last):\n  File "/实验/a.py", line 3, in f\nValueError: “x”\n',
        "RuntimeError: 显存不足：请减小 batch size\n",
        "训练报错：ValueError\n",
    ],
)
def test_what_a_program_printed_is_left_alone(text: str) -> None:
    assert screenshot_text.contained(Content("a.log", data=text.encode())) is None
    assert screenshot_text.put_right(text) == text


SIGNS = 'File“”"，,line 1in\n：Error(most recent call last)Traceback'


@given(st.text(st.sampled_from(SIGNS), max_size=80))
def test_lines_keep_their_numbers(text: str) -> None:
    assert screenshot_text.put_right(text).count("\n") == text.count("\n")


@pytest.mark.parametrize("data", [PNG, JPEG, WEBP, b"GIF89a"])
def test_a_picture_is_named_with_what_to_do(data: bytes) -> None:
    inputs, (unread,) = picture.contained(Content("s", data=data + b"\0\1\2")) or ([], ())

    assert inputs == []
    assert "paste its text" in unread.reason


@pytest.mark.parametrize("text", [b"BM25 retrieval\n", b"RIFF is a format\n", b"II* x\n"])
def test_a_text_that_begins_like_a_picture_is_a_text(text: bytes) -> None:
    assert picture.contained(Content("a.log", data=text)) is None


def test_a_picture_alone_is_wrong_use_and_beside_a_log_it_is_unread(tmp_path: Path) -> None:
    screen, log = tmp_path / "screen.png", tmp_path / "train.log"
    screen.write_bytes(PNG)
    log.write_text("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.27 GiB.\n")

    with pytest.raises(UsageError, match="paste its text"):
        api.diagnose(paths=[screen])
    answer = api.diagnose(paths=[screen, log])

    pictures = [item.source for item in answer.unread if item.reason == picture.PICTURE]
    assert pictures == [str(screen)]
    assert any(item.family == "oom" for item in answer.symptoms)

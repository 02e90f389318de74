"""What is of one kind as a whole is no post, however much is said in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainrx.inputs import content
from trainrx.inputs.files import read_path

ROOT = Path(__file__).parents[2]
WRITTEN = sorted(
    place
    for folder in ("examples", "tests/healthy", "tests/effective/files", "tests/fix_referee")
    for suffix in ("sh", "yaml", "json", "log")
    for place in (ROOT / folder).rglob(f"*.{suffix}")
    if place.stat().st_size
)
SCRIPT = """\
swift sft \\
    --model Qwen/Qwen2.5-7B-Instruct \\
    --train_type full
"""
TRACEBACK = """\
[rank0]: Traceback (most recent call last):
[rank0]:   File "/opt/venv/lib/python3.11/site-packages/swift/cli/sft.py", line 10, in <module>
[rank0]:     sft_main()
[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.27 GiB.
"""
PROMPTED = f"""\
#!/bin/bash
# We train on one machine with 8 cards. Does it fit?
SYSTEM_PROMPT="You are a helpful assistant. I want you to think first.
Question: what do you know of it?
"
cat > ds.json <<EOF
{{"zero_optimization": {{"stage": 3}}}}
EOF
echo "开始训练，请稍等"
{SCRIPT}"""
PROGRAM = '''\
"""We train a model on our own data, as I said before."""
import trl

# What do we need here?
args = trl.SFTConfig(output_dir="out", max_length=2048)
'''
SETTINGS = """\
# Our settings: why do we need so many?
model_name_or_path: Qwen/Qwen2.5-7B-Instruct
stage: sft
system: |
  I am a helpful assistant. What can I do for you?
"""
LISTED = """\
- path: data.jsonl
  says: What do I see in it, and why?
- path: more.jsonl
  says: We took these ourselves.
"""
PRINTED = f"""\
{TRACEBACK * 3}Here is the answer of the model, which we print after each step:
```python
print("hello")
```
{TRACEBACK}"""


def kinds(folder: Path, text: str, name: str = "x.txt") -> list[str]:
    (folder / name).write_text(text)
    return [item.kind for item in read_path(folder / name)[0]]


@pytest.mark.parametrize("place", WRITTEN, ids=lambda place: str(place.relative_to(ROOT)))
def test_what_one_program_reads_or_prints_is_one_input(place: Path) -> None:
    (found,), _ = read_path(place)

    assert found.spans == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (PROMPTED, "script"),
        (PROGRAM, "script"),
        (SETTINGS, "config"),
        (LISTED, "config"),
        (PRINTED, "log"),
    ],
    ids=["prompt in a script", "program", "settings", "list of settings", "fences in a log"],
)
def test_words_within_code_are_not_said_to_us(tmp_path: Path, text: str, kind: str) -> None:
    assert kinds(tmp_path, text) == [kind]


@pytest.mark.parametrize(
    "text",
    [
        f"Training stops at once, why?\n\n{SCRIPT}",
        f"报错了，请问怎么解决\n\n{SCRIPT}",
        f"{SCRIPT}\n这是我的脚本，训练几步之后就报错",
        f"OOM with full tuning\n\n{SCRIPT}",
    ],
)
def test_a_script_of_which_somebody_speaks_is_a_post(tmp_path: Path, text: str) -> None:
    assert set(kinds(tmp_path, text)) == {"note", "script"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("llamafactory died on A100 80G", "note"),
        ("verl crashed, 8xH100", "note"),
        ("swift OOM 4x 3090", "note"),
        ("A100 80G 上 llamafactory 挂了", "note"),
        ("CUDA error: out of memory", "log"),
        ("slurmstepd: error: Detected 1 oom_kill event", "log"),
        ("terminate called after throwing an instance of 'c10::Error'", "log"),
        ("swift sft --model Qwen/Qwen2.5-7B", "script"),
    ],
)
def test_a_short_sentence_is_told_from_a_message_and_a_command(
    tmp_path: Path, text: str, kind: str
) -> None:
    assert kinds(tmp_path, f"{text}\n") == [kind]


def test_a_script_with_what_it_printed_gives_both(tmp_path: Path) -> None:
    text = f"#!/bin/bash\n{SCRIPT}\n{TRACEBACK}"

    assert kinds(tmp_path, text) == ["script", "log"]


def test_quoted_mail_is_a_post(tmp_path: Path) -> None:
    text = "".join(f"> {line}\n" for line in f"Why does it stop?\n\n{SCRIPT}".splitlines())

    assert set(kinds(tmp_path, text)) == {"note", "script"}


MIDST = "".join(f"{{'loss': 1.{step}, 'epoch': 0.{step}}}\n" for step in range(9000))
LONG = f"Why does it stop, what can I do?\n```bash\n{SCRIPT}```\n{MIDST}\nIt was fine, we think.\n"


@pytest.mark.parametrize("streamed", [False, True])
def test_a_long_post_keeps_what_stands_at_its_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, streamed: bool
) -> None:
    monkeypatch.setattr(content, "LARGEST_FILE", 1 << (10 if streamed else 30))
    (tmp_path / "x.md").write_text(LONG)

    inputs, unread = read_path(tmp_path / "x.md")

    found = {item.kind: item for item in inputs}
    assert found["script"].spans == ((3, 5),)
    assert unread == []
    log = found["log"]
    whole = log.path.read_text() if log.path is not None else log.text or ""
    assert whole.count("'loss'") == 9000
    assert streamed or found["note"].spans == ((1, 1), (9008, 9008))


def test_lines_of_a_long_post_keep_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text(LONG)

    inputs, _ = read_path(tmp_path / "x.md")

    lines = LONG.split("\n")
    for item in inputs:
        for number, line in enumerate((item.text or "").split("\n")):
            assert line.strip() in ("", lines[number].strip())

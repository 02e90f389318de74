"""A pasted post taken apart: dressed in eight ways, it gives the same inputs."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.inputs.paste.post import post_inputs, split_post

HEALTHY = Path(__file__).parents[1] / "healthy"
PROSE = "We fine-tune Qwen2.5-7B on eight cards and training stops after a few steps."
PROSE_ZH = "我们用八张卡微调 Qwen2.5-7B，训练几步之后就报显存不足，请问怎么解决？"
SCRIPT = """\
export NPROC_PER_NODE=8
swift sft \\
    --model Qwen/Qwen2.5-7B-Instruct \\
    --train_type full \\
    --deepspeed zero2"""
CONFIG = """\
model_name_or_path: Qwen/Qwen2.5-7B-Instruct
stage: sft
per_device_train_batch_size: 4
bf16: true"""
VERSIONS = "ms-swift==3.5.3\ntorch==2.6.0\ntransformers==4.51.3"
LOG = """\
[INFO:swift] Setting max_length: 4096
Train:   1%|          | 3/300 [00:10<16:30,  3.33s/it]
Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/site-packages/swift/cli/sft.py", line 10, in <module>
    sft_main()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.27 GiB. GPU 0 has 79 GiB"""


def fenced(text: str, language: str = "") -> str:
    return f"```{language}\n{text}\n```\n"


def form(prose: str, heads: tuple[str, str, str, str], script: str = SCRIPT) -> str:
    described, steps, system, logs = heads
    return "\n\n".join(
        (
            f"### {described}\n\n{prose}",
            f"### {steps}\n\n{fenced(script, 'bash')}\n{fenced(CONFIG, 'yaml')}",
            f"### {system}\n\n{fenced(VERSIONS)}",
            f"### {logs}\n\n{fenced(LOG)}",
            "### Checklist\n\n- [x] I have searched the existing issues",
        )
    )


HEADS_EN = ("Describe the bug", "Reproduction", "System Info", "Logs")
HEADS_ZH = ("问题描述", "复现步骤", "环境信息", "报错信息")
PLAIN = f"{PROSE}\n\n{SCRIPT}\n\n{CONFIG}\n\n{VERSIONS}\n\n{LOG}"
SCROLLED = f"(base) user@host:~/work$ {SCRIPT.splitlines()[0]}\n(base) user@host:~/work$ " + (
    "\n".join(SCRIPT.splitlines()[1:])
    + f"\n{LOG}\n(base) user@host:~/work$ pip list\n{VERSIONS}\n(base) user@host:~/work$ "
    + f"cat train.yaml\n{CONFIG}\n\n{PROSE}"
)
BROKEN = re.sub(r" \\$", "", SCRIPT, flags=re.MULTILINE)
DRESSES = {
    "issue form": form(PROSE, HEADS_EN),
    "Chinese issue form": form(PROSE_ZH, HEADS_ZH),
    "chat": f"{PROSE_ZH}\n这是我的脚本：\n{SCRIPT}\n{CONFIG}\n{VERSIONS}\n报错：\n{LOG}",
    "scroll-back": SCROLLED,
    "unfenced": PLAIN,
    "wrapped": "\n".join(
        part
        for line in PLAIN.splitlines()
        for part in (textwrap.wrap(line, 80, break_on_hyphens=False) or [""])
    ),
    "mail": "On Tuesday it was written:\n\n"
    + "\n".join(f"> {line}" for line in PLAIN.splitlines()),
    "backslashes lost": form(PROSE, HEADS_EN, BROKEN),
}


def squeezed(text: str) -> str:
    return re.sub(r"[\s\\]+", "", text)


@pytest.mark.parametrize("dress", DRESSES)
def test_every_dress_gives_the_same_inputs(dress):
    found = post_inputs(DRESSES[dress], "post.md")

    assert found is not None
    texts: dict[str, str] = {}
    for item in found[0]:
        texts[item.kind] = texts.get(item.kind, "") + squeezed(item.text or "")
    assert squeezed(SCRIPT.partition("\n")[2]) in texts["script"]
    assert squeezed(CONFIG) in texts["config"]
    assert squeezed(VERSIONS) in texts["versions"]
    assert squeezed(LOG) in texts["log"]
    assert squeezed(PROSE_ZH if PROSE_ZH in DRESSES[dress] else PROSE) in texts["note"]


def test_lines_keep_their_numbers():
    text = form(PROSE, HEADS_EN)

    inputs, _ = post_inputs(text, "post.md") or ([], [])

    lines = text.split("\n")
    for item in inputs:
        for number, line in enumerate((item.text or "").split("\n")):
            assert line.strip() in lines[number]


@pytest.mark.parametrize("alone", [LOG, SCRIPT, CONFIG, VERSIONS])
def test_a_text_of_one_kind_is_no_post(alone):
    assert post_inputs(alone, "x") is None


def test_what_programs_print_among_their_lines_stays_in_the_log():
    log = (
        "[INFO:swift] model_config: Qwen2Config {\n"
        '  "hidden_size": 3584,\n'
        '  "num_hidden_layers": 28\n'
        "}\n"
        "[INFO:swift] Global seed set to 42\n"
        "Setting num_proc from 2 back to 1 for the train split to disable multiprocessing\n"
        "[INFO:swift] The logging file will be saved in: /tmp/x/logging.jsonl\n"
    )

    assert post_inputs(log, "x") is None


@pytest.mark.parametrize(
    "log", sorted(HEALTHY.glob("*/train.log")), ids=lambda log: log.parent.name
)
def test_a_real_log_is_no_post(log):
    assert post_inputs(log.read_text(encoding="utf-8", errors="replace"), "x") is None


def test_lost_continuations_are_repaired_and_told():
    found = post_inputs(DRESSES["backslashes lost"], "post.md")

    assert found is not None
    script = next(item for item in found[0] if item.kind == "script")
    assert "swift sft \\\n    --model Qwen/Qwen2.5-7B-Instruct \\\n" in (script.text or "")
    first = (script.text or "").split("\n").index("swift sft \\") + 1
    assert {one.line for one in script.repairs if one.what == "continuation"} >= {first}


def test_typographic_signs_are_repaired_in_code_alone():
    text = (
        f"“It stops”, says my colleague.\n\n```bash\nswift sft —model “Qwen/Q”\n```\n{fenced(LOG)}"
    )

    found = post_inputs(text, "post.md")

    assert found is not None
    by_kind = {item.kind: item.text or "" for item in found[0]}
    assert 'swift sft --model "Qwen/Q"' in by_kind["script"]
    assert "“It stops”" in by_kind["note"]


def test_chinese_in_code_is_no_typographic_sign():
    code = "# 学习率，建议：1e-4\nswift sft --system '你好，世界'"

    found = post_inputs(f"问题：\n{fenced(code, 'bash')}\n{fenced(LOG)}", "post.md")

    assert found is not None
    script = next(item for item in found[0] if item.kind == "script")
    assert code in (script.text or "")
    assert found[1] == []


def test_what_only_serves_the_form_is_no_evidence_and_an_image_is_named():
    text = (
        "<!-- please fill in\nCUDA out of memory -->\n### Describe the bug\n\nMy job stops.\n"
        "![screenshot](https://example.org/a.png)\n\n- [ ] it is a hang\n\n" + fenced(LOG)
    )

    found = post_inputs(text, "post.md")

    assert found is not None
    note = next(item for item in found[0] if item.kind == "note")
    assert "please fill in" not in (note.text or "")
    assert "it is a hang" not in (note.text or "")
    assert [item.line for item in found[1] if "image" in item.reason] == [6]


def test_a_notebook_cell_is_a_command():
    text = (
        f"My cell:\n```python\n%env NPROC_PER_NODE=2\n!swift sft --model Qwen/Q\n```\n{fenced(LOG)}"
    )

    found = post_inputs(text, "post.md")

    assert found is not None
    script = next(item for item in found[0] if item.kind == "script")
    assert "export NPROC_PER_NODE=2\nswift sft --model Qwen/Q" in (script.text or "")


def test_a_key_of_a_configuration_is_no_label_of_a_command():
    text = f"My pod:\n```yaml\nname: job\ncommand: python train.py --lr 1e-4\n```\n{fenced(LOG)}"

    found = post_inputs(text, "post.md")

    assert found is not None
    config = next(item for item in found[0] if item.kind == "config")
    assert "command: python train.py --lr 1e-4" in (config.text or "")


@given(st.permutations([PROSE, SCRIPT, CONFIG, VERSIONS, LOG]))
def test_the_order_of_fenced_blocks_changes_nothing(blocks):
    text = "\n\n".join(block if block == PROSE else fenced(block) for block in blocks)

    parts = {(part.kind, squeezed(part.text)) for part in split_post(text, "x").parts}

    assert ("log", squeezed(LOG)) in parts
    assert ("config", squeezed(CONFIG)) in parts
    assert ("versions", squeezed(VERSIONS)) in parts
    assert ("script", squeezed(SCRIPT)) in parts


@given(
    st.text(alphabet=st.sampled_from("ab1 \n\r`~>#-*|:=\\$![](){}<\"'“—卡\u00a0\t."), max_size=300)
)
def test_any_text_is_taken_apart_at_lines_it_has(text):
    post = split_post(text, "x")

    lines = text.replace("\r\n", "\n").split("\n")
    for part in post.parts:
        for line in part.lines:
            assert 1 <= line.number <= len(lines)

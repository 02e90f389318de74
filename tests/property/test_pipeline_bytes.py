"""Whatever the bytes, the pipeline answers by the contract or refuses with a sentence."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pipeline_jobs import HANG, LAUNCH, LOG, VERSIONS, put

from examples import examples
from trainrx import api
from trainrx.model.errors import UsageError
from trainrx.model.result import Diagnosis
from trainrx.model.text import Lang
from trainrx.render import render
from trainrx.render.document import View
from trainrx.render.formats.json import FOLDER


def as_json(answer: Diagnosis) -> str:
    return render(answer, "json", View("en"))


def as_markdown(answer: Diagnosis, lang: Lang) -> str:
    return render(answer, "markdown", View(lang))


VALID = Draft202012Validator(
    json.loads((FOLDER / "diagnosis.schema.json").read_text(encoding="utf-8"))
)
CONFIG = "stage: sft\nfinetuning_type: lora\nmodel_name_or_path: x/Qwen2-VL-7B\ncutoff_len: 2048\n"
ENV = "PATH=/bin\nHOME=/root\nMAX_PIXELS=1003520\nNCCL_P2P_DISABLE=1\n"
POSTED = (
    "Why does my job stop?\n",
    "\n```\n",
    "\n~~~bash\n",
    "\n> ",
    "<!--",
    "\n### Logs\n",
    "\\\n",
)
PIECES = (LAUNCH, LOG, HANG, VERSIONS, CONFIG, ENV, "\r", "\x00", "\x1b[31m", "$(", "`", "'", '"')
PIECES += POSTED
SPLICED = st.lists(
    st.one_of(
        st.sampled_from(PIECES).map(str.encode),
        st.sampled_from((LAUNCH, LOG, CONFIG)).flatmap(
            lambda text: st.integers(0, len(text)).map(lambda at: text[:at].encode())
        ),
        st.binary(max_size=40),
        st.text(max_size=20).map(lambda text: text.encode("utf-8", "replace")),
    ),
    max_size=5,
).map(b"".join)
FILES = {
    "cmd": lambda place: {"cmd": place},
    "config": lambda place: {"config": [place]},
    "log": lambda place: {"logs": [place]},
    "env": lambda place: {"env": place, "cmd": place},
    "versions": lambda place: {"versions": place, "note": "OOM"},
    "good": lambda place: {"good": place, "cmd": place, "note": "loss is nan"},
    "path": lambda place: {"paths": [place]},
}


def refused_or_valid(**asked: object) -> None:
    """Ask; a refusal must be a sentence, an answer must keep to the contract and be writable."""
    answer: Diagnosis | None = None
    said = ""
    try:
        answer = api.diagnose(**asked)
    except UsageError as refusal:
        said = str(refusal)
    if answer is None:
        assert len(said) > 20
        return
    found = json.loads(as_json(answer))
    assert list(VALID.iter_errors(found)) == []
    assert as_markdown(answer, "zh").strip()


@pytest.mark.parametrize("where", FILES)
@examples(7)
@given(data=SPLICED)
def test_any_bytes_are_answered_or_refused(where, data):
    with tempfile.TemporaryDirectory() as folder:
        refused_or_valid(**FILES[where](put(Path(folder), "given", data)))


@examples(7)
@given(data=SPLICED)
def test_any_bytes_on_standard_input_are_answered_or_refused(data):
    refused_or_valid(paths=["-"], stdin=data)


@examples(12)
@given(
    note=st.one_of(st.text(max_size=60), st.sampled_from(["OOM", "卡死", "loss nan", LOG])),
    gpu=st.one_of(
        st.none(), st.text(max_size=12), st.from_regex(r"\d{1,4}(x| ?GiB|G)?", fullmatch=True)
    ),
    gpus=st.one_of(st.none(), st.integers()),
    nodes=st.one_of(st.none(), st.integers(1, 9)),
)
def test_any_note_and_hardware_are_answered_or_refused(note, gpu, gpus, nodes):
    refused_or_valid(note=note, gpu=gpu, gpus=gpus, nodes=nodes)


@examples(7)
@given(
    versions=st.dictionaries(
        st.sampled_from(["ms-swift", "torch", "vllm", "", "a b"]),
        st.one_of(st.text(max_size=12), st.sampled_from(["99.0", "banana", "3.x", "1e9999", "3"])),
    )
)
def test_any_versions_are_answered_or_refused(versions):
    refused_or_valid(cmd=[], versions=versions, note="OOM")


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "", "[", "**", "~nobody/x", "\udcff"])
@pytest.mark.parametrize("where", FILES)
def test_any_file_name_is_answered_or_refused(where, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(UsageError):
        api.diagnose(**FILES[where](name))

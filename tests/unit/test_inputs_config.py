from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.inputs.config import MAX_TEXT, MAX_VALUES, read_config
from trainrx.launch.config_kinds import classify_config

LLAMAFACTORY = """\
### model
model_name_or_path: Qwen/Qwen2.5-VL-7B-Instruct
image_max_pixels: 262144

### method
stage: sft
finetuning_type: full
freeze_vision_tower: true
deepspeed: examples/deepspeed/ds_z3_config.json

### train
learning_rate: 1e-5
bf16: True
cutoff_len: 2048  # tokens
lora_target: [q_proj, v_proj]
"""


def read(text: str) -> dict[str, tuple[str, ...] | None]:
    args, unread = read_config(text, "a.yaml")
    assert unread == ()
    return {arg.name: arg.values for arg in args}


def test_values_stay_as_written():
    values = read(LLAMAFACTORY)

    assert values["learning_rate"] == ("1e-5",)
    assert values["bf16"] == ("True",)
    assert values["cutoff_len"] == ("2048",)
    assert values["lora_target"] == ("q_proj", "v_proj")


def test_every_value_cites_its_line():
    args, _ = read_config(LLAMAFACTORY, "a.yaml")

    stage = next(arg for arg in args if arg.name == "stage")
    assert str(stage.origin) == "a.yaml:6"
    assert stage.origin.text == "stage: sft"
    assert stage.via == "config"


def test_nested_keys_become_dotted_names():
    values = read("a:\n  b:\n    c: 1\n  d: x\nlist:\n  - {path: p}\n  - {path: q}\n")

    assert values == {
        "a.b.c": ("1",),
        "a.d": ("x",),
        "list.0.path": ("p",),
        "list.1.path": ("q",),
    }


def test_json_is_read_like_yaml():
    text = json.dumps({"zero_optimization": {"stage": 3}, "path": "C:\\x/y"}, indent="\t")

    values = read(text)

    assert values == {"zero_optimization.stage": ("3",), "path": ("C:\\x/y",)}


def test_empty_value_is_null_and_empty_file_has_no_values():
    assert read("resume_from_checkpoint:\n") == {"resume_from_checkpoint": ("null",)}
    assert read("# nothing\n") == {}


def test_only_the_first_document_counts_and_a_second_is_told():
    args, unread = read_config("a: 1\n---\na: 2\n", "a.yaml")

    assert [(arg.name, arg.values) for arg in args] == [("a", ("1",))]
    assert [(u.line, "second YAML document" in u.reason) for u in unread] == [(2, True)]


def test_a_broken_second_document_leaves_the_first_readable():
    args, unread = read_config("a: 1\n---\nb: [1\n", "a.yaml")

    assert [arg.name for arg in args] == ["a"]
    assert len(unread) == 1


def test_merged_keys_give_way_to_the_ones_beside_them():
    text = "base: &b {x: 1, y: 2}\nother: {<<: *b, y: 3}\n"

    assert read(text) == {
        "base.x": ("1",),
        "base.y": ("2",),
        "other.x": ("1",),
        "other.y": ("3",),
    }


def test_merge_bomb_is_bounded():
    lines = ["a0: &a0 {x: 1, y: 2}"]
    lines += [f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}, *a{i - 1}]}}" for i in range(1, 25)]

    args, _ = read_config("\n".join(lines), "bomb.yaml")

    assert len(args) <= MAX_VALUES


def test_nested_values_are_json_for_parsers_that_know_no_dotted_names():
    text = "model_kwargs: {max_pixels: 602112, fp: 1e-5, on: true, no: null}\nlist: [a, b]\n"

    args, _ = read_config(text, "a.yaml", whole=True)

    values = {arg.name: arg.values for arg in args}
    assert values["list"] == ("a", "b")
    assert json.loads(values["model_kwargs"][0]) == {
        "max_pixels": 602112,
        "fp": "1e-5",
        "on": True,
        "no": None,
    }


def test_a_list_of_overrides_is_read_as_these():
    assert read("- trainer.nnodes=2\n- +data.x=[1,2]\n") == {
        "trainer.nnodes": ("2",),
        "data.x": ("[1,2]",),
    }


def test_anchors_are_resolved():
    assert read("base: &b {x: 1}\nother: *b\n") == {"base.x": ("1",), "other.x": ("1",)}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", 3),
        ("a: 1\n\tb: 2\n", 2),
        ("bf16: true\nfp16: ture: x\n", 2),
        ("- just\n- a list\n", 1),
    ],
)
def test_broken_file_names_line_and_reason(text, line):
    args, unread = read_config(text, "a.yaml")

    assert args == ()
    assert [(u.source, u.line) for u in unread] == [("a.yaml", line)]
    assert unread[0].reason


def test_brackets_in_quotes_do_not_nest():
    template = "{{- '" + "{% if x[0] %}" * 200 + "' }}"

    assert read(f"a: {json.dumps(template)}\nb: 1\n") == {"a": (template,), "b": ("1",)}


@pytest.mark.parametrize(
    "text",
    [
        "x: " + "[" * 50_000,
        "x: ['a\n b', " + "[" * 50_000 + "'",
        "- " * 30_000 + "a: 1",
        "a: " + "x" * (MAX_TEXT + 1),
        "a: \x00b",
        "a: *undefined",
    ],
)
def test_hostile_file_is_refused_not_followed(text):
    args, unread = read_config(text, "a.yaml")

    assert args == ()
    assert len(unread) == 1


def test_alias_bomb_is_bounded():
    lines = ["a0: &a0 {x: 1, y: 2}"]
    names = range(1, 25)
    lines += [f"a{i}: &a{i} {{p: *a{i - 1}, q: *a{i - 1}, r: *a{i - 1}}}" for i in names]

    args, unread = read_config("\n".join(lines), "bomb.yaml")

    assert len(args) <= MAX_VALUES
    assert str(MAX_VALUES) in unread[0].reason


def test_alias_bomb_without_leaves_is_bounded():
    lines = ["a0: &a0 {}"]
    lines += [f"a{i}: &a{i} {{p: *a{i - 1}, q: *a{i - 1}}}" for i in range(1, 29)]

    _, unread = read_config("\n".join(lines), "bomb.yaml")

    assert len(unread) == 1


@given(st.text(max_size=300))
def test_any_text_is_read_or_reported(text):
    args, unread = read_config(text, "a.yaml")

    assert len(unread) <= 1
    assert all(arg.values is not None for arg in args)


@given(
    st.dictionaries(
        st.from_regex(r"[a-z][a-z_]{0,12}", fullmatch=True),
        st.integers() | st.booleans() | st.text(max_size=20),
        max_size=8,
    )
)
def test_json_values_survive(mapping):
    values = read(json.dumps(mapping))

    assert values.keys() == mapping.keys()
    for name, value in mapping.items():
        written = value if isinstance(value, str) else json.dumps(value)
        assert values[name] == (written,)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (LLAMAFACTORY, "llamafactory"),
        ('{"zero_optimization": {"stage": 2}, "bf16": {"enabled": "auto"}}', "deepspeed"),
        (
            "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\nnum_processes: 8\n",
            "accelerate",
        ),
        ("base_model: q\nsequence_len: 2048\nmicro_batch_size: 1\nadapter: lora\n", "axolotl"),
        ("actor_rollout_ref:\n  rollout:\n    n: 5\ndata:\n  train_files: x\n", "verl"),
        ("model: Qwen/Qwen2.5-7B\ntrain_type: lora\nattn_impl: flash_attn\n", "ms-swift"),
        ("model_name_or_path: q\ndataset_name: d\nuse_peft: true\n", "trl"),
        (json.dumps({**{f"k{i}": i for i in range(70)}, "output_dir": "o"}), "args"),
        ("- trainer.nnodes=2\n- data.path=x\n", "overrides"),
        ("hydra:\n  run:\n    dir: outputs\n  job:\n    name: x\n", "hydra"),
        ("top.lang: zh\ntop.model_name: Qwen\ntrain.stage: SFT\n", "llamaboard"),
        ('{"fsdp_version": 2, "reshard_after_forward": true}', "fsdp"),
        ("hello: world\n", None),
        ("[broken", None),
    ],
)
def test_config_is_recognised_by_its_keys(text, kind):
    assert classify_config(text) == kind

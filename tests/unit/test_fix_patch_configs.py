"""Edits of YAML and JSON files and of Python programs: every other byte stays."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest
from patching import change, patch_text, removal

from trainrx.catalog.deepspeed import canonical_deepspeed
from trainrx.fix.patch import patch_launch
from trainrx.fix.patch.stages import preset_text
from trainrx.model.facts import Origin
from trainrx.model.job import RawLaunch
from trainrx.model.planning import Patched
from trainrx.model.result import Change

LLAMAFACTORY = dedent(
    """\
    ### model
    model_name_or_path: Qwen/Qwen2.5-7B   # the base
    trust_remote_code: true

    ### method
    stage: sft
    finetuning_type: "lora"
    lora_target: ['q_proj',   'v_proj']
    template:   qwen
    cutoff_len:   2048  # tokens
    learning_rate: 1.0e-4
    resume_from_checkpoint:
    deepspeed: ds/z2.json

    # end of the file
    """
)
AXOLOTL = dedent(
    """\
    base_model: m
    sequence_len: &len 4096
    max_prompt_len: *len
    micro_batch_size: 2
    lora_target_modules:
      - q_proj   # attention
      - v_proj
    datasets:
      - path: data.jsonl
        type: chat_template
    fsdp_config:
      fsdp_offload_params: false
    """
)
DEEPSPEED = '{\n    "train_batch_size": "auto",\n    "zero_optimization": {\n        "stage": 2,\n'
DEEPSPEED += '        "overlap_comm":   true\n    },\n\t"bf16": {"enabled": true}\n}\n'


def patch(texts: dict[str, str], *changes: Change, framework: str = "llamafactory") -> Patched:
    launch = RawLaunch(
        framework=framework,
        command="train",
        args=(),
        env=(),
        origin=Origin(source=next(iter(texts)), line=1),
        configs=tuple(texts)[:1],
    )
    return patch_launch(launch, None, texts, changes)


def patched(text: str, *changes: Change, framework: str = "llamafactory") -> str:
    done = patch({"x.yaml": text}, *changes, framework=framework)
    assert not done.left, done.left
    return done.files[0].after if done.files else text


def key(name: str, to: str | None, **more: str) -> Change:
    return change(name, to, kind="config_file", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wanted", "old", "new"),
    [
        (key("cutoff_len", "1024"), "cutoff_len:   2048  #", "cutoff_len:   1024  #"),
        (key("finetuning_type", "full"), '"lora"', '"full"'),
        (key("trust_remote_code", "false"), "code: true", "code: false"),
        (key("lora_target", "all"), "['q_proj',   'v_proj']", "['all']"),
        (key("resume_from_checkpoint", "a/b"), "checkpoint:\n", "checkpoint: a/b\n"),
        (key("template", "a: b"), "  qwen", '  "a: b"'),
        (key("seed", "7"), "z2.json\n", "z2.json\nseed: 7\n"),
        (removal("template", kind="config_file"), "template:   qwen\n", ""),
        (change("cutoff_len", "9"), "   2048", "   9"),
        (
            key("cutoff", "cutoff", action="switch", spelled="cutoff", from_="cutoff_len"),
            "cutoff_len:",
            "cutoff:",
        ),
    ],
)
def test_key_of_yaml_is_changed_alone(wanted: Change, old: str, new: str) -> None:
    assert patched(LLAMAFACTORY, wanted) == LLAMAFACTORY.replace(old, new)


def test_line_ends_of_windows_are_kept_in_yaml() -> None:
    text = LLAMAFACTORY.replace("\n", "\r\n")

    after = patched(text, key("seed", "7"), key("cutoff_len", "1"))

    expected = text.replace("2048", "1").replace("z2.json\r\n", "z2.json\r\nseed: 7\r\n")
    assert after == expected


def test_key_is_added_to_a_file_without_a_last_line_end() -> None:
    text = "model_name_or_path: m\ncutoff_len: 5"

    assert patched(text, key("seed", "7")) == text + "\nseed: 7"


@pytest.mark.parametrize(
    ("wanted", "old", "new"),
    [
        (key("micro_batch_size", "1"), "batch_size: 2", "batch_size: 1"),
        (key("max_prompt_len", "9"), "*len", "9"),
        (key("lora_target_modules", "all"), ":\n  - q_proj   # attention\n  - v_proj", ": all"),
        (key("fsdp_config.fsdp_offload_params", "true"), "params: false", "params: true"),
        (key("fsdp_config.fsdp_version", "2"), "false\n", "false\n  fsdp_version: 2\n"),
    ],
)
def test_nested_keys_lists_and_aliases(wanted: Change, old: str, new: str) -> None:
    after = patched(AXOLOTL, wanted, framework="axolotl")

    assert after == AXOLOTL.replace(old, new)


def test_anchor_that_another_key_shares_is_left() -> None:
    done = patch({"x.yaml": AXOLOTL}, key("sequence_len", "1"), framework="axolotl")

    assert not done.files
    assert "sequence_len" in done.left[0].reason


def test_key_of_deepspeed_json_is_changed_alone() -> None:
    texts = {"x.yaml": LLAMAFACTORY, "ds/z2.json": DEEPSPEED}
    wanted = (
        key("zero_optimization.stage", "3"),
        key("zero_optimization.offload_param.device", "cpu"),
        key("bf16.enabled", "auto"),
    )

    done = patch(texts, *wanted)

    assert not done.left
    assert done.files[0].name == "ds/z2.json"
    expected = DEEPSPEED.replace('"stage": 2', '"stage": 3').replace("true}", '"auto"}')
    nested = ',\n        "offload_param": {"device": "cpu"}'
    assert done.files[0].after == expected.replace("  true\n", f"  true{nested}\n")


def test_configuration_of_another_stage_is_written_beside_the_present_one() -> None:
    texts = {"x.yaml": LLAMAFACTORY, "ds/z2.json": DEEPSPEED, "ds/ds_zero3.json": DEEPSPEED}
    wanted = key("deepspeed", "zoo/ds_z3_config.json", canonical="parallel.deepspeed")

    done = patch(texts, wanted)

    files = {item.name: item for item in done.files}
    assert set(files) == {"x.yaml", "ds/ds_zero3_2.json"}
    assert files["x.yaml"].after == LLAMAFACTORY.replace("z2.json", "ds_zero3_2.json")
    assert files["ds/ds_zero3_2.json"].before is None
    written = json.loads(files["ds/ds_zero3_2.json"].after)
    assert written["zero_optimization"]["stage"] == 3
    assert written["bf16"] == {"enabled": True}


def test_configuration_at_hand_of_the_wanted_stage_is_named() -> None:
    z3 = DEEPSPEED.replace('"stage": 2', '"stage": 3')
    texts = {"x.yaml": LLAMAFACTORY, "ds/z2.json": DEEPSPEED, "ds/mine.json": z3}
    wanted = key("deepspeed", "zoo/ds_z3_config.json", canonical="parallel.deepspeed")

    done = patch(texts, wanted)

    assert [item.name for item in done.files] == ["x.yaml"]
    assert "deepspeed: ds/mine.json\n" in done.files[0].after


def test_folder_of_the_framework_in_use_needs_no_new_file() -> None:
    text = LLAMAFACTORY.replace("ds/z2.json", "zoo/ds_z2_config.json")
    wanted = key("deepspeed", "zoo/ds_z3_config.json", canonical="parallel.deepspeed")

    after = patched(text, wanted)

    assert after == text.replace("z2_config", "z3_config")


def test_same_deepspeed_change_again_changes_nothing() -> None:
    texts = {"x.yaml": LLAMAFACTORY, "ds/z2.json": DEEPSPEED}
    wanted = key("deepspeed", "zoo/ds_z3_config.json", canonical="parallel.deepspeed")
    once = patch(texts, wanted)

    again = patch({**texts, **{item.name: item.after for item in once.files}}, wanted)

    assert once.files
    assert not again.files
    assert not again.left


def test_command_and_file_that_both_set_an_argument_are_changed_alike() -> None:
    command = "llamafactory-cli train x.yaml cutoff_len=4096\n"

    done = patch_text(command, key("cutoff_len", "1"), texts={"x.yaml": LLAMAFACTORY})

    files = {item.name: item.after for item in done.files}
    assert files["run.sh"] == command.replace("4096", "1")
    assert files["x.yaml"] == LLAMAFACTORY.replace("2048", "1")


def test_override_behind_a_file_is_added_without_dashes() -> None:
    command = "llamafactory-cli train x.yaml\n"
    wanted = change("seed", "7", action="add")

    done = patch_text(command, wanted, texts={})

    assert done.files[0].after == "llamafactory-cli train x.yaml seed=7\n"


HERE = dedent(
    """\
    cat > x.yaml <<'EOF'
    model_name_or_path: m
    cutoff_len: 2048  # tokens
    finetuning_type: lora
    EOF
    llamafactory-cli train x.yaml
    """
)


def test_configuration_in_a_here_document_is_edited_in_the_script() -> None:
    done = patch_text(HERE, key("cutoff_len", "9"), key("seed", "7"))

    assert not done.left
    expected = HERE.replace("2048", "9").replace(": lora\n", ": lora\nseed: 7\n")
    assert done.files[0].after == expected


PROGRAM = dedent(
    """\
    from trl import SFTConfig

    LEN = 2048
    äöü = 1; args = SFTConfig(output_dir="x", max_length=LEN,
        per_device_train_batch_size=2,  # small
        optim='adamw_torch',
    )
    """
)


@pytest.mark.parametrize(
    ("wanted", "old", "new"),
    [
        (change("per_device_train_batch_size", "1"), "size=2", "size=1"),
        (change("optim", "adafactor"), "'adamw_torch'", "'adafactor'"),
        (change("max_length", "9"), "LEN = 2048", "LEN = 9"),
        (change("bf16", "true", action="add"), "torch'", "torch',\n    bf16=True"),
    ],
)
def test_keyword_of_a_program_is_changed(wanted: Change, old: str, new: str) -> None:
    command = "python train.py\n"

    done = patch_text(command, wanted, texts={"train.py": PROGRAM})

    assert not done.left
    assert [item.name for item in done.files] == ["train.py"]
    assert done.files[0].after == PROGRAM.replace(old, new)


def test_section_of_variables_in_a_configuration_is_edited() -> None:
    text = "model: m\ntuner_type: lora\nENV:\n  MAX_PIXELS: 1003520\n"

    after = patched(text, change("MAX_PIXELS", "5", kind="env"), framework="ms-swift")

    assert after == text.replace("1003520", "5")


def test_what_deepspeed_leaves_to_the_trainer_stays_so() -> None:
    wanted = key("train_batch_size", "8")

    done = patch({"x.yaml": LLAMAFACTORY, "ds/z2.json": DEEPSPEED}, wanted)

    assert [item.name for item in done.files] == ["x.yaml"]


def test_program_that_computes_a_keyword_is_left() -> None:
    program = PROGRAM.replace("max_length=LEN", "max_length=LEN * 2")

    done = patch_text("python train.py\n", change("max_length", "9"), texts={"train.py": program})

    assert not done.files
    assert "train.py" in done.left[0].reason


@pytest.mark.parametrize("command", ["swift sft x.yaml\n", "swift sft --config x.yaml\n"])
def test_key_goes_into_the_file_the_command_names(command: str) -> None:
    text = "model: m\ntuner_type: lora\ndataset:\n  - a.jsonl\n"

    done = patch_text(command, key("seed", "7"), key("tuner_type", "full"), texts={"x.yaml": text})

    assert not done.left
    assert [item.name for item in done.files] == ["x.yaml"]
    assert done.files[0].after == text.replace("lora", "full") + "seed: 7\n"


@pytest.mark.parametrize(
    ("text", "wanted", "expected"),
    [
        (
            '{"stage": "sft", "seed": 1}',
            key("lora_rank", "8"),
            '{"stage": "sft", "seed": 1, "lora_rank": 8}',
        ),
        ('{"stage": "sft", "seed": 1}', removal("stage", kind="config_file"), '{"seed": 1}'),
        ('{"stage": "sft", "seed": 1}', removal("seed", kind="config_file"), '{"stage": "sft"}'),
        (
            '{"stage": "sft", "env": {}}',
            key("env.x", "a b"),
            '{"stage": "sft", "env": {"x": "a b"}}',
        ),
        (
            "stage: sft\nextra: {a: 1, b: 2}\n",
            key("extra.c", "3"),
            "stage: sft\nextra: {a: 1, b: 2, c: 3}\n",
        ),
        (
            "stage: sft\nextra:\n  a: 1\nseed: 1\n",
            removal("extra.a", kind="config_file"),
            "stage: sft\nseed: 1\n",
        ),
        (
            "stage: sft\nlora_target:\n- a\n- b\nseed: 1\n",
            removal("lora_target", kind="config_file"),
            "stage: sft\nseed: 1\n",
        ),
        (
            "stage: sft\nbase: &b\n  x: 1\nuse:\n  <<: *b\n",
            key("use.x", "2"),
            "stage: sft\nbase: &b\n  x: 1\nuse:\n  <<: *b\n  x: 2\n",
        ),
        ("stage: sft\nseed: !!int 5 # x\n", key("seed", "7"), "stage: sft\nseed: !!int 7 # x\n"),
        ("stage: sft\ndeep: 1", key("a.b.c", "2"), "stage: sft\ndeep: 1\na:\n  b:\n    c: 2"),
    ],
)
def test_forms_of_mappings(text: str, wanted: Change, expected: str) -> None:
    assert patched(text, wanted) == expected


@pytest.mark.parametrize(
    ("kind", "stage", "moved"),
    [
        ("zero0", 0, set()),
        ("zero1", 1, set()),
        ("zero2_offload", 2, {"offload_optimizer"}),
        ("zero3_offload", 3, {"offload_optimizer", "offload_param"}),
    ],
)
def test_configuration_of_a_stage_is_read_back_as_that_stage(
    kind: str, stage: int, moved: set[str]
) -> None:
    text = preset_text(kind)

    assert text is not None
    assert canonical_deepspeed(text) == kind
    section = json.loads(text)["zero_optimization"]
    assert section["stage"] == stage
    assert {name for name in section if name.startswith("offload")} == moved


def test_no_configuration_is_written_for_what_is_no_stage() -> None:
    assert preset_text("megatron") is None

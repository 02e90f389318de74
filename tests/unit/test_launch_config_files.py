from __future__ import annotations

import json
from pathlib import Path

import pytest

from trainrx.frameworks.ms_swift.saved_args import trainer_values
from trainrx.inputs.config import read_config
from trainrx.launch.config_files import interpolated, read_configs
from trainrx.launch.find import find_launches
from trainrx.model.facts import Origin
from trainrx.model.job import EnvVar, Script
from trainrx.shell import read_script

HEALTHY = Path(__file__).parents[1] / "healthy"
SWIFT = """\
model: Qwen/Qwen2.5-7B
learning_rate: 1e-5
model_kwargs: {max_pixels: 602112}
ENV:
  MAX_PIXELS: 1003520
  NPROC_PER_NODE: 2
"""


def launch_of(text: str):
    script: Script = read_script(text, "launch.sh")
    return find_launches(script)[0]


def last_values(args):
    return {arg.name: arg.values for arg in args}


@pytest.mark.parametrize("version", ["3.10.0", "3.12.6", "4.0.4", None])
def test_the_file_of_swift_config_goes_before_the_command_line(version):
    launch = launch_of("swift sft --config x.yaml --learning_rate 1e-4 --max_steps 5")

    read = read_configs(launch, {"x.yaml": SWIFT}, version=version)

    assert read.args == ()
    assert last_values(read.launch.args)["learning_rate"] == ("1e-5",)
    assert last_values(read.launch.args)["max_steps"] == ("5",)
    assert "config" not in last_values(read.launch.args)


def test_the_first_file_of_swift_4_gives_way_to_the_command_line():
    launch = launch_of("swift sft x.yaml --learning_rate 1e-4")

    read = read_configs(launch, {"x.yaml": SWIFT}, version="4.6.0")

    assert last_values(read.launch.args) == {"learning_rate": ("1e-4",)}
    assert last_values(read.args)["model"] == ("Qwen/Qwen2.5-7B",)
    assert json.loads(last_values(read.args)["model_kwargs"][0]) == {"max_pixels": 602112}


@pytest.mark.parametrize(
    ("version", "pixels"), [("4.2.1", "1003520"), ("4.2.2", "1"), ("4.6", "1")]
)
def test_variables_of_the_file_give_way_to_the_environment_since_4_2_2(version, pixels):
    launch = launch_of("MAX_PIXELS=1 swift sft x.yaml")

    read = read_configs(launch, {"x.yaml": SWIFT}, version=version)

    env = {item.name: item.value for item in read.launch.env}
    assert env == {"MAX_PIXELS": pixels, "NPROC_PER_NODE": "2"}
    assert "ENV" not in last_values(read.args)


def test_variables_of_trl_override_the_environment():
    launch = launch_of("WANDB_MODE=online trl sft --config x.yaml --learning_rate 1")
    text = "env:\n  WANDB_MODE: offline\nmodel_name_or_path: q\nlearning_rate: 2\nuse_peft: true\n"

    read = read_configs(launch, {"x.yaml": text})

    assert [item.value for item in read.launch.env if item.name == "WANDB_MODE"][-1] == "offline"
    assert last_values(read.args)["learning_rate"] == ("2",)
    assert last_values(read.launch.args)["learning_rate"] == ("1",)


def test_what_is_for_the_launcher_is_kept_apart():
    launch = launch_of("accelerate launch --config_file a.yaml train.py --output_dir o")
    text = "distributed_type: FSDP\nnum_processes: 8\nfsdp_config:\n  fsdp_version: 2\n"

    read = read_configs(launch, {"a.yaml": text, "ds.json": '{"zero_optimization": {"stage": 3}}'})

    assert last_values(read.outer)["fsdp_config.fsdp_version"] == ("2",)
    assert read.args == ()
    assert set(read.files) == {"a.yaml", "ds.json"}


def test_a_file_the_script_writes_is_cited_in_the_script():
    launch = launch_of("llamafactory-cli train x.yaml")
    place = Origin(source="launch.sh", line=12)

    read = read_configs(launch, {"x.yaml": "stage: sft\ncutoff_len: 5\n"}, places={"x.yaml": place})

    assert [str(arg.origin) for arg in read.args] == ["launch.sh:12", "launch.sh:13"]


def test_a_dump_of_the_run_itself_goes_before_everything():
    text = (HEALTHY / "ms-swift-4.6.0-run-folder" / "args.json").read_text()
    launch = launch_of("swift sft --model q")

    read = read_configs(launch, {"out/v0/args.json": text}, version="4.6.0")

    values = last_values(read.dumps)
    assert values["tuner_type"] == ("lora",)
    assert values["gradient_accumulation_steps"] == ("8",)


def test_the_trainer_tells_what_was_left_open():
    text = (HEALTHY / "ms-swift-4.6.0-run-folder" / "args.json").read_text()
    saved, _ = read_config(text, "args.json", whole=True)

    told = last_values(trainer_values(saved))

    assert told["gradient_accumulation_steps"] == ("8",)
    assert told["dataloader_num_workers"] == ("1",)
    assert "learning_rate" not in told


SAVED = json.dumps(
    {f"k{number}": 1 for number in range(70)}
    | {"output_dir": "o", "model": "Qwen/Qwen2.5-7B", "tuner_type": "lora", "train_type": "lora"}
    | {"model_type": "qwen2_5", "template": "qwen2_5", "system": "hi", "max_length": 4096}
    | {"dataset": ["a"], "torch_dtype": "bfloat16", "attn_impl": None},
    indent=2,
)


@pytest.mark.parametrize(
    ("command", "version", "forced", "filled"),
    [
        ("swift infer --adapters out/c", "3.5.0", ["train_type"], True),
        ("swift infer --adapters out/c", "4.1.0", ["tuner_type"], True),
        ("swift infer --adapters out/c --load_args false", "4.1.0", None, False),
        (
            "swift infer --adapters out/c --load_data_args true",
            "4.1.0",
            ["tuner_type", "dataset"],
            True,
        ),
        ("swift sft --resume_from_checkpoint out/c --train_type full", "3.5.0", None, False),
        (
            "swift sft --resume_from_checkpoint out/c --load_args true",
            "3.5.0",
            ["train_type"],
            True,
        ),
    ],
)
def test_what_swift_takes_back_of_an_earlier_run(command, version, forced, filled):
    read = read_configs(launch_of(command), {"/w/out/c/args.json": SAVED}, version=version)

    if forced is None:
        assert "k1" in last_values(read.dumps)
        assert read.args == ()
    else:
        assert sorted(last_values(read.dumps)) == sorted(forced)
        assert ("template" in last_values(read.args)) is filled
        assert "max_length" not in last_values(read.args)
        assert "attn_impl" not in last_values(read.args)


def test_what_the_launch_gives_is_not_filled_and_a_stale_model_type_is_not_trusted():
    launch = launch_of("swift infer --adapters out/c --system x")

    read = read_configs(launch, {"out/c/args.json": SAVED}, version="4.1.0")

    assert "system" not in last_values(read.args)
    assert "model_type" not in last_values(read.args)
    assert last_values(read.args)["torch_dtype"] == ("bfloat16",)


def test_keys_and_variables_are_put_in():
    text = (
        "data:\n  dir: ${oc.env:ROOT}/d\n  files: [a, b]\n  same: ${data.files}\n"
        "  near: ${.dir}/x\n  far: ${nowhere.else}\n  set: ${oc.env:NONE,7}\n"
        "trainer:\n  loop: ${trainer.loop}\n"
    )
    args, _ = read_config(text, "a.yaml")
    env = (EnvVar(name="ROOT", value="/r", origin=Origin(source="env")),)

    assert last_values(interpolated(args, env)) == {
        "data.dir": ("/r/d",),
        "data.files": ("a", "b"),
        "data.same": ("a", "b"),
        "data.near": ("/r/d/x",),
        "data.far": None,
        "data.set": ("7",),
        "trainer.loop": None,
    }


def test_references_that_multiply_are_bounded():
    lines = ["a0: xxxxxxxxxx", *(f"a{n}: " + f"${{a{n - 1}}}" * 9 for n in range(1, 12))]
    args, _ = read_config("\n".join(lines), "a.yaml")

    found = interpolated(args)

    assert all(arg.values is None or len(arg.values[0]) <= 10_000 for arg in found)

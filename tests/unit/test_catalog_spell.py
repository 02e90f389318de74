from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.catalog.spell import spell
from trainrx.catalog.spellbook import Spellbook
from trainrx.catalog.values import read_value, write_value
from trainrx.inputs.config import read_config
from trainrx.knowledge.load import read_entry
from trainrx.knowledge.places import shipped
from trainrx.launch.resolve import resolve
from trainrx.model.facts import Origin
from trainrx.model.job import EnvVar, RawArg, RawLaunch
from trainrx.model.parts import Param

KB = shipped()[0]
PARAMS = {path.stem: read_entry(path, Param) for path in sorted((KB / "params").glob("*.yaml"))}
HERE = Origin(source="run.sh", line=1)
SPELLINGS = [
    (param, framework, spelling)
    for param in PARAMS.values()
    for framework, spellings in param.spelled.items()
    for spelling in spellings
]
TEXTS = {
    "train.precision": ["bf16", "fp16", "fp32"],
    "train.attention": ["flash_attn", "sdpa", "eager"],
    "parallel.deepspeed": ["zero0", "zero1", "zero2", "zero2_offload", "zero3", "zero3_offload"],
    "rlhf.type": ["grpo", "dpo", "ppo", "kto"],
    "tuner.type": ["lora", "full"],
    "vllm.mode": ["colocate", "server"],
}


def a_value(param: Param) -> st.SearchStrategy[object]:
    if param.type == "bool":
        return st.booleans()
    if param.type == "int":
        return st.integers(-1, 10**9)
    if param.type == "float":
        return st.floats(-1, 1e6, allow_nan=False) | st.sampled_from([1e-5, 0.5, 500.0, -1.0])
    return st.sampled_from(TEXTS.get(param.id, ["all-linear", "/data/my model", "a b"]))


@given(st.sampled_from(SPELLINGS), st.data())
def test_what_is_written_is_read_back(case, data):
    param, _, spelling = case
    value = data.draw(a_value(param))

    written = write_value(spelling, value)

    if written is not None:
        reading = read_value(param, spelling, (written,) if written else ())
        assert reading.problem is None
        assert reading.value == value


@given(st.sampled_from(SPELLINGS), st.data())
def test_what_spell_writes_resolves_to_the_value(case, data):
    param, framework, spelling = case
    if framework in {"any", "launcher", "accelerate"}:
        return
    book = Spellbook(PARAMS, framework, {})
    owner = next(name for name in book.owners if name == framework)
    version = book.timelines[owner].describe(book.timelines[owner].within(spelling.versions))
    command = spelling.commands[0] if spelling.commands else ""
    value = data.draw(a_value(param))
    job = RawLaunch(framework=framework, command=command, args=(), env=(), origin=HERE)

    spelled = spell(param.id, value, framework, version or None, PARAMS, launch=job)

    if spelled is not None:
        raw = RawArg(
            name=spelled.param, values=(spelled.value,) if spelled.value else (), origin=HERE
        )
        env = EnvVar(name=spelled.param, value=spelled.value, origin=HERE)
        again = RawLaunch(
            framework=framework,
            command=command,
            args=(raw,) if spelled.kind == "arg" else (),
            env=(env,) if spelled.kind == "env" else (),
            origin=HERE,
        )
        versions = {framework: version} if version else {}
        setting = resolve(again, params=PARAMS, versions=versions).settings[param.id]
        assert setting.value == value
        assert setting.via != "default"


@pytest.mark.parametrize(
    ("framework", "version", "canonical", "value", "text"),
    [
        ("ms-swift", "2.6.1", "train.micro_batch", 1, "--batch_size 1"),
        ("ms-swift", "3.2.1", "train.micro_batch", 1, "--per_device_train_batch_size 1"),
        ("ms-swift", "2.6.1", "tuner.type", "lora", "--sft_type lora"),
        ("ms-swift", "3.x", "tuner.type", "lora", "--train_type lora"),
        ("ms-swift", "4.0.2", "tuner.type", "lora", "--tuner_type lora"),
        ("ms-swift", None, "tuner.type", "lora", "--tuner_type lora"),
        ("ms-swift", "3.4.1", "vllm.tensor_parallel", 4, "--tensor_parallel_size 4"),
        ("ms-swift", "3.5.0", "vllm.tensor_parallel", 4, "--vllm_tensor_parallel_size 4"),
        ("ms-swift", "2.6.1", "train.precision", "bf16", "--dtype bf16"),
        ("ms-swift", "3.2.1", "train.precision", "bf16", "--torch_dtype bfloat16"),
        ("ms-swift", "3.2.1", "vision.max_pixels", 602112, "MAX_PIXELS=602112"),
        ("ms-swift", "2.6.1", "parallel.deepspeed", "zero3", "--deepspeed default-zero3"),
        ("ms-swift", "3.2.1", "parallel.deepspeed", "zero3", "--deepspeed zero3"),
        ("llamafactory", "0.9.3", "vision.max_pixels", 262144, "--image_max_pixels 262144"),
        ("llamafactory", "0.9.1", "vision.max_pixels", 262144, "--image_resolution 262144"),
        ("trl", "0.15.0", "train.max_length", 1024, "--max_seq_length 1024"),
        ("trl", "0.20.0", "train.max_length", 1024, "--max_length 1024"),
        ("vllm", None, "vllm.enforce_eager", True, "--enforce-eager"),
        ("verl", None, "vllm.share", 0.5, "actor_rollout_ref.rollout.gpu_memory_utilization=0.5"),
        ("ms-swift", None, "nccl.p2p_disable", True, "NCCL_P2P_DISABLE=1"),
    ],
)
def test_spelling_follows_framework_and_version(framework, version, canonical, value, text):
    spelled = spell(canonical, value, framework, version, PARAMS)

    assert spelled is not None
    assert spelled.text == text


@pytest.mark.parametrize(
    ("framework", "version", "canonical", "value"),
    [
        ("ms-swift", "2.6.1", "vllm.sleep_level", 1),
        ("ms-swift", "2.6.1", "train.attention", "sdpa"),
        ("llamafactory", "0.9.3", "vllm.sleep_level", 1),
        ("ms-swift", "3.2.1", "no.such_parameter", 1),
    ],
)
def test_what_a_version_does_not_have_is_not_spelled(framework, version, canonical, value):
    assert spell(canonical, value, framework, version, PARAMS) is None


def test_config_spelling_is_a_number_for_every_yaml_reader():
    spelled = spell("train.learning_rate", 1e-5, "llamafactory", None, PARAMS, via="config")

    assert spelled is not None
    assert (spelled.kind, spelled.text) == ("config_file", "learning_rate: 1.0e-05")
    assert read_config(spelled.text, "a.yaml")[0][0].values == ("1.0e-05",)


def test_name_the_launch_uses_is_kept():
    used = RawArg(name="per_device_train_batch_size", values=("4",), origin=HERE)
    job = RawLaunch(framework="ms-swift", command="sft", args=(used,), env=(), origin=HERE)

    spelled = spell("train.micro_batch", 1, "ms-swift", "2.6.1", PARAMS, launch=job)

    assert spelled is not None
    assert spelled.text == "--per_device_train_batch_size 1"


def test_launcher_option_in_use_is_changed_in_place():
    used = RawArg(name="nproc_per_node", values=("4",), origin=HERE)
    job = RawLaunch(framework="trl", command="sft", args=(), env=(), origin=HERE, launcher=(used,))

    spelled = spell("parallel.processes_per_node", 8, "trl", None, PARAMS, launch=job)

    assert spelled is not None
    assert spelled.text == "--nproc_per_node 8"


@pytest.mark.parametrize(("machines", "total"), [(None, "4"), ("2", "8")])
def test_accelerate_counts_the_processes_of_all_machines(machines, total):
    used = [RawArg(name="num_processes", values=("16",), origin=HERE)]
    if machines is not None:
        used.append(RawArg(name="num_machines", values=(machines,), origin=HERE))
    job = RawLaunch(
        framework="trl", command="grpo", args=(), env=(), origin=HERE, launcher=tuple(used)
    )

    spelled = spell("parallel.processes_per_node", 4, "trl", None, PARAMS, launch=job)

    assert spelled is not None
    assert spelled.text == f"--num_processes {total}"


def test_a_variable_no_launcher_of_the_framework_reads_is_not_written():
    job = RawLaunch(framework="trl", command="grpo", args=(), env=(), origin=HERE)

    assert spell("parallel.processes_per_node", 4, "trl", None, PARAMS, launch=job) is None


def test_values_a_shell_would_split_are_quoted():
    spelled = spell("model.name", "/data/my model", "ms-swift", "3.2.1", PARAMS)

    assert spelled is not None
    assert spelled.text == "--model '/data/my model'"


def test_every_spelling_names_exactly_one_knob_and_its_source():
    for param, framework, spelling in SPELLINGS:
        assert bool(spelling.arg) != bool(spelling.env), (param.id, framework)
        assert spelling.source, (param.id, framework)


def test_every_default_has_the_type_of_its_parameter():
    kinds = {"int": int, "float": (int, float), "bool": bool, "text": str}
    for param, framework, spelling in SPELLINGS:
        if spelling.default is not None:
            assert isinstance(spelling.default, kinds[param.type]), (param.id, framework)
            assert param.type == "bool" or not isinstance(spelling.default, bool)

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx import frameworks
from trainrx.catalog.arguments import declared
from trainrx.catalog.catalog import catalog
from trainrx.catalog.signature import signature
from trainrx.frameworks.common.sheet import Sheet
from trainrx.frameworks.common.view import UNKNOWN, both, either, negate
from trainrx.launch.effective import Processes, Scene, processes, work_out
from trainrx.model.catalog import Value
from trainrx.model.facts import Origin
from trainrx.model.job import Argument, EnvVar, RawArg, RawLaunch

TEXT = {"model_type": "qwen2", "torch_dtype": "bfloat16", "max_position_embeddings": 32768}
SEES = TEXT | {"vision_config": {"depth": 32}}
HERE = Origin(source="launch.sh", line=1, text="")


def worked(
    version: str | None, command: str = "sft", framework: str = "ms-swift", **given: Value
) -> dict[str, Argument]:
    scene = Scene(
        framework=framework,
        command=command,
        releases=catalog(framework).of(version),
        versions={} if version is None else {framework: version},
        world_size=1,
        distributed=False,
        model=TEXT,
    )
    return work_out(table(version, command, framework, **given), scene)


def table(version: str | None, command: str, framework: str, **given: Value) -> dict[str, Argument]:
    taken = signature(framework, command, catalog(framework).of(version), {})
    values = {
        name: Argument(name=name, value=value, via="arg", how="read")
        for name, value in given.items()
    }
    return declared(taken, values, "default") | values


def value(arguments: dict[str, Argument], name: str) -> Value:
    assert arguments[name].known, name
    return arguments[name].value


@pytest.mark.parametrize(
    ("version", "steps"), [("2.6.1", 8), ("3.2.1", 1), ("3.2.2", 8), ("3.12.0", 8), ("4.6.0", 8)]
)
def test_accumulation_aims_at_sixteen_samples_but_for_3_0_to_3_2_1(
    version: str, steps: int
) -> None:
    size = {"batch_size" if version < "3" else "per_device_train_batch_size": 2}

    arguments = worked(version, **size)

    assert value(arguments, "gradient_accumulation_steps") == steps


def test_grpo_accumulates_once_since_3_7() -> None:
    early = worked("3.6.4", "rlhf", rlhf_type="grpo", per_device_train_batch_size=2)
    late = worked("3.7.0", "rlhf", rlhf_type="grpo", per_device_train_batch_size=2)

    assert value(early, "gradient_accumulation_steps") == 8
    assert value(late, "gradient_accumulation_steps") == 1


def test_megatron_trains_all_weights_before_it_knew_adapters() -> None:
    early = worked("3.6.4", "megatron sft", train_type="lora")
    late = worked("3.7.0", "megatron sft", train_type="lora")

    assert value(early, "train_type") == "full"
    assert value(late, "train_type") == "lora"


def test_megatron_takes_its_context_degree_for_the_sequence_degree() -> None:
    arguments = worked("4.6.0", "megatron sft", context_parallel_size=4, sequence_parallel_size=2)

    assert value(arguments, "sequence_parallel_size") == 4


def test_accumulation_over_an_unknown_number_of_processes_is_unknown() -> None:
    arguments = table("4.6.0", "sft", "ms-swift")
    scene = Scene(framework="ms-swift", command="sft", releases=catalog("ms-swift").of("4.6.0"))

    found = work_out(arguments, scene)["gradient_accumulation_steps"]

    assert not found.known
    assert found.why


@pytest.mark.parametrize(
    ("kind", "beta"), [("dpo", 0.1), ("grpo", 0.04), ("gkd", 0.5), ("simpo", 2.0)]
)
def test_beta_follows_the_algorithm(kind: str, beta: float) -> None:
    assert value(worked("4.6.0", "rlhf", rlhf_type=kind), "beta") == beta


def test_a_given_beta_stays_as_given() -> None:
    found = worked("4.6.0", "rlhf", rlhf_type="grpo", beta=0.2)["beta"]

    assert (found.value, found.via) == (0.2, "arg")


def test_nothing_is_evaluated_without_data_for_it_since_3_6() -> None:
    early = worked("3.5.3", dataset=["d"], split_dataset_ratio=0.0)
    late = worked("3.6.0", dataset=["d"], split_dataset_ratio=0.0)

    assert value(early, "eval_strategy") == "steps"
    assert value(late, "eval_strategy") == "no"


def test_a_validation_set_turns_the_split_off() -> None:
    arguments = worked("3.2.1", dataset=["d"], val_dataset=["v"])

    assert value(arguments, "split_dataset_ratio") == 0
    assert value(arguments, "eval_strategy") == "steps"


def test_full_training_has_the_smaller_learning_rate() -> None:
    assert value(worked("4.6.0", tuner_type="full"), "learning_rate") == 1e-5
    assert value(worked("4.6.0"), "learning_rate") == 1e-4


def test_precision_follows_the_model() -> None:
    arguments = worked("4.6.0")

    assert value(arguments, "torch_dtype") == "bfloat16"
    assert value(arguments, "bf16") is True
    assert value(arguments, "fp16") is False


def test_without_the_models_config_precision_is_unknown() -> None:
    scene = Scene(framework="ms-swift", command="sft", releases=catalog("ms-swift").of("4.6.0"))

    arguments = work_out(table("4.6.0", "sft", "ms-swift"), scene)

    assert not any(arguments[name].known for name in ("torch_dtype", "bf16", "max_length"))


def test_evaluation_strategy_is_overwritten_in_silence() -> None:
    arguments = worked("3.2.1", evaluation_strategy="epoch")

    assert value(arguments, "evaluation_strategy") == "steps"


def test_over_releases_that_differ_a_value_is_unknown() -> None:
    arguments = worked(None, "rlhf", rlhf_type="grpo")

    assert not arguments["gradient_accumulation_steps"].known


def test_packing_of_llamafactory_keeps_one_token_back_since_0_9_3() -> None:
    early = worked("0.9.2", "train", "llamafactory", packing=True, cutoff_len=1024)
    late = worked("0.9.3", "train", "llamafactory", packing=True, cutoff_len=1024)

    assert value(early, "cutoff_len") == 1024
    assert value(late, "cutoff_len") == 1023


def test_lora_alpha_of_llamafactory_is_twice_the_rank() -> None:
    arguments = worked("0.9.3", "train", "llamafactory", lora_rank=64, lora_target="q,v")

    assert value(arguments, "lora_alpha") == 128
    assert value(arguments, "lora_target") == ["q", "v"]


def test_hidden_arguments_leave_defaults_open() -> None:
    arguments = table("4.6.0", "sft", "ms-swift", learning_rate=1e-3)
    scene = Scene(
        framework="ms-swift",
        command="sft",
        releases=catalog("ms-swift").of("4.6.0"),
        complete=False,
        model=TEXT,
        world_size=1,
    )

    found = work_out(arguments, scene)

    assert found["learning_rate"].value == 1e-3
    assert not found["gradient_accumulation_steps"].known


def test_what_the_framework_wrote_down_itself_is_not_computed_again() -> None:
    arguments = table("4.6.0", "sft", "ms-swift")
    log = Argument(name="max_length", value=512, via="log", how="read")
    scene = Scene(
        framework="ms-swift",
        command="sft",
        releases=catalog("ms-swift").of("4.6.0"),
        model=TEXT,
    )

    assert work_out(arguments | {"max_length": log}, scene)["max_length"] is log


def test_a_framework_without_rules_keeps_its_arguments() -> None:
    arguments = {"lr": Argument(name="lr", value=1.0, via="arg", how="read")}

    assert work_out(arguments, Scene(framework="verl", command="", releases=0)) == arguments


def launch(
    framework: str, command: str, *, env: dict[str, str] | None = None, **launcher: str
) -> RawLaunch:
    return RawLaunch(
        framework=framework,
        command=command,
        args=(),
        env=tuple(EnvVar(name=n, value=v, origin=HERE) for n, v in (env or {}).items()),
        origin=HERE,
        launcher=tuple(RawArg(name=n, values=(v,), origin=HERE) for n, v in launcher.items()),
    )


@pytest.mark.parametrize(
    ("framework", "command", "env", "expected"),
    [
        ("ms-swift", "sft", {}, (1, False)),
        ("ms-swift", "sft", {"NPROC_PER_NODE": "4", "NNODES": "2"}, (8, True)),
        ("ms-swift", "deploy", {"NPROC_PER_NODE": "4"}, (1, False)),
        ("ms-swift", "sft", {"NPROC_PER_NODE": "many"}, (None, True)),
        ("llamafactory", "train", {}, (None, None)),
        ("llamafactory", "train", {"CUDA_VISIBLE_DEVICES": "0"}, (1, False)),
        ("llamafactory", "train", {"CUDA_VISIBLE_DEVICES": "0,1"}, (2, True)),
        ("llamafactory", "train", {"FORCE_TORCHRUN": "1", "NPROC_PER_NODE": "8"}, (8, True)),
        ("llamafactory", "export", {}, (1, False)),
        ("verl", "ppo", {}, (None, None)),
    ],
)
def test_processes_are_counted_as_the_program_starts_them(
    framework: str, command: str, env: dict[str, str], expected: tuple[int | None, bool | None]
) -> None:
    assert processes(launch(framework, command), env) == Processes(*expected)


def test_a_launcher_tells_the_processes() -> None:
    given_by_torchrun = launch("ms-swift", "sft", nproc_per_node="4", nnodes="2")

    assert processes(given_by_torchrun, {}) == Processes(8, distributed=True)


def test_a_condition_that_is_not_known_leaves_a_value_open_unless_both_agree() -> None:
    view = _view(rank=4, size=8)
    sheet = Sheet(view)

    sheet.set("rank", 16, when=None)
    sheet.set("size", 8, when=None)
    sheet.set("absent", 1)

    assert sheet.written == {"rank": UNKNOWN, "size": 8}


@given(st.lists(st.sampled_from([True, False, None])))
def test_logic_of_three_values_obeys_de_morgan(parts: list[bool | None]) -> None:
    assert negate(both(*parts)) is either(*map(negate, parts))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=4,
)
RULES = Path(frameworks.__file__).parent
NAMED_BY_RULES = {
    word
    for path in RULES.rglob("effective*.py")
    for word in re.findall(r'"(\w+)"', path.read_text())
}
COMMANDS = [
    ("ms-swift", "2.6.1", "rlhf"),
    ("ms-swift", "2.6.1", "infer"),
    ("ms-swift", "3.2.1", "rlhf"),
    ("ms-swift", "3.8.0", "deploy"),
    ("ms-swift", "4.6.0", "rlhf"),
    ("ms-swift", "4.6.0", "export"),
    ("ms-swift", None, "sft"),
    ("llamafactory", "0.9.3", "train"),
    ("llamafactory", "0.8.0", "train"),
]


@given(st.data(), st.sampled_from(COMMANDS))
def test_any_values_are_worked_out(data: st.DataObject, at: tuple[str, str | None, str]) -> None:
    framework, version, command = at
    names = table(version, command, framework).keys()
    touched = sorted(names & NAMED_BY_RULES)
    values = data.draw(st.dictionaries(st.sampled_from(touched), ANYTHING, max_size=60))
    model = data.draw(st.none() | st.dictionaries(st.sampled_from(sorted(SEES)), ANYTHING))
    scene = Scene(
        framework=framework,
        command=command,
        releases=catalog(framework).of(version),
        world_size=data.draw(st.none() | st.integers(-1, 9)),
        distributed=data.draw(st.none() | st.booleans()),
        model=model,
    )

    found = work_out(table(version, command, framework, **values), scene)

    assert found.keys() == names


def _view(**values: Value) -> _Plain:
    return _Plain(values)


class _Plain:
    command = "sft"
    world_size = 1
    distributed = False
    model = None

    def __init__(self, values: dict[str, Value]) -> None:
        self._values = values

    def has(self, name: str) -> bool:
        return name in self._values

    def get(self, name: str) -> Value:
        return self._values[name]

    def given(self, name: str) -> bool:
        return name in self._values

    def since(self, release: str) -> bool:
        return bool(release)

    def package_since(self, package: str, release: str) -> bool:
        return bool(package and release)

    def env(self, name: str) -> None:
        del name


@pytest.mark.parametrize(("version", "kept"), [("4.5.3", True), ("4.6.0", False)])
def test_without_workers_none_persist_from_4_6_on(version: str, kept: bool) -> None:
    found = worked(version, dataloader_num_workers=0)
    assert value(found, "dataloader_persistent_workers") is kept
    assert value(worked(version), "dataloader_persistent_workers") is True


@pytest.mark.parametrize(
    ("given", "on"),
    [
        ({}, False),
        ({"gradient_checkpointing": True}, True),
        ({"activation_checkpointing": True}, True),
        ({"gradient_checkpointing": True, "activation_checkpointing": False}, False),
    ],
)
def test_the_new_name_of_checkpointing_decides_and_the_old_one_fills_it(
    given: dict[str, Value], on: bool
) -> None:
    arguments = worked("5.23.0", "", "transformers", **given)

    assert value(arguments, "activation_checkpointing") is on
    assert value(arguments, "gradient_checkpointing") is on


def test_before_the_new_name_of_checkpointing_nothing_is_computed() -> None:
    arguments = worked("5.22.0", "", "transformers", gradient_checkpointing=True)

    assert "activation_checkpointing" not in arguments
    assert value(arguments, "gradient_checkpointing") is True

from __future__ import annotations

import msgspec
import pytest

from trainrx.catalog.resolved import Resolved
from trainrx.knowledge.load import read_entry
from trainrx.knowledge.places import shipped
from trainrx.launch.resolve import resolve
from trainrx.model.facts import Origin
from trainrx.model.job import EnvVar, RawArg, RawLaunch
from trainrx.model.parts import Param

KB = shipped()[0]


@pytest.fixture(scope="module")
def params() -> dict[str, Param]:
    files = sorted((KB / "params").glob("*.yaml"))
    return {path.stem: read_entry(path, Param) for path in files}


def arg(name: str, *values: str, line: int = 1, via: str = "arg", source: str = "run.sh") -> RawArg:
    unknown = any("$" in value for value in values)
    origin = Origin(source=source, line=line, text=f"--{name} {' '.join(values)}")
    return RawArg(name=name, values=None if unknown else values, origin=origin, via=via)


def config(**values: str) -> tuple[RawArg, ...]:
    return tuple(
        arg(name, value, line=line, via="config", source="a.yaml")
        for line, (name, value) in enumerate(values.items(), start=1)
    )


def variable(name: str, value: str | None, source: str = "run.sh") -> EnvVar:
    return EnvVar(name=name, value=value, origin=Origin(source=source, line=1))


def launch(framework: str, command: str, *args: RawArg, **more: object) -> RawLaunch:
    return RawLaunch(
        framework=framework,
        command=command,
        args=args,
        env=more.pop("env", ()),
        origin=Origin(source="run.sh", line=1),
        **more,
    )


def values(resolved: Resolved) -> dict[str, object]:
    return {name: setting.value for name, setting in resolved.settings.items()}


def facts(resolved: Resolved) -> dict[str, object]:
    return {fact.kind: fact.value for fact in resolved.facts}


@pytest.mark.parametrize(
    ("name", "value", "version", "major"),
    [
        ("sft_type", "lora", "<3.0.0", 2),
        ("train_type", "lora", ">=3.0.0,<4.1.0", None),
        ("attn_impl", "flash_attn", ">=3.0.0", None),
        ("vllm_mode", "colocate", ">=3.5.0", None),
    ],
)
def test_version_is_inferred_from_the_names_in_use(params, name, value, version, major):
    job = launch("ms-swift", "rlhf" if name.startswith("vllm") else "sft", arg(name, value))

    resolved = resolve(job, params=params)

    assert (resolved.version, resolved.version_how) == (version, "derived")
    assert facts(resolved).get("launch.framework_major") == major


def test_several_names_narrow_the_version_together(params):
    job = launch(
        "ms-swift",
        "rlhf",
        arg("train_type", "lora"),
        arg("num_infer_workers", "8"),
        arg("tensor_parallel_size", "8"),
    )

    resolved = resolve(job, params=params)

    assert resolved.version == ">=3.2.1,<3.6.0"
    assert facts(resolved)["launch.framework_major"] == 3


def test_names_of_two_releases_tell_no_version(params):
    job = launch("ms-swift", "sft", arg("sft_type", "lora"), arg("tuner_type", "lora"))

    resolved = resolve(job, params=params)

    assert resolved.version is None
    assert resolved.version_how is None


def test_command_line_beats_config_beats_environment(params):
    job = launch("llamafactory", "train", arg("cutoff_len", "512"), env=(variable("NNODES", "2"),))

    resolved = resolve(job, params=params, configs=config(cutoff_len="4096", packing="true"))

    assert values(resolved)["train.max_length"] == 512
    assert values(resolved)["train.packing"] is True
    assert values(resolved)["parallel.nodes"] == 2
    assert [s.value for s in resolved.shadowed] == [4096]


def test_environment_of_the_launch_beats_a_given_one(params):
    job = launch("ms-swift", "sft", env=(variable("NPROC_PER_NODE", "4"),))

    resolved = resolve(job, params=params, env=(variable("NPROC_PER_NODE", "8", "env.txt"),))

    assert values(resolved)["parallel.processes_per_node"] == 4


def test_launcher_beats_the_environment(params):
    job = launch(
        "ms-swift",
        "sft",
        env=(variable("NPROC_PER_NODE", "4"),),
        launcher=(arg("nproc_per_node", "2"),),
    )

    assert values(resolve(job, params=params))["parallel.processes_per_node"] == 2


def test_last_of_two_equal_flags_takes_effect(params):
    job = launch("ms-swift", "sft", arg("max_length", "1024"), arg("max_length", "2048", line=2))

    resolved = resolve(job, params=params)

    assert values(resolved)["train.max_length"] == 2048
    assert resolved.settings["train.max_length"].origins[0].line == 2


def test_pixel_environment_variable_decides_over_the_argument(params):
    env = (variable("MAX_PIXELS", "602112"),)
    job = launch("ms-swift", "sft", arg("max_pixels", "1003520"), env=env)

    resolved = resolve(job, params=params, versions={"ms-swift": "3.2.1"})

    assert resolved.settings["vision.max_pixels"].spelled_as == "MAX_PIXELS"
    assert [(s.spelled_as, s.value) for s in resolved.shadowed] == [("max_pixels", 1003520)]


@pytest.mark.parametrize(
    ("version", "frozen", "how"),
    [("2.6.1", False, "default"), ("3.2.1", True, "default"), ("3.x", True, "default")],
)
def test_default_follows_the_version(params, version, frozen, how):
    job = launch("ms-swift", "sft")

    setting = resolve(job, params=params, versions={"ms-swift": version}).settings["freeze.vision"]

    assert (setting.value, setting.how, setting.via) == (frozen, how, "default")


def test_default_that_changed_is_unknown_without_a_version(params):
    resolved = resolve(launch("ms-swift", "sft"), params=params)

    assert "freeze.vision" not in resolved.settings
    assert resolved.settings["train.gradient_checkpointing"].how == "assumed"


def test_defaults_of_vllm_wait_for_vllm(params):
    grpo = (arg("rlhf_type", "grpo"), arg("train_type", "lora"))
    without = launch("ms-swift", "rlhf", *grpo)
    with_it = launch("ms-swift", "rlhf", *grpo, arg("use_vllm", "true"))
    versions = {"ms-swift": "3.4.0"}

    assert "vllm.share" not in resolve(without, params=params, versions=versions).settings
    share = resolve(with_it, params=params, versions=versions).settings["vllm.share"]
    assert (share.value, share.how) == (0.9, "default")


def test_lora_defaults_wait_for_lora(params):
    full = launch("ms-swift", "sft", arg("train_type", "full"))

    assert "tuner.rank" not in resolve(full, params=params).settings


@pytest.mark.parametrize(
    ("version", "processes", "batch", "steps"),
    [
        ("2.6.1", "1", "1", 16),
        ("2.6.1", "2", "3", 3),
        ("3.0.2", "1", "1", 1),
        ("3.2.1", "8", "1", 1),
        ("3.2.2", "8", "1", 2),
        ("3.2.1", "8", "4", 1),
    ],
)
def test_accumulation_aims_at_sixteen_samples(params, version, processes, batch, steps):
    name = "batch_size" if version.startswith("2") else "per_device_train_batch_size"
    env = (variable("NPROC_PER_NODE", processes),)
    job = launch("ms-swift", "sft", arg(name, batch), env=env)

    resolved = resolve(job, params=params, versions={"ms-swift": version})

    assert values(resolved)["train.grad_accum"] == steps


def test_grpo_does_not_accumulate_from_3_7_on(params):
    job = launch("ms-swift", "rlhf", arg("rlhf_type", "grpo"))

    assert (
        values(resolve(job, params=params, versions={"ms-swift": "3.7.0"}))["train.grad_accum"] == 1
    )


def test_accumulation_is_unknown_without_a_process_count(params):
    job = launch("ms-swift", "sft", env_complete=False)

    resolved = resolve(job, params=params, versions={"ms-swift": "3.2.2"})

    assert "train.grad_accum" not in resolved.settings


@pytest.mark.parametrize(("tuner", "rate"), [("full", 1e-5), ("lora", 1e-4)])
def test_learning_rate_depends_on_what_is_trained(params, tuner, rate):
    job = launch("ms-swift", "sft", arg("train_type", tuner))

    assert values(resolve(job, params=params))["train.learning_rate"] == rate


def test_swift_without_process_count_runs_one_process(params):
    resolved = resolve(launch("ms-swift", "sft"), params=params)

    setting = resolved.settings["parallel.processes_per_node"]
    assert (setting.value, setting.how) == (1, "assumed")


def test_unset_variable_is_unknown_and_reported(params):
    job = launch("ms-swift", "sft", arg("max_length", "$MAX_LEN", line=7))

    resolved = resolve(job, params=params, versions={"ms-swift": "2.6.1"})

    assert resolved.settings["train.max_length"].value is None
    assert "train.max_length" not in facts(resolved)
    assert [(u.line, u.reason) for u in resolved.unread] == [
        (7, "--max_length: $MAX_LEN is not set in the script")
    ]


def test_what_the_framework_wrote_down_decides_over_the_launch(params):
    job = launch("ms-swift", "sft", arg("max_length", "$MAX_LEN"), arg("lora_rank", "8"))
    dumps = config(max_length="4096", lora_rank="16")

    found = resolve(job, params=params, dumps=dumps)

    assert values(found)["train.max_length"] == 4096
    assert found.arguments["lora_rank"].value == 16
    assert found.arguments["lora_rank"].via == "log"
    assert [hidden.text for hidden in found.shadowed if hidden.canonical == "tuner.rank"] == ["8"]


def test_a_value_only_the_program_printed_is_not_the_user_s(params):
    job = launch("ms-swift", "sft", arg("lora_rank", "8"), arg("model", "m"))
    dumps = config(max_length="4096", lora_rank="16", model="m")

    found = resolve(job, params=params, dumps=dumps).settings

    assert found["train.max_length"].how == "printed"
    # what the launch sets otherwise is where it can be changed
    assert (found["tuner.rank"].how, found["tuner.rank"].origins[0].source) == ("read", "run.sh")
    assert (found["model.name"].how, found["model.name"].via) == ("read", "arg")


def test_unparseable_value_is_reported_and_no_default_replaces_it(params):
    job = launch("ms-swift", "sft", arg("gradient_checkpointing", "ture", line=3))

    resolved = resolve(job, params=params)

    assert resolved.settings["train.gradient_checkpointing"].value is None
    assert [(str(u.source), u.line, u.reason) for u in resolved.unread] == [
        ("run.sh", 3, "--gradient_checkpointing: 'ture' is neither true nor false")
    ]


def test_unknown_flags_are_kept_without_complaint(params):
    resolved = resolve(launch("ms-swift", "sft", arg("foo", "1")), params=params)

    assert [flag.name for flag in resolved.unknown_flags] == ["foo"]
    assert resolved.unread == ()


def test_flag_of_another_release_takes_no_effect(params):
    job = launch("ms-swift", "sft", arg("sft_type", "full"))

    resolved = resolve(job, params=params, versions={"ms-swift": "3.2.1"})

    assert [flag.name for flag in resolved.unknown_flags] == ["sft_type"]
    assert resolved.settings["tuner.type"].via == "default"


@pytest.mark.parametrize(
    ("framework", "name", "value", "canonical", "expected"),
    [
        ("ms-swift", "torch_dtype", "bfloat16", "train.precision", "bf16"),
        ("ms-swift", "dtype", "fp16", "train.precision", "fp16"),
        ("ms-swift", "bf16", "True", "train.precision", "bf16"),
        ("ms-swift", "attn_impl", "flash_attention_2", "train.attention", "flash_attn"),
        ("ms-swift", "use_flash_attn", "true", "train.attention", "flash_attn"),
        ("ms-swift", "deepspeed", "default-zero2", "parallel.deepspeed", "zero2"),
        ("llamafactory", "flash_attn", "fa2", "train.attention", "flash_attn"),
        ("llamafactory", "flash_attn", "disabled", "train.attention", "eager"),
        ("llamafactory", "fp16", "yes", "train.precision", "fp16"),
        (
            "llamafactory",
            "disable_gradient_checkpointing",
            "true",
            "train.gradient_checkpointing",
            False,
        ),
        ("llamafactory", "stage", "dpo", "rlhf.type", "dpo"),
        ("trl", "load_in_4bit", "true", "tuner.quant_bits", 4),
        ("trl", "per_device_train_batch_size", "2", "train.micro_batch", 2),
        ("trl", "use_peft", "true", "tuner.type", "lora"),
        ("axolotl", "sequence_len", "4096", "train.max_length", 4096),
        ("vllm", "gpu-memory-utilization", "0.8", "vllm.share", 0.8),
        ("verl", "actor_rollout_ref.rollout.n", "5", "rlhf.num_generations", 5),
    ],
)
def test_values_are_typed_and_canonical(params, framework, name, value, canonical, expected):
    resolved = resolve(launch(framework, "", arg(name, value)), params=params)

    assert values(resolved)[canonical] == expected
    assert type(values(resolved)[canonical]) is type(expected)


def test_bare_switch_is_true_and_its_negation_false(params):
    job = launch("ms-swift", "sft", arg("packing"), arg("no_gradient_checkpointing"))

    resolved = resolve(job, params=params)

    assert values(resolved)["train.packing"] is True
    assert values(resolved)["train.gradient_checkpointing"] is False


def test_false_precision_switch_says_nothing(params):
    resolved = resolve(launch("ms-swift", "sft", arg("fp16", "false")), params=params)

    assert "train.precision" not in resolved.settings
    assert resolved.unread == ()


def test_offload_facts_of_the_preset_depend_on_the_version(params):
    job = launch("ms-swift", "sft", arg("deepspeed", "zero3_offload"))

    new = facts(resolve(job, params=params, versions={"ms-swift": "3.2.1"}))
    old = facts(resolve(job, params=params, versions={"ms-swift": "3.0.1"}))
    unknown = facts(resolve(job, params=params))

    assert (new["parallel.zero_stage"], new["parallel.offload_optimizer"]) == (3, True)
    assert (old["parallel.offload_params"], old["parallel.offload_optimizer"]) == (True, False)
    assert "parallel.offload_optimizer" not in unknown


def test_file_at_hand_decides_over_its_name(params):
    job = launch("trl", "sft", arg("deepspeed", "conf/my_zero3.json"))
    files = {"my_zero3.json": '{"zero_optimization": {"stage": 2}}'}

    found = facts(resolve(job, params=params, files=files))

    assert found["parallel.zero_stage"] == 2


def test_no_deepspeed_is_stage_zero_only_when_nothing_is_hidden(params):
    plain = launch("ms-swift", "sft")
    hidden = launch("trl", "sft", launcher=(arg("config_file", "ds.yaml"),))

    assert facts(resolve(plain, params=params))["parallel.zero_stage"] == 0
    assert "parallel.zero_stage" not in facts(resolve(hidden, params=params))


@pytest.mark.parametrize(
    ("path", "stage"),
    [
        ("examples/accelerate_configs/deepspeed_zero3.yaml", 3),
        ("configs/zero2.yaml", 2),
        ("my_cluster.yaml", None),
    ],
)
def test_a_config_of_accelerate_that_is_not_here_may_bear_its_stage_in_its_name(
    path, stage, params
):
    started = launch("trl", "sft", launcher=(arg("config_file", path),))

    assert facts(resolve(started, params=params)).get("parallel.zero_stage") == stage


def test_accelerate_config_sets_layout_and_sharding(params):
    given = {
        "num_processes": "16",
        "num_machines": "2",
        "mixed_precision": "bf16",
        "deepspeed_config.zero_stage": "3",
        "deepspeed_config.offload_optimizer_device": "cpu",
    }

    resolved = resolve(launch("trl", "sft"), params=params, configs=config(**given))

    assert values(resolved)["parallel.processes_per_node"] == 8
    assert values(resolved)["train.precision"] == "bf16"
    assert facts(resolved)["parallel.zero_stage"] == 3
    assert facts(resolved)["parallel.offload_optimizer"] is True


@pytest.mark.parametrize(
    ("framework", "command", "args", "task"),
    [
        ("ms-swift", "sft", (), "sft"),
        ("ms-swift", "megatron pt", (), "pt"),
        ("ms-swift", "rlhf", (arg("rlhf_type", "grpo"),), "grpo"),
        ("ms-swift", "rollout", (), "infer"),
        ("ms-swift", "export", (), "export"),
        ("llamafactory", "train", (arg("stage", "pt"),), "pt"),
        ("trl", "grpo", (), "grpo"),
        ("openrlhf", "train_ppo_ray", (), "ppo"),
        ("verl", "ppo_trainer", (arg("algorithm.adv_estimator", "grpo"),), "grpo"),
    ],
)
def test_task_is_named(params, framework, command, args, task):
    assert facts(resolve(launch(framework, command, *args), params=params))["launch.task"] == task


def test_every_fact_of_an_input_cites_its_place(params):
    job = launch("ms-swift", "sft", arg("max_length", "2048", line=4))

    fact = next(f for f in resolve(job, params=params).facts if f.kind == "train.max_length")

    assert [str(origin) for origin in fact.origins] == ["run.sh:4"]


def test_megatron_commands_take_their_own_names_and_defaults(params):
    job = launch("ms-swift", "megatron sft", arg("micro_batch_size", "2"))

    resolved = resolve(job, params=params, versions={"ms-swift": "3.8.0"})

    assert values(resolved)["train.micro_batch"] == 2
    assert values(resolved)["tuner.type"] == "full"
    assert "train.grad_accum" not in resolved.settings


def test_unnamed_framework_takes_the_names_of_transformers(params):
    job = launch("", "", arg("per_device_train_batch_size", "4"))

    resolved = resolve(job, params=params)

    assert values(resolved)["train.micro_batch"] == 4
    assert "launch.framework" not in facts(resolved)


@pytest.mark.parametrize(
    ("version", "attention"), [("0.3.6", "eager"), ("0.9.0", "flash_attn"), (None, None)]
)
def test_a_default_that_another_release_has_another_argument_for_is_told_by_release(
    params: dict[str, Param], version: str | None, attention: str | None
) -> None:
    versions = {"openrlhf": version} if version else {}
    found = resolve(
        launch("openrlhf", "dpo", arg("pretrain", "m")), params=params, versions=versions
    )

    setting = found.settings.get("train.attention")

    assert (setting and setting.value) == attention


@pytest.mark.parametrize(
    ("version", "refused"), [("4.6.0", True), ("3.12.0", False), ("3.2.1", True), (None, False)]
)
def test_a_file_behind_a_flag_is_taken_by_some_releases_of_ms_swift(
    params: dict[str, Param], version: str | None, refused: bool
) -> None:
    versions = {"ms-swift": version} if version else {}
    found = resolve(
        launch("ms-swift", "sft", arg("config", "a.yaml")), params=params, versions=versions
    )

    assert [item.name for item in found.unknown_flags] == (["config"] if refused else [])


@pytest.mark.parametrize(("args", "refused"), [((), ("config",)), (("use_ray",), ())])
def test_megatron_of_ms_swift_takes_a_file_by_flag_with_ray_alone(args, refused, params):
    given = [arg(name, "true") for name in args]
    started = launch("ms-swift", "megatron rlhf", *given, arg("config", "gkd.yaml"))

    found = resolve(started, params=params, versions={"ms-swift": "4.5.1"})

    assert tuple(flag.name for flag in found.unknown_flags) == refused


def test_a_program_nobody_knows_has_no_defaults_of_the_trainer(params: dict[str, Param]) -> None:
    started = (arg("nproc_per_node", "8", via="launcher"),)
    own = msgspec.structs.replace(launch("", "train"), launcher=started)
    known = msgspec.structs.replace(own, framework="transformers")

    without = values(resolve(launch=own, params=params))
    with_trainer = values(resolve(launch=known, params=params))

    assert without["parallel.processes_per_node"] == 8
    assert not {name for name in without if name.startswith("train.")}
    assert with_trainer["train.micro_batch"] == 8

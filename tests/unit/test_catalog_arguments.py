"""What a launch gives its framework, as the framework's own parser reads it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from trainrx.catalog.arguments import declared, read_given
from trainrx.catalog.catalog import catalog
from trainrx.catalog.signature import signature
from trainrx.catalog.typed import read_as
from trainrx.launch.args import read_arguments
from trainrx.model.facts import Origin
from trainrx.model.job import RawArg, Word


def raw(name, *values, via="arg"):
    return RawArg(name=name, values=values, origin=Origin(source="run.sh", line=3), via=via)


def swift(*args, configs=(), version="3.5.3", command="sft", style="hf"):
    taken = signature("ms-swift", command, catalog("ms-swift").of(version))
    return read_given(args, configs, taken, style)


@pytest.mark.parametrize(
    ("given_as", "values", "name", "value"),
    [
        ("max-length", ("2048",), "max_length", 2048),
        ("per_device_train_b", ("2",), "per_device_train_batch_size", 2),
        ("no_gradient_checkpointing", (), "gradient_checkpointing", False),
        ("packing", (), "packing", True),
        ("packing", ("True",), "packing", True),
        ("packing", ("1",), "packing", True),
        ("learning_rate", ("1e-4",), "learning_rate", 1e-4),
        ("dataset", ("a.jsonl", "b.jsonl"), "dataset", ["a.jsonl", "b.jsonl"]),
        ("target_modules", ("all-linear",), "target_modules", ["all-linear"]),
        ("model_kwargs", ('{"fps_max_frames": 12}',), "model_kwargs", {"fps_max_frames": 12}),
        ("torch_dtype", ("bfloat16",), "torch_dtype", "bfloat16"),
    ],
)
def test_arguments_are_named_in_full_and_typed(given_as, values, name, value):
    found = swift(raw(given_as, *values))

    argument = found.values[name]
    assert (argument.value, type(argument.value)) == (value, type(value))
    assert argument.given_as == ("" if given_as == name else given_as)
    assert not found.problems
    assert not found.strangers


def override(text):
    word = Word(text=text, line=1, source="run.sh")
    (arg,) = read_arguments((word,), lambda _: Origin(source="run.sh"), overrides=True).args
    return arg


def hydra(*texts, configs=(), version="0.6.0", command="ppo_trainer", closed=True):
    taken = signature("verl", command, catalog("verl").of(version))
    args = [override(text) for text in texts]
    return read_given(args, configs, taken, "hydra", closed=closed)


@pytest.mark.parametrize(
    "text",
    [
        "trainer.n_gpus_per_node=8",
        # new keys are announced
        "+trainer.of_my_own=1",
        "++trainer.n_gpus_per_node=8",
        "++trainer.of_my_own=1",
        "+actor_rollout_ref.rollout.engine_kwargs.sglang.attention_backend=triton",
        # deletions of a leaf and of a part
        "~trainer.n_gpus_per_node",
        "~critic",
        # a part given as a mapping, an item of a list
        "actor_rollout_ref.rollout.engine_kwargs.vllm={swap_space: 4}",
        "trainer.logger.0=wandb",
        # files and hydra's own
        "actor@actor_rollout_ref.actor=dp_actor",
        "hydra.run.dir=out",
        "hydra/job_logging=disabled",
        "--config-name=ppo_trainer",
        "--config-path=config",
    ],
)
def test_hydra_takes_what_is_there_and_what_is_added(text):
    found = hydra(text)

    assert not found.strangers
    assert not found.problems


@pytest.mark.parametrize(
    "text",
    [
        "trainer.of_my_own=1",
        "trainer.n_gpus=8",
        "~trainer.of_my_own",
        "actor_rollout_ref.rollout.engine_kwargs.sglang.attention_backend=triton",
        "actor_rollout_ref.model.override_config.max_position_embeddings=32768",
    ],
)
def test_hydra_refuses_a_key_that_is_not_there(text):
    assert len(hydra(text).strangers) == 1


def test_what_is_there_is_not_added_again():
    found = hydra("+trainer.nnodes=2", "+trainer.default_hdfs_dir=hdfs://out")

    ((arg, problem),) = found.problems
    assert arg.name == "trainer.nnodes"
    assert "++" in problem
    assert "trainer.default_hdfs_dir" in found.values
    assert not found.strangers


def test_a_configuration_at_hand_brings_keys_of_its_own():
    own = (raw("reward_model.overlong_buffer.len", "512", via="config"),)
    texts = ["reward_model.overlong_buffer.len=1024", "reward_model.overlong_buffer={len: 1}"]

    assert not hydra(*texts, configs=own).strangers
    assert len(hydra(*texts).strangers) == 2


def test_nothing_is_unknown_to_a_program_that_may_take_more():
    found = hydra("algorithm.filter_groups.enable=True", closed=False)

    assert not found.strangers


def axolotl(*names, version="0.18.0", beside=()):
    taken = signature("axolotl", "train", catalog("axolotl").of(version), None, beside)
    configs = [raw(name, "1", via="config") for name in names]
    return read_given((), configs, taken, "keys"), taken


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("datasets.0.path", "0.18.0"),
        ("datasets.3.message_property_mappings.role", "0.18.0"),
        ("datasets.0.type.field_chosen", "0.9.2"),
        ("special_tokens.pad_token", "0.5.2"),
        ("fsdp_config.offload_params", "0.18.0"),
        # a validator takes the prefix off; before there was a model any key was passed on
        ("fsdp_config.fsdp_offload_params", "0.18.0"),
        ("fsdp_config.fsdp_sharding_strategy", "0.5.2"),
        # mappings that are handed to another package
        ("gradient_checkpointing_kwargs.use_reentrant", "0.18.0"),
        ("model_config.output_router_logits", "0.18.0"),
        ("trl.beta", "0.18.0"),
    ],
)
def test_keys_inside_are_those_of_the_model_inside(name, version):
    found, _ = axolotl(name, version=version)

    assert not found.strangers
    assert len(found.values) == 1


@pytest.mark.parametrize(
    "name",
    [
        "datasets.0.pathh",
        "special_tokens.foo",
        "fsdp_config.sharding_strategy",
        "tokens.bos_token",
        "gptq_groupsize",
        "liger_rope",
        "trl.betta",
    ],
)
def test_a_key_no_model_has_is_unknown(name):
    found, _ = axolotl(name)

    assert [arg.name for arg in found.strangers] == [name]


def test_a_plugin_that_is_turned_on_brings_its_keys():
    found, _ = axolotl("liger_rope", beside=("plugin:axolotl.integrations.liger",))

    assert not found.strangers
    assert found.values["liger_rope"].value is True


def test_keys_inside_a_model_nobody_gives_have_no_default():
    found, taken = axolotl("trl.beta")

    names = set(declared(taken, found.values, "default"))

    assert "learning_rate" in names
    assert not [name for name in names if name.startswith(("trl.", "datasets.", "qat."))]


def test_an_ambiguous_beginning_is_refused_not_guessed():
    found = swift(raw("per_device", "2"))

    assert not found.values
    assert "per_device_train_batch_size" in found.problems[0][1]


def test_a_whole_name_is_never_taken_for_the_beginning_of_another():
    assert set(swift(raw("model", "m")).values) == {"model"}


def test_config_keys_are_not_completed():
    found = swift(configs=(raw("per_device_train_b", "2", via="config"),))

    assert [arg.name for arg in found.strangers] == ["per_device_train_b"]


def test_the_command_line_goes_before_a_config_and_the_last_before_the_first():
    file = raw("lora_rank", "4", via="config")

    found = swift(raw("lora_rank", "8"), raw("lora_rank", "16"), configs=(file,))

    assert found.values["lora_rank"].value == 16
    assert found.values["lora_rank"].via == "arg"


@pytest.mark.parametrize(
    ("name", "values", "word"),
    [
        ("max_length", ("two",), "int"),
        ("packing", ("ture",), "bool"),
        ("torch_dtype", ("bf16",), "bfloat16"),
        ("max_length", (), "missing"),
        ("max_length", ("1", "2"), "belongs to no argument"),
    ],
)
def test_what_the_parser_would_refuse_is_said(name, values, word):
    ((arg, problem),) = swift(raw(name, *values)).problems

    assert arg.name == name
    assert word in problem


def test_a_value_only_the_shell_knows_is_unknown():
    arg = RawArg(name="max_length", values=None, origin=Origin(source="run.sh"))

    found = swift(arg).values["max_length"]

    assert not found.known
    assert found.why


def test_defaults_leave_out_what_was_given_and_say_when_they_are_open():
    taken = signature("ms-swift", "sft", catalog("ms-swift").of("3.x"))

    found = declared(taken, ["lora_rank"], "default")

    assert "lora_rank" not in found
    assert found["lora_alpha"].value == 32
    assert all(item.known or item.why for item in found.values())


@pytest.mark.parametrize(
    ("kind", "choices", "texts", "from_file", "value"),
    [
        ("Optional[int]", None, ("null",), True, None),
        ("Optional[int]", None, ("None",), False, None),
        ("float", None, ("1e-5",), False, 1e-5),
        ("float", None, ("3",), False, 3),
        ("int | float | None", None, ("0.5",), False, 0.5),
        ("Union[dict, str]", None, ("zero3",), False, "zero3"),
        ("List[int]", None, ("1", "2"), False, [1, 2]),
        ("list[str] | None", None, ("null",), True, None),
        ("Literal", ["no", 8], ("8",), False, 8),
        ("Optional[Literal]", ["no", "epoch"], ("None",), False, None),
        ("", None, ("anything",), False, "anything"),
        ("str", None, ("None",), False, "None"),
        ("store_true", None, (), False, True),
        ("store_false", None, (), False, False),
        ("BooleanOptionalAction", None, (), False, True),
        ("store_true", None, ("false",), True, False),
    ],
)
def test_a_text_is_read_as_its_type(kind, choices, texts, from_file, value):
    typed = read_as(kind, choices, texts, from_file=from_file)

    assert typed.value == value
    assert not typed.problem


@examples(300)
@given(
    st.sampled_from(["int", "Optional[float]", "bool", "List[str]", "Union[dict, str]", "", "x["]),
    st.none() | st.lists(st.text(max_size=3) | st.integers(), max_size=3),
    st.lists(
        st.text(max_size=30)
        | st.tuples(st.integers(), st.text(max_size=1)).map(lambda t: f"{t[0]}{t[1]}"),
        max_size=3,
    ),
    st.booleans(),
)
def test_no_text_breaks_the_reader(kind, choices, texts, from_file):
    typed = read_as(kind, choices, texts, from_file=from_file)

    assert isinstance(typed.problem, str)


FREE_LIST = "Optional[Union[list[FSDPOption], str]]"


@pytest.mark.parametrize(
    ("text", "value", "refused"),
    [
        ("full_shard auto_wrap", ["full_shard", "auto_wrap"], False),
        ("full_shrd auto_wrap", ["full_shrd", "auto_wrap"], True),
        ("", [], False),
    ],
)
def test_a_list_that_may_be_a_text_is_split_at_blanks(text, value, refused):
    found = read_as(FREE_LIST, ("full_shard", "auto_wrap"), (text,))

    assert found.value == value
    assert bool(found.problem) is refused

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.evidence.arguments import REACH, logged_arguments
from trainrx.evidence.blocks import LEAST_EARLY
from trainrx.model.job import Input

HEALTHY = Path(__file__).parents[1] / "healthy"


def dumps_of(text: str):
    return logged_arguments([Input(kind="log", name="train.log", text=text)])


def values_of(dump):
    return {arg.name: arg.values for arg in dump.values}


def recorded(name: str):
    path = HEALTHY / name / "train.log"
    return logged_arguments([Input(kind="log", name="train.log", path=path)])


@pytest.mark.parametrize(
    ("folder", "line", "number", "told"),
    [
        ("ms-swift-2.6.1-sft-lora", 10, 212, {"batch_size": ("2",), "sft_type": ("lora",)}),
        (
            "ms-swift-3.2.1-sft-lora",
            10,
            291,
            {"per_device_train_batch_size": ("2",), "train_type": ("lora",), "max_steps": ("5",)},
        ),
        ("ms-swift-4.6.0-sft-lora", 10, 333, {"tuner_type": ("lora",), "model": ("./tiny",)}),
    ],
)
def test_the_arguments_of_recorded_runs_are_read(folder, line, number, told):
    dump = next(d for d in recorded(folder) if d.kind == "arguments")

    values = values_of(dump)
    assert (dump.framework, dump.command, dump.origin.line) == ("ms-swift", "sft", line)
    assert len(values) == number
    assert {name: values[name] for name in told} == told


def test_every_value_cites_its_own_line():
    dump = next(d for d in recorded("ms-swift-3.2.1-sft-lora") if d.kind == "arguments")
    text = (HEALTHY / "ms-swift-3.2.1-sft-lora" / "train.log").read_text().split("\n")

    lines = {arg.name: text[arg.origin.line - 1] for arg in dump.values}
    assert all(line.startswith(f"{name}=") for name, line in lines.items())


def test_masked_values_are_not_told():
    dump = next(d for d in recorded("ms-swift-3.2.1-sft-lora") if d.kind == "arguments")

    hidden = {arg.name for arg in dump.values if arg.values is None}
    assert hidden == {"hub_token", "push_to_hub_token", "swanlab_token"}


def test_settings_around_the_arguments_are_kept_in_order():
    kinds = [(d.kind, d.values[0].name) for d in recorded("ms-swift-4.6.0-sft-lora")]

    assert kinds[:4] == [
        ("adjusted", "lazy_tokenize"),
        ("adjusted", "gradient_accumulation_steps"),
        ("adjusted", "dataloader_num_workers"),
        ("arguments", "acc_strategy"),
    ]
    assert ("model-kwargs", "device_map") in kinds


def test_the_banner_of_the_trainer_is_read():
    (dump,) = recorded("llamafactory-0.9.3-ddp-2-processes")

    assert dump.kind == "banner"
    assert values_of(dump) == {
        "per_device_train_batch_size": ("2",),
        "total_train_batch_size": ("4",),
        "gradient_accumulation_steps": ("1",),
        "total_optimization_steps": ("6",),
        "trainable_parameters": ("16384",),
    }


def test_variables_in_effect_are_told_as_variables():
    text = (
        "[INFO:swift] Setting image_factor: 28. You can adjust this hyperparameter through the "
        "environment variable: `IMAGE_FACTOR`.\n"
        "[INFO:swift] Using environment variable `MAX_PIXELS`, Setting max_pixels: 602112.\n"
        "[INFO:swift] Setting max_pixels: 1003520. You can adjust this hyperparameter through the "
        "environment variable: `MAX_PIXELS`.\n"
    )

    found = [(d.kind, d.values[0].name, d.values[0].values) for d in dumps_of(text)]

    assert found == [
        ("environment", "IMAGE_FACTOR", ("28",)),
        ("environment", "MAX_PIXELS", ("602112",)),
        ("environment", "MAX_PIXELS", ("1003520",)),
    ]


VLLM = (
    "INFO 09-03 16:28:10 [utils.py:328] non-default args: {'model_tag': '/m/Qwen2.5-0.5B/', "
    "'model': '/m/Qwen2.5-0.5B/', 'tensor_parallel_size': 2}\n"
    "INFO 09-03 16:28:23 [core.py:75] Initializing a V1 LLM engine (v0.10.2.dev378) with config: "
    "model='/m/Qwen2.5-0.5B/', speculative_config=None, tokenizer_mode=auto, dtype=torch.bfloat16, "
    "max_seq_len=32768, load_format=auto, tensor_parallel_size=2, kv_cache_dtype=auto,  "
    "device_config=cuda, decoding_config=DecodingConfig(backend='auto', x=None), "
    'compilation_config={"level":3,"cudagraph_capture_sizes":[512,504]}\n'
    "INFO 02-12 13:31:04 api_server.py:841] args: Namespace(subparser='serve', host='127.0.0.1', "
    "tensor_parallel_size=4, max_model_len=None)\n"
)
"""Lines of https://github.com/vllm-project/vllm/pull/24162 and /issues/13124, shortened."""


def test_what_vllm_prints_is_read():
    given, engine, older = dumps_of(VLLM)

    assert (given.framework, given.command, given.kind) == ("vllm", "serve", "arguments")
    assert values_of(given)["tensor_parallel_size"] == ("2",)
    assert (engine.kind, engine.origin.line) == ("engine", 2)
    assert values_of(engine)["max_seq_len"] == ("32768",)
    assert values_of(engine)["dtype"] == ("torch.bfloat16",)
    assert values_of(engine)["decoding_config.x"] == ("null",)
    assert (older.command, values_of(older)["tensor_parallel_size"]) == ("serve", ("4",))


DEEPSPEED = """\
[2025-02-07 01:13:41,363] [INFO] [config.py:1000:print] DeepSpeedEngine configuration:
[2025-02-07 01:13:41,363] [INFO] [config.py:1003:print]   activation_checkpointing_config  {
    "partition_activations": false
}
[2025-02-07 01:13:41,363] [INFO] [config.py:1003:print]   bfloat16_enabled ............. True
[2025-02-07 01:13:41,363] [INFO] [config.py:1003:print]   mics_hierarchial_params_gather  False
[2025-02-07 01:13:41,364] [INFO] [config.py:1003:print]   train_batch_size ............. 16
[2025-02-07 01:13:41,364] [INFO] [config.py:1003:print]   zero_config .................. stage=3 x=1
[2025-02-07 01:13:41,364] [INFO] [config.py:1003:print]   zero_optimization_stage ...... 3
[2025-02-07 01:13:41,364] [INFO] [config.py:989:print_user_config]   json = {
    "train_batch_size": 16,
    "zero_optimization": {
        "stage": 3,
        "offload_optimizer": {
            "device": "cpu"
        }
    }
}
[INFO] next
"""
"""Shape of https://github.com/huggingface/trl/issues/2784."""


def test_the_configuration_of_deepspeed_is_read():
    (dump,) = dumps_of(DEEPSPEED)

    values = values_of(dump)
    assert (dump.framework, dump.kind) == ("deepspeed", "deepspeed")
    assert values["zero_optimization_stage"] == ("3",)
    assert values["bfloat16_enabled"] == ("True",)
    assert values["mics_hierarchial_params_gather"] == ("False",)
    assert values["zero_config"] is None
    assert values["zero_optimization.offload_optimizer.device"] == ("cpu",)
    lines = {arg.name: arg.origin.line for arg in dump.values}
    assert lines["zero_optimization.stage"] == 13


def test_the_preset_ms_swift_says_it_uses_is_read():
    (dump,) = dumps_of("[INFO:swift] Using deepspeed: {'zero_optimization': {'stage': 2}}\n")

    assert dump.kind == "deepspeed"
    assert values_of(dump) == {"zero_optimization.stage": ("2",)}


def test_the_configuration_verl_prints_through_ray_is_read():
    tag = "(TaskRunner pid=4242, ip=10.0.0.1) "
    text = (
        f"{tag}{{'actor_rollout_ref': {{'actor': {{'ppo_mini_batch_size': 256,\n"
        "(WorkerDict pid=7) loading\n"
        f"{tag}                                'strategy': 'fsdp'}},\n"
        f"{tag}  'model': {{'path': '/a '\n"
        f"{tag}                    'b'}}}},\n"
        f"{tag} 'trainer': {{'n_gpus_per_node': 8}}}}\n"
        f"{tag}done\n"
    )

    (dump,) = dumps_of(text)

    assert dump.framework == "verl"
    assert values_of(dump) == {
        "actor_rollout_ref.actor.ppo_mini_batch_size": ("256",),
        "actor_rollout_ref.actor.strategy": ("fsdp",),
        "actor_rollout_ref.model.path": ("/a b",),
        "trainer.n_gpus_per_node": ("8",),
    }


def test_axolotl_trl_transformers_and_accelerate_are_read():
    text = (
        "[2025-01-01 00:00:00,000] [INFO] [axolotl.cli.config:load_cfg:249] config:\n"
        '{\n  "base_model": "m",\n  "micro_batch_size": 2\n}\n'
        "INFO - Training parameters GRPOConfig(\n_n_gpu=1,\nbeta=0.04,\nnum_generations=8,\n)\n"
        "INFO - Model parameters ModelConfig(model_name_or_path='q', lora_r=16)\n"
        "Training/evaluation parameters Seq2SeqTrainingArguments(\n_n_gpu=1,\nfsdp=[],\n"
        "fsdp_config={'min_num_params': 0},\nsystem=one\ntwo,\n)\n"
        "The following values were not passed to `accelerate launch` and had defaults used:\n"
        "\t`--num_processes` was set to a value of `8`\n"
        "\t`--mixed_precision` was set to a value of `'no'`\n"
    )

    found = {(d.framework, d.command, d.kind): values_of(d) for d in dumps_of(text)}

    assert found[("axolotl", "train", "arguments")]["micro_batch_size"] == ("2",)
    assert found[("trl", "grpo", "trainer")]["num_generations"] == ("8",)
    assert found[("transformers", "", "arguments")]["lora_r"] == ("16",)
    trainer = found[("transformers", "", "trainer")]
    assert trainer["system"] == ("one\ntwo",)
    assert trainer["fsdp"] == ()
    assert trainer["fsdp_config"] == ('{"min_num_params": 0}',)
    assert found[("accelerate", "launch", "adjusted")]["num_processes"] == ("8",)
    assert found[("accelerate", "launch", "adjusted")]["mixed_precision"] == ("no",)


@pytest.mark.parametrize(
    "text",
    [
        "ValueError: SftArguments(model=...) is wrong\n",
        "    args = SftArguments(model='x')\n",
        "[INFO:swift] lora_config: LoraConfig(r=8, target_modules={'q'})\n",
        "Setting OMP_NUM_THREADS environment variable for each process to be 1\n",
        "  warnings.warn('Setting x: 1')\n",
        "Model config Qwen2Config {\n",
    ],
)
def test_what_only_looks_like_a_dump_is_passed_over(text):
    assert dumps_of(text) == ()


def test_a_dump_that_breaks_off_keeps_its_whole_values():
    (dump,) = dumps_of("[INFO:swift] args: TrainArguments(\nbf16=True,\nlr=0.1,\nmax_st")

    assert values_of(dump) == {"bf16": ("True",)}


def test_a_dump_across_pieces_of_a_long_log_is_read_once():
    step = "{'loss': 1.0}\n" * 40_000
    dump = "[INFO:swift] args: SftArguments(model='q', max_steps=7)\n"

    found = dumps_of(step + dump + step)

    assert [(d.origin.line, len(d.values)) for d in found] == [(40_001, 2)]


def test_of_many_logs_the_first_is_read_far_and_of_each_other_the_beginning():
    dump = "[INFO:swift] args: SftArguments(model='q', max_steps=7)\n"
    far = "{'loss': 1.0}\n" * (2 * LEAST_EARLY // 14) + dump
    texts = {"rank_0.log": far, "rank_1.log": dump, "rank_2.log": far}
    logs = [Input(kind="log", name=name, text=text) for name, text in texts.items()]
    others = [Input(kind="log", name=f"rank_{n}.log", text="x\n") for n in range(3, 200)]

    found = logged_arguments([*logs, *others])

    assert [each.origin.source for each in found] == ["rank_0.log", "rank_1.log"]


def test_time_is_linear_and_the_number_bounded():
    text = "[INFO:swift] args: SftArguments(" * (REACH // 4)
    start = time.process_time()

    found = dumps_of(text)

    assert len(found) <= 1024
    assert time.process_time() - start < 20


_PIECES = st.sampled_from(
    [
        "args: ",
        "SftArguments(",
        "\n",
        "a=1,",
        ")",
        "{'",
        "non-default args: {",
        "json = {",
        "}\n",
        "[INFO:swift] Setting x: ",
        "DeepSpeedEngine configuration:",
        "config:\n{",
        "\r",
        "é",
        "\x00",
        "with config: model=",
        "'actor_rollout_ref': {",
        "[rank0]: ",
        "***** Running training *****",
    ]
)


@given(st.lists(_PIECES, max_size=40).map("".join))
def test_any_text_is_read_without_raising(text):
    for dump in dumps_of(text):
        assert dump.values
        assert dump.origin.line is not None

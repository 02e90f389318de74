"""From the facts of a launch to the workload the memory model takes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from trainrx.memory.lengths import SPREAD
from trainrx.memory.predict import predict
from trainrx.memory.workload import workload_of
from trainrx.model.facts import Facts, fact
from trainrx.model.hardware import TokenStats
from trainrx.model.memory import Prediction, Refusal, Workload
from unit.workloads import facts_of, knowledge, refusal, shape_for, work_out, workload

EXAMPLES = Path(__file__).parents[2] / "examples"
LINEAR = ("q", "k", "v", "o", "gate", "up", "down")


def _launch(folder: Path, text: str) -> Path:
    path = folder / "launch.sh"
    path.write_text(text)
    return path


def _known(**values: str | float | bool) -> Facts:
    base: dict[str, str | float | bool] = {
        "launch.framework": "ms-swift",
        "launch.framework_version": "3.12.0",
        "launch.command": "sft",
        "launch.task": "sft",
        "launch.given": True,
        "launch.env_complete": True,
        "model.name": "Qwen/Qwen2.5-7B-Instruct",
        "tuner.type": "lora",
        "train.precision": "bf16",
        "train.max_length": 2048,
        "train.micro_batch": 1,
        "parallel.world_size": 8,
    }
    named = {name.replace("__", "."): value for name, value in values.items()}
    return Facts(fact(kind, value) for kind, value in (base | named).items())


def _swift(tmp_path: Path, arguments: str, front: str = "") -> Path:
    return _launch(tmp_path, f"{front} swift sft --model Qwen/Qwen2.5-7B-Instruct {arguments}\n")


class TestFoundingSituations:
    def test_uncapped_images_beside_a_colocated_engine(self) -> None:
        folder = EXAMPLES / "01-vl7b-grpo-2xA800-80g"

        work = workload(facts_of(folder / "launch.sh", folder / "versions.txt"))

        assert (work.task, work.tuner, work.rank, work.targets) == ("grpo", "lora", 8, LINEAR)
        assert (work.precision, work.zero_stage, work.world, work.data) == ("deepspeed", 2, 2, 2)
        assert (work.micro_batch, work.generations) == (2.0, 4)
        assert (work.rollout.mode, work.rollout.share) == ("colocate", 0.8)
        assert work.images is not None
        assert work.images.pixels_max == 12_845_056
        assert not work.images.trained
        assert work.length.high == 4096 + 1536
        assert work.copies == ()

    def test_engine_on_a_card_of_its_own_is_a_server(self) -> None:
        folder = EXAMPLES / "01-vl7b-grpo-4xA6000-48g"

        work = workload(facts_of(folder / "launch.sh", folder / "versions.txt"))

        assert (work.rollout.mode, work.world) == ("server", 3)

    def test_zero3_with_one_process_shards_nothing(self) -> None:
        folder = EXAMPLES / "02-7b-grpo-4x24g-one-process"

        work = workload(facts_of(folder / "launch.sh", folder / "versions.txt"))

        assert (work.zero_stage, work.data, work.device_map) == (3, 1, 1)

    def test_offloaded_72b(self) -> None:
        folder = EXAMPLES / "03-vl72b-grpo-hang-8xA100-80g"

        work = workload(facts_of(folder / "launch.sh", folder / "versions.txt"))

        assert (work.zero_stage, work.offload_optimizer, work.offload_params) == (3, True, True)
        assert work.rollout.tensor_parallel == 8
        assert work.images is not None
        assert work.images.pixels == 640_000

    def test_llamafactory_full_with_trained_tower(self) -> None:
        folder = EXAMPLES / "04-llamafactory-vl7b-growing-memory"

        paths = [folder / name for name in ("launch.sh", "train.yaml", "versions.txt")]
        work = workload(facts_of(*paths, gpus=8))

        assert (work.tuner, work.precision, work.zero_stage) == ("full", "deepspeed", 2)
        assert work.images is not None
        assert (work.images.trained, work.images.pixels) == (True, 1_048_576)

    def test_type_of_training_left_to_the_default_is_lora(self) -> None:
        folder = EXAMPLES / "05-two-nodes-one-gpu-full"

        work = workload(facts_of(folder / "launch_3x.sh", folder / "versions.txt"))

        assert (work.world, work.ranks_per_node, work.zero_stage) == (16, 8, 3)


PRECISION = (
    ("--train_type lora --torch_dtype bfloat16", "autocast", 2.0),
    ("--train_type full --torch_dtype bfloat16", "autocast", 2.0),
    ("--train_type full --torch_dtype float16", "upcast", 2.0),
    ("--train_type full --torch_dtype float32", "fp32", 4.0),
    ("--train_type full --torch_dtype bfloat16 --deepspeed zero3", "deepspeed", 2.0),
)


class TestPrecision:
    @pytest.mark.parametrize(("arguments", "regime", "size"), PRECISION)
    def test_ms_swift_trains_what_it_loads(
        self, tmp_path: Path, arguments: str, regime: str, size: float
    ) -> None:
        facts = facts_of(_swift(tmp_path, f"{arguments} --max_length 2048"), ms_swift="3.12.0")

        work = workload(facts)

        assert (work.precision, work.weight_bytes) == (regime, size)

    @pytest.mark.parametrize(
        ("settings", "regime"),
        [
            ("bf16: true\nfinetuning_type: full", "upcast"),
            ("bf16: true\nfinetuning_type: lora", "autocast"),
            ("pure_bf16: true\nfinetuning_type: full", "pure"),
            ("bf16: true\nfinetuning_type: full\ndeepspeed: ds_z3_config.json", "deepspeed"),
            ("bf16: true\nfinetuning_type: full\nfsdp: full_shard auto_wrap", "upcast"),
        ],
    )
    def test_llamafactory_upcasts_trained_weights(
        self, tmp_path: Path, settings: str, regime: str
    ) -> None:
        config = tmp_path / "train.yaml"
        config.write_text(
            f"model_name_or_path: Qwen/Qwen2.5-7B-Instruct\nstage: sft\n{settings}\n"
            "dataset: identity\ntemplate: qwen\noutput_dir: out\ncutoff_len: 2048\n"
        )
        launch = _launch(tmp_path, f"llamafactory-cli train {config}\n")

        work = workload(facts_of(launch, config, gpus=2, llamafactory="0.9.3"))

        assert work.precision == regime

    def test_verl_keeps_fp32_masters(self) -> None:
        folder = Path(__file__).parents[1] / "healthy" / "launch-verl-grpo-7b-8x80g"

        work = workload(facts_of(folder / "launch.sh", folder / "versions.txt"))

        assert (work.precision, work.weight_bytes, work.fsdp) == ("upcast", 4.0, 1)
        assert (work.attention, work.loss) == ("flash", "fused")

    def test_megatron_has_a_layout_of_its_own(self) -> None:
        name = "launch-ms-swift-4-megatron-moe-two-nodes-16x80g"
        folder = Path(__file__).parents[1] / "healthy" / name

        work = workload(facts_of(folder / "launch.sh", folder / "versions.txt"))

        assert (work.precision, work.pipeline, work.expert, work.data) == ("megatron", 2, 8, 8)
        assert work.length.how == "exact"


class TestTuner:
    @pytest.mark.parametrize(
        ("version", "targets", "roles"),
        [
            ("3.12.0", "q_proj v_proj", ("q", "v")),
            ("3.12.0", "all-linear", LINEAR),
            ("3.12.0", "c_attn", ("qkv",)),
            ("3.12.0", "gate_up_proj", ("gate", "up")),
            ("2.6.1", "DEFAULT", ("q", "k", "v")),
        ],
    )
    def test_targets_by_role(self, version: str, targets: str, roles: tuple[str, ...]) -> None:
        facts = _known(launch__framework_version=version, tuner__targets=targets)

        assert workload(facts).targets == roles

    def test_peft_decides_where_trl_leaves_targets_unset(self) -> None:
        facts = _known(launch__framework="trl", launch__framework_version="0.29.1")

        assert workload(facts).targets == ("q", "v")

    def test_adapters_reach_a_tower_that_is_not_frozen(self) -> None:
        facts = _known(
            model__name="Qwen/Qwen2.5-VL-7B-Instruct",
            tuner__targets="all-linear",
            freeze__vision=False,
        )

        assert "vision" in workload(facts).targets

    def test_dora_counts_as_lora(self) -> None:
        assert workload(_known(tuner__dora=True)).tuner == "lora"

    def test_megatron_weights_in_a_folder_name_their_model(self, tmp_path: Path) -> None:
        text = "megatron sft --load Qwen3-30B-A3B-Base-mcore --max_length 512 --train_type full\n"
        launch = _launch(tmp_path, f"NPROC_PER_NODE=2 {text}")

        assert workload(facts_of(launch, ms_swift="3.8.0")).shape.id == "Qwen/Qwen3-30B-A3B"

    def test_megatron_of_ms_swift_had_no_adapters_before_3_7(self) -> None:
        facts = _known(launch__command="megatron sft", launch__framework_version="3.5.0")

        assert workload(facts).tuner == "full"

    def test_freeze_tuning_trains_a_few_layers(self) -> None:
        facts = _known(
            launch__framework="llamafactory",
            launch__framework_version="0.9.3",
            tuner__type="freeze",
            freeze__trainable_layers=2,
        )

        work = workload(facts)

        assert work.tuner == "freeze"
        assert work.trained_b is not None
        assert 0.3 < work.trained_b < 0.6

    def test_frozen_share_of_the_parameters(self) -> None:
        work = workload(_known(tuner__type="full", freeze__ratio=0.5))

        assert work.trained_b == pytest.approx(7.62 / 2)


class TestCompute:
    def test_liger_leaves_no_logits(self) -> None:
        assert workload(_known(train__liger=True)).loss == "linear"

    @pytest.mark.parametrize(("framework", "version"), [("verl", "0.5.0"), ("openrlhf", "0.8.11")])
    def test_liger_leaves_them_to_loops_that_hand_over_no_labels(
        self, framework: str, version: str
    ) -> None:
        facts = _known(
            train__liger=True, launch__framework=framework, launch__framework_version=version
        )

        assert workload(facts).loss != "linear"

    @pytest.mark.parametrize(("version", "loss"), [("2.6.1", "float"), ("3.12.0", "eager")])
    def test_old_models_turned_logits_into_fp32_themselves(self, version: str, loss: str) -> None:
        work = workload(_known(launch__framework_version=version))
        assert work.loss == loss
        assert work.holds_logits is (loss == "eager")

    def test_liger_does_not_help_dpo(self) -> None:
        assert workload(_known(train__liger=True, launch__task="dpo")).loss == "eager"

    def test_only_completions_get_logits_in_grpo(self) -> None:
        facts = _known(launch__task="grpo", rlhf__max_completion_length=1024)

        assert 0.5 < workload(facts).logit_share < 1

    @pytest.mark.parametrize(
        ("told", "name", "foreach"),
        [
            ("adamw_torch", "adamw_torch", True),
            ("adamw_torch_fused", "adamw_torch", False),
            ("paged_adamw_8bit", "paged_adamw_8bit", False),
            ("adamw_8bit", "adamw_bnb_8bit", False),
            ("adamw_bnb_8bit", "adamw_bnb_8bit", False),
            ("adamw_torch_8bit", "adamw_8bit", False),
            ("adafactor", "adafactor", False),
        ],
    )
    def test_optimizers(self, told: str, name: str, *, foreach: bool) -> None:
        work = workload(_known(train__optimizer=told))

        assert (work.optimizer, work.foreach) == (name, foreach)

    @pytest.mark.parametrize(
        ("kind", "recompute"), [("full", "full"), ("selective", "selective"), ("none", "none")]
    )
    def test_megatron_recompute(self, kind: str, recompute: str) -> None:
        facts = _known(launch__command="megatron sft", megatron__recompute=kind)

        assert workload(facts).recompute == recompute

    def test_checkpointing_is_off_where_transformers_leaves_it_off(self) -> None:
        facts = _known(launch__framework="transformers", launch__framework_version="4.51.0")

        assert not workload(facts).checkpointing

    def test_a_script_of_ones_own_prepares_kbit_training_as_peft_says(self) -> None:
        facts = _known(
            launch__framework="transformers",
            launch__framework_version="4.51.0",
            tuner__quant_bits=4,
            parallel__world_size=1,
        )

        work = workload(facts)

        assert (work.quant_bits, work.quant_method) == (4, "bnb")
        assert work.embeddings_upcast

    def test_ms_swift_does_not_upcast_embeddings(self) -> None:
        assert not workload(_known(tuner__quant_bits=4)).embeddings_upcast


class TestLength:
    def test_the_limit_where_nothing_is_known_of_the_data(self) -> None:
        found = work_out(_known(train__dataset="my.jsonl"))

        assert not isinstance(found, Refusal)
        work, assumed = found
        assert (work.length.how, work.length.high) == ("cap", 2048)
        assert "length-cap" in {item.id for item in assumed}

    def test_packing_fills_the_limit(self) -> None:
        length = workload(_known(train__packing=True)).length

        assert (length.how, length.low, length.high) == ("exact", 2048, 2048)

    def test_published_lengths_of_a_data_set(self) -> None:
        length = workload(_known(train__dataset="swift/self-cognition:qwen3#1000")).length

        assert (length.how, length.low, length.high) == ("data", 58.9, 131)
        assert length.low < length.typical <= length.high

    def test_the_limit_cuts_long_data(self) -> None:
        length = workload(_known(train__dataset="cls-fudan-news-zh")).length

        assert (length.typical, length.high) == (2048, 2048)

    def test_quantiles_go_before_a_guess_and_the_longest_sample_bounds_it(self) -> None:
        def typical(**more: float) -> float:
            stats = TokenStats(mean=400, std=100, **more)
            return workload(_known(), stats).length.typical

        assert typical() == 400 + SPREAD * 100
        assert typical(p99=900.0, max=2000.0) == 900
        assert typical(max=500.0) == 500

    def test_without_a_limit_the_model_bounds_the_length(self) -> None:
        facts = Facts(item for item in _known() if item.kind != "train.max_length")
        shape = shape_for(facts)
        assert shape is not None

        found = workload_of(facts, msgspec.structs.replace(shape, max_positions=8192))

        assert not isinstance(found, Refusal)
        assert found[0].length.high == 8192

    def test_pairs_count_both_sequences(self) -> None:
        assert workload(_known(launch__task="dpo")).length.high == 2 * 2048

    def test_padding_free_batches_are_shorter_than_padded_ones(self) -> None:
        data = {"train__dataset": "swift/self-cognition", "train__micro_batch": 8}

        padded = workload(_known(**data)).length.typical
        free = workload(_known(**data, train__padding_free=True)).length.typical

        assert free < padded

    def test_dynamic_batches_fill_their_tokens(self) -> None:
        facts = _known(
            launch__framework="verl",
            launch__framework_version="0.7.0",
            launch__task="grpo",
            train__dynamic_batch=True,
            train__max_tokens_per_gpu=16384,
            train__micro_batch=4,
        )

        work = workload(facts)

        assert (work.micro_batch, work.length.how, work.length.high) == (1.0, "exact", 16384)

    def test_no_limit_and_no_data_is_asked_for(self) -> None:
        facts = Facts(item for item in _known() if item.kind != "train.max_length")
        shape = shape_for(facts)
        assert shape is not None

        found = workload_of(facts, type(shape)(id="x/y", params_b=1, layers=2, hidden=8, vocab=9))

        assert isinstance(found, Refusal)
        assert found.id == "length-unknown"


def of_verl(**more: str | float | bool) -> Workload:
    """Give PPO of verl with full training, sharded over all cards."""
    job: dict[str, str | float | bool] = {
        "launch__framework": "verl",
        "launch__framework_version": "0.6.1",
        "launch__command": "ppo",
        "launch__task": "ppo",
        "tuner__type": "full",
        "parallel__strategy": "fsdp",
        "role__critic": True,
        "role__reference": True,
        "vllm__enabled": True,
        "vllm__share": 0.4,
        "hardware__gpu_gib": 80.0,
    }
    return workload(_known(**(job | more)))


def predicted(work: Workload) -> Prediction:
    found = predict(work, knowledge().memory)
    assert isinstance(found, Prediction)
    return found


def at(found: Prediction, phase: str) -> float:
    return next(one.gib for one in found.phases if one.phase == phase)


CRITIC_AWAY = {"rlhf__critic_param_offload": True, "rlhf__critic_optimizer_offload": True}
ACTOR_AWAY = {"parallel__offload_params": True, "parallel__offload_optimizer": True}


class TestTurns:
    def test_actor_and_critic_that_both_leave_the_card_take_turns_on_it(self) -> None:
        ways = {
            "neither": {},
            "critic": CRITIC_AWAY,
            "actor": ACTOR_AWAY,
            "both": {**CRITIC_AWAY, **ACTOR_AWAY},
        }
        update = {name: at(predicted(of_verl(**more)), "step") for name, more in ways.items()}
        rollout = {name: at(predicted(of_verl(**more)), "rollout") for name, more in ways.items()}

        # the turn of the one is as high as ever while the other stays
        assert update["both"] < update["actor"] == update["critic"] == update["neither"]
        assert rollout["both"] < rollout["actor"] == rollout["critic"] < rollout["neither"]

    def test_what_waits_in_memory_is_counted_there(self) -> None:
        shape = of_verl().shape
        stays, leaves = predicted(of_verl()), predicted(of_verl(**CRITIC_AWAY))

        more = leaves.host.resident - stays.host.resident

        assert more == pytest.approx(12 * (shape.params_b or 0) * 1e9 / 2**30)

    def test_frozen_models_of_verl_are_in_memory_under_fsdp_alone(self) -> None:
        sharded, split = of_verl(), of_verl(parallel__strategy="megatron")

        assert (sharded.copies_on_host, split.copies_on_host) == (True, False)
        assert len(sharded.copies) == 1
        bare = msgspec.structs.replace(sharded, copies=())
        assert predicted(bare).card == predicted(sharded).card


class TestBeside:
    def test_images_no_setting_bounds_are_bounded_by_the_processor(self) -> None:
        facts = _known(
            launch__framework="trl",
            launch__framework_version="0.19.0",
            model__name="Qwen/Qwen2.5-VL-7B-Instruct",
        )

        images = workload(facts).images

        assert images is not None
        assert images.pixels_max == 16384 * 28 * 28

    def test_text_only_data_has_no_images(self) -> None:
        facts = _known(
            model__name="Qwen/Qwen2.5-VL-7B-Instruct", train__dataset="AI-MO/NuminaMath-TIR#5000"
        )

        assert workload(facts).images is None

    def test_a_reference_model_for_full_dpo_only(self) -> None:
        full = _known(launch__task="dpo", tuner__type="full", role__reference=True)
        lora = _known(launch__task="dpo", role__reference=False)

        assert len(workload(full).copies) == 1
        assert workload(lora).copies == ()

    def test_the_critic_is_trained_too(self) -> None:
        facts = _known(
            launch__task="ppo",
            tuner__type="full",
            role__critic=True,
            role__reference=True,
            role__reward_model=True,
            rlhf__reward_model="Qwen/Qwen2.5-1.5B",
            rlhf__max_completion_length=512,
        )

        work = workload(facts)

        assert [shape.id for shape in work.copies] == ["Qwen/Qwen2.5-7B", "Qwen/Qwen2.5-1.5B"]
        assert len(work.trained_copies) == 1

    def test_layers_of_one_process_are_spread_over_its_cards(self) -> None:
        facts = _known(
            parallel__world_size=1, parallel__processes_per_node=1, hardware__gpus_per_node=4
        )

        assert workload(facts).device_map == 4


IMPOSSIBLE: tuple[tuple[dict[str, str | float | bool], str], ...] = (
    ({"hardware__gpus": 0}, "no-gpus"),
    ({"train__micro_batch": -1}, "not-positive"),
    ({"train__micro_batch": 0}, "not-positive"),
    ({"train__max_length": -5}, "not-positive"),
    ({"tuner__rank": -8}, "not-positive"),
    ({"parallel__processes_per_node": 8, "hardware__gpus_per_node": 4}, "processes-exceed-gpus"),
    ({"launch__command": "megatron sft", "parallel__tensor": 3}, "heads-not-divisible"),
    ({"launch__command": "megatron sft", "parallel__pipeline": 3}, "world-not-divisible"),
    ({"launch__command": "megatron sft", "parallel__pipeline": 64}, "layers-fewer-than-stages"),
    (
        {
            "launch__task": "grpo",
            "vllm__enabled": True,
            "vllm__share": 1.5,
            "vllm__mode": "colocate",
        },
        "share-range",
    ),
)


class TestRefusals:
    @pytest.mark.parametrize(("values", "ident"), IMPOSSIBLE)
    def test_impossible_layouts_name_their_facts(
        self, values: dict[str, str | float | bool], ident: str
    ) -> None:
        found = refusal(_known(**values))

        assert (found.kind, found.id) == ("impossible", ident)
        assert found.asks
        assert "{" not in found.reason

    @pytest.mark.parametrize(
        ("values", "named"),
        [
            ({"train__galore": True}, "train.galore"),
            ({"train__lisa_layers": 2}, "train.lisa_layers"),
            ({"train__optimizer_plugin": "galore"}, "train.optimizer_plugin"),
            ({"tuner__type": "llamapro"}, "tuner.type"),
            ({"train__optimizer": "galore_adamw"}, "train.optimizer"),
            ({"train__optimizer": "my_optimizer"}, "train.optimizer"),
            ({"launch__task": "gkd"}, "launch.task"),
            ({"task__stage": "infer", "launch__command": "infer"}, "infer"),
            ({"hardware__gpu": "Ascend 910B3 64G"}, "910b3"),
        ],
    )
    def test_what_is_not_modelled_is_named(
        self, values: dict[str, str | float | bool], named: str
    ) -> None:
        found = refusal(_known(**values))

        assert found.kind == "unmodelled"
        assert named in found.reason

    def test_an_unknown_model_brings_the_nearest_known_ones(self) -> None:
        found = refusal(_known(model__name="Qwen/Qwem2.5-7B"))

        assert (found.kind, found.asks) == ("unknown", ("model.name",))
        assert "Qwen/Qwen2.5" in found.reason

    def test_no_model_at_all_is_asked_for(self) -> None:
        found = workload_of(Facts(()), None, models=knowledge().models)

        assert isinstance(found, Refusal)
        assert found.id == "no-model"

    def test_npus_are_told_by_their_variable(self, tmp_path: Path) -> None:
        launch = _swift(tmp_path, "--max_length 512", front="ASCEND_RT_VISIBLE_DEVICES=0,1")

        assert refusal(facts_of(launch, ms_swift="3.12.0")).id == "npu"

    def test_galore_of_a_launch_is_read(self, tmp_path: Path) -> None:
        launch = _swift(tmp_path, "--train_type full --use_galore true --max_length 512")

        assert refusal(facts_of(launch, ms_swift="3.12.0")).id == "setting"


class TestAudio:
    def test_a_frozen_audio_encoder_is_named_as_left_out(self) -> None:
        facts = _known(
            model__name="Qwen/Qwen2-Audio-7B", train__dataset="AISHELL-1", tuner__type="lora"
        )
        found = work_out(facts)

        assert not isinstance(found, Refusal), found.reason
        assert "audio-left-out" in {item.id for item in found[1]}

    def test_a_trained_audio_encoder_gets_no_number(self) -> None:
        facts = _known(
            model__name="Qwen/Qwen2-Audio-7B",
            train__dataset="AISHELL-1",
            tuner__type="full",
            freeze__vision=False,
        )

        assert refusal(facts).id == "audio-trained"

    def test_text_alone_does_not_meet_the_encoder(self) -> None:
        facts = _known(
            model__name="Qwen/Qwen2-Audio-7B", train__dataset="alpaca-zh", tuner__type="lora"
        )
        found = work_out(facts)

        assert not isinstance(found, Refusal), found.reason
        assert "audio-left-out" not in {item.id for item in found[1]}


@pytest.mark.parametrize(("told", "pixels"), [(50176, 105369), (105369, 105369), (200704, 200704)])
def test_no_cap_of_a_frame_falls_below_what_the_reader_of_videos_keeps(tmp_path, told, pixels):
    path = tmp_path / "launch.sh"
    path.write_text(
        f"VIDEO_MAX_PIXELS={told} FPS_MAX_FRAMES=8 swift sft --model Qwen/Qwen2.5-VL-7B-Instruct "
        "--train_type lora --dataset videos.jsonl --max_length 4096\n"
    )

    work = workload(facts_of(path))

    assert work.images is not None
    assert work.images.pixels == pixels

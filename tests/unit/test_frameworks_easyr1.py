"""EasyR1: its launch, its file, its names and versions, and what tells it from verl.

Launch and file are of the shape of examples/*.sh and examples/config.yaml (hiyouga/EasyR1
b44b311b66), cut short.
"""

from __future__ import annotations

from textwrap import dedent

import pytest

from trainrx import api
from trainrx.catalog.framework_choice import FrameworkChoice, read_framework
from trainrx.catalog.resolved import Resolved
from trainrx.catalog.spell import spell
from trainrx.evidence.arguments import logged_arguments
from trainrx.evidence.detector import detector_of
from trainrx.frameworks import framework_of
from trainrx.frameworks.common.owners import without_origins
from trainrx.knowledge.load import load
from trainrx.launch.config_files import read_configs
from trainrx.launch.config_kinds import classify_config
from trainrx.launch.find import find_launches
from trainrx.launch.resolve import resolve
from trainrx.model.facts import Facts, fact
from trainrx.model.job import Input
from trainrx.shell import read_script

CONFIG = dedent(
    """\
    data:
      train_files: some/math@train
      max_prompt_length: 2048
      max_response_length: 2048
      rollout_batch_size: 512  # prompts
      max_pixels: 4194304

    algorithm:
      adv_estimator: grpo
      disable_kl: false
      use_kl_loss: true
      kl_coef: 1.0e-2

    worker:
      actor:
        global_batch_size: 128
        micro_batch_size_per_device_for_update: 1
        micro_batch_size_per_device_for_experience: 2
        padding_free: true
        dynamic_batching: true
        ulysses_size: 1
        model:
          model_path: Qwen/Qwen2.5-7B-Instruct
          enable_gradient_checkpointing: true
          freeze_vision_tower: false
        optim:
          lr: 1.0e-6
          strategy: adamw
        offload:
          offload_params: true
          offload_optimizer: true
      rollout:
        n: 5
        gpu_memory_utilization: 0.6
        tensor_parallel_size: 2
      ref:
        fsdp:
          enable_cpu_offload: true

    trainer:
      total_epochs: 15
      nnodes: 1
      n_gpus_per_node: 8
    """
)
LAUNCH = dedent(
    """\
    MODEL_PATH=Qwen/Qwen2.5-VL-7B-Instruct
    python3 -m verl.trainer.main \\
        config=examples/config.yaml \\
        worker.actor.model.model_path=${MODEL_PATH} \\
        worker.rollout.tensor_parallel_size=1 \\
        trainer.n_gpus_per_node=4
    """
)
DUMP = dedent(
    """\
    (Runner pid=7) {
    (Runner pid=7)   "data": {
    (Runner pid=7)     "train_files": "some/math@train",
    (Runner pid=7)     "rollout_batch_size": 64
    (Runner pid=7)   },
    (Runner pid=7)   "worker": {
    (Runner pid=7)     "actor": {
    (Runner pid=7)       "global_batch_size": 32
    (Runner pid=7)     }
    (Runner pid=7)   }
    (Runner pid=7) }
    """
)


def resolved(launch: str = LAUNCH, config: str = CONFIG, version: str = "0.3.2") -> Resolved:
    raw = find_launches(read_script(launch, "run.sh"))[0]
    read = read_configs(raw, {"examples/config.yaml": config} if config else {})
    return resolve(
        read.launch, params=load().params, configs=read.args, versions={"easyr1": version}
    )


def values(found: Resolved) -> dict[str, object]:
    return {name: setting.value for name, setting in found.settings.items()}


@pytest.mark.parametrize(
    ("command", "framework"),
    [
        ("python3 -m verl.trainer.main config=a.yaml", "easyr1"),
        ("python3 verl/trainer/main.py config=a.yaml", "easyr1"),
        ("python3 -m verl.trainer.main data.train_files=a worker.rollout.n=8", "easyr1"),
        ("python -m mine.main worker.actor.global_batch_size=64", "easyr1"),
        ("python -m mine.main config=a.yaml data.train_files=b", "easyr1"),
        ("python3 -m verl.trainer.main_ppo data.train_files=a", "verl"),
        ("python -m mine.main actor_rollout_ref.rollout.n=8", "verl"),
    ],
)
def test_the_program_or_its_keys_tell_easyr1_from_verl(command: str, framework: str) -> None:
    launches = find_launches(read_script(f"{command}\n", "run.sh"))

    assert [(item.framework, item.command) for item in launches] == [(framework, "ppo")]


@pytest.mark.parametrize(
    "words", ["config=a.yaml trainer.name=b", "--config-name a data.train_files=b"]
)
def test_a_file_or_the_names_of_the_data_alone_tell_nothing(words: str) -> None:
    launches = find_launches(read_script(f"python -m mine.main {words}\n", "run.sh"))

    assert [item.framework for item in launches] == [""]


def test_a_file_of_easyr1_is_told_by_its_keys() -> None:
    assert classify_config(CONFIG) == "easyr1"
    assert classify_config("actor_rollout_ref:\n  rollout:\n    n: 5\n") == "verl"


def test_the_command_line_goes_before_the_file() -> None:
    found = values(resolved())

    assert found["model.name"] == "Qwen/Qwen2.5-VL-7B-Instruct"
    assert (found["vllm.tensor_parallel"], found["parallel.processes_per_node"]) == (1, 4)
    assert (found["rlhf.prompts_per_step"], found["rlhf.mini_batch"]) == (512, 128)
    assert (found["rlhf.max_prompt_length"], found["rlhf.max_completion_length"]) == (2048, 2048)
    assert (found["parallel.param_offload"], found["parallel.optimizer_offload"]) == (True, True)
    assert (found["train.dynamic_batch"], found["vision.max_pixels"]) == (True, 4194304)


def test_what_the_dataclasses_fill_in_is_known_without_a_file() -> None:
    found = values(resolved("python3 -m verl.trainer.main data.train_files=a\n", ""))

    assert (found["rlhf.num_generations"], found["train.micro_batch"]) == (1, 4)
    assert (found["vllm.share"], found["vllm.tensor_parallel"]) == (0.6, 2)
    assert found["rlhf.advantage"] == "grpo"


@pytest.mark.parametrize(
    ("version", "padding", "epochs"), [("0.3.0", False, 10), ("0.3.2", True, 15)]
)
def test_defaults_go_by_the_release(version: str, padding: bool, epochs: int) -> None:
    bare = "python3 -m verl.trainer.main data.train_files=a\n"

    found = values(resolved(bare, "", version))

    assert (found["train.padding_free"], found["train.epochs"]) == (padding, epochs)


def test_without_disable_kl_there_is_a_reference_term() -> None:
    assert values(resolved())["rlhf.kl_in_reward"] is True
    off = resolved(LAUNCH.replace("trainer.n", "algorithm.disable_kl=true trainer.n"))
    assert values(off)["rlhf.kl_in_reward"] is False


@pytest.mark.parametrize(
    ("canonical", "value", "text"),
    [
        ("train.micro_batch", 1, "worker.actor.micro_batch_size_per_device_for_update=1"),
        (
            "rlhf.logprob_micro_batch",
            2,
            "worker.actor.micro_batch_size_per_device_for_experience=2",
        ),
        ("rlhf.mini_batch", 64, "worker.actor.global_batch_size=64"),
        ("vllm.share", 0.5, "worker.rollout.gpu_memory_utilization=0.5"),
        ("vllm.enforce_eager", True, "worker.rollout.enforce_eager=true"),
        ("parallel.param_offload", True, "worker.actor.offload.offload_params=true"),
        ("freeze.vision", True, "worker.actor.model.freeze_vision_tower=true"),
        ("rlhf.kl_in_reward", False, "algorithm.disable_kl=true"),
        ("train.optimizer", "adamw_bf16", "worker.actor.optim.strategy=adamw_bf16"),
    ],
)
def test_a_change_is_spelled_in_its_names(canonical: str, value: object, text: str) -> None:
    made = spell(canonical, value, "easyr1", "0.3.2", load().params)  # type: ignore[arg-type]

    assert made is not None
    assert made.text == text


def test_an_optimizer_it_does_not_build_is_not_spelled() -> None:
    assert spell("train.optimizer", "paged_adamw_8bit", "easyr1", None, load().params) is None


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("0.3.0", "worker.actor.ulysses_sequence_parallel_size"),
        ("0.3.2", "worker.actor.ulysses_size"),
    ],
)
def test_a_renamed_key_goes_by_the_release(version: str, name: str) -> None:
    made = spell("parallel.sequence", 2, "easyr1", version, load().params)

    assert made is not None
    assert made.param == name


@pytest.mark.parametrize("text", ["easyr1", "EasyR1", "Easy-R1 0.3.2"])
def test_a_user_names_it(text: str) -> None:
    assert read_framework(text).name == "easyr1"
    assert read_framework("EasyR1 0.3.1") == FrameworkChoice(name="easyr1", version="0.3.1")


def test_what_is_installed_as_verl_is_its_own_release() -> None:
    assert framework_of("easyr1").own_versions({"verl": "0.3.2", "torch": "2.7"}) == {
        "easyr1": "0.3.2",
        "torch": "2.7",
    }
    assert framework_of("verl").own_versions({"verl": "0.6.0"}) == {"verl": "0.6.0"}


def test_a_fork_goes_before_what_its_log_shows_of_its_origin() -> None:
    shown = [fact("launch.framework", "verl"), fact("hardware.gpus", 8)]

    assert [item.kind for item in without_origins(shown, "easyr1")] == ["hardware.gpus"]
    assert list(without_origins(shown, "verl")) == shown
    assert list(without_origins(shown)) == shown


def test_workers_of_verl_beside_a_file_of_easyr1_are_easyr1() -> None:
    log = (
        "(WorkerDict pid=41) After vllm init: 40.1 GB / 79.1 GB.\n"
        '  File "/root/EasyR1/verl/workers/fsdp_workers.py", line 512, in update_actor\n'
    )
    seen = detector_of(load()).detect([Input(kind="log", name="a.log", text=log)])

    assert Facts(seen.facts).text("launch.framework") == "easyr1"


def test_the_configuration_it_prints_is_read() -> None:
    found = logged_arguments([Input(kind="log", name="a.log", text=DUMP)])

    assert [item.framework for item in found] == ["easyr1"]
    told = {arg.name: arg.values for arg in found[0].values}
    assert told["worker.actor.global_batch_size"] == ("32",)
    assert told["data.rollout_batch_size"] == ("64",)


def test_json_of_others_is_no_configuration_of_it() -> None:
    other = '{\n  "data": {\n    "path": "a"\n  }\n}\n'

    assert not logged_arguments([Input(kind="log", name="a.log", text=other)])


def test_a_named_framework_goes_before_the_workers_in_the_log(tmp_path) -> None:
    log = tmp_path / "train.log"
    log.write_text(
        "(WorkerDict pid=4) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB.\n"
    )

    answer = api.diagnose(
        logs=[log], framework="easyr1", versions={"verl": "0.3.2"}, note="OOM in the actor's update"
    )

    assert (answer.job.framework, answer.job.framework_version) == ("easyr1", "0.3.2")
    names = {c.param for cause in answer.causes for fix in cause.fixes for c in fix.changes}
    assert any(name.startswith("worker.") for name in names)
    assert not any(name.startswith("actor_rollout_ref.") for name in names)

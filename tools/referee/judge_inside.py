"""Let a framework judge command lines, up to the first step of training; runs in its own Python.

usage: judge_inside.py JOBS.json, a list of {framework, command, argv, env, cwd, ranks,
distributed, port, cards, out, limit}. The framework is imported once; each job runs in a forked
process, the first of its ranks. Nothing of the framework's own checks is changed: its entry point
runs with the tiny model and rows of the job's folder, and is stopped at its first step of training
(with several processes: where it would begin to train). What is stood in for is the machine: its
cards, what they can hold, the other processes, the hub.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import importlib.machinery
import importlib.util
import json
import os
import re
import signal
import sys
import time
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

LATE = {"swift", "llamafactory", "transformers", "trl", "peft", "datasets", "accelerate"}
LATE |= {"modelscope", "torch", "deepspeed"}
Entry = Callable[[str, list[str]], None]
USAGE = re.compile(r"^[\w.-]+: error: (.*)$", re.MULTILINE)


class Begun(BaseException):
    """The framework began to train: it takes the launch."""


def main() -> None:
    """Judge every job."""
    jobs = json.loads(Path(sys.argv[1]).read_text())
    entry = _llamafactory() if jobs[0]["framework"] == "llamafactory" else _swift()
    _build_nothing()
    for number, job in enumerate(jobs):
        started = time.time()
        _wait(_fork(job, entry), job["limit"])
        if not Path(job["out"]).exists():
            ended = {"type": "Timeout", "message": f"not done after {job['limit']} s", "at": ""}
            Path(job["out"]).write_text(json.dumps(ended))
        result = json.loads(Path(job["out"]).read_text())
        _learn(Path(job["out"] + ".modules"))
        sys.stderr.write(f"{number} {time.time() - started:.1f}s {result['type']}\n")
        sys.stderr.flush()


def _learn(names: Path) -> None:
    """Import what a job imported late, so that the next ones find it there."""
    for name in names.read_text().split() if names.exists() else ():
        if name not in sys.modules and name.split(".")[0] in LATE:
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def _wait(pid: int, limit: float) -> None:
    """Wait for a process; end it when the limit is over."""
    until = time.time() + limit
    while not os.waitpid(pid, os.WNOHANG)[0]:
        if time.time() > until:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return
        time.sleep(0.02)


def _fork(job: dict[str, Any], entry: Entry) -> int:
    pid = os.fork()
    if pid:
        return pid
    log = Path(job["out"] + ".log")
    where = os.open(log, os.O_CREAT | os.O_WRONLY)
    os.dup2(where, 1)
    os.dup2(where, 2)
    result = {"type": "", "message": "", "at": ""}
    faulthandler.dump_traceback_later(job["limit"] - 2)
    try:
        os.chdir(job["cwd"])
        os.environ.update(job["env"])
        if job["distributed"]:
            places = {"RANK": 0, "LOCAL_RANK": 0, "WORLD_SIZE": job["ranks"]}
            places["LOCAL_WORLD_SIZE"] = job["ranks"]
            os.environ.update({name: str(value) for name, value in places.items()})
            os.environ.update({"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": job["port"]})
            _stand_in_for_ranks(job["ranks"])
        _stand_in_for_gpus(job["cards"])
        # what trains on several cards is not prepared on none
        _stop_at_training("train" if job["distributed"] else "training_step")
        entry(job["command"], list(job["argv"]))
        result["type"] = "Returned"
    except Begun:
        result["type"] = "Begun"
        Path(job["out"] + ".modules").write_text("\n".join(sys.modules))
    except SystemExit as done:
        sys.stderr.flush()
        usage = USAGE.findall(log.read_text(errors="replace"))
        result = {"type": "SystemExit", "message": usage[-1] if usage else str(done), "at": "parse"}
    except BaseException as error:  # noqa: BLE001 - whatever it was is the verdict
        traceback.print_exc()
        result = {"type": type(error).__name__, "message": _last(error), "at": _place(error)}
    Path(job["out"]).write_text(json.dumps(result))
    os._exit(0)


def _last(error: BaseException) -> str:
    lines = [line for line in str(error).strip().split("\n") if line.strip()]
    return lines[-1][:400] if lines else ""


def _place(error: BaseException) -> str:
    """Name the innermost function that raised, as file:function."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    homes = sorted((item for item in sys.path if item), key=len)
    name = frame.filename
    for home in homes:
        name = frame.filename[len(home) + 1 :] if frame.filename.startswith(home + "/") else name
    return f"{name}:{frame.name}"


def _swift() -> Entry:
    try:
        module = importlib.import_module("swift.pipelines")
    except ImportError:
        module = importlib.import_module("swift.llm")
    # the packages load their modules when a name is asked for: ask before forking
    names = {name: f"{name}_main" for name in ("sft", "rlhf", "pt", "infer", "export")}
    names |= {"pt": "pretrain_main"} if hasattr(module, "pretrain_main") else {}
    mains = {command: getattr(module, name) for command, name in names.items()}
    for name in ("swift.trainers", "swift.arguments", "swift.llm.argument", "trl", "peft"):
        _import_all(name)
    for late in ("swift.trainers.mixin", "swift.trainers.trainer_factory"):
        _import_all(late)
    for loaded in list(sys.modules.values()):
        # asks the hub, and waits for it
        if "check_local_model_is_latest" in vars(loaded):
            loaded.check_local_model_is_latest = lambda *_, **__: None  # type: ignore[attr-defined]
        # agrees on the name of the run folder over the cards
        if getattr(loaded, "__name__", "").startswith("swift") and "broadcast_string" in vars(
            loaded
        ):
            loaded.broadcast_string = lambda text, *_: text  # type: ignore[attr-defined]
    router = importlib.import_module("swift.cli.main")
    if hasattr(module, "llm_sft"):
        # 2.x would lay the model of each rank on its card
        importlib.import_module("swift.llm.sft").get_default_device_map = lambda: "cpu"

    def enter(command: str, argv: list[str]) -> None:
        if command in {"dpo", "orpo", "simpo"}:
            argv, command = ["--rlhf_type", command, *argv], "rlhf"
        if hasattr(router, "parse_yaml_args"):
            router.parse_yaml_args(argv)
        sys.argv = [f"{command}.py", *argv]
        if not any("vllm" in word for word in argv):
            _stand_in_for_vllm()
        mains[command]()

    return enter


def _import_all(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ImportError:
        return
    for item in dir(module):
        try:
            getattr(module, item)
        except (ImportError, RuntimeError, AttributeError):  # noqa: PERF203 - a few hundred names
            continue


def _llamafactory() -> Entry:
    tuner = importlib.import_module("llamafactory.train.tuner")
    parser = importlib.import_module("llamafactory.hparams.parser")
    parser.is_torch_bf16_gpu_available = lambda: True
    ppo = importlib.import_module("llamafactory.train.ppo.trainer").CustomPPOTrainer
    ppo.ppo_train = _begin

    def enter(_: str, argv: list[str]) -> None:
        sys.argv = ["llamafactory-cli", *argv]
        tuner.run_exp()

    return enter


def _begin(*_: object, **__: object) -> None:
    raise Begun


def _stop_at_training(name: str) -> None:
    """Stop where any trainer begins to train, or takes its first step."""
    kind = importlib.import_module("transformers").Trainer
    setattr(kind, name, _begin)

    def stopped(cls: type, **_: object) -> None:
        # PPO has no steps of that name
        for own in (name, "train") if "PPO" in cls.__name__ else (name,):
            if own in cls.__dict__:
                setattr(cls, own, _begin)

    kind.__init_subclass__ = classmethod(stopped)
    kinds = list(kind.__subclasses__())
    while kinds:
        found = kinds.pop()
        kinds += found.__subclasses__()
        stopped(found)


def _stand_in_for_vllm() -> None:
    """Let the trainers of 3.x be imported, which import vLLM whether it is used or not."""
    if "swift.arguments" in sys.modules or importlib.util.find_spec("vllm") is not None:
        return
    names = "AsyncEngineArgs AsyncLLMEngine SamplingParams EngineArgs LLMEngine LLM"
    module = types.ModuleType("vllm")
    module.__dict__.update({name: type(name, (), {}) for name in names.split()})
    module.__version__ = "0.7.3"
    module.__spec__ = importlib.machinery.ModuleSpec("vllm", None)
    sys.modules["vllm"] = module


def _build_nothing() -> None:
    """Keep DeepSpeed from compiling operators for the CPU."""
    try:
        kind = importlib.import_module("deepspeed.comm.torch")
    except ImportError:
        return
    kind.build_shm_op = lambda: None


def _stand_in_for_ranks(ranks: int) -> None:
    """Be the first process of several of which the others need not run."""
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=ranks)
    dist.broadcast_object_list = lambda *_, **__: None

    def gathered(into: list[object], item: object, *_: object, **__: object) -> None:
        into[:] = [item] * ranks

    dist.all_gather_object = gathered
    state = importlib.import_module("accelerate.state")
    kind = state.DistributedType.MULTI_CPU

    def backend(_: object, __: bool = False, ___: bool = False, told: str | None = None) -> object:
        return told or "gloo", kind

    state.PartialState._prepare_backend = backend  # noqa: SLF001 - would look for cards


def _stand_in_for_gpus(cards: int) -> None:
    """Let a launch mean on this machine what it means on one with Ampere GPUs."""
    torch = importlib.import_module("torch")
    torch.cuda.set_device = lambda *_: None
    for name, module in list(sys.modules.items()):
        # only those of the framework: others would go on to use the cards
        if name.startswith("swift") and "get_device_count" in vars(module):
            module.get_device_count = lambda: cards  # type: ignore[attr-defined]
        elif name.startswith("swift") and "is_mp" in vars(module):
            module.is_mp = lambda: _several_cards(cards)  # type: ignore[attr-defined]
    kind = importlib.import_module("transformers.training_args").TrainingArguments
    # counts the processes that have a card
    kind.world_size = property(lambda _: int(os.environ.get("WORLD_SIZE", "1")))
    for name in (
        "transformers.training_args",
        "transformers.utils",
        "transformers.utils.import_utils",
    ):
        module = importlib.import_module(name)
        if hasattr(module, "is_torch_bf16_gpu_available"):
            module.is_torch_bf16_gpu_available = lambda: True


def _several_cards(cards: int) -> bool:
    """Tell whether a process has several cards, with the check that ms-swift does on the way."""
    local = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    assert cards % local == 0, f"n_gpu: {cards}, local_world_size: {local}"  # noqa: S101 - theirs
    return cards // local >= 2


if __name__ == "__main__":
    main()

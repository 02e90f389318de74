"""Let a framework judge command lines, up to the first step of training; runs in its own Python.

usage: judge_inside.py JOBS.json, a list of {framework, command, argv, env, cwd, ranks,
distributed, port, cards, out, limit}. The framework is imported once; each job runs in a
forked process, the first of its ranks. Nothing of the framework's own checks is changed: its entry point
runs with the tiny model and rows of the job's folder, and is stopped where it would begin to
train. What is stood in for is the machine: its cards, what they can hold,
the other processes.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import re
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

Entry = Callable[[str, list[str]], None]
USAGE = re.compile(r"^[\w.-]+: error: (.*)$", re.MULTILINE)


class Begun(BaseException):
    """The framework began to train: it takes the launch."""


def main() -> None:
    """Judge every job."""
    jobs = json.loads(Path(sys.argv[1]).read_text())
    entry = _llamafactory() if jobs[0]["framework"] == "llamafactory" else _swift()
    _stop_at_training()
    _build_nothing()
    for number, job in enumerate(jobs):
        started = time.time()
        _wait(_fork(job, entry), job["limit"])
        if not Path(job["out"]).exists():
            ended = {"type": "Timeout", "message": f"not done after {job['limit']} s", "at": ""}
            Path(job["out"]).write_text(json.dumps(ended))
        result = json.loads(Path(job["out"]).read_text())
        sys.stderr.write(f"{number} {time.time() - started:.1f}s {result['type']}\n")
        sys.stderr.flush()


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
        entry(job["command"], list(job["argv"]))
        result["type"] = "Returned"
    except Begun:
        result["type"] = "Begun"
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
    name = frame.filename.split("site-packages/")[-1]
    return f"{name}:{frame.name}"


def _swift() -> Entry:
    try:
        module = importlib.import_module("swift.pipelines")
    except ImportError:
        module = importlib.import_module("swift.llm")
    # the packages load their modules when a name is asked for: ask before forking
    mains = {
        name: getattr(module, f"{name}_main") for name in ("sft", "rlhf", "pt", "infer", "export")
    }
    for name in ("swift.trainers", "swift.arguments", "swift.llm.argument", "trl", "peft"):
        _import_all(name)
    router = importlib.import_module("swift.cli.main")

    def enter(command: str, argv: list[str]) -> None:
        if command in {"dpo", "orpo", "simpo"}:
            argv, command = ["--rlhf_type", command, *argv], "rlhf"
        if hasattr(router, "parse_yaml_args"):
            router.parse_yaml_args(argv)
        sys.argv = [f"{command}.py", *argv]
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
        except (ImportError, RuntimeError, AttributeError):
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


def _stop_at_training() -> None:
    """Stop where any trainer begins to train."""
    kind = importlib.import_module("transformers").Trainer
    kind.train = _begin

    def stopped(cls: type, **_: object) -> None:
        if "train" in cls.__dict__:
            cls.train = _begin  # type: ignore[attr-defined]

    kind.__init_subclass__ = classmethod(stopped)
    kinds = list(kind.__subclasses__())
    while kinds:
        found = kinds.pop()
        kinds += found.__subclasses__()
        stopped(found)


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


def _stand_in_for_gpus(cards: int) -> None:
    """Let a launch mean on this machine what it means on one with Ampere GPUs."""
    torch = importlib.import_module("torch")
    torch.cuda.set_device = lambda *_: None
    for name, module in list(sys.modules.items()):
        # only those of the framework: others would go on to use the cards
        if name.startswith("swift") and "get_device_count" in vars(module):
            module.get_device_count = lambda: cards  # type: ignore[attr-defined]
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


if __name__ == "__main__":
    main()

"""Write the arguments a framework itself makes of command lines; runs in that framework's Python.

usage: dump.py JOBS.json, a list of {command, argv, env, cwd, ranks, out}. The framework is imported
once; each job runs in forked processes, one for each rank, of which rank 0 writes.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import sys
import traceback
import types
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

SWIFT_CLASSES = {
    "sft": ("SftArguments", "TrainArguments"),
    "pt": ("PretrainArguments", "PtArguments", "TrainArguments"),
    "rlhf": ("RLHFArguments",),
    "infer": ("InferArguments",),
    "merge-lora": ("ExportArguments",),
    "deploy": ("DeployArguments",),
    "rollout": ("RolloutArguments",),
    "export": ("ExportArguments",),
    "eval": ("EvalArguments",),
    "app": ("AppArguments",),
    "app-ui": ("AppUIArguments",),
    "web-ui": ("WebUIArguments", "WebuiArguments"),
    "sample": ("SamplingArguments",),
}


def main() -> None:
    """Dump the arguments of every job."""
    jobs = json.loads(Path(sys.argv[1]).read_text())
    dump = _llamafactory() if jobs[0]["framework"] == "llamafactory" else _swift()
    for job in jobs:
        ranks = [_fork(job, rank, dump) for rank in range(job["ranks"])]
        for pid in ranks:
            os.waitpid(pid, 0)


def _fork(job: dict[str, Any], rank: int, dump: Callable[[dict[str, Any]], dict[str, Any]]) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.chdir(job["cwd"])
        os.environ.update(job["env"])
        if job["distributed"]:
            places = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": job["ranks"]}
            places["LOCAL_WORLD_SIZE"] = job["ranks"]
            os.environ.update({name: str(value) for name, value in places.items()})
            os.environ.update({"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": job["port"]})
        values = dump(job)
        if rank == 0:
            Path(job["out"]).write_text(json.dumps(values))
        code = 0
    except BaseException:  # noqa: BLE001 - the process ends here; whatever it was is the report
        Path(job["out"] + f".error{rank}").write_text(traceback.format_exc())
    os._exit(code)


def _swift() -> Callable[[dict[str, Any]], dict[str, Any]]:
    try:
        module = importlib.import_module("swift.arguments")
    except ImportError:
        module = importlib.import_module("swift.llm")
    utils = importlib.import_module("swift.utils")
    for names in SWIFT_CLASSES.values():
        # the packages load their modules when a name is asked for: ask before forking
        _ = [getattr(module, name, None) for name in names]
    _stand_in_for_a_gpu()
    swift_utils = importlib.import_module("swift.utils.utils")
    if hasattr(swift_utils, "broadcast_string"):
        # agrees on the name of the run folder over the cards
        swift_utils.broadcast_string = lambda text: text
    if hasattr(module, "RolloutArguments"):
        # counts the cards
        module.RolloutArguments._check_device_count = lambda _: None  # noqa: SLF001

    def dump(job: dict[str, Any]) -> dict[str, Any]:
        sys.argv = ["swift", *job["argv"]]
        argv, command = list(job["argv"]), job["command"]
        if command in {"dpo", "orpo", "simpo"}:
            argv, command = ["--rlhf_type", command, *argv], "rlhf"
        main_module = importlib.import_module("swift.cli.main")
        if hasattr(main_module, "parse_yaml_args"):
            main_module.parse_yaml_args(argv)
        names = SWIFT_CLASSES[command]
        kind = next(getattr(module, n) for n in names if hasattr(module, n))
        args, rest = utils.parse_args(kind, argv)
        if rest and not getattr(args, "ignore_args_error", False):
            raise ValueError(f"remaining_argv: {rest}")
        if command == "pt":
            _pretrain(args)
        if hasattr(args, "sft_type"):
            _prepare(args)
        own = {field.name for field in dataclasses.fields(args)}
        values = {k: v for k, v in args.__dict__.items() if k in own}
        found = {k: plain(v) for k, v in utils.check_json_format(values).items()}
        return {"args": found, "training_args": _completing(args, found)}

    return dump


def _pretrain(args: object) -> None:
    """Let the pipeline of 3.x change the arguments before it saves them; in 4.x the class does."""
    try:
        kind = importlib.import_module("swift.llm.train.pt").SwiftPt
    except ImportError:
        return
    # the template itself takes a tokenizer, and changes no argument
    kind.__mro__[1]._prepare_template = lambda _: None  # noqa: SLF001
    runner = object.__new__(kind)
    runner.args, runner.template = args, types.SimpleNamespace()
    runner._prepare_template()


def _prepare(args: Any) -> None:  # noqa: ANN401 - the framework's own class
    """Do what `prepare_model` of 2.x does to the arguments of LoRA: it takes the loaded model."""
    if args.sft_type not in {"lora", "longlora"} or not hasattr(args, "init_lora_weights"):
        return
    if str(args.init_lora_weights).lower() in {"true", "false"}:
        args.init_lora_weights = str(args.init_lora_weights).lower() == "true"
    if args.lora_dtype == "AUTO":
        args.lora_dtype = None


def _completing(args: object, found: dict[str, Any]) -> dict[str, Any]:
    """Give what the trainer is told where the arguments themselves stay open (None)."""
    training = getattr(args, "training_args", None)
    if training is None:
        return {}
    values = {field.name: getattr(training, field.name) for field in dataclasses.fields(training)}
    return {
        name: plain(value)
        for name, value in values.items()
        if found.get(name, 0) is None and value is not None
    }


def _llamafactory() -> Callable[[dict[str, Any]], dict[str, Any]]:
    parser = importlib.import_module("llamafactory.hparams.parser")
    _stand_in_for_a_gpu()
    parser.is_torch_bf16_gpu_available = lambda: True

    def dump(job: dict[str, Any]) -> dict[str, Any]:
        sys.argv = ["llamafactory-cli", *job["argv"]]
        read = {"train": parser.get_train_args, "eval": parser.get_eval_args}
        records = read.get(job["command"], parser.get_infer_args)()
        values = {
            field.name: plain(getattr(record, field.name))
            for record in records
            for field in dataclasses.fields(record)
        }
        return {"args": values}

    return dump


def _stand_in_for_a_gpu() -> None:
    """Let a launch mean on this machine what it means on one with an Ampere GPU.

    Precision checks ask the card, and each rank binds its card; neither changes an argument.
    """
    torch = importlib.import_module("torch")
    torch.cuda.set_device = lambda *_: None
    kind = importlib.import_module("transformers.training_args").TrainingArguments
    # counts the processes that have a card
    kind.world_size = property(lambda _: int(os.environ.get("WORLD_SIZE", "1")))
    for name in ("transformers.training_args", "transformers.utils"):
        module = importlib.import_module(name)
        if hasattr(module, "is_torch_bf16_gpu_available"):
            module.is_torch_bf16_gpu_available = lambda: True


def plain(value: Any) -> Any:  # noqa: ANN401 - any value an argument may hold
    """Turn a value into what JSON can hold, the way the frameworks' own dumps do."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    return str(value).removeprefix("torch.")


if __name__ == "__main__":
    main()

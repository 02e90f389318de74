"""A DeepSpeed file whose numbers are not those of the training arguments.

`HfTrainerDeepSpeedConfig.trainer_config_process` fills what is "auto" and refuses what differs.
https://github.com/huggingface/transformers/blob/v4.49.0/src/transformers/integrations/deepspeed.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from trainrx.linter.job import LintedJob, RuleHit
from trainrx.linter.places import LineRange
from trainrx.model.facts import Origin
from trainrx.model.job import RawArg

_SAME: Mapping[str, str] = {
    "train_micro_batch_size_per_gpu": "per_device_train_batch_size",
    "gradient_accumulation_steps": "gradient_accumulation_steps",
    "gradient_clipping": "max_grad_norm",
    "optimizer.params.lr": "learning_rate",
    "optimizer.params.eps": "adam_epsilon",
    "optimizer.params.weight_decay": "weight_decay",
    "scheduler.params.warmup_max_lr": "learning_rate",
    "fp16.enabled": "fp16",
    "bf16.enabled": "bf16",
}
_BATCH = "train_batch_size"
_MAX_TEXT = 300_000


class _File(msgspec.Struct, frozen=True):
    name: str
    values: dict[str, object]


def find(job: LintedJob) -> Iterator[RuleHit]:
    """Give each key of the DeepSpeed file that contradicts an argument of the launch."""
    if not job.framework.training_arguments or job.launch.command.startswith("megatron"):
        return
    file = _file(job)
    if file is None:
        return
    for key, name in _SAME.items():
        wanted = _given(name, job)
        held = file.values.get(key)
        if held is None or held == "auto" or wanted is None or _equal(held, wanted):
            continue
        yield _differs(key, held, name, wanted, job, file)
    yield from _triangle(job, file)


def _triangle(job: LintedJob, file: _File) -> Iterator[RuleHit]:
    """Compare the batch of all cards: micro batch x accumulation x processes."""
    held = file.values.get(_BATCH)
    names = ("train.micro_batch", "train.grad_accum", "parallel.world_size")
    factors = [job.facts.number(name) for name in names]
    if not isinstance(held, int) or isinstance(held, bool) or None in factors:
        return
    micro, accum, world = (int(value or 0) for value in factors)
    if held != micro * accum * world:
        values = {
            "held": str(held),
            "wanted": str(micro * accum * world),
            "micro": str(micro),
            "accum": str(accum),
            "world": str(world),
        }
        yield RuleHit("deepspeed-batch-differs", _at(_BATCH, job, file), values)


def _differs(
    key: str, held: object, name: str, wanted: object, job: LintedJob, file: _File
) -> RuleHit:
    values = {"key": key, "held": _text(held), "name": name, "wanted": _text(wanted)}
    return RuleHit("deepspeed-value-differs", _at(key, job, file), values)


def _text(value: object) -> str:
    import json

    return json.dumps(value)


def _at(key: str, job: LintedJob, file: _File) -> LineRange:
    """Find the key in the file: the first line that holds it behind those it lies in."""
    start = 0
    lines = job.texts.lines(file.name)
    for part in key.split("."):
        for number in range(start, len(lines)):
            if f'"{part}"' in lines[number]:
                start = number
                break
    origin = Origin(source=file.name, line=start + 1)
    last = key.rpartition(".")[2]
    return job.texts.flag(RawArg(name=last, values=None, origin=origin, via="config"))


def _given(name: str, job: LintedJob) -> object:
    """Give the value of a training argument, None when it is not known or not the user's."""
    argument = job.resolved.arguments.get(name)
    if argument is None or not argument.known or argument.via not in ("arg", "config"):
        return None
    return argument.value


def _equal(held: object, wanted: object) -> bool:
    if isinstance(held, bool) or isinstance(wanted, bool):
        return held is wanted
    if isinstance(held, (int, float)) and isinstance(wanted, (int, float)):
        return float(held) == float(wanted)
    return held == wanted


def _file(job: LintedJob) -> _File | None:
    setting = job.resolved.settings.get("parallel.deepspeed")
    text = setting.text if setting is not None else ""
    if not text.endswith(".json"):
        return None
    import json  # few launches bring a file of their own

    base = text.replace("\\", "/").rpartition("/")[2]
    for name, content in job.files.items():
        if name.replace("\\", "/").rpartition("/")[2] == base and len(content) < _MAX_TEXT:
            try:
                read = json.loads(content)
            except (ValueError, RecursionError):
                return None
            return _File(name, dict(_flat(read))) if isinstance(read, dict) else None
    return None


def _flat(node: dict[str, object], front: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    for key, value in node.items():
        if isinstance(value, dict) and depth < 4:
            yield from _flat(value, f"{front}{key}.", depth + 1)
        else:
            yield f"{front}{key}", value

"""What takes a configuration file, told by its keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainrx.frameworks import framework_of
from trainrx.frameworks.common.recognise import by_precedence
from trainrx.inputs.config import read_config

Kind = str
"""The name of a framework, or: accelerate; deepspeed; fsdp: the `fsdp_config` of transformers;
args: a dump of resolved arguments (args.json); overrides, hydra: what Hydra keeps beside the
configuration it composed; llamaboard: the state of LLaMA Board's form, which writes
`training_args.yaml` beside it."""

_DUMP_LEAST = 60
"""Keys of a JSON object above which it is a dump of all arguments: nobody writes as many."""

_KEYS: Sequence[tuple[Kind, frozenset[str], frozenset[str]]] = (
    (
        "deepspeed",
        frozenset({"zero_optimization", "train_micro_batch_size_per_gpu", "train_batch_size"}),
        frozenset({"fp16", "bf16", "gradient_clipping", "zero_allow_untested_optimizer"}),
    ),
    (
        "accelerate",
        frozenset({"compute_environment", "distributed_type", "main_training_function"}),
        frozenset({"num_processes", "num_machines", "deepspeed_config", "fsdp_config"}),
    ),
    (
        "fsdp",
        frozenset(
            {"fsdp_transformer_layer_cls_to_wrap", "fsdp_version", "fsdp_state_dict_type"}
            | {"transformer_layer_cls_to_wrap", "reshard_after_forward", "xla_fsdp_v2"}
        ),
        frozenset({"activation_checkpointing", "min_num_params", "version", "use_orig_params"}),
    ),
)


def classify_config(text: str) -> Kind | None:
    """Name what takes a configuration; None when no key decides."""
    args, _ = read_config(text, "")
    names = {front for arg in args for front in _fronts(arg.name)}
    dumped = text.lstrip().startswith("{") and len(names) > _DUMP_LEAST
    if dumped and {"output_dir", "model", "model_id_or_path"} & names:
        return "args"
    if text.lstrip().startswith("- ") and args:
        return "overrides"
    if "hydra" in names and {"hydra.run.dir", "hydra.job.name", "hydra.verbose"} & names:
        return "hydra"
    if {"top.lang", "top.model_name"} & names and any(name.startswith("train.") for name in names):
        return "llamaboard"
    best, score = None, 0
    for kind, telling, usual in _keys():
        points = 3 * len(names & telling) + len(names & usual) if names & telling else 0
        if points > score:
            best, score = kind, points
    return best


def _keys() -> Iterator[tuple[Kind, frozenset[str], frozenset[str]]]:
    yield from _KEYS
    for one in by_precedence():
        yield one.name, one.telling_keys, one.usual_keys


def _fronts(name: str) -> Iterator[str]:
    """Give a dotted name and all that stands in front of its dots."""
    at = name.find(".")
    while at >= 0:
        yield name[:at]
        at = name.find(".", at + 1)
    yield name


def is_framework_config(kind: Kind | None) -> bool:
    """Tell whether a configuration alone implies the command of its framework."""
    return kind == "args" or bool(framework_of(kind).telling_keys)

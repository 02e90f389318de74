"""Config files: YAML or JSON read the way their framework reads it, every value with its line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

import yaml

from trainrx.model.facts import Origin
from trainrx.model.job import RawArg
from trainrx.model.result import Unread

MAX_TEXT = 300_000
"""Characters; larger files are data, not configuration."""

MAX_VALUES = 20_000
"""Values kept; bounds what anchors and aliases can multiply into."""

MAX_DEPTH = 30
_MAX_BRACKETS = 100
_LINE = 400

Kind = str

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
        "llamafactory",
        frozenset({"finetuning_type", "cutoff_len", "lora_target", "dataset_dir", "stage"}),
        frozenset({"template", "overwrite_cache", "preprocessing_num_workers", "deepspeed"}),
    ),
    (
        "axolotl",
        frozenset({"base_model", "sequence_len", "micro_batch_size", "sample_packing"}),
        frozenset({"datasets", "adapter", "val_set_size", "lora_r"}),
    ),
    (
        "verl",
        frozenset({"actor_rollout_ref", "algorithm", "trainer.n_gpus_per_node"}),
        frozenset({"data", "trainer", "critic"}),
    ),
    (
        "ms-swift",
        frozenset({"tuner_type", "train_type", "sft_type", "attn_impl", "rlhf_type", "freeze_vit"}),
        frozenset({"model", "model_type", "dataset", "split_dataset_ratio", "vllm_mode"}),
    ),
    (
        "trl",
        frozenset(
            {"use_peft", "dataset_name", "attn_implementation", "lora_target_modules"}
            | {"num_generations", "max_completion_length", "max_prompt_length"}
        ),
        frozenset({"model_name_or_path", "per_device_train_batch_size", "lora_r", "dtype"}),
    ),
)


def read_config(text: str, source: str) -> tuple[tuple[RawArg, ...], tuple[Unread, ...]]:
    """Read a YAML or JSON mapping into flat arguments; nested keys become dotted names.

    Values stay as the file spells them (`1e-5`, `True`). Only the first YAML document counts.
    A file that cannot be read gives no arguments and an `Unread` that names line and reason.
    """
    if len(text) > MAX_TEXT:
        return (), (_unread(source, "is too large for a configuration file", text, None),)
    if (deep := _too_nested(text)) is not None:
        return (), (_unread(source, "nests too deeply", text, deep),)
    try:
        node = _compose(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else None
        reason = f"is not valid YAML: {error.problem or error.context or 'syntax error'}"
        return (), (_unread(source, reason, text, line),)
    except (yaml.YAMLError, ValueError) as error:
        return (), (_unread(source, f"is not valid YAML: {str(error)[:200]}", text, None),)
    except RecursionError:
        return (), (_unread(source, "nests too deeply", text, None),)
    if node is None:
        return (), ()
    if not isinstance(node, yaml.MappingNode):
        return (), (_unread(source, "holds no key-value pairs", text, 1),)
    return _flatten(node, text, source)


def classify_config(text: str) -> Kind | None:
    """Name what takes a config: llamafactory, ms-swift, accelerate, deepspeed, axolotl, verl, trl.

    `args` is a dump of resolved arguments (ms-swift's args.json). None when no key decides.
    """
    args, _ = read_config(text, "")
    names = {part for arg in args for part in (arg.name, arg.name.split(".", 1)[0])}
    if text.lstrip().startswith("{") and len(names) > 60 and {"output_dir", "model"} & names:
        return "args"
    best, score = None, 0
    for kind, telling, usual in _KEYS:
        points = 3 * len(names & telling) + len(names & usual) if names & telling else 0
        if points > score:
            best, score = kind, points
    return best


def _compose(text: str) -> yaml.Node | None:
    """Compose the first document; the loader resolves aliases to the same node, not to copies."""
    loader = yaml.SafeLoader(_as_yaml(text))
    try:
        return loader.get_node() if loader.check_node() else None
    finally:
        loader.dispose()


def _as_yaml(text: str) -> str:
    """JSON is YAML but for tabs and a few escapes: those files are written out once more."""
    if not text.lstrip().startswith("{") or "\t" not in text:
        return text
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text.replace("\t", "  ")


def _flatten(
    root: yaml.MappingNode, text: str, source: str
) -> tuple[tuple[RawArg, ...], tuple[Unread, ...]]:
    lines = text.split("\n")
    walker = _Walker()
    found: list[RawArg] = []
    for name, values, line in walker.mapping(root, "", 0):
        shown = lines[line - 1].strip()[:_LINE] if line <= len(lines) else ""
        origin = Origin(source=source, line=line, text=shown)
        found.append(RawArg(name=name, values=values, origin=origin, via="config"))
    if walker.left > 0:
        return tuple(found), ()
    reason = f"holds more than {MAX_VALUES} values; the rest was not read"
    return tuple(found), (_unread(source, reason, text, None),)


class _Walker:
    """Walks nodes; an alias stands for the whole it names, so visits are counted, not nodes."""

    def __init__(self) -> None:
        self.left = MAX_VALUES

    def mapping(
        self, node: yaml.MappingNode, prefix: str, depth: int
    ) -> Iterator[tuple[str, tuple[str, ...], int]]:
        """Give name, values and line of every leaf; deeper than MAX_DEPTH nothing is configured."""
        for key, value in node.value if depth <= MAX_DEPTH else ():
            self.left -= 1
            if self.left <= 0:
                return
            if not isinstance(key, yaml.ScalarNode):
                continue
            name = f"{prefix}{key.value}"[:_LINE]
            line = key.start_mark.line + 1
            if isinstance(value, yaml.ScalarNode):
                yield name, (_scalar(value),), line
            elif isinstance(value, yaml.MappingNode):
                yield from self.mapping(value, f"{name}.", depth + 1)
            elif isinstance(value, yaml.SequenceNode):
                yield from self.sequence(value, name, line, depth)

    def sequence(
        self, node: yaml.SequenceNode, name: str, line: int, depth: int
    ) -> Iterator[tuple[str, tuple[str, ...], int]]:
        """Give a list of plain values as one leaf, mappings in a list by their index."""
        self.left -= len(node.value)
        if self.left <= 0:
            return
        scalars = tuple(_scalar(item) for item in node.value if isinstance(item, yaml.ScalarNode))
        if len(scalars) == len(node.value):
            yield name, scalars, line
            return
        for index, item in enumerate(node.value):
            if isinstance(item, yaml.MappingNode):
                yield from self.mapping(item, f"{name}.{index}.", depth + 1)


def _scalar(node: yaml.ScalarNode) -> str:
    if node.tag.endswith(":null") and not node.value:
        return "null"
    return str(node.value).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _too_nested(text: str) -> int | None:
    """Find the line where brackets go deeper than any configuration does.

    The YAML scanner takes quadratic time on them, so it must not see such a text.
    """
    depth = 0
    for number, line in enumerate(text.split("\n"), start=1):
        opened = _count(line, "[{")
        if depth + opened > _MAX_BRACKETS and opened:
            return number
        depth = max(depth + opened - _count(line, "]}"), 0)
    return None


def _count(line: str, brackets: Iterable[str]) -> int:
    return sum(line.count(bracket) for bracket in brackets)


def _unread(source: str, reason: str, text: str, line: int | None) -> Unread:
    lines = text[:MAX_TEXT].split("\n") if line is not None else []
    shown = lines[line - 1].strip()[:_LINE] if line is not None and line <= len(lines) else ""
    return Unread(source=source, reason=reason, line=line, text=shown)

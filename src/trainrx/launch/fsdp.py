"""How FSDP shards a job: accelerate's configuration and options, transformers' `fsdp` settings.

Sources: accelerate/utils/dataclasses.py (FullyShardedDataParallelPlugin, ParallelismConfig),
transformers/training_args.py (`_process_fsdp_args`), swift/config/fsdp2.json of ms-swift.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from trainrx.model.facts import Fact, Origin, Scalar, fact
from trainrx.model.job import RawArg

STRATEGIES = ("full_shard", "shard_grad_op", "no_shard", "hybrid_shard", "hybrid_shard_zero2")
"""In the order of torch's ShardingStrategy, which accelerate also takes as numbers from 1."""
_NUMBERS = ("1", "2", "3", "4", "5")
_ALIASES = {"_hybrid_shard_zero2": "hybrid_shard_zero2"}
_PRESETS = {"fsdp2": {"version": "2", "reshard_after_forward": "true"}}
_PREFIXES = ("fsdp_config.fsdp_", "fsdp_config.", "fsdp_")
_TRUE, _FALSE = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})
_OFF = frozenset({"", "none", "null", "false", "[]"})
_ASKING = {("distributed_type", "fsdp"), *(("use_fsdp", word) for word in _TRUE)}
_SWITCHES = frozenset({"fsdp", *_TRUE})
_SWITCHED = {
    "cpu_ram_efficient_loading": "parallel.fsdp_rank0_loading",
    "sync_module_states": "parallel.fsdp_sync",
}
_TEXT_ONLY = {("fsdp_sync_module_states", word) for word in _FALSE}
"""As an option this "false" is text that `accelerate launch` takes for given; the plugin then sends
the weights all the same where the first process alone loads them. A file's false is refused."""
_SIZES = {
    "tp_size": "parallel.tensor",
    "cp_size": "parallel.context",
    "sp_size": "parallel.sequence",
    "dp_shard_size": "parallel.fsdp_size",
    "dp_replicate_size": "parallel.replicas",
}

Keys = dict[str, tuple[str, Origin]]


def fsdp_facts(args: Sequence[RawArg], files: Mapping[str, str] | None = None) -> tuple[Fact, ...]:
    """Give `parallel.fsdp`, its version, sharding, offload and other settings, mesh sizes.

    Args:
        args: what the launcher, the launch and its configurations say, the decisive last.
        files: texts of files at hand by their base name, for an `fsdp_config` by path.

    Nothing is given where FSDP is not asked for. The version is a fact only where it is written:
    what the default is depends on the releases of accelerate and transformers.
    """
    keys = _keys(args, files or {})
    found: list[Fact] = [*_mesh(args)]
    asked = keys.get("asked")
    if asked is None:
        return tuple(found)
    read = list(_read(keys))
    found += [fact(name, value, keys.get(key, asked)[1]) for name, value, key in read]
    if asked[0].lower() in _SWITCHES:
        # a switch does not say what is sharded, as the words of transformers do
        sharding = next((v for name, v, _ in read if name == "parallel.fsdp_sharding"), "fsdp")
        found.append(fact("parallel.fsdp", sharding, asked[1]))
    return tuple(found)


def canonical_sharding(text: str) -> str | None:
    """Name a sharding strategy: of a list of words, a number, or a name in any case."""
    words = re.findall(r"[a-z_0-9]+", text.lower())
    for word in words:
        named = str(_ALIASES.get(word, word))
        if named in STRATEGIES:
            return named
        if len(words) == 1 and named in _NUMBERS:
            return STRATEGIES[_NUMBERS.index(named)]
    return None


def _keys(args: Sequence[RawArg], files: Mapping[str, str]) -> Keys:
    """Collect FSDP's keys without their prefixes; `asked` stands for FSDP being on at all."""
    keys: Keys = {}
    for arg in args:
        if not arg.values:
            if arg.name == "use_fsdp" and arg.values == ():
                keys["asked"] = ("true", arg.origin)
            continue
        text = " ".join(arg.values)
        if arg.name == "fsdp":
            _put_fsdp(keys, text, arg.origin, files)
        elif arg.name == "fsdp_config":
            _put_config(keys, text, arg.origin, files)
        elif (arg.name, text.lower()) in _ASKING:
            keys["asked"] = (text, arg.origin)
        else:
            name = _bare(arg.name)
            if (arg.name, text.lower()) in _TEXT_ONLY:
                keys.pop(name, None)
            elif name:
                keys[name] = (text, arg.origin)
    return keys


def _bare(name: str) -> str:
    for prefix in _PREFIXES:
        if name.startswith(prefix):
            return name.removeprefix(prefix)
    return ""


def _put_fsdp(keys: Keys, text: str, origin: Origin, files: Mapping[str, str]) -> None:
    """Read `--fsdp`: words, a switch, and for ms-swift a preset or a file like one."""
    preset = _object(text, files)
    if preset:
        text = str(preset.get("fsdp", "full_shard auto_wrap"))
        import json  # few launches shard with a file of their own

        _put_config(keys, json.dumps(preset.get("fsdp_config")), origin, files)
    lowered = text.strip().lower()
    if lowered in _OFF:
        keys.pop("asked", None)
        return
    keys["asked"] = (text, origin)
    for name, value in _PRESETS.get(lowered, {}).items():
        keys.setdefault(name, (value, origin))
    if canonical_sharding(lowered) is not None and not lowered.isdecimal():
        keys["sharding_strategy"] = (lowered, origin)
    if "offload" in re.findall(r"[a-z_]+", lowered):
        keys["offload_params"] = ("true", origin)


def _put_config(keys: Keys, text: str, origin: Origin, files: Mapping[str, str]) -> None:
    for name, value in _object(text, files).items():
        if value is not None and not isinstance(value, (dict, list)):
            keys[name.removeprefix("fsdp_")] = (str(value), origin)


def _object(text: str, files: Mapping[str, str]) -> dict[str, object]:
    """Parse JSON given inline or by the path of a file at hand."""
    stripped = text.strip()
    content = stripped if stripped.startswith("{") else files.get(stripped.rpartition("/")[2], "")
    if not content.lstrip().startswith("{"):
        return {}
    import json  # few launches shard with a file of their own

    try:
        config = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}


def _read(keys: Keys) -> Iterable[tuple[str, Scalar, str]]:
    texts = {name: text.strip().lower() for name, (text, _) in keys.items()}
    version = texts.get("version", "")
    if version in {"1", "2"}:
        yield "parallel.fsdp_version", int(version), "version"
    yield from _sharding(texts)
    for key, name in _SWITCHED.items():
        if texts.get(key) in _TRUE | _FALSE:
            yield name, texts[key] in _TRUE, key
    if texts.get("state_dict_type"):
        yield "parallel.fsdp_state_dict", texts["state_dict_type"][:60], "state_dict_type"
    named = canonical_sharding(texts.get("reshard_after_forward", ""))
    if named is not None and texts["reshard_after_forward"] not in _TRUE | _FALSE:
        yield "parallel.fsdp_reshard", named, "reshard_after_forward"
    for key in ("offload_params", "cpu_offload"):
        if texts.get(key) in _TRUE | _FALSE:
            yield "parallel.fsdp_offload", texts[key] in _TRUE, key
    if texts.get("activation_checkpointing") in _TRUE | _FALSE:
        on = texts["activation_checkpointing"] in _TRUE
        yield "parallel.fsdp_checkpointing", on, "activation_checkpointing"


def _sharding(texts: Mapping[str, str]) -> Iterable[tuple[str, Scalar, str]]:
    """FSDP1 names a strategy; FSDP2 says whether weights are gathered again for the backward."""
    named = canonical_sharding(texts.get("sharding_strategy", ""))
    again = texts.get("reshard_after_forward", "")
    if texts.get("version") == "2" and again in _TRUE | _FALSE:
        yield (
            "parallel.fsdp_sharding",
            "full_shard" if again in _TRUE else "shard_grad_op",
            "reshard_after_forward",
        )
    elif named is not None:
        yield "parallel.fsdp_sharding", named, "sharding_strategy"
    elif canonical_sharding(again) is not None and again not in _TRUE | _FALSE:
        yield "parallel.fsdp_sharding", canonical_sharding(again) or "", "reshard_after_forward"


def _mesh(args: Iterable[RawArg]) -> Iterable[Fact]:
    """Read accelerate's parallelism_config."""
    for arg in args:
        name = arg.name.removeprefix("parallelism_config.")
        kind = _SIZES.get(name.removeprefix("parallelism_config_"))
        if kind is None or not name.startswith("parallelism_config_") or not arg.values:
            continue
        if arg.values[0].isdecimal() and len(arg.values[0]) <= 6:
            yield fact(kind, int(arg.values[0]), arg.origin)

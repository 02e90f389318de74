"""What of a job's memory a launch leaves open: what nobody understands may set it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from trainrx.catalog.catalog import plain
from trainrx.catalog.resolved import Resolved
from trainrx.frameworks import framework_of
from trainrx.launch.config_files import Configs
from trainrx.launch.facts import UNRESOLVED
from trainrx.launch.fsdp import fsdp_facts
from trainrx.launch.places import base
from trainrx.launch.program_settings import (
    UNREAD_OF,
    is_own_program,
    program_facts,
    set_by_program,
)
from trainrx.model.facts import Fact, Facts, Origin, fact
from trainrx.model.job import RawArg, RawLaunch
from trainrx.model.pattern import late

OPEN = "launch.open_terms"
"""Terms of the memory that are open, separated by spaces; a field of each says what may set it."""
QUOTE = 80


class MemoryTerm(NamedTuple):
    """One side of a job that decides its memory, and how it is recognised.

    `words`: names of arguments that speak of it; `settings`: the parameters that say it, any of
    which settles it; `prefixes` of all that belong to it.
    """

    words: str
    settings: tuple[str, ...]
    prefixes: tuple[str, ...]


TERMS: Mapping[str, MemoryTerm] = {
    "sharding": MemoryTerm(
        r"(?:^|_)(?:ds|zero\d?|deepspeed|fsdp\d?|shard\w*|offload\w*|ulysses|ring|tp|pp|sp|cp|ep)(?:_|$)"
        r"|parallel|device_map|(?:model|tensor|pipeline|sequence|context|expert)_\w*size",
        ("parallel.deepspeed", "parallel.fsdp", "parallel.strategy"),
        (
            "parallel.deepspeed",
            "parallel.fsdp",
            "parallel.strategy",
            "parallel.tensor",
            "parallel.pipeline",
            "parallel.sequence",
            "parallel.expert",
            "parallel.nodes",
            "parallel.processes",
            "parallel.offload",
            "parallel.param_offload",
            "parallel.optimizer_offload",
            "parallel.device_map",
        ),
    ),
    "length": MemoryTerm(
        r"(?:^|_)(?:max|model|seq|sequence|context|cutoff|block|pack\w*|token\w*)_(?:\w+_)?(?:len|length|size|tokens?)(?:_|$)"
        r"|max_(?:seq|tokens?)|seq_?len|cutoff",
        ("train.max_length", "train.pack_length", "train.max_tokens_per_gpu"),
        ("train.max_length", "train.pack", "train.max_tokens", "rlhf.max_"),
    ),
    "tuner": MemoryTerm(
        r"lora|peft|adapter|tuner|freez|frozen|(?:^|_)(?:tune|train)_(?:mm|llm|vision|vit|mlp|backbone|projector)"
        r"|quant|(?:^|_)bits?(?:_|$)|load_in_|trainable|finetun\w*_type",
        ("tuner.type",),
        ("tuner.", "freeze."),
    ),
    "checkpointing": MemoryTerm(
        r"(?:grad\w*|activation|act|layer)_(?:check_?point|ckpt)|recompute|remat|(?:^|_)gc(?:_|$)",
        ("train.gradient_checkpointing", "megatron.recompute"),
        ("train.gradient_checkpointing", "megatron.recompute", "train.vit_gradient"),
    ),
    "precision": MemoryTerm(
        r"dtype|precision|(?:^|_)(?:bf16|fp16|fp32|fp8|amp|half)(?:_|$)",
        ("train.precision", "train.mixed_precision", "model.load_dtype"),
        ("train.precision", "train.mixed_precision", "model.load_dtype", "train.pure_half"),
    ),
    "kernels": MemoryTerm(
        r"attn|attention|flash|liger|fused|xformers|(?:^|_)optim(?:izer)?(?:_type|_name)?$",
        ("train.attention",),
        ("train.attention", "train.liger", "train.optimizer"),
    ),
    "batch": MemoryTerm(
        r"batch_?size|(?:^|_)(?:bs|mbs|bsz|bsize)(?:_|$)|micro_?batch",
        ("train.micro_batch",),
        ("train.micro_batch", "train.dynamic_batch"),
    ),
}
_ASIDE = late(
    r"(?:^|_)(?:eval\w*|val\w*|test\w*|infer\w*|generation|new|log\w*|save\w*|dataloader|prefetch"
    r"|preprocess\w*|num_workers|lr|learning|warmup|decay|beta\d?)(?:_|$)"
)
"""Such a name speaks of something beside the training step."""
_WORDS = {name: late(term.words) for name, term in TERMS.items()}
_OF_LAUNCHER = ("sharding", "precision")
"""What a launcher's own configuration decides."""
_LIMITS = frozenset(
    {"max_seq_length", "model_max_length", "max_length", "max_seq_len", "cutoff_len", "seq_length"}
    | {"seq_len", "max_len", "sequence_len", "context_length", "block_size"}
)
"""What programs on the Trainer of transformers call the limit of a sample."""
_MODELS = frozenset(
    {"model", "model_id", "model_name", "model_path", "base_model", "pretrained_model"}
    | {"base_model_name", "model_id_or_path", "pretrained_model_path", "pretrain"}
)
"""What programs of someone's own call the model they train."""
_NAMED_MODEL = late(
    r"(?:hf|base|pretrained|llm|policy|actor|student|sft)_model(?:_name|_path|_or)+"
)
_MODEL_PATH = late(r"(?:[\w.-]+|[.~]{0,2})(?:/[\w.-]+)+/?")
"""A hub id, or a path."""
_MODEL_NAME = late(r"[A-Za-z][\w.-]*\d[\w.-]*")
"""What names a model by itself: a series with a number in it, no `$`."""
_DEGREES: Mapping[str, tuple[str, int]] = {
    "zero_stage": ("parallel.zero_stage", 3),
    "tensor_model_parallel_size": ("parallel.tensor", 1024),
    "pipeline_model_parallel_size": ("parallel.pipeline", 1024),
}
"""Names with one meaning wherever they are, and the highest value that is one."""
HIDDEN = "..."
"""What stands for arguments that are not at hand."""


def facts_beside_settings(
    raw: RawLaunch, resolved: Resolved, read: Configs, missing: Collection[str]
) -> tuple[Fact, ...]:
    """Give what no setting holds: FSDP, what a program sets itself, and what is open.

    Args:
        raw: the launch before its configurations were read.
        resolved: what is understood of it.
        read: what its configurations say.
        missing: configurations it names that are not at hand.
    """
    args = (*read.outer, *read.launch.launcher, *read.args, *read.launch.args)
    sharding = fsdp_facts(args, read.files)
    complete = raw.args_complete and not read.unread
    whole = msgspec.structs.replace(read.launch, args_complete=complete)
    named = frozenset(item.kind for item in resolved.facts)
    beside = (
        *sharding,
        *program_facts(whole, named),
        *_model_name(raw, resolved),
        *_usual_degrees(raw, named),
        *_usual_strategy(raw, resolved),
    )
    known = (*resolved.facts, *beside)
    return (
        *beside,
        *open_terms(whole, resolved, known, files=read.files, missing=missing),
    )


def _model_name(raw: RawLaunch, resolved: Resolved) -> Iterator[Fact]:
    """Name a model by what the launch says of it, where no setting holds its name.

    Of a path behind a variable (`$ROOT/Qwen2.5-7B`) that is its end, of a program of someone's own
    one of the usual arguments.
    """
    setting = resolved.settings.get("model.name")
    if (setting is None or setting.value is None) and is_own_program(raw):
        for arg in raw.args:
            name = plain(arg.name)
            named = name in _MODELS or _NAMED_MODEL.fullmatch(name) is not None
            if named and len(words := arg.values or ()) == 1:
                if _MODEL_PATH.fullmatch(words[0]) or _MODEL_NAME.fullmatch(words[0]):
                    yield fact("model.name", words[0], arg.origin, how="assumed")
                return
    if setting is None or setting.value is not None or "$" not in setting.text:
        return
    name = setting.text.strip("\"'").rstrip("/").rpartition("/")[2]
    if _MODEL_NAME.fullmatch(name):
        yield fact("model.name", name, *setting.origins, how="assumed")


def _usual_strategy(raw: RawLaunch, resolved: Resolved) -> Iterator[Fact]:
    """Take the strategy of the framework's own configuration where words may be hidden (`$@`)."""
    strategy = framework_of(raw.framework).usual_strategy(raw) if raw.role == "trainer" else ""
    unsaid = "parallel.strategy" not in resolved.settings
    if strategy and unsaid and not (raw.args_complete and framework_of(raw.framework).composed):
        yield fact("parallel.strategy", strategy, raw.origin, how="assumed")


def _usual_degrees(raw: RawLaunch, known: Collection[str]) -> Iterator[Fact]:
    """Take what a program of someone's own calls by names of DeepSpeed and Megatron."""
    if not is_own_program(raw):
        return
    for arg in raw.args:
        kind, most = _DEGREES.get(plain(arg.name), ("", 0))
        words = arg.values or ()
        number = int(words[0][:9]) if len(words) == 1 and words[0].isdecimal() else most + 1
        if kind and kind not in known and number <= most:
            yield fact(kind, number, arg.origin, how="assumed")


def open_terms(
    raw: RawLaunch,
    resolved: Resolved,
    known: Iterable[Fact],
    *,
    files: Collection[str],
    missing: Collection[str],
) -> tuple[Fact, ...]:
    """Say which terms are open, and what may set each; nothing where all are understood.

    Where a program of someone's own has a limit of the length by one of its usual names, it is
    taken for that.

    Args:
        raw: the launch, with what its configurations add.
        resolved: what is understood of it.
        known: all facts of it.
        files: base names of the files that are at hand.
        missing: configurations it names that are not.
    """
    if raw.role != "trainer":
        return ()
    found: dict[str, str] = {}
    origins: list[Origin] = []
    for arg in set_by_program(raw):
        if arg.values is None and (term := UNREAD_OF.get(plain(arg.name))):
            found.setdefault(term, f"{arg.name} ({base(raw.program)})")
    facts = Facts(known)
    for name, arg in _not_understood(raw, resolved):
        if (raw.program_read or _is_off(arg)) and _settled(name, resolved, facts):
            continue  # the program was followed to what it does with it, or it does nothing
        found.setdefault(name, _shown(arg))
        origins.append(arg.origin)
    for name in _unresolved(facts):
        found.setdefault(name, _spelled(resolved, name))
    unset = [name for name in TERMS if not _settled(name, resolved, facts)]
    for name in unset:
        why = _hidden(name, raw, resolved, missing)
        if why:
            found.setdefault(name, why)
    if (file := _absent_file(resolved, facts, files)) and "sharding" not in found:
        found["offload"] = file
    limit = _usual_limit(raw, facts)
    if limit is not None:
        found.pop("length", None)
    return (*_said(found, origins or [raw.origin]), *([limit] if limit is not None else []))


def _said(found: Mapping[str, str], origins: Iterable[Origin]) -> Iterator[Fact]:
    if found:
        fields = (("value", " ".join(found)), *found.items())
        yield Fact(kind=OPEN, fields=fields, origins=tuple(dict.fromkeys(origins)))


def _absent_file(resolved: Resolved, facts: Facts, files: Collection[str]) -> str:
    """Give the DeepSpeed file that is not at hand: its name says a stage at most."""
    setting = resolved.settings.get("parallel.deepspeed")
    name = base(setting.text.strip()) if setting is not None else ""
    told = facts.value("parallel.offload_optimizer") is True
    return name[-QUOTE:] if name.endswith(".json") and name not in files and not told else ""


def _usual_limit(raw: RawLaunch, facts: Facts) -> Fact | None:
    if not is_own_program(raw) or "train.max_length" in facts:
        return None
    for arg in raw.args:
        words = arg.values or ()
        if plain(arg.name) in _LIMITS and len(words) == 1 and words[0].isdecimal():
            return fact("train.max_length", int(words[0][:9]), arg.origin, how="assumed")
    return None


def _not_understood(raw: RawLaunch, resolved: Resolved) -> Iterator[tuple[str, RawArg]]:
    """Give the arguments that neither the catalog nor a parameter knows, by what they speak of."""
    understood = {plain(item.name) for item in resolved.arguments.values() if item.via != "default"}
    understood |= {plain(item.given_as) for item in resolved.arguments.values() if item.given_as}
    settings = (*resolved.settings.values(), *resolved.shadowed)
    understood |= {plain(item.spelled_as) for item in settings}
    for arg in raw.args:
        if raw.program_read and arg.via == "config":
            continue  # a keyword argument of a library's own class
        name = plain(arg.name).rpartition(".")[2]
        if plain(arg.name) in understood or _ASIDE.search(name):
            continue
        for term, words in _WORDS.items():
            if words.search(name):
                yield term, arg


def _is_off(arg: RawArg) -> bool:
    """Tell whether a switch is turned off: beside a term that is told it changes nothing of it."""
    words = arg.values or ()
    return len(words) == 1 and words[0].lower() in ("false", "no", "off")


def _unresolved(facts: Facts) -> Iterator[str]:
    """Give the terms a setting of which has a value nobody can tell."""
    for setting in (facts.text(UNRESOLVED) or "").split():
        yield from (name for name, term in TERMS.items() if setting.startswith(term.prefixes))


def _spelled(resolved: Resolved, name: str) -> str:
    for item in resolved.settings.values():
        if item.value is None and item.canonical.startswith(TERMS[name].prefixes):
            return f"{item.spelled_as} {item.text}".strip()[:QUOTE]
    return HIDDEN


def _settled(name: str, resolved: Resolved, facts: Facts) -> bool:
    if name == "sharding" and (zero := facts.get("parallel.zero_stage")) is not None:
        return zero.how != "default"
    if any(one in facts and one not in resolved.settings for one in TERMS[name].settings):
        return True
    return any(
        (item := resolved.settings.get(one)) is not None and item.how in ("read", "printed")
        for one in TERMS[name].settings
    )


def _hidden(name: str, raw: RawLaunch, resolved: Resolved, missing: Collection[str]) -> str:
    """Say where a term that is set nowhere may be set all the same; "" where it cannot be."""
    launcher = {base(arg.values[0]) for arg in raw.launcher if arg.values}
    outer = [one for one in missing if base(one) in launcher]
    own = [one for one in missing if one not in outer]
    if own:
        return own[0][-QUOTE:]
    if outer and name in _OF_LAUNCHER:
        return outer[0][-QUOTE:]
    if not raw.args_complete:
        return HIDDEN
    printed = any(item.via == "log" for item in resolved.settings.values())
    if is_own_program(raw) and not raw.program_read and not printed:
        return base(raw.program)
    return ""


def _shown(arg: RawArg) -> str:
    dashes = "--" if arg.via == "arg" and not arg.sign and "." not in arg.name else ""
    return f"{dashes}{arg.name} {' '.join(arg.values or ())}".strip()[:QUOTE]

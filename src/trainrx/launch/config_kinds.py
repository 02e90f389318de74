"""What takes a configuration file, told by its keys, and the launch it implies alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import msgspec

from trainrx.frameworks import framework_of, frameworks
from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.recognise import by_precedence
from trainrx.inputs.config import read_config
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.job import Input, RawLaunch
from trainrx.model.pattern import late

Kind = str
"""The name of a framework, or: accelerate; deepspeed; fsdp: the `fsdp_config` of transformers;
args: a dump of resolved arguments (args.json); overrides, hydra: what Hydra keeps beside the
configuration it composed; llamaboard: the state of LLaMA Board's form, which writes
`training_args.yaml` beside it."""

_DUMP_LEAST = 60
"""Keys of a JSON object above which it is a dump of all arguments: nobody writes as many."""

_BEGINNING = 1 << 16
"""Characters of a file that are looked through for the name of another."""
ALONE = ("accelerate", "deepspeed")
"""Kinds of configuration that say enough to be judged without the program that uses them."""
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


def strangers(found: Sequence[Input]) -> Iterator[Input]:
    """Give the configurations of a folder that nothing there takes: no known kind, and not named.

    Folders of runs hold files of other programs too (`environment.yml`, `mkdocs.yml`). What another
    file names, or a log at its beginning, may be the configuration of an own trainer.
    """
    for item in found:
        text = item.text or ""
        if item.kind != "config" or classify_config(text) is not None or read_config(text, "")[1]:
            continue
        name = item.name.replace("\\", "/").rpartition("/")[2]
        others = (one for one in found if one is not item)
        if not any(name in (one.text or "")[:_BEGINNING] for one in others):
            yield item


def is_framework_config(kind: Kind | None) -> bool:
    """Tell whether a configuration alone implies the command of its framework."""
    return kind == "args" or bool(framework_of(kind).telling_keys)


_FLAG = late(r"--?[A-Za-z][\w.-]*(?:[ =]|\\?$)")
_ASSIGNED = late(r"(?:\+{1,2}|~)?[A-Za-z_][\w.]*\.[\w.]+=")


def implied_launch(configs: Sequence[Input]) -> RawLaunch | None:
    """Give the command of the framework one of the configs is of, else that of a launcher."""
    for config in configs:
        kind = classify_config(config.text or "")
        if kind is None or not is_framework_config(kind):
            continue
        args, _ = read_config(config.text or "", config.name)
        framework = _dumped_by({arg.name for arg in args}) if kind == "args" else framework_of(kind)
        origin = Origin(source=config.name, line=1, text=(config.text or "").split("\n")[0][:200])
        return RawLaunch(
            framework=framework.name,
            command=framework.command_in_file(args),
            args=(),
            env=(),
            origin=origin,
            configs=(config.name,),
            # the command line is not at hand, and so neither are the variables in front of it
            env_complete=False,
        )
    return _from_launcher_config(configs)


def _dumped_by(names: Collection[str]) -> Framework:
    """Give the framework whose arguments are in a dump: of those of the Trainer the narrowest."""
    takers = (one for one in by_precedence() if one.keeps_arguments or one.training_arguments)
    own = next((one for one in takers if one.telling_keys & set(names)), None)
    lends = (one for one in frameworks() if one.training_arguments and one.lends_names)
    return own or next(lends)


def _from_launcher_config(configs: Sequence[Input]) -> RawLaunch | None:
    """Give the launch a configuration of a launcher or an engine implies."""
    found = (launched_with(item.text or "", item.name) for item in configs)
    return next((launch for launch in found if launch is not None), None)


def launched_with(text: str, source: str) -> RawLaunch | None:
    """Give the launch a configuration of accelerate or DeepSpeed is for, its program unseen."""
    kind = classify_config(text)
    if kind not in ALONE:
        return None
    options, _ = read_config(text, source)
    launcher = (item for item in options if "." not in item.name) if kind == "accelerate" else ()
    return RawLaunch(
        framework=kind,
        command="",
        args=(),
        env=(),
        launcher=tuple(launcher),
        origin=Origin(source=source, line=1, text=text.split("\n", maxsplit=1)[0][:200]),
        configs=(source,),
        args_complete=False,
        env_complete=False,
        started_unseen=kind != "accelerate",
    )


def with_program(script: Input, framework: str) -> tuple[Input, Unread] | None:
    """Put the program in front of a script that is nothing but arguments, as people paste them.

    Lines keep their numbers. Gives None where it is more, or the framework has several programs.
    """
    lines = (line.strip() for line in (script.text or "").splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    own = framework_of(framework)
    takes = _ASSIGNED if own.only_assigns else _FLAG
    if not own.bare_programs or not takes.match(first):
        return None
    program = next(p for mark, p in own.bare_programs if mark in (script.text or ""))
    at = script.text.index(first) if script.text else 0
    text = f"{(script.text or '')[:at]}{program} {(script.text or '')[at:]}"
    reason = f"no program stands before these arguments: they are read as those of `{program}`"
    return msgspec.structs.replace(script, text=text, path=None), Unread(
        source=script.name, text=first[:200], reason=reason
    )

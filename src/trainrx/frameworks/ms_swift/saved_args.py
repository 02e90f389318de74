"""What ms-swift takes back from the args.json of a run when it starts from that run's weights.

Sources: `load_args_from_ckpt` in swift/llm/argument/base_args/base_args.py (3.0.0-3.12.6) and
swift/arguments/base_args/base_args.py (4.0.0-4.5.2), `load_from_ckpt_dir` in
swift/llm/utils/argument.py (2.6.1) of https://github.com/modelscope/ms-swift
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from trainrx.frameworks.common.saved import Loaded
from trainrx.model.job import RawArg, RawLaunch
from trainrx.versions.ranges import in_range

FOLDERS = ("adapters", "ckpt_dir", "resume_from_checkpoint", "model", "model_id_or_path")
"""Arguments that may name a folder of a run; an adapter goes before a model."""
_TRAINING = frozenset({"sft", "pt", "rlhf", "dpo", "orpo", "simpo", "cpo", "kto", "ppo"})
_TRUE = frozenset({"true", "1", "yes", "t", "y"})

_FORCED: Mapping[str, str] = {
    "train_type": ">=3.0,<4.0",
    "tuner_type": ">=4.0",
    "task_type": ">=3.5",
    "bnb_4bit_quant_type": ">=2.0",
    "bnb_4bit_use_double_quant": ">=2.0",
    "tuner_backend": ">=3.0,<3.6.3",
    "use_swift_lora": ">=3.0,<3.5",
    "tools_prompt": ">=3.0,<3.3.1",
    "use_chat_template": ">=3.0.1,<3.5",
    "model_type": "<3.0",
    "model_revision": "<3.0",
    "quantization_bit": "<3.0",
    "sft_type": "<3.0",
    "rope_scaling": "<3.0",
}
"""Taken back whatever the launch says, at these releases."""

_IF_OPEN: Mapping[str, str] = {
    "model": ">=3.0",
    "model_type": ">=3.0",
    "model_revision": ">=3.0",
    "torch_dtype": ">=3.0",
    "attn_impl": ">=3.0",
    "num_labels": ">=3.0",
    "quant_method": ">=2.0",
    "quant_bits": ">=3.0",
    "hqq_axis": ">=3.0",
    "bnb_4bit_compute_dtype": ">=3.0",
    "template": ">=3.0",
    "system": ">=2.0",
    "truncation_strategy": ">=3.0",
    "norm_bbox": ">=3.0",
    "response_prefix": ">=3.0",
    "external_plugins": ">=3.0",
    "custom_register_path": ">=2.0,<4.0",
    "problem_type": ">=3.3",
    "agent_template": ">=3.3.1",
    "use_chat_template": ">=3.5.2",
    "new_special_tokens": ">=3.7",
    "rope_scaling": ">=3.0",
    "max_model_len": ">=3.7",
    "experts_impl": ">=4.0",
    "model_id_or_path": "<3.0",
    "template_type": "<3.0",
    "dtype": "<3.0",
    "custom_dataset_info": "<3.0",
}
"""Taken back only where the launch leaves them open (None or an empty list), at these releases."""

_DATA = frozenset({"dataset", "val_dataset", "split_dataset_ratio", "dataset_num_proc", "columns"})
"""With `load_data_args` the arguments of the data come back too."""


def run_folders(launch: RawLaunch, version: str | None) -> tuple[str, ...]:
    """Give the folders whose arguments a launch would take back, in the order it looks there."""
    if not _loads(launch, version):
        return ()
    named = {arg.name: arg.values for arg in launch.args if arg.values}
    return tuple(path for name in FOLDERS for path in named.get(name) or ())


def loaded_back(launch: RawLaunch, saved: Sequence[RawArg], version: str | None) -> Loaded:
    """Choose what of saved arguments a launch takes back at its version.

    What some release that is possible would not take is left out: it is not known then.
    """
    if not _loads(launch, version):
        return Loaded()
    given = {arg.name for arg in launch.args}
    forced: list[RawArg] = []
    filled: list[RawArg] = []
    # 4.x does not trust the model type of an older run: types were renamed
    stale = _is_before_4(saved) and not _maybe_before_4(version)
    distrusted = {"model_type"} if stale else set()
    data = _is_true(launch, "load_data_args") or _is_true(launch, "load_dataset_config")
    for arg in saved:
        if arg.values in (None, (), ("null",)):
            continue
        if _holds(_FORCED, arg.name, version) or (data and arg.name in _DATA):
            forced.append(arg)
        elif _holds(_IF_OPEN, arg.name, version) and arg.name not in given | distrusted:
            filled.append(arg)
    return Loaded(tuple(forced), tuple(filled))


def _loads(launch: RawLaunch, version: str | None) -> bool:
    """Training takes arguments back only on request; 2.x did for every resumed run."""
    names = {arg.name for arg in launch.args}
    switch = {"load_args", "load_args_from_ckpt_dir"} & names
    if switch:
        return any(_is_true(launch, name) for name in switch)
    if launch.command.split(" ")[-1] in _TRAINING:
        resumes = "resume_from_checkpoint" in names
        return resumes and version is not None and in_range(version, "<3.0") is True
    return True


def _is_true(launch: RawLaunch, name: str) -> bool:
    values: Iterable[tuple[str, ...] | None] = (a.values for a in launch.args if a.name == name)
    last = list(values)[-1:]
    return bool(last) and last[0] is not None and (not last[0] or last[0][0].lower() in _TRUE)


def _holds(table: Mapping[str, str], name: str, version: str | None) -> bool:
    spec = table.get(name)
    return spec is not None and version is not None and in_range(version, spec) is True


def _is_before_4(saved: Sequence[RawArg]) -> bool:
    text = next((a.values[0] for a in saved if a.name == "swift_version" and a.values), None)
    return text is None or in_range(text, "<4.0.0.dev0") is not False


def _maybe_before_4(version: str | None) -> bool:
    return version is None or in_range(version, ">=4.0") is not True


def trainer_values(args: Sequence[RawArg]) -> tuple[RawArg, ...]:
    """Give what a saved `training_args` holds beyond the arguments it stands among.

    ms-swift keeps in args.json what it handed to the trainer, as printed: there stands the number
    it put where an argument was left open (`gradient_accumulation_steps: null`).
    """
    # only files bring in the reader of what Python prints
    from trainrx.inputs.reprs import read_repr, whole

    open_ = {arg.name for arg in args if arg.values == ("null",)}
    out: list[RawArg] = []
    for arg in args:
        if arg.name == "training_args" and arg.values:
            node = read_repr(arg.values[0])
            fields = node if isinstance(node, dict) else {}
            out += [
                RawArg(name=name, values=values, origin=arg.origin, via="config")
                for name, values in whole(fields)
                if name in open_ and values not in (None, ("null",))
            ]
    return tuple(out)

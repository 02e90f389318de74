"""Which registers there are: for what argument, where their names are read, who looks them up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from catalog.lookups import called_with, keys_of, members, tested, texts_in
from catalog.world import World

_SWIFT = "https://github.com/modelscope/ms-swift/blob/main/swift/"
_HF = "https://github.com/huggingface/transformers/blob/main/src/transformers/"
_TRAIN = ("sft", "pt", "rlhf", "dpo", "orpo", "simpo")
_RUN = (*_TRAIN, "infer", "deploy", "export", "rollout")
_PLUGINS = ("external_plugins", "custom_register_path")
_PLACES = (
    *("auto", "balanced", "balanced_low_0", "sequential"),
    *("cpu*", "cuda*", "npu*", "xpu*", "mps*", "meta*", "hpu*", "mlu*", "musa*", "sdaa*", "xla*"),
)
"""What transformers takes for a device map that is a word; the rest is for `torch.device`.
https://github.com/huggingface/transformers/blob/v4.52.4/src/transformers/modeling_utils.py"""
Names = set[str] | None


class Spec(NamedTuple):
    """One register; `checked` is what the sources of a release hold where it looks names up.

    `read` gives the names, None when only a run can tell them. The rest is as in `Register`.
    """

    id: str
    package: str
    arguments: tuple[str, ...]
    checked: str
    read: Callable[[World], Names]
    source: str
    of: tuple[str, ...]
    within: str = ""
    commands: tuple[str, ...] = ()
    only: Mapping[str, tuple[str, ...]] = {}
    opened_by: tuple[str, ...] = ()
    split: str = ""
    json: bool = False
    adds: bool = False
    any_case: bool = False
    ignored: str = ""


def _swift(
    name: str, *arguments: str, checked: str, read: Callable[[World], Names], ignored: str = ""
) -> Spec:
    """Give a register of ms-swift for training, which plug-ins may add to."""
    own = ("ms-swift",)
    at = f"{_SWIFT}{name}"
    return Spec(
        f"swift {arguments[0]}",
        "ms-swift",
        arguments,
        checked,
        read,
        at,
        own,
        commands=_TRAIN,
        opened_by=_PLUGINS,
        ignored=ignored,
    )


def _models(world: World) -> Names:
    known = called_with(world, "swift/*.py", "register_model|ModelMeta", "model_type")
    old = keys_of(world, "swift/*.py", "model_type_mapping") or set()
    return known | members(world, "swift/*.py", r"\w*ModelType") | old


def _templates(world: World) -> Names:
    known = called_with(world, "swift/*.py", r"register_template|\w*TemplateMeta", "template_type")
    old = keys_of(world, "swift/*.py", "template_type_mapping") or set()
    return known | members(world, "swift/*.py", r"\w*TemplateType") | old | {"AUTO"}


def _losses(world: World) -> Names:
    called = called_with(world, "swift/*.py", "register_loss_func", "loss_type")
    listed = keys_of(world, "swift/*.py", "LOSS_MAPPING", "loss_mapping", "loss_map")
    return None if listed is None else listed | called


def _tuners(world: World) -> Names:
    own = texts_in(world, "swift/*.py", "get_supported_tuners")
    more = keys_of(world, "swift/*.py", "extra_tuners", "tuners_map")
    return None if own is None or more is None else own | more


def _scales(world: World) -> Names:
    known = keys_of(world, "swift/*.py", "loss_scale_map")
    strategies = keys_of(world, "swift/*.py", "ALL_BASE_STRATEGY")
    bases = {"default", "last_round", "all"} if strategies is None else strategies
    return None if known is None else known | bases


def _initialised(world: World) -> Names:
    known = tested(world, "peft/tuners/lora/*.py", "init_lora_weights")
    # ms-swift reads the first two itself, and has one of its own
    return known | {"true", "false", "True", "False", "lora-ga"} if known else None


def _integrations(world: World) -> Names:
    known = keys_of(world, "transformers/integrations*.py", "INTEGRATION_TO_CALLBACK")
    return None if known is None else known | {"all", "none"}


SPECS = (
    _swift(
        "model/model_meta.py",
        *("model_type", "ref_model_type", "reward_model_type", "teacher_model_type"),
        checked=r"not in MODEL_MAPPING",
        read=_models,
    )._replace(commands=_RUN),
    _swift(
        "template/register.py",
        *("template", "template_type"),
        checked=r"TEMPLATE_MAPPING\[(?:args\.|self\.)?template_type\]",
        read=_templates,
    )._replace(commands=_RUN),
    _swift(
        "loss/mapping.py",
        *("loss_type", "loss_name"),
        checked=r"get_loss_func\(args\.|get_loss_func\(loss_|loss_map\[args\.",
        read=_losses,
    )._replace(commands=("sft", "pt")),
    _swift(
        "metrics/mapping.py",
        *("metric", "eval_metric"),
        checked=r"METRIC_MAPPING\[|eval_metrics_map\[args\.",
        read=lambda w: keys_of(w, "swift/*.py", "METRIC_MAPPING", "eval_metrics_map"),
    )._replace(commands=("sft", "pt"), opened_by=(*_PLUGINS, "predict_with_generate")),
    _swift(
        "optimizers/mapping.py",
        "optimizer",
        checked=r"optimizers_map\[(?:self\.)?args\.optimizer",
        read=lambda w: keys_of(w, "swift/*.py", "optimizers_map"),
    )._replace(opened_by=(*_PLUGINS, "lorap_lr_ratio", "use_galore")),
    _swift(
        "callbacks/mapping.py",
        "callbacks",
        checked=r"callbacks_map\[callback",
        read=lambda w: keys_of(w, "swift/callbacks/*.py", "callbacks_map"),
    ),
    _swift(
        "tuner_plugin/mapping.py",
        *("tuner_type", "train_type"),
        checked=r"Unknown (?:train|tuner)_type|elif args\.train_type == 'adalora'",
        read=_tuners,
        ignored="<3.9",
    ),
    _swift(
        "agent_template/mapping.py",
        "agent_template",
        checked=r"agent_template(?:s|_map)\[agent_template\]",
        read=lambda w: keys_of(w, "swift/*.py", "agent_templates", "agent_template_map"),
    ),
    _swift(
        "loss_scale/mapping.py",
        "loss_scale",
        checked=r"loss_scale_map\[",
        read=_scales,
    )._replace(split="+"),
    _swift(
        "rewards/orm.py",
        "reward_funcs",
        checked=r"is not implemented in swift",
        read=lambda w: keys_of(w, "swift/*/orm.py", "orms"),
    )._replace(commands=("rlhf",), only={"arg.rlhf_type": ("grpo",)}),
    _swift(
        "rollout/multi_turn.py",
        "multi_turn_scheduler",
        checked=r"not found in multi_turns",
        read=lambda w: keys_of(w, "swift/*.py", "multi_turns"),
    )._replace(commands=("rollout",)),
    _swift(
        "arguments/base_args/model_args.py",
        "rope_scaling",
        checked=r"assert rope_scaling in",
        read=lambda w: tested(w, "swift/*/base_args/model_args.py", "rope_scaling"),
    )._replace(json=True, opened_by=()),
    _swift(
        "arguments/sft_args.py",
        "deepspeed",
        checked=r"\bdeepspeed_mapping\b",
        read=lambda w: keys_of(w, "swift/*.py", "deepspeed_mapping"),
    )._replace(json=True, opened_by=()),
    _swift(
        "arguments/sft_args.py",
        "fsdp",
        checked=r"\bfsdp_mapping\b",
        read=lambda w: keys_of(w, "swift/*.py", "fsdp_mapping"),
    )._replace(json=True, opened_by=()),
    _swift(
        "arguments/base_args/model_args.py",
        "device_map",
        checked=r"self\.device_map.*parse_to_dict",
        read=lambda _: set(_PLACES),
    )._replace(json=True, opened_by=()),
    Spec(
        "swift report_to",
        "ms-swift",
        ("report_to",),
        r"",
        lambda w: keys_of(w, "swift/*.py", "INTEGRATION_TO_CALLBACK") or set(),
        f"{_SWIFT}arguments/sft_args.py",
        ("ms-swift",),
        commands=_TRAIN,
        adds=True,
    ),
    Spec(
        "transformers report_to",
        "transformers",
        ("report_to",),
        r"integration not in INTEGRATION_TO_CALLBACK",
        _integrations,
        f"{_HF}integrations/integration_utils.py",
        ("ms-swift", "llamafactory", "trl"),
    ),
    Spec(
        "transformers optim",
        "transformers",
        ("optim",),
        r"OptimizerNames\(self\.optim\)",
        lambda w: members(w, "transformers/training_args.py", "OptimizerNames"),
        f"{_HF}training_args.py",
        ("ms-swift",),
        within="<3",
    ),
    Spec(
        "transformers fsdp",
        "transformers",
        ("fsdp",),
        r"FSDPOption\(s\) for s in",
        lambda w: members(w, "transformers/trainer_utils.py", "FSDPOption"),
        f"{_HF}training_args.py",
        ("ms-swift",),
        within="<3.12",
        split=" ",
    ),
    Spec(
        "peft init_lora_weights",
        "peft",
        ("init_weights", "init_lora_weights"),
        r"Unknown initialization",
        _initialised,
        "https://github.com/huggingface/peft/blob/main/src/peft/tuners/lora/layer.py",
        ("ms-swift",),
        commands=_TRAIN,
        only={"tuner.type": ("lora",)},
    ),
    Spec(
        "accelerate dynamo",
        "accelerate",
        ("torch_compile_backend", "torchdynamo"),
        r"self\.backend = DynamoBackend\(",
        lambda w: members(w, "accelerate/utils/dataclasses.py", "DynamoBackend"),
        "https://github.com/huggingface/accelerate/blob/main/src/accelerate/utils/dataclasses.py",
        ("ms-swift", "llamafactory", "trl"),
        any_case=True,
    ),
    Spec(
        "llamafactory template",
        "llamafactory",
        ("template",),
        r"Template .* does not exist",
        lambda w: called_with(w, "llamafactory/data/template.py", "_?register_template"),
        "https://github.com/hiyouga/LLaMA-Factory/blob/main/src/llamafactory/data/template.py",
        ("llamafactory",),
    ),
    Spec(
        "llamafactory tool_format",
        "llamafactory",
        ("tool_format",),
        r"Tool utils .* not found",
        lambda w: keys_of(w, "llamafactory/data/tool_utils.py", "TOOLS"),
        "https://github.com/hiyouga/LLaMA-Factory/blob/main/src/llamafactory/data/tool_utils.py",
        ("llamafactory",),
    ),
)

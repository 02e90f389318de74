"""Recognise TRL, verl, EasyR1, OpenRLHF, slime, axolotl, NeMo, vLLM, scripts on the Trainer."""

from __future__ import annotations

import re

from trainrx.frameworks.common.roles import script_role
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.job import Word
from trainrx.model.pattern import late

_TRL = frozenset(
    {"sft", "dpo", "grpo", "kto", "ppo", "reward", "rloo", "orpo", "cpo", "gkd", "bco", "prm"}
    | {"online_dpo", "nash_md", "xpo", "vllm-serve"}
)
_TRL_PATH = late(r"(?:.*[./])?(?:trl[./]|examples/)scripts[./](?P<name>\w+?)(?:\.py)?")
_VERL = late(
    r"(?:.*[./])?(?:verl[./](?:trainer|model_merger|experimental[./]\w+)|recipe[./]\w+"
    r"|verl(?=[./]model_merger))[./](?P<name>\w+?)(?:\.py)?"
)
_VERL_KEY = "actor_rollout_ref."
_EASYR1 = late(r"(?:.*[./])?verl[./]trainer[./]main(?:\.py)?")
"""EasyR1 is installed as verl, whose programs are all called `main_...`."""
_EASYR1_KEYS = ("worker.actor.", "worker.rollout.", "worker.ref.", "worker.reward.")
_EASYR1_FILE = late(r"config=\S*\.ya?ml")
_EASYR1_DATA = ("data.train_files=", "data.val_files=", "data.rollout_batch_size=")
"""EasyR1 merges its file and the words by OmegaConf (verl/trainer/main.py); verl, with the same
names of data, is given `--config-name` by Hydra."""
_OPENRLHF = late(r"(?:.*[./])?openrlhf[./]cli[./](?P<name>\w+?)(?:\.py)?")
_SLIME = frozenset(
    {"rollout_num_gpus_per_engine", "rollout_max_response_len", "num_rollout", "hf_checkpoint"}
    | {"rm_type", "sglang_mem_fraction_static", "ref_load", "over_sampling_batch_size"}
)
"""Arguments of slime and miles that OpenRLHF and Megatron do not have; two of them tell."""
_MILES = frozenset(
    {"use_session_server", "session_server_port", "update_weight_transfer_mode", "tito_model"}
    | {"pause_generation_mode", "offload_rollout_level", "indep_dp", "ft_components", "lora_rank"}
    | {"experts_shared_outer_loras", "use_rollout_indexer_replay", "use_indexer_replay"}
    | {"fully_async", "max_weight_staleness", "async_max_concurrent_samples", "env_report"}
    | {
        "rollout_submission_granularity",
        "recompute_logprobs_via_prefill",
        "stream_optimizer_state_to_disk",
    }
    | {"multi_lora_n_adapters", "lora_train_only", "eval_max_in_flight", "object_store_backend"}
)
"""Arguments of miles (miles/utils/arguments.py at 31f1ca9) that slime never had (its history to
624b824); with those of both they tell."""
_MILES_OWN = late(r"(?:--(?:use[_-])?miles[_-][\w-]+|miles(?:_plugins)?\.[a-z]\w*\.[\w.]+)(?:=.*)?")
_SLIME_PATH = late(r"(?:.*/)?(?P<name>slime|miles)/(?P<file>[\w./-]+)")
_SLIME_FILES = frozenset({"train.py", "train_async.py"})
_OPENRLHF_SCRIPT = late(r"train_(?P<name>sft|ppo|ppo_ray|dpo|rm|kto|kd|prm)\.py")
_AXOLOTL = late(r"(?:.*[./])?axolotl[./]cli[./](?P<name>\w+?)(?:\.py)?")
_AXOLOTL_COMMANDS = frozenset(
    {"train", "inference", "merge-lora", "preprocess", "evaluate", "lm-eval", "quantize"}
    | {"merge-sharded-fsdp-weights", "vllm-serve"}
)
_SCRIPT_COMMANDS = {
    "evaluation": "eval",
    "inference": "infer",
    "export": "export",
    "preparation": "prepare",
}
_NEMO = late(r"nemo_automodel|examples/(?:ll|vl)m_\w+/|(?:^|/)run_\w+\.py")
_MODEL = late(r"(?:.*_)?(?:model|ckpt|checkpoint|adapter|pretrain|lora)s?(?:_.*)?")
_VLLM = late(r"(?:.*[./])?vllm[./]entrypoints[./][\w./]+")
_TRAINING_ARGUMENTS = frozenset(
    {"per_device_train_batch_size", "gradient_accumulation_steps", "num_train_epochs"}
    | {"per_device_eval_batch_size", "lr_scheduler_type", "save_total_limit", "logging_steps"}
)
_GRPO = frozenset({"num_generations", "max_completion_length"})
"""Fields of TRL's GRPOConfig no other trainer has: a script of the user's own hands them on."""
_TRAINING_ONLY = frozenset(
    {"per_device_train_batch_size", "gradient_accumulation_steps", "num_train_epochs"}
)
_TRAINING_NAME = late(
    r"(?:^|[_/.-])(?:train\w*|\w*tun(?:e|ing)\w*|sft|dpo|grpo|ppo|rlhf|pretrain\w*|main|run)(?=[_.-]|$)"
)


def recognise(entry: EntryPoint) -> RecognisedLaunch | None:
    """Name the framework of a launch, "" for a training program of no known one.

    Returns:
        None when the command does not look like a training program at all.
    """
    if entry.via == "" and not entry.name.endswith(".py"):
        return _program(entry) if entry.args and not entry.path.unknown else None
    readable = entry.module or entry.name.endswith(".py") or not entry.path.unknown
    if not readable and not entry.args:
        return None  # `torchrun $ARGS`: whatever it starts stands in the variable
    path, args = entry.path.text, entry.args
    if _EASYR1.fullmatch(path) or _is_easyr1(args):
        return RecognisedLaunch("easyr1", "ppo", args)
    for framework, rule in (("verl", _VERL), ("openrlhf", _OPENRLHF), ("axolotl", _AXOLOTL)):
        match = rule.fullmatch(path)
        if match:
            return RecognisedLaunch(framework, _command(match["name"]), args)
    if any(word.text.lstrip("+~").startswith(_VERL_KEY) for word in args):
        # a program of someone's own around verl's trainer takes the keys of its configuration
        return RecognisedLaunch("verl", "ppo", args)
    if _VLLM.fullmatch(path):
        served = args[1:] if args and args[0].text == "serve" else args
        return RecognisedLaunch("vllm", "serve", served)
    if entry.module and path in ("trl", "trl.cli", "axolotl", "vllm"):
        named = _program(entry) if args else None
        if named is not None:
            return named
    return _nemo(entry) or _trl_script(path, args) or _script(entry)


def _is_easyr1(args: tuple[Word, ...]) -> bool:
    """Tell whether a program of someone's own takes what EasyR1 takes."""
    texts = [word.text for word in args]
    if any(text.startswith(_EASYR1_KEYS) for text in texts):
        return True
    filed = any(_EASYR1_FILE.fullmatch(text) for text in texts)
    return filed and any(text.startswith(_EASYR1_DATA) for text in texts)


def _slime_or_miles(checkout: re.Match[str] | None, names: set[str], args: tuple[Word, ...]) -> str:
    """Tell the fork from its origin: by the folder, else by what only the fork takes."""
    if checkout is not None:
        return checkout["name"]
    own = any(_MILES_OWN.fullmatch(word.text) for word in args)
    return "miles" if own or names & _MILES else "slime"


def _nemo(entry: EntryPoint) -> RecognisedLaunch | None:
    if not _NEMO.search(entry.path.text) and entry.name not in ("automodel", "am"):
        return None
    from trainrx.frameworks.common import nemo

    return nemo.recognise(entry)


def _trl_script(path: str, args: tuple[Word, ...]) -> RecognisedLaunch | None:
    """Read a script of TRL; variants lie beside those they came of: sft_vlm.py, dpo_vlm.py."""
    match = _TRL_PATH.fullmatch(path)
    name = "" if match is None else match["name"].replace("vllm_serve", "vllm-serve")
    known = (word for word in (name, name.partition("_")[0]) if word in _TRL)
    command = next(known, "")
    return RecognisedLaunch("trl", command, args) if command else None


def _command(name: str) -> str:
    """Shorten `main_ppo`, `train_sft`, `fsdp_sft_trainer` to what they train with."""
    if name == "main":
        return "ppo"
    name = name.removeprefix("main_").removeprefix("train_")
    return "sft" if name in ("fsdp_sft_trainer", "sft_trainer") else name.replace("_", "-")


def _program(entry: EntryPoint) -> RecognisedLaunch | None:
    first, rest = entry.args[0].text, entry.args[1:]
    program = entry.name.partition(".")[0]
    if program == "trl" and first in _TRL:
        return RecognisedLaunch("trl", first, rest)
    if program == "axolotl" and first.replace("_", "-") in _AXOLOTL_COMMANDS:
        return RecognisedLaunch("axolotl", first.replace("_", "-"), rest)
    if program in ("automodel", "am"):
        return _nemo(entry)
    if program == "vllm" and first == "serve":
        return RecognisedLaunch("vllm", first, rest)
    return None


def _script(entry: EntryPoint) -> RecognisedLaunch | None:
    names = {word.text.partition("=")[0].lstrip("-").replace("-", "_") for word in entry.args}
    openrlhf = _OPENRLHF_SCRIPT.fullmatch(entry.name)
    if openrlhf and "pretrain" in names and names & {"zero_stage", "micro_train_batch_size"}:
        return RecognisedLaunch("openrlhf", openrlhf["name"].replace("_", "-"), entry.args)
    checkout = _SLIME_PATH.fullmatch(entry.path.text)
    own = checkout is not None and checkout["file"] in _SLIME_FILES
    if own or len(names & _SLIME) > 1:
        return RecognisedLaunch(_slime_or_miles(checkout, names, entry.args), "train", entry.args)
    role = script_role(entry.path.text)
    command = _SCRIPT_COMMANDS.get(role or "", "train")
    if names >= _GRPO and names & _TRAINING_ARGUMENTS:
        return RecognisedLaunch("trl", "grpo", entry.args)
    if names & _TRAINING_ARGUMENTS:
        trains = bool(names & _TRAINING_ONLY)
        return RecognisedLaunch("transformers", "train" if trains else command, entry.args)
    runs_code = entry.module or entry.name.endswith(".py") or entry.via != "python"
    if runs_code and (entry.via != "python" or _TRAINING_NAME.search(entry.path.text)):
        return RecognisedLaunch("", command, entry.args)
    uses_model = any(_MODEL.fullmatch(name) for name in names)
    if runs_code and uses_model and role in ("evaluation", "inference", "export"):
        return RecognisedLaunch("", command, entry.args)
    return None

"""What kind of input a text is, told by what stands in it and never by its name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Literal

from trainrx.inputs.wrappers.records import record_of
from trainrx.inputs.wrappers.unwrap import is_wrapped
from trainrx.model.job import InputKind
from trainrx.model.pattern import late

SAMPLE = 1 << 16
"""Characters from the start of an input that decide its kind."""

COMMANDS = (
    r"swift|megatron|llamafactory-cli|torchrun|deepspeed|accelerate|trl|axolotl|vllm|sglang|ray"
    r"|python[\d.]{0,5}|srun|sbatch|mpirun|nohup|bash|sh|uv|conda|mamba|poetry|pdm|pipenv|pixi|hatch|docker|pip|source|cd|export|set"
    r"|dlc|pai|unset|ulimit|mkdir|sudo|exec|eval|if|for|while"
)
COMMAND = late(
    rf"(?m)^[ \t]*(?:\$ |# (?=swift|python))?(?:[A-Za-z_]\w*=\S*[ \t]+)*"
    rf"(?:\./\S{{1,200}}|(?:/\S{{1,200}}/)?(?:{COMMANDS}))(?:[ \t]|$)"
)
FLAG = late(r"\s--?[A-Za-z][\w.-]*(?:[=\s]|$)|^[A-Z_]{2}\w*=\S*\s")
"""An option, or a variable in front: a name of a file has neither."""
SHEBANG = late(r"#!\s?/\S{0,60}\b(?:ba|z|da|k)?sh\b|#SBATCH\b", re.MULTILINE)
CONTINUED = late(r"(?m)^[ \t]*--?[\w.-]+.{0,400}\\[ \t]*$")
ASSIGNMENT = late(r"^\s*(?:export |declare -x )?[A-Za-z_]\w*=")
LOG = late(
    r"(?m)Traceback \(most recent call last\)|^[ \t]*File \"[^\"]{1,300}\", line \d"
    r"|\d{1,3}%\|.{0,80}\| *\d+/\d|^\[?20\d\d-\d\d-\d\d[ T]\d\d:\d\d"
    r"|^\[?(?:INFO|WARNING|ERROR)[:|\]]|\bNCCL (?:INFO|WARN)\b|\{'(?:train_|eval_)?loss': "
    r"|^\[rank\d+\]|[IWEF]\d{4} \d\d:\d\d:\d\d|^[\w.]*(?:Error|Exception)(?:\(\w+\))?: "
    r"|(?:INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d|^run sh: `|\(exitcode: |^Killed$"
    r"|slurmstepd: error|^JobId=\d+ "
)
VERSIONS = late(
    r"(?m)^Package +Version\b|^Collecting environment information|^PyTorch version: "
    r"|^- `llamafactory` version|^DeepSpeed C\+\+/CUDA extension op report|NVIDIA-SMI +\d"
    r"|^# packages in environment at |^DeepSpeed general environment info"
    r"|^- `?(?:transformers|trl|accelerate)`? version: "
)
FREEZE = late(
    r"^(?:[A-Za-z0-9][\w.-]*(?:\[[\w,.-]+\])? ?(?:==|>=|~=) ?[\w.*+!-]+|[\w.-]+ @ \S+|-e \S+"
    r"|[A-Za-z][\w.-]* {2,}v?\d[\w.+!-]*(?: {2,}\S+)?)(?:\s*[;#].*)?$"
)
KEY = late(r"^\s*(?:- )?['\"]?[A-Za-z_][\w./-]{0,80}['\"]?:(?:\s|$)|^\s*- \S|^---\s*$")
SPOKEN = late(
    r"^\s*(?:[\w./-]{1,200}\.(?:py|sh)|srun|sbatch|slurmstepd|bash|sh|torchrun|python[\d.]{0,5}|mpirun"
    r"|nohup|usage):\s\S"
    r"|^\s*(?:- )?['\"]?[\w./-]{1,80}['\"]?:\s{1,8}(?![\[{|>\"'&*!#])[^#]{0,400}:(?:\s|$)"
)
"""What a program says under its name (`sft.py: error: ...`): after a plain value YAML takes no
further colon."""
HERE_DOCUMENT = late(r"(?<!<)<<-?[ \t]?['\"\\]?([A-Za-z_]\w{0,40})")
SHOUTED = late(r"^\s*[A-Z]{3,}:")
KNOWN_KEY = late(
    r"(?m)^['\"]?(?:model_name_or_path|base_model|output_dir|stage|finetuning_type|per_device_train_batch_size"
    r"|zero_optimization|train_micro_batch_size_per_gpu|compute_environment|distributed_type"
    r"|actor_rollout_ref|deepspeed_config|learning_rate|dataset|train_type|tuner_type|model)['\"]?:"
)
STEP_KEYS = {"loss", "global_step", "current_steps", "global_step/max_steps", "eval_loss", "step"}
ARGS_KEYS = {"output_dir", "model", "model_type", "model_name_or_path", "learning_rate", "dataset"}
ARGS_LEAST = 40
"""Keys of a flat JSON object above which it is a dump of all arguments: nobody writes as many."""
PYTHON = late(r"(?m)^(?:import \w|from [\w.]+ import |def \w+\(|class \w+[(:]|@\w)")
MANIFEST = late(r"(?m)^(?:apiVersion: *\S|\{?\s{0,4}\"apiVersion\": *\"\S)")
MANIFEST_KIND = late(r"(?m)^(?:kind: *\S|\s{0,4}\"kind\": *\"\S)")
TASK = late(r"(?m)^run: *[|>]")
TASK_KEY = late(r"(?m)^(?:resources|num_nodes|setup|envs|file_mounts): *(?:\S|$)")
COMPOSE = late(r"(?m)^services:\s*(?:#.*)?$")
SERVICE = late(r"(?m)^\s{2,12}(?:image|command|entrypoint):")
IMPORT = late(r"(?m)^(?:import|from) \w")
PYTHON_SHARE = 0.05
_CONFIGURES = (
    r"(?:SFT|DPO|GRPO|KTO|PPO|Reward|RLOO|ORPO|CPO|GKD|BCO|PRM|OnlineDPO|XPO|NashMD)(?:v2)?Config"
)
PROGRAM = late(
    rf"\b(?:(?:\w{{0,40}}(?:TrainingArguments|Trainer|LoraConfig)|get_peft_model|{_CONFIGURES})\s?\("
    r"|(?:HfArgument|H4Argument|Trl)Parser\s?\([^=;]{0,200}?"
    rf"\b(?:\w{{0,40}}TrainingArguments|{_CONFIGURES})\b)"
)
"""A call by which a Python program sets the arguments of a training, or has a parser set them."""
DATA_SET = late(r"\[\s*\{\s*\"")
HISTORY = late(r"\"log_history\":\s*\[|\"train_runtime\":\s*[\d.]")
INDENTED_KEY = late(r"(?m)^(?: {2}| {4}|\t)\"([\w.-]+)\":")
SHARE = 0.8
LONGEST = 2000
"""Characters of a line by which a kind is told."""
FEW = 3
"""Log-like lines that a list of versions or a script may hold by chance."""


@lru_cache(maxsize=2)
def recognise(text: str) -> InputKind | None:
    """Tell the kind of a decoded text by its beginning; None for Python source and data sets.

    Python that sets the arguments of a training is a script. What looks like nothing else is a log:
    any text may be one.
    """
    head = text[:SAMPLE]
    stripped = head.lstrip()
    if stripped.startswith("{") and is_manifest(head):
        return "script"
    if DATA_SET.match(stripped):
        return None
    if is_wrapped(head.encode("utf-8", "replace")):
        return "log"
    if stripped.startswith("{") and (kind := _json_kind(stripped, whole=text)):
        return None if kind == "data" else kind
    head = with_short_lines(head)
    if SHEBANG.match(stripped) or is_manifest(head):
        return "script"
    lines = [line for line in head.splitlines() if line.strip()]
    printed = sum(1 for _ in islice(LOG.finditer(head), FEW + 1))
    if printed and not _is_script(head, lines, printed):
        return "versions" if printed <= FEW and VERSIONS.search(head) else "log"
    plain = [line for line in lines if not line.lstrip().startswith("#")]
    if VERSIONS.search(head) or _share(plain, FREEZE.match) >= SHARE:
        return "versions"
    return _written(head, plain, text)


def with_short_lines(text: str) -> str:
    """Cut what is longer than any line by whose end a kind is told."""
    if len(text) <= LONGEST:
        return text
    lines = text.splitlines(keepends=True)
    return "".join(line if len(line) <= LONGEST else line[:LONGEST] + "\n" for line in lines)


def is_command(text: str) -> bool:
    """Tell whether what stands where a file was expected is a command in words."""
    words = text.strip()
    if not re.search(r"\s", words) or len(text) > SAMPLE:
        return False
    return COMMAND.match(words) is not None or FLAG.search(words) is not None


def is_manifest(text: str) -> bool:
    """Tell whether a text is a Kubernetes manifest, a compose file or a task of SkyPilot."""
    head = text[:SAMPLE]
    if MANIFEST.search(head) and MANIFEST_KIND.search(head):
        return True
    if TASK.search(head) and TASK_KEY.search(head):
        return True
    return COMPOSE.search(head) is not None and SERVICE.search(head) is not None


def _written(head: str, lines: Sequence[str], text: str) -> InputKind | None:
    """Tell apart what a person writes: variables, a configuration, a script, a program."""
    commands = COMMAND.findall(head)
    runs = [line for line in commands if not re.match(r"\s*(?:export|set|unset)\b", line)]
    if lines and not runs and _share(lines, ASSIGNMENT.match) >= SHARE:
        return "env"
    written = not (lines and COMMAND.match(lines[0])) and not CONTINUED.search(head)
    if written and IMPORT.search(head) and _share(lines, PYTHON.match) >= PYTHON_SHARE:
        return "script" if PROGRAM.search(text) else None
    if _has_here_document(head, lines):
        return "script"
    keyed = _share([line for line in lines if not SHOUTED.match(line)], _is_keyed)
    if keyed >= SHARE or (KNOWN_KEY.search(head) and keyed >= SHARE / 2):
        return "config"
    return "script" if commands or CONTINUED.search(head) else "log"


def _is_keyed(line: str) -> bool:
    """Tell whether a line is one of YAML, as far as a line tells."""
    return KEY.match(line) is not None and SPOKEN.match(line) is None


def _has_here_document(head: str, lines: Sequence[str]) -> bool:
    """Tell whether a text that may look like a configuration is a script that writes one."""
    ends = {line.strip() for line in lines}
    return any(match[1] in ends for match in HERE_DOCUMENT.finditer(head))


def _is_script(head: str, lines: Sequence[str], printed: int) -> bool:
    """Tell whether a text that holds words of logs is still a script (an `echo`, a comment)."""
    if SHEBANG.search(head[:400]):
        return True
    return COMMAND.match(lines[0]) is not None and printed <= 1 and len(lines) > printed + FEW


def _share(lines: Sequence[str], test: Callable[[str], object]) -> float:
    return sum(1 for line in lines if test(line)) / len(lines) if lines else 0.0


def _json_kind(head: str, whole: str) -> InputKind | Literal["data"] | None:
    """Tell the kind of JSON; None when it only looks like it."""
    rows = [row for row in head.splitlines() if row.strip()]
    first = _object(rows[0])
    if first is not None and record_of(rows[0].encode("utf-8", "replace")) is not None:
        return "log"
    if _goes_on_as_text(head, rows):
        return None
    if (first is not None and STEP_KEYS & set(first)) or HISTORY.search(whole):
        return "metrics"
    if first is not None and len(rows) > 1 and rows[1].startswith("{"):
        return "data"
    keys = INDENTED_KEY.findall(head) if first is None else list(first)
    if len(keys) >= ARGS_LEAST and ARGS_KEYS & set(keys):
        return "args"
    # a long object is cut by the sample; its quoted keys give it away
    known = first is not None or len(keys) >= 2 or _object(whole) is not None
    return "config" if known else None


def _goes_on_as_text(head: str, rows: Sequence[str]) -> bool:
    """Tell whether JSON is only what a program printed first: a setting, a step, a message."""
    try:
        _, end = json.JSONDecoder().raw_decode(head)
    except (ValueError, RecursionError):
        return False
    if head[end:].lstrip().startswith("{"):
        return _share(rows, lambda row: row.lstrip().startswith("{")) < SHARE
    return bool(head[end:].strip())


def _object(text: str) -> dict[str, object] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None

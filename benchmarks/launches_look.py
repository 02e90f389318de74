"""A plain-text look at shell scripts for what starts a model program: no parser, no expansion.

It knows lines, continued lines, comments and here-documents, and looks for program names where a
command may begin. It is the judge of how many launches are found, so it shares nothing with them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_PROGRAMS = r"""
  (?P<swift>(?:\S*/)?(?:swift|megatron))[ \t]+(?:sft|pt|rlhf|infer|deploy|rollout|export|eval|app
      |sample|web-ui|dpo|merge-lora)\b
 |(?P<factory>(?:\S*/)?(?:llamafactory-cli|lmf))[ \t]+(?:train|chat|eval|export|api|webchat|webui)\b
 |(?P<launcher>(?:\S*/)?(?:torchrun[ \t]|accelerate[ \t]+launch[ \t]
      |deepspeed[ \t]+(?!-h\b|--help)\S))
 |(?P<trl>(?:\S*/)?trl)[ \t]+(?:sft|dpo|grpo|kto|ppo|reward|rloo|orpo|gkd|vllm-serve)\b
 |(?P<axolotl>(?:\S*/)?axolotl)[ \t]+(?:train|preprocess|inference|evaluate|merge-lora)\b
 |(?P<vllm>(?:\S*/)?vllm)[ \t]+serve\b
 |(?P<module>(?:\S*/)?python[\d.]*)[ \t]+(?:-u[ \t]+)?-m[ \t]*(?:swift\.cli|verl\.trainer
      |recipe\.|openrlhf\.cli|axolotl\.cli|torch\.distributed\.(?:run|launch)|accelerate\.commands\.launch
      |llamafactory|vllm\.entrypoints|trl\.|deepspeed\.launcher)
 |(?P<python>(?:\S*/)?python[\d.]*)[ \t]+(?:-[uBO]\w*[ \t]+)*(?P<path>[^\s;|&-][^\s;|&]*\.py)
      (?P<rest>[^;|&]*)
"""
_WRAPPER = r"""
  (?:(?:nohup|time|exec|sudo|env|setsid|srun|sbatch|mpirun|mpiexec|deepspeed\.launcher|docker|podman
     |singularity|apptainer|kubectl|numactl|taskset|timeout|stdbuf|nice|conda
     |uv[ \t]run|poetry|nsys|ncu|ray
     |pdsh|ssh|xargs|bash|sh|eval|tmux|screen)[ \t](?:"[^"\n]*"|'[^'\n]*'
     |[^;|&"'\n])*?[ \t"'])
"""
_POSITION = r"""
  (?:^|[;|&({`]|\$\(|(?<![\w-])(?:then|do|else|if|elif|while|until|time|!)[ \t]
     |(?<![\w-])[A-Za-z_]\w*\+?=(?:\(?[ \t]*["']?|\$?["']))
"""
_SEEN = re.compile(
    rf"(?:{_POSITION})[ \t]*(?:[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|[^\s\"';|&(])*[ \t]+)*"
    rf"(?P<front>{_WRAPPER})?(?:[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|[^\s\"';|&(])*[ \t]+)*"
    rf"(?P<all>{_PROGRAMS})",
    re.VERBOSE | re.MULTILINE,
)
_TRAINS = re.compile(r"train|tun(?:e|ing)|sft|dpo|grpo|ppo|rlhf|distil", re.IGNORECASE)
_PREPARES = re.compile(
    r"data|convert|tokeni|prepro|prepare|download|plot|eval|infer|generat|test|merge|bench|launch"
    r"|server?\b|log|score|summar",
    re.IGNORECASE,
)
_TRAINING = re.compile(
    r"--(?:per_device_train_batch_size|num_train_epochs|learning[_-]rate|gradient_accumulation\w*)\b"
)
_COMMENT = re.compile(r"(?:^|[ \t;])#.*")
_HERE = re.compile(r"<<-?[ \t]*(?P<quote>[\"']?)(?P<word>\w+)(?P=quote)")


class Seen(NamedTuple):
    """A launch by the look of it: its first and last line, and the framework its name tells.

    `quoted`: it stands in a string, for `eval` or `bash -c`.
    """

    first: int
    last: int
    framework: str
    text: str
    quoted: bool = False


def look(text: str) -> list[Seen]:
    """Name the launches of a script in the order of its lines, from 1."""
    found = []
    for first, last, logical in _logical(text.replace("\r\n", "\n").split("\n")):
        for match in _SEEN.finditer(logical):
            if match["python"] and not _is_training(match):
                continue
            before = logical[: match.start("all")]
            quoted = before.count('"') % 2 == 1 or before.count("'") % 2 == 1
            found.append(Seen(first, last, _framework(match), match["all"], quoted))
    return found


def _is_training(match: re.Match[str]) -> bool:
    if _TRAINING.search(match["rest"]):
        return True
    name = match["path"].rpartition("/")[2]
    return bool(_TRAINS.search(name)) and not _PREPARES.search(name)


def _framework(match: re.Match[str]) -> str:
    names = {"swift": "ms-swift", "factory": "llamafactory", "trl": "trl", "axolotl": "axolotl"}
    for group, name in (*names.items(), ("vllm", "vllm")):
        if match[group]:
            return name
    rest = match.string[match.start("all") :]
    for pattern, name in (
        (r"\bswift[./]cli\b", "ms-swift"),
        (r"\bverl[./]trainer\b", "verl"),
        (r"\bopenrlhf[./]cli\b", "openrlhf"),
        (r"\baxolotl[./]cli\b", "axolotl"),
        (r"\bvllm\.entrypoints\b", "vllm"),
    ):
        if re.search(pattern, rest):
            return name
    return ""


def _logical(lines: list[str]) -> list[tuple[int, int, str]]:
    """Join continued lines; leave out comments and the bodies of here-documents for files."""
    found = []
    at = 0
    while at < len(lines):
        first, parts = at + 1, []
        while True:
            line = lines[at]
            at += 1
            if not line.lstrip().startswith("#"):
                parts.append(_COMMENT.sub("", line) if "#" in line else line)
            if not line.endswith("\\") or line.lstrip().startswith("#") or at >= len(lines):
                break
        logical = " ".join(part.removesuffix("\\") for part in parts)
        found.append((first, at, logical))
        here = _HERE.search(logical)
        if here and not re.match(r"\s*(?:bash|sh|ssh|sbatch)\b[^>]*<<", logical):
            while at < len(lines) and lines[at].strip() != here["word"]:
                at += 1
    return found

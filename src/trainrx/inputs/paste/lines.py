"""What a single line of a pasted text looks like: how strongly it speaks for each kind of part."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from trainrx.inputs.recognise import ASSIGNMENT, COMMAND, FREEZE, KNOWN_KEY, LOG, PROGRAM
from trainrx.model.pattern import late

Kind = Literal["prose", "script", "config", "python", "env", "versions", "log"]
KINDS: tuple[Kind, ...] = ("prose", "script", "config", "python", "env", "versions", "log")
Nats = Mapping[Kind, float]
LONGEST = 2000
"""Characters of a line that are looked at."""

FRAME = late(r"^\s*(?:\[rank\d+\]:? *)?File \"[^\"]{1,300}\", line \d")
OPTION = late(r"^\s*--?[A-Za-z][\w.-]*(?:[ =]|\s*\\?\s*$)")
OVERRIDE = late(r"^\s*(?:\+{0,2}|~)[a-z_][\w-]*(?:\.[\w-]+)+=\S*\s*\\?\s*$")
CONTINUED = late(r"(?<!\\)\\[ \t]*$")
SETTING = late(r"^\s*(?:- )?(?:[a-z][a-z0-9]*(?:[_.][a-z0-9]+)+|[a-z]{2,20}):(?:\s|$)")
ARGUMENT = late(r"\s--?[A-Za-z]|\.(?:ya?ml|json|sh|py)\b|\s[\w.]+=")
_WORD = late(r"[A-Za-z][a-z']*|[A-Z]{2,6}")
_HAN = late(r"[\u3400-\u9fff]")
_SENTENCE = late(r"[.?!。？！；…]\s*$|[:：]\s*$")
_LABEL = late(r"^\s*(?:\*\*|#{1,6} )?[^\d\n=]{2,60}[:：](?:\*\*)?\s*$")

_TRAINS = (
    r"\s*(?:[A-Z_]\w*=\S* +)*(?:\S*/)?(?:swift|megatron|llamafactory-cli|torchrun|deepspeed"
    r"|accelerate launch|trl|axolotl|vllm serve|python[\d.]*(?: -u)? (?:-m )?[\w./-]+(?:\.py)?) +"
    r"(?:\S+ +)?(?:-|\w[\w.]*=|\S+\.(?:ya?ml|json|py)\b)"
)
_SHELL = r"\s*(?:#!\s?/|#SBATCH\b|set -[a-z]|(?:if|for|while)\s.{0,200};\s*(?:then|do)$|fi$|done$)"
_PRINTED = (
    r"\s*(?:\[rank\d+\]:? *)?(?:File \"[^\"]{1,300}\", line \d|Traceback \(most recent"
    r"|[\w.]{1,120}(?:Error|Exception|Interrupt|Warning)\b:?|During handling of the above"
    r"|The above exception was|Segmentation fault|Killed$|Aborted|CUDA out of memory"
    r"|terminate called|\*\*\* )|\s*[\^~]{2,}[\^~ ]*$|\s*\.{3}<\d+ lines>\.{3}$"
)
_STAMPED = (
    r"\s*(?:\[?\(?(?:20\d\d[-/]\d\d[-/]\d\d|\d\d-\d\d|\d\d/\d\d/20\d\d)[ T,]+\d\d:\d\d"
    r"|\[?(?:INFO|WARNING|ERROR|DEBUG|WARN|CRITICAL)\b[^a-z]|[IWEF]\d{4} \d\d:\d\d"
    r"|\[\d\d:\d\d:\d\d\]|\[?\[?rank ?\d+\]?[\]:]|\(\w{1,40} pid=\d+"
    r"|\w[\w.-]{0,60}:\d+:\d+ \[\d+\] )"
)
_PROGRESS = (
    r"\d+%\|.{0,120}\||\d+(?:\.\d+)?(?:it/s|s/it|MB/s|examples/s)\b"
    r"|\{['\"](?:train_|eval_)?loss['\"]: "
)
_MACHINE = (
    r"0x[0-9a-f]{4,}|\bPID\b|\bpid=|/(?:usr|opt|root|home|mnt|data|workspace)/\S+\.py\b"
    r"|\w+\.(?:cpp|cc|cu|py):\d+"
)
_COMPLAINT = (
    r"(?i:\berror:|\b\w+ failed:|\bfailed (?:to|with)\b|\bcannot import name\b"
    r"|\bcould not (?!be\b)|\bexit(?:ed)? (?:code|status)|\bexitcode\b|\bunrecognized arguments"
    r"|\bcore dumped\b|\bno such file or directory|\bout of memory\b|\bobject has no attribute\b"
    r"|\bis not (?:supported|implemented|in struct)\b|^hint: "
    r"|\bwatchdog\b.{0,60}\btimeout|timed out waiting)"
)
_SYSTEM = (
    r"\s*- `?[\w.-]+`? version: \S|\s*(?:-\s)?(?:Platform|OS|Python|Python version|Driver Version"
    r"|PyTorch(?: version)?|CUDA(?: version)?|GPU(?: type| number| models.{0,20})?"
    r"|NVIDIA driver.{0,20}|[Tt]ransformers version)\s*:\s*\S"
    r"|\s*(?:[|+][-=+|]{5,}|\|.{10,}\|\s*$|.{0,40}NVIDIA-SMI \d)|\s*Package +Version|\s*-{3,} -{3,}"
)
_PIN = r"\s*[A-Za-z][\w.-]{1,40}(?:\[[\w,]{1,40}\])?==\S{1,60}(?:\s+\(.{1,60}\))?\s*$"
_LISTED = (
    r"\s*[A-Za-z][\w.-]{1,40}\s*(?:==|>=|<=|~=|=| {1,30}|@ ?)\s*v?\d+(?:\.\w+)+(?:[+\w.]*)\s*"
    r"(?:\S{1,40})?$"
)
_STATEMENT = (
    r"(?:import \w[\w., ]*|from [\w.]+ import .{1,200}|def \w+\(.{0,200}|class \w+[(:].{0,100}"
    r"|@\w.{0,80}|if __name__ ==.{1,20})$"
)
_KEYWORD = r"\s+[a-z_]\w*=(?![=\s]).{1,200},?\s*(?:#.*)?$"
_CALL = r"\s*(?:[\w.]+(?:, ?[\w.]+)* ?= ?)?[A-Za-z_][\w.]*\(.{0,300}[(,)]?$"

SIGNS: tuple[tuple[tuple[re.Pattern[str], Nats], ...], ...] = (
    ((CONTINUED, {"script": 3.0}),),
    ((OPTION, {"script": 3.5}), (OVERRIDE, {"script": 3.5})),
    (
        (late(r"^\s*(?:export|declare -x)\s+[A-Za-z_]\w*=\S"), {"script": 3.0, "env": 3.1}),
        (late(r"^\s*(?:export\s+)?[A-Z][A-Z0-9_]{2,}=\S*\s*\\?\s*$"), {"script": 3.0, "env": 3.1}),
        (ASSIGNMENT, {"script": 0.5, "env": 0.3}),
    ),
    ((late(rf"^(?:{_SHELL})"), {"script": 4.0}),),
    (
        (SETTING, {"config": 3.0}),
        (late(r"^\s*(?:- )?[A-Za-z_][\w./-]{1,60}:(?:\s+\S.{0,300}|\s*)$"), {"config": 1.0}),
        (late(r"^\s*- [\w./\"'-]{1,80}\s*$"), {"config": 1.0}),
    ),
    (
        (late(r"^\s*\"[\w./@-]{1,80}\"\s*:\s*(?:\S.{0,400})?$"), {"config": 3.5}),
        (late(r"^\s*\{\s*\"[\w./-]{1,80}\"\s*:"), {"config": 4.0}),
        (late(r"^\s*[a-z][a-z0-9_]{1,40} ?= ?[^=\s(].{0,100}$"), {"config": 1.5}),
        (late(r"^\s*\[\[?[a-z][\w.]{1,40}\]?\]\s*$"), {"config": 1.5}),
    ),
    ((late(r"^\s*[{}\[\]]+,?\s*$"), {"config": 1.5, "python": 0.3}),),
    (
        (
            late(r"^\s*#{1,3} ?[\w ]{1,60}$"),
            {"config": 0.8, "script": 0.8, "python": 0.8, "prose": 0.8},
        ),
    ),
    ((late(rf"^(?:{_STATEMENT})"), {"python": 4.0}),),
    ((late(rf"^(?:{_KEYWORD})"), {"python": 2.5}), (late(rf"^(?:{_CALL})"), {"python": 1.5})),
    ((late(rf"^(?:{_PRINTED})"), {"log": 6.0}),),
    ((late(rf"^(?:{_STAMPED})"), {"log": 4.5}), (late(_PROGRESS), {"log": 4.5})),
    ((late(_MACHINE), {"log": 1.5}),),
    ((late(_COMPLAINT), {"log": 2.0}),),
    ((late(rf"^(?:{_SYSTEM})"), {"versions": 4.0}),),
    (
        (late(rf"^(?:{_PIN})"), {"versions": 6.0}),
        (FREEZE, {"versions": 3.0}),
        (late(rf"^(?:{_LISTED})"), {"versions": 3.0}),
    ),
)
"""What a line may begin with, and what that says; of each group the first that matches counts."""


class LineForm(NamedTuple):
    """How strongly a line speaks for each kind (nats), and whether a command goes on behind it."""

    scores: Nats
    continued: bool


def form(line: str, before: str) -> LineForm:
    """Weigh a line of text, knowing the one before it.

    Args:
        line: the line.
        before: the line before it in the same block, "" at its beginning.
    """
    text = line[:LONGEST]
    score = dict.fromkeys(KINDS, 0.0)
    if not text.strip():
        return LineForm(score, continued=False)
    for group in SIGNS:
        says = next((nats for pattern, nats in group if pattern.search(text)), {})
        for kind, nats in says.items():
            score[kind] += nats
    _as_command(text, score)
    _as_prose(text.strip(), score)
    if KNOWN_KEY.match(text.lstrip()):
        score["config"] += 3.0
    if PROGRAM.search(text) and not LOG.search(text):
        score["python"] += 3.0
    elif LOG.search(text) and score["log"] < LOGGED:
        score["log"] += LOGGED
    if CONTINUED.search(before[:LONGEST]):
        score["script"] += 5.0
    if text[:1].isspace() and FRAME.search(before[:LONGEST]):
        score["log"] += 8.0
    return LineForm(score, bool(CONTINUED.search(text)))


LOGGED = 3.0
"""What the signs of a log that tell the kind of a whole file say of a line."""


def _as_command(text: str, score: dict[Kind, float]) -> None:
    if not COMMAND.match(text):
        return
    score["script"] += 5.0 if ARGUMENT.search(text) else 1.0
    if re.match(_TRAINS, text):
        score["script"] += 2.0


def _as_prose(text: str, score: dict[Kind, float]) -> None:
    """Weigh words: Chinese, sentences, labels that end in a colon."""
    han = len(_HAN.findall(text))
    tokens = text.split()
    words = sum(1 for token in tokens if _WORD.fullmatch(token.strip(".,;:!?()'\"*`“”‘’")))
    said = 0.0
    if han >= 2:
        said = min(4.0, 1.5 + han / 4)
        score["log"] -= 1.0
    elif len(tokens) >= 3 and words >= 0.7 * len(tokens):
        said = 2.0 + min(1.0, len(tokens) / 12)
    elif len(tokens) <= 2 and words == len(tokens):
        said = 0.7
    if said and _SENTENCE.search(text):
        said += 1.0
    if words == len(tokens) and score["config"] < 3.0 and _LABEL.search(text):
        said += 1.0
    score["prose"] += said

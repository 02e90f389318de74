"""The signs by which a line of a pasted text speaks for a kind of part, with their weights."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from trainrx.inputs.recognise import ASSIGNMENT, FREEZE
from trainrx.model.pattern import late

Kind = Literal["prose", "script", "config", "python", "env", "versions", "log"]
Nats = Mapping[Kind, float]
Signs = tuple[tuple[tuple[re.Pattern[str], Nats], ...], ...]

FRAME = late(r"\s*(?:\[rank\d+\]:? *)?File \"[^\"]{1,300}\", (?:line \d|in \w)")
OPTION = late(r"\s*--?[A-Za-z][\w.-]*(?:[ =]|\s*\\?\s*$)")
OVERRIDE = late(r"\s*(?:\+{0,2}|~)[a-z_][\w-]*(?:\.[\w-]+)+=\S*\s*\\?\s*$")
SETTING = late(r"\s*(?:- )?(?:[a-z][a-z0-9]*(?:[_.][a-z0-9]+)+|[a-z][a-z0-9]{1,20}):(?:\s|$)")
PIN = late(r"\s*[A-Za-z][\w.-]{1,40}(?:\[[\w,]{1,40}\])?==\S{1,60}(?:\s+\(.{1,60}\))?\s*$")

_SHELL = (
    r"\s*(?:#!\s?/|#SBATCH\b|set -[a-z]|(?:if|for|while)\s.{0,200};\s*(?:then|do)\s*$"
    r"|(?:fi|done|then|esac)\s*$|(?:pip3?|conda|apt|apt-get|mamba|uv pip|git) (?:install|clone)\s"
    r"|(?:conda activate|source|unset|ulimit|mkdir|wget|chmod|cd|cp|mv|echo)\s+[-./~$\"'\w]\S*)"
)
PRINTED = late(
    r"\s*(?:\[rank\d+\]:? *)?(?:File \"[^\"]{1,300}\", (?:line \d|in \w)"
    r"|Traceback \(most recent"
    r"|[\w.]{0,120}(?:Error|Exception|Interrupt|Warning)(?:\(\w+\))?(?::|\s*$)"
    r"|During handling of the above|usage: \S+ \[|[\w./-]+: error: \S"
    r"|The above exception was|Segmentation fault|Killed$|Aborted|CUDA out of memory"
    r"|terminate called|\*\*\* |(?:[A-Z][\w-]*(?: \w+)? )?[Ee]rror(?: \d+)?: \S)"
    r"|\s*(?:Stop(?:Async)?Iteration|SystemExit|GeneratorExit)\b"
    r"|\s*\S{1,300}\.py(?:\"?, line \d+, in |:\d+: )|[\w./-]{2,80}: line \d+: "
    r"|[\w./-]{2,40}: (?:cannot|can't|could not|command not found) "
    r"|\s*[\w.]{2,120}\(\) (?:got an? |takes |missing )"
    r"|[\w.-]{2,40} \S{1,40} requires \S{1,80}, but you have "
    r"|\s*[\^~]{2,}[\^~ ]*$|\s*\.{3}<\d+ lines>\.{3}$"
)
STAMPED = late(
    r"\s*(?:\[?\(?(?:20\d\d[-/]\d\d[-/]\d\d|\d\d-\d\d|\d\d/\d\d/20\d\d)[ T,]+\d\d:\d\d"
    r"|\[?(?:INFO|WARNING|ERROR|DEBUG|WARN|CRITICAL)\b[^a-z]|[IWEF]\d{4} \d\d:\d\d"
    r"|\[\d\d:\d\d:\d\d\]|(?:\d{1,4}: )?\[?\[?[Rr]ank ?\d+\]?[\]:]|\(\w{1,40} pid=\d+"
    r"|\d{1,4}: (?:Traceback|  File |\[)|\w[\w.-]{0,60}:\d+:\d+ \[\d+\] )"
)
_METRIC = (
    r"\b(?:\w*loss|lr|learning_rate|grad_norm|epoch|reward|step)['\"]?\s*[:=]\s*-?(?:\d|nan|inf)"
)
_PROGRESS = late(
    r"\d{1,9}%\|.{0,120}\||\d{1,9}(?:\.\d{1,9})?(?:it/s|s/it|MB/s|examples/s)\b"
    r"|\{['\"](?:train_|eval_)?loss['\"]: "
    rf"|{_METRIC}.{{0,60}}?{_METRIC}"
)
_MACHINE = late(
    r"0x[0-9a-f]{4,}|\bPID\b|\bpid=|/(?:usr|opt|root|home|mnt|data|workspace)/\S+\.py\b"
    r"|\w+\.(?:cpp|cc|cu|py):\d+|\.py\"?, line \d|\w\(\) (?:got|takes|missing) "
)
COMPLAINT = late(
    r"(?i:\berror:|\b\w+ failed:|\bfailed (?:to|with)\b|\bcannot import name\b"
    r"|\bcould not (?!be\b)|\bexit(?:ed|s)? (?:with )?(?:return ?)?(?:code|status)"
    r"|\bexitcode\b|\bunrecognized arguments"
    r"|\bcore dumped\b|\bno such file or directory|\bout of memory\b|\bobject has no attribute\b"
    r"|\bis not (?:supported|implemented|in struct|found in|a valid)\b|^hint: "
    r"|\bno module named\b|\b(?:does|do) not exist\b|\bis incompatible\b|\bis deprecated\b"
    r"|\brequires \S+, but you have\b|\bnot found in the\b|\btimed? ?out\b"
    r"|\bexpected .{1,60} but (?:got|found)\b|\bplease (?:upgrade|install|set|use|make sure)\b"
    r"|\bwatchdog\b.{0,60}\btimeout|timed out (?:waiting|after))"
)
COMPLAINTS = (
    *("error", "fail", "cannot", "could not", "exit", "unrecog", "core dump", "no such", "out of"),
    *("attribute", "is not", "hint", "no module", "not exist", "incompat", "deprec", "expected"),
    *("please", "timeout", "timed", "time out", "requires", "not found"),
)
"""What programs say when something fails: people quote it, too; and words one of which it has."""
MACHINE_NAME = late(
    r"(?<![\w./-])(?:'[\w.]+'|[a-z]+(?:_[a-z0-9]+)+|_\w+|[A-Za-z]\w*(?:\.[a-z_]\w*){2,})(?![\w-])"
    r"|[\w\])](?:==|>=|<=)[\w\[(]| -> |<class '|\[\d+(?:, ?\d+)*\]"
)
"""Names and values as programs write them among words."""
NARRATED = late(
    r"\b(?:stops|dies|crashes|fails|hangs|freezes|breaks|refuses|complains|waits|runs out|goes out"
    r"|(?:can|may|will) (?:stop|die|crash|fail|hang)|gets? stuck|happens|occurs|whenever|although"
    r"|(?:after|since) (?:about |some )?\d+ (?:steps|hours|epochs)|fine-?tuning (?:of )?|works)\b",
    re.IGNORECASE,
)
"""How people tell what became of a job."""
PERSONAL = late(r"\b(?:I|I'm|I've|[Mm]y|[Ww]e|[Oo]ur|thanks|anyone)\b|\?\s*$|[\u3400-\u9fff]{2}")
"""What people write and programs hardly print: of themselves, questions, Chinese."""
SYSTEM = late(
    r"\s*(?:[-*] )?`?[\w./() -]{2,50}`? versions?(?: \(\w+\??\))?\s*(?::|\.{3,})\s*\S"
    r"|\s*(?:-\s)?(?:Platform|OS|Python|Driver Version|PyTorch|CUDA|GPU|NVIDIA driver.{0,20}"
    r"|(?:GPU|CPU) (?:type|number|count|memory|models.{0,20})|ROCM used to build PyTorch"
    r"|CUDA used to build PyTorch|Is (?:debug build|CUDA available|XNNPACK available)"
    r"|CUDA_MODULE_LOADING set to|Git commit|Using (?:distributed|GPU) .{3,40}\?)\s*:\s*\S"
    r"|GPU models and configuration:|\s*GPU \d{1,2}: |\s*(?:nvcc|torch|deepspeed) [\w ]{3,30}\.{3,}"
    r"|\s*\[(?:pip3?|conda)\] \S|Collecting environment information|Versions of relevant libraries"
    r"|Cuda compilation tools|nvcc: NVIDIA|DeepSpeed C\+\+/CUDA|DeepSpeed general environment"
    r"|\s*(?:\+[-=+]{5,}|\|[-=+]{5,}\|?\s*$|.{0,40}NVIDIA-SMI \d)|\s*Package +Version"
    r"|\s*-{3,} +-{3,}|# packages in environment at |# Name +Version"
)
_IMAGE = late(r"\s*(?:image: )?(?:[\w.-]{1,80}/){1,6}[\w.-]{1,80}:(?=\S{0,100}\d\.\d)\S+\s*$")
"""A container whose tag names versions."""
_LISTED = late(
    r"\s*[A-Za-z][\w.-]{1,40}\s*(?:==|>=|<=|~=|=| {1,30}|@ ?)\s*v?\d+(?:\.\w+)+(?:[+\w.]*)\s*"
    r"(?:\S{1,40}(?:\s+\S{1,40})?)?$"
)
_STATEMENT = late(
    r"\s*(?:import \w[\w., ]*|from [\w.]+ import .{1,200}|def \w+\(.{0,200}|class \w+[(:].{0,100}"
    r"|@\w[\w.]+(?:\(.{0,80})?|if __name__ ==.{1,20}|for \w+(?:, ?\w+)* in [\w.]+[\w.()\[\]]*:"
    r"|with [\w.]+\(.{0,120}:|(?:try|else|finally):|except(?: [\w.]+(?: as \w+)?)?:"
    r"|print\(.{0,200}\))\s*$"
)
_INNER = late(r"\s*(?:raise \w[\w.]*\(|assert \w|return \w|yield \w|(?:el)?if [\w.]+.{0,100}:\s*$)")
_KEYWORD = late(r"\s+[a-z_]\w* ?= ?(?![=\s]).{1,200},\s*(?:#.*)?$")
_CALL = late(r"\s*(?:[\w.]+(?:, ?[\w.]+)* ?= ?)?(?:await )?[A-Za-z_][\w.]*\(.{0,300}[(,)]?$")
_UPPER = r"(?:export\s+)?[A-Z][A-Z0-9_]{2,}"

BEGINS: Signs = (
    ((OPTION, {"script": 3.5}), (OVERRIDE, {"script": 3.5})),
    (
        (late(r"\s*(?:export|declare -x)\s+[A-Za-z_]\w*=\S"), {"script": 3.0, "env": 3.1}),
        (late(rf"\s*{_UPPER}=\S*\s*\\?\s*$"), {"script": 3.0, "env": 3.1}),
        (late(r"\w+=\S*(?:\$[\w({]|\$\(\().*$"), {"script": 3.5}),
        (late(r"[a-z_]\w*=(?:[^\s=,(]+|\"[^\"]*\"|'[^']*')\s*$"), {"script": 1.5, "config": 0.2}),
        (ASSIGNMENT, {"script": 0.5, "env": 0.3}),
    ),
    ((late(_SHELL), {"script": 4.0}),),
    (
        (SETTING, {"config": 3.0}),
        (late(r"\s*(?:- )?[A-Za-z_][\w./-]{1,60}:(?:\s+\S+(?:\s\S+){0,2}|\s*)$"), {"config": 1.0}),
        (late(r"\s*- [\w./\"'-]{1,80}\s*$"), {"config": 1.0}),
        (late(r"\s*- \{.{1,300}\},?\s*$"), {"config": 2.0}),
    ),
    (
        (late(r"\s*\"[\w./@-]{1,80}\"\s*:\s*(?:\S.{0,400})?$"), {"config": 3.5}),
        (late(r"\s*\{\s*\"[\w./-]{1,80}\"\s*:"), {"config": 4.0}),
        (
            late(r"\s*[a-z][a-z0-9_]{1,40} ?= ?[^=\s(].{0,100}$"),
            {"config": 1.5, "python": 1.0},
        ),
        (late(r"\s*\[\[?[a-z][\w.]{1,40}\]?\]\s*$"), {"config": 1.5}),
    ),
    ((late(r"\s*[{}\[\]()]+,?\s*$"), {"config": 1.5, "python": 1.0}),),
    (
        (
            late(r"\s*#{1,3} ?(?:[\w ]|\S.{0,200})$"),
            {"config": 0.8, "script": 0.8, "python": 0.8, "prose": 0.8},
        ),
    ),
    ((_STATEMENT, {"python": 4.0}), (_INNER, {"python": 2.0, "log": 1.0})),
    ((_KEYWORD, {"python": 2.5}), (_CALL, {"python": 1.5})),
    ((PRINTED, {"log": 6.0}),),
    ((STAMPED, {"log": 4.5}),),
    (
        (late(r"\s*\|?(?:\s*:?-{2,}:?\s*\|)+\s*(?::?-{2,}:?\s*)?$"), {"prose": 4.0}),
        (SYSTEM, {"versions": 4.0}),
        (_IMAGE, {"versions": 6.0}),
        (late(r"\s*\|.{10,}\|\s*$"), {"versions": 1.5, "prose": 1.5}),
    ),
    ((PIN, {"versions": 6.0}), (FREEZE, {"versions": 3.0}), (_LISTED, {"versions": 3.0})),
)
"""What a line begins with, and what that says; of each group the first that matches counts."""
HOLDS: tuple[tuple[tuple[str, ...], re.Pattern[str], Nats], ...] = (
    (
        ("%|", "it/s", "s/it", "mb/s", "s/s", "loss", "lr", "grad_norm", "reward", "epoch"),
        _PROGRESS,
        {"log": 4.5},
    ),
    (("0x", "pid", "/", ".cpp:", ".cc:", ".cu:", ".py", "()"), _MACHINE, {"log": 1.5}),
    (COMPLAINTS, COMPLAINT, {"log": 2.0}),
)
"""What may stand anywhere in a line, each after words of which one must be there (lower case)."""

"""A DeepSpeed file by itself: keys and values its models refuse, keys that stand twice.

deepspeed/runtime/config_utils.py: models forbid further keys, and a key that stands twice is
refused when the file is read. https://github.com/deepspeedai/DeepSpeed
"""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.catalog.catalog import KnownArgument, catalog
from trainrx.catalog.signature import Signature, signature
from trainrx.linter.engine_file import EngineFile, engine_file, key_place
from trainrx.linter.job import LintedJob, RuleHit
from trainrx.linter.places import LineRange
from trainrx.model.facts import Origin
from trainrx.model.job import RawArg

_OWNER = "deepspeed"
_TOP = "config"
"""The table of the keys at the top, which are not checked: a slip there is passed over."""
_CLOSED = (
    "zero_optimization",
    "zero_optimization.offload_param",
    "zero_optimization.offload_optimizer",
    "fp16",
    "bf16",
)
"""Sections that models read which forbid further keys."""
_OF_TRAINER = "auto"
"""What the Trainer fills in."""
_SWITCHES = (True, False, "true", "false")
_ALIKE = 0.8
_MOST_CHOICES = 8


def find(job: LintedJob) -> Iterator[RuleHit]:
    """Give what DeepSpeed refuses of the file of a launch, or passes over by a slip."""
    file = engine_file(job)
    if file is None:
        return
    for key in file.twice:
        yield RuleHit("deepspeed-key-twice", _last_place(key, job, file), {"key": key})
    bits = catalog(_OWNER).of(job.versions.get(_OWNER))
    for section in _CLOSED:
        yield from _section(section, signature(_OWNER, section, bits, {}, ()), job, file)
    yield from _slips(signature(_OWNER, _TOP, bits, {}, ()), job, file)


def _section(section: str, known: Signature, job: LintedJob, file: EngineFile) -> Iterator[RuleHit]:
    held = file.section(section)
    if not len(known) or held is None:
        return
    if not isinstance(held, dict):
        if isinstance(held, str) and held != _OF_TRAINER:
            yield _refused(section, held, '{"device": "cpu"}', job, file)
        return
    for name, value in held.items():
        key = f"{section}.{name}"
        option = known.get(name)
        if option is None and not known.below(name):
            maybe = _like(name, known)
            values = {"key": name, "section": section, "maybe": maybe}
            yield RuleHit("deepspeed-key-unknown", key_place(key, job, file), values)
        elif option is not None and value != _OF_TRAINER:
            yield from _value(key, value, option, job, file)


def _value(
    key: str, value: object, option: KnownArgument, job: LintedJob, file: EngineFile
) -> Iterator[RuleHit]:
    """Judge a value by what does not change with releases: the words allowed, and switches."""
    if isinstance(value, (dict, list)) or value is None:
        return
    written = value.lower() if isinstance(value, str) else value
    if option.choices:
        allowed = list(dict.fromkeys(str(choice) for choice in option.choices))
        if str(written) not in allowed:
            yield _refused(key, value, ", ".join(allowed[:_MOST_CHOICES]), job, file)
    elif option.type in ("bool", "Optional[bool]") and written not in _SWITCHES:
        yield _refused(key, value, "true, false", job, file)


def _refused(key: str, value: object, allowed: str, job: LintedJob, file: EngineFile) -> RuleHit:
    values = {"key": key, "value": str(value)[:60], "allowed": allowed}
    return RuleHit("deepspeed-value-refused", key_place(key, job, file), values)


def _slips(known: Signature, job: LintedJob, file: EngineFile) -> Iterator[RuleHit]:
    for name in file.root:
        if known.get(name) is None and not known.below(name) and (maybe := _like(name, known)):
            values = {"key": name, "section": file.name, "maybe": maybe}
            at = key_place(name, job, file)
            yield RuleHit("deepspeed-key-unknown", at, values, severity="warning")


def _like(name: str, known: Signature) -> str:
    from difflib import get_close_matches  # few files hold a slip

    names = [option.name for option in known]
    return next(iter(get_close_matches(name, names, 1, _ALIKE)), "")


def _last_place(key: str, job: LintedJob, file: EngineFile) -> LineRange:
    """Find the line where a key stands again."""
    lines = job.texts.lines(file.name)
    last = max((n for n, line in enumerate(lines, 1) if f'"{key}"' in line), default=1)
    origin = Origin(source=file.name, line=last)
    return job.texts.flag(RawArg(name=key, values=None, origin=origin, via="config"))

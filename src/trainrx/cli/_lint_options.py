"""The options of `diagnose lint`, read without a library: that costs more than a script takes."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from trainrx.model.errors import UsageError

FORMATS = ("text", "json", "sarif", "github", "gitlab", "junit", "markdown")
THRESHOLDS = ("error", "warning", "info", "none")
_LISTS = ("select", "ignore", "extend_select", "exclude", "kb", "rules")
_TEXTS = ("env", "gpu", "versions", "baseline", "write_baseline", "config", "output")
_NUMBERS = ("gpus", "nodes")
_SWITCHES = (
    "fix",
    "unsafe_fixes",
    "diff",
    "exit_zero",
    "statistics",
    "isolated",
    "list",
    "help",
)
_CHOICES = {
    "format": FORMATS,
    "fail_on": THRESHOLDS,
    "lang": ("en", "zh"),
    "color": ("auto", "always", "never"),
}
_SHORT = {"-h": "--help", "-o": "--output"}
_SEVERAL = ("select", "ignore", "extend_select", "exclude")
"""These take several values with commas."""


class LintOptions(msgspec.Struct, kw_only=True):
    """What the command line asks for; "" and None: not given."""

    paths: list[str] = []
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    kb: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    env: str | None = None
    gpu: str | None = None
    versions: str | None = None
    baseline: str | None = None
    write_baseline: str | None = None
    config: str | None = None
    output: str | None = None
    gpus: int | None = None
    nodes: int | None = None
    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    exit_zero: bool = False
    statistics: bool = False
    isolated: bool = False
    list: bool = False
    help: bool = False
    format: str = "text"
    fail_on: str | None = None
    lang: str | None = None
    color: str = "auto"


def read_options(words: list[str]) -> LintOptions:
    """Read the words behind `diagnose lint`.

    Raises:
        UsageError: an option is unknown, or its value is missing or none of those it takes.
    """
    options = LintOptions(paths=[])
    rest = iter(words)
    for word in rest:
        if word == "--":
            options.paths += rest
        elif word.startswith("-") and word != "-":
            _option(word, rest, options)
        else:
            options.paths.append(word)
    if options.unsafe_fixes and not options.diff:
        options.fix = True
    return options


def _option(word: str, rest: Iterator[str], options: LintOptions) -> None:
    flag, sign, value = word.partition("=")
    flag = _SHORT.get(flag, flag)
    name = flag.removeprefix("--").replace("-", "_")
    if not flag.startswith("--") or name not in _known():
        raise UsageError(_unknown(flag))
    if name in _SWITCHES:
        if sign:
            raise UsageError(f"{flag} takes no value, got {value!r}")
        setattr(options, name, True)
        return
    told = value if sign else next(rest, None)
    if told is None or (not sign and told.startswith("--")):
        raise UsageError(f"{flag} needs a value")
    setattr(options, name, _value(flag, name, told, options))


def _value(flag: str, name: str, told: str, options: LintOptions) -> object:
    if name in _LISTS:
        parts = told.split(",") if name in _SEVERAL else [told]
        held: tuple[str, ...] = getattr(options, name)
        return (*held, *(part.strip() for part in parts if part.strip()))
    if name in _NUMBERS:
        if not told.isdecimal() or not 1 <= int(told[:9]) <= 1_000_000:
            raise UsageError(f"{flag} {told}: expected a number from 1 to 1000000")
        return int(told)
    if name in _CHOICES and told not in _CHOICES[name]:
        raise UsageError(f"{flag} {told}: expected one of {', '.join(_CHOICES[name])}")
    return told


def _known() -> tuple[str, ...]:
    return (*_LISTS, *_TEXTS, *_NUMBERS, *_SWITCHES, *_CHOICES)


def _unknown(flag: str) -> str:
    # only a mistake pays for this import
    from difflib import get_close_matches

    names = [f"--{name.replace('_', '-')}" for name in _known()]
    near = get_close_matches(flag, names, n=1, cutoff=0.6)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"diagnose lint has no option {flag}.{hint} `diagnose lint --help` shows all"

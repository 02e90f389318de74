"""The arguments the messages of parsers name: argparse, HfArgumentParser, hydra, click, calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from trainrx.catalog.catalog import catalog, plain
from trainrx.frameworks import frameworks
from trainrx.model.facts import Fact, Origin, fact
from trainrx.model.pattern import late

SYMPTOM = "symptom."
_WORD = late(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_CALL = late(r"(?:.*\.)?(?P<owner>\w+)\.__init__")
_NUMBER = late(r"-?[\d.]+(?:e-?\d+)?")
_NAME = late(r"[A-Za-z][\w.-]*")
_LONGEST = 120
_PROGRAMS: Mapping[str, tuple[str, str]] = {
    "torchrun": ("torchrun", "torchrun"),
    "deepspeed": ("deepspeed", "launch"),
}
"""Package and command of programs by the name their parser puts in front of its message."""
_MODELS: Mapping[str, str] = {
    "DeepSpeedZeroConfig": "zero_optimization",
    "DeepSpeedZeroOffloadParamConfig": "zero_optimization.offload_param",
    "DeepSpeedZeroOffloadOptimizerConfig": "zero_optimization.offload_optimizer",
    "DeepSpeedFP16Config": "fp16",
    "DeepSpeedBF16Config": "bf16",
    "DeepSpeedFlopsProfilerConfig": "flops_profiler",
    "DeepSpeedMonitorConfig": "config",
}
"""Sections of a DeepSpeed configuration by the model that reads them."""


class MentionedArgument(NamedTuple):
    """An argument a message names.

    `values` None: not shown. `choices`: its value is none of these. `call`: the function that was
    called with it. `package` and `command` are "" where the message does not tell them.
    """

    name: str
    values: tuple[str, ...] | None
    origin: Origin
    package: str = ""
    command: str = ""
    dashed: bool = True
    choices: tuple[str, ...] = ()
    call: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Give what tells two of them apart: ranks print the same message."""
        return plain(self.name) or str(self.values), self.call


def named_by(item: Fact) -> Iterator[MentionedArgument]:
    """Give the arguments that the sighting of a message names; none for any other fact."""
    kind = item.kind.removeprefix(SYMPTOM)
    if kind == item.kind:
        return
    fields = {name: value for name, value in item.fields if isinstance(value, str)}
    at = item.origins[0] if item.origins else Origin(source="log")
    if kind in ("remaining-argv", "hf-args-unused"):
        yield from _listed(fields.get("args", ""), at, _printed_by(kind))
    elif kind == "argparse-unrecognized":
        package, command = _program(fields.get("program", ""))
        yield from _flags(fields.get("args", "").split(), at, package, command)
    elif kind == "argparse-invalid-choice":
        yield from _chosen(fields, at)
    elif kind == "option-unknown":
        package, command = _program(fields.get("program", ""))
        yield from _flags([fields.get("option", "")], at, package, command)
    elif kind in ("argument-text-unreadable", "value-unknown-to-code") and fields.get("value"):
        # the message does not say of which argument it is
        yield MentionedArgument("", (fields["value"],), at, _printed_by(kind))
    elif kind == "model-key-refused":
        yield from _of_model(fields, at)
    elif kind == "hydra-override-error" and fields.get("key"):
        yield MentionedArgument(fields["key"].lstrip("+~"), None, at, dashed=False)
    elif kind == "unexpected-keyword":
        yield from _called(fields, at)


def _printed_by(kind: str) -> str:
    """Name the one framework that prints a message, "" where several do."""
    return next((one.name for one in frameworks() if kind in one.own_messages), "")


def _listed(text: str, at: Origin, package: str) -> Iterator[MentionedArgument]:
    """Read a list as Python prints it: words of a command line, or else keys of a file."""
    words = [(single or double).replace("\\\\", "\\") for single, double in _WORD.findall(text)]
    if not words:
        words = [word for word in text.split() if not word.startswith("[")]
        yield from (
            MentionedArgument(word, None, at, package) for word in words[:1] if _is_name(word)
        )
    elif flags := list(_flags(words, at, package, "")):
        *found, last = flags
        yield from found
        # of a line that was cut the last value may be missing
        yield last if text.rstrip().endswith("]") else last._replace(values=None)
    elif not any(word.startswith("-") for word in words):
        yield from (
            MentionedArgument(key, None, at, package, dashed=False)
            for key in words
            if _is_name(key)
        )


def _flags(words: list[str], at: Origin, package: str, command: str) -> Iterator[MentionedArgument]:
    """Give each flag with the words behind it."""
    name = ""
    values: list[str] = []
    for word in (*words, "--"):
        if not word.startswith("-") or _NUMBER.fullmatch(word):
            values.append(word)
            continue
        if _is_name(name):
            yield MentionedArgument(name, tuple(values), at, package, command)
        flag, sign, value = word.lstrip("-").partition("=")
        name, values = flag, [value] if sign else []


def _is_name(word: str) -> bool:
    return 0 < len(word) <= _LONGEST and _NAME.fullmatch(word) is not None


def _chosen(fields: Mapping[str, str], at: Origin) -> Iterator[MentionedArgument]:
    """Read what argparse says of a value that is none of its choices."""
    flags = [flag.strip() for flag in re.split(r"[/,]", fields.get("argument", ""))]
    name = max((flag.lstrip("-") for flag in flags), key=len, default="").replace("-", "_")
    package, command = _program(fields.get("program", ""))
    listed = fields.get("choices", "")
    # a list that was cut ends in the middle of a choice
    told = listed.rpartition(")" if ")" in listed else ",")[0]
    words = [single or double for single, double in _WORD.findall(told)]
    kept = tuple(words or (word.strip() for word in told.split(",") if word.strip()))
    if _is_name(name) and kept:
        value = fields.get("value", "").strip("'\"")
        yield MentionedArgument(name, (value,), at, package, command, choices=kept)


def _called(fields: Mapping[str, str], at: Origin) -> Iterator[MentionedArgument]:
    """Read a call of a class whose fields a catalog lists."""
    callee, keyword = fields.get("callee", ""), fields.get("keyword", "")
    owner = _CALL.fullmatch(callee)
    if owner is None or not keyword:
        return
    # packages whose catalogs list the fields of classes that people call themselves
    for package in (*(one.name for one in frameworks() if one.library), "peft"):
        if owner["owner"] in catalog(package).contents.commands:
            yield MentionedArgument(
                keyword, None, at, package, owner["owner"], dashed=False, call=callee
            )
            return


def _of_model(fields: Mapping[str, str], at: Origin) -> Iterator[MentionedArgument]:
    """Read the key that a model of pydantic does not have."""
    key, model = fields.get("key", "").strip(), fields.get("model", "")
    command = _MODELS.get(model, "")
    package = "deepspeed" if command or model.startswith("DeepSpeed") else ""
    if _is_name(key):
        yield MentionedArgument(key, None, at, package, command, dashed=False)


def _program(text: str) -> tuple[str, str]:
    """Give package and command of a program by its name; that of a script is its command's."""
    words = text.rpartition("/")[2].split()
    first = words[0] if words else ""
    if first in _PROGRAMS:
        return _PROGRAMS[first]
    own = ((one.name, one.usage_names[first]) for one in frameworks() if first in one.usage_names)
    return next(own, ("", first.removesuffix(".py")))


_LISTED = SYMPTOM + "hf-args-unused"


def owner_facts(sighted: Iterable[Fact]) -> tuple[Fact, ...]:
    """Give the one framework that has, or had, all names that HfArgumentParser refused.

    Frameworks share this parser and its message. A name that several have, or that comes from
    transformers, leaves the question open; so does one that no release of any had.
    """
    for item in sighted:
        if item.kind != _LISTED:
            continue
        names = [named.name for named in named_by(item) if named.name]
        owner = _sole_owner(names)
        if owner:
            return (fact("launch.framework", owner, *item.origins[:1], how="derived"),)
    return ()


def _sole_owner(names: Sequence[str]) -> str:
    spelled = [one for one in frameworks() if one.spelled]
    owners = [one for one in spelled if names and all(map(catalog(one.name).find, names))]
    # the arguments of a library reach programs of many hands: such a name tells nothing
    return owners[0].name if len(owners) == 1 and owners[0].only_trains else ""

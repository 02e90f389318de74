"""What a framework does when nothing is said: its defaults at this version, and computed ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from trainrx.catalog.spellbook import OUTER, Spellbook, SpellbookEntry
from trainrx.catalog.values import read_value, write_value
from trainrx.frameworks import framework_of
from trainrx.frameworks.common.task import TRAINING
from trainrx.model.catalog import Value
from trainrx.model.facts import How, Scalar
from trainrx.model.job import Argument, RawLaunch, Setting

_ADAPTERS: frozenset[Scalar] = frozenset({"lora", "adalora", "dora", "longlora", "qlora"})
_QUANTISED: frozenset[Scalar] = frozenset({2, 3, 4, 5, 6, 8})
_NEEDS: Sequence[tuple[str, str, frozenset[Scalar]]] = (
    ("tuner.quant_method", "tuner.quant_bits", _QUANTISED),
    ("vllm.", "vllm.enabled", frozenset({True})),
    ("tuner.rank", "tuner.type", _ADAPTERS),
    ("tuner.alpha", "tuner.type", _ADAPTERS),
    ("tuner.targets", "tuner.type", _ADAPTERS),
)
"""A default plays a part only where what it belongs to is on: (prefix, parameter, values)."""

_TASKS: Sequence[tuple[str, frozenset[str]]] = (
    ("rlhf.num_generations", frozenset({"grpo"})),
    ("rlhf.steps_per_generation", frozenset({"grpo"})),
    ("rlhf.max_completion_length", frozenset({"grpo", "gkd", "ppo"})),
)
"""The same for what only some tasks have."""

_SUPERVISED = frozenset({"sft", "pt"})

_FIRST = ("rlhf.type", "tuner.type", "vllm.enabled")
_TRAINING_ONLY = ("train.", "tuner.", "freeze.", "rlhf.")
_DEPENDING = (*_TRAINING_ONLY, "vllm.")


def defaults(
    book: Spellbook,
    known: Mapping[str, Setting],
    arguments: Mapping[str, Argument],
    launch: RawLaunch,
    task: str,
) -> dict[str, Setting]:
    """Give the default of every parameter nobody set and that plays a part in this task.

    `arguments` are the framework's own, with the values it gives them itself at this version. One
    whose value is open (it differs between the versions the job may run) leaves the parameter out:
    it is unknown.
    """
    found: dict[str, Setting] = {}
    so_far = dict(known)
    for name, parameter, values in _playing(tuple(book.by_param), launch.framework, task):
        if name in known:
            continue
        if parameter:
            switch = so_far.get(parameter)
            if switch is None or switch.value not in values:
                continue
        default = _default(book, name, arguments, launch)
        if default is not None:
            found[name] = so_far[name] = default
    return found


def one_process(known: Mapping[str, Setting], launch: RawLaunch, task: str) -> dict[str, Setting]:
    """Give the one process of a launch whose program starts no more, for all its GPUs."""
    name = "parallel.processes_per_node"
    trains = launch.role == "trainer" if launch.alone else task in TRAINING
    if not trains or name in known:
        return {}
    if not framework_of(launch.framework).lone_process(launch):
        return {}
    if not launch.alone:
        return {name: _setting(name, 1, "NPROC_PER_NODE", "assumed")}
    # a program that is not at hand may start more processes itself
    seen = launch.program_read or framework_of(launch.framework).takes_only_listed(launch)
    return {name: _setting(name, 1, "", "default" if seen else "assumed")}


@lru_cache(maxsize=64)
def _playing(
    names: tuple[str, ...], framework: str, task: str
) -> tuple[tuple[str, str, frozenset[Scalar]], ...]:
    """Give the parameters that play a part in a task, those others need first.

    With each stands the parameter it needs, "" for none, and the values that one must have.
    """
    found: list[tuple[str, str, frozenset[Scalar]]] = []
    for name in (*_FIRST, *(name for name in names if name not in _FIRST)):
        if not name.startswith(_DEPENDING):
            found.append((name, "", frozenset()))
        elif _plays(name, framework, task):
            found.append((name, *_need(name, framework, task)))
    return tuple(found)


def _plays(name: str, framework: str, task: str) -> bool:
    if name.startswith(_TRAINING_ONLY) and task and task not in TRAINING:
        return False
    if _is_of_vllm(name, framework, task):
        return True
    if name.startswith("rlhf.") and name != "rlhf.type" and task in _SUPERVISED:
        return False
    return all(not name.startswith(prefix) or task in tasks for prefix, tasks in _TASKS)


def _need(name: str, framework: str, task: str) -> tuple[str, frozenset[Scalar]]:
    """Give the parameter that must have one of some values for another to play a part."""
    ranked = name == "tuner.rank" and framework_of(framework).lora_by_rank
    if not ranked and not _is_of_vllm(name, framework, task):
        for prefix, parameter, values in _NEEDS:
            if name.startswith(prefix):
                return parameter, values
    return "", frozenset()


def _is_of_vllm(name: str, framework: str, task: str) -> bool:
    """Tell what counts wherever vLLM does the work, and the switch that turns it on."""
    alone = framework_of(framework).runs_engine or task == "infer"
    return name == "vllm.enabled" or (alone and name.startswith("vllm."))


def _default(
    book: Spellbook, name: str, arguments: Mapping[str, Argument], launch: RawLaunch
) -> Setting | None:
    """Give the value of the argument that stands for a parameter, else the default kb names.

    All versions the job may run must agree on the latter. A program nobody knows may have any
    defaults: only those of its launcher and of the environment hold for it.
    """
    command = launch.command
    for owner, entries in book.served(name, command):
        if not launch.framework and owner not in OUTER:
            continue
        own: Sequence[SpellbookEntry] = entries
        if command.startswith("megatron"):
            # the Megatron commands share names with the others, not defaults
            own = [e for e in own if command in e.spelling.commands]
        listed = [e for e in own if e.spelling.arg in arguments and book.live(e)]
        if listed:
            return _listed(listed, arguments, book.bits[owner])
        if own:
            return _shared(own, book.bits[owner])
    return None


def _listed(
    entries: Sequence[SpellbookEntry], arguments: Mapping[str, Argument], wanted: int
) -> Setting | None:
    """Give the first value an argument stands for; another release may have another argument."""
    found: Setting | None = None
    left = wanted
    for entry in entries:
        if not entry.bits & left:
            continue
        argument = arguments[entry.spelling.arg]
        if not argument.known:
            return None
        value = _value(entry, argument)
        if value is None:
            continue
        if found is not None and found.value != value:
            return None
        found = found or _setting(entry.param.id, value, argument.name, argument.how)
        left &= ~entry.bits
    return found


def _value(entry: SpellbookEntry, argument: Argument) -> Scalar | None:
    """Give what an argument says of a parameter.

    A switch that is off says what kb calls that; a mapping without the key that is meant says
    nothing of it: then what reads the key has its own default.
    """
    nothing = argument.value is None or argument.value == []
    value = None
    if not nothing:
        value = read_value(entry.param, entry.spelling, _texts(argument.value)).value
    is_key = any(word.startswith("{") for word in entry.spelling.values.values())
    return (
        entry.spelling.default if value is None and (argument.value is False or is_key) else value
    )


def _texts(value: Value) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(str(item) for item in value)
    if isinstance(value, dict):
        return (msgspec.json.encode(value).decode(),)
    return (str(value).lower() if isinstance(value, bool) else str(value),)


def _shared(entries: Sequence[SpellbookEntry], wanted: int) -> Setting | None:
    found: dict[Scalar, SpellbookEntry] = {}
    left = wanted
    for entry in entries:
        spelling = entry.spelling
        mine = entry.bits & left
        if mine and spelling.default is not None:
            value = float(spelling.default) if entry.param.type == "float" else spelling.default
            found.setdefault(value, entry)
            left &= ~mine
    if len(found) != 1 or left:
        return None
    value, entry = next(iter(found.items()))
    spelled_as = entry.spelling.arg or entry.spelling.env
    made = _setting(entry.param.id, value, spelled_as, "default")
    if not entry.spelling.inverted:
        return made
    return msgspec.structs.replace(made, text=write_value(entry.spelling, value) or "")


def _setting(name: str, value: Scalar, spelled_as: str, how: How) -> Setting:
    return Setting(
        canonical=name, value=value, text="", spelled_as=spelled_as, via="default", how=how
    )

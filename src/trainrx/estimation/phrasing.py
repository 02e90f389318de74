"""What the memory model took for granted or asks for, in the words of this job and language."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from trainrx.catalog.spell import spell
from trainrx.knowledge.store import Knowledge
from trainrx.launch.job import Launch
from trainrx.model.assumptions import ASSUMPTIONS, REFUSALS, Values, say
from trainrx.model.facts import Scalar
from trainrx.model.memory import Assumption, Refusal
from trainrx.model.text import Lang

_SAMPLES: tuple[Scalar, ...] = (True, 1, 1.0, "x")
"""A name is wanted, whatever its value: one of these suits every type."""
PARAM = "param"
"""The value of this name is a parameter."""
DATASET, LENGTH = "train.dataset", "train.max_length"
_COLON: Mapping[Lang, str] = {"en": ": ", "zh": "："}


def worded(item: Assumption, launch: Launch, knowledge: Knowledge, lang: Lang) -> Assumption:
    """Say an assumption in a language, and its parameter as this framework spells it."""
    values = _named(item.values, launch, knowledge)
    text = say(ASSUMPTIONS, item.id, values, lang) if item.id in ASSUMPTIONS else item.text
    param = _name(item.param, launch, knowledge) if item.param else ""
    if item.param == DATASET or (item.decides and param == LENGTH):
        # it is named already, or has no name here: what the data holds is not known
        param = "--data FILE"
    program = dict(item.values).get("by", "")
    if program.endswith(".py"):
        param = program
    return msgspec.structs.replace(item, text=text, param=param, values=values)


def refused(item: Refusal, launch: Launch, knowledge: Knowledge, lang: Lang) -> Refusal:
    """Say a refusal in a language, and what it asks for as something to do."""
    values = _named(item.values, launch, knowledge)
    reason = say(REFUSALS, item.id, values, lang) if item.id in REFUSALS else item.reason
    asks = tuple(ask for name in item.asks if (ask := _ask(name, knowledge, lang)))
    if item.kind != "unknown":  # the names say what does not go together: the evidence shows it
        asks = ()
    return msgspec.structs.replace(item, reason=reason, asks=asks, values=values)


def _named(values: Values, launch: Launch, knowledge: Knowledge) -> Values:
    """Spell the parameters among the values as this framework does."""
    return tuple(
        (key, _name(value, launch, knowledge) if key == PARAM else value) for key, value in values
    )


def _ask(name: str, knowledge: Knowledge, lang: Lang) -> str:
    """Say how to supply a fact; "" where no more is known than its name, which the reason has."""
    entry = knowledge.facts.get(name) or knowledge.params.get(name)
    if entry is None or entry.ask is None:
        return ""
    return f"{entry.title.in_(lang)}{_COLON[lang]}{entry.ask.in_(lang)}"


def _name(canonical: str, launch: Launch, knowledge: Knowledge) -> str:
    """Give the name a parameter has here; one without a word of this framework keeps its own."""
    setting = launch.resolved.settings.get(canonical)
    if setting is not None and setting.spelled_as:
        return _as_written(setting.spelled_as, launch.style)
    for value in _SAMPLES:
        found = spell(
            canonical,
            value,
            launch.raw.framework,
            launch.resolved.version,
            knowledge.params,
            via="config" if launch.style == "config" else "arg",
            launch=launch.raw,
        )
        if found is not None:
            return found.param if found.kind == "env" else _as_written(found.param, launch.style)
    return canonical


def _as_written(name: str, style: str) -> str:
    bare = style == "config" or name.isupper() or name.startswith("-") or "." in name
    return name if bare else f"--{name}"

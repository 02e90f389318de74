"""Which values of a job a page shows, and how one value and its origin read."""

from __future__ import annotations

import json
from collections.abc import Iterator

from trainrx.model.facts import Origin
from trainrx.model.inspection import InspectedJob, Item, Sided, Topic
from trainrx.model.text import Lang, Text
from trainrx.render import inspect_words as words
from trainrx.render.document import View
from trainrx.render.words import LISTED
from trainrx.sanitizer.controls import clean

_WEIGHTY = ("NCCL_", "TORCH_", "CUDA_", "PYTORCH_", "VLLM_", "DS_", "GLOO_", "OMP_", "HF_", "UCX_")
"""Variables of an environment listing that training libraries read."""
_PART_ONLY = ("rlhf", "vllm", "infer", "tuner", "nccl", "alloc")
"""Where a default that is None says only that this part is off."""
_TELLING_NONE = ("batch", "memory", "vision")
MAX_TEXT = 400
LONG_NAME = 16
"""A longer file name is left out where the line is of the launch's own file."""


def rows(job: InspectedJob, *, everything: bool) -> dict[Topic, list[Item]]:
    """Give the values to show by topic: given ones, then defaults, then what follows."""
    told = list(_given(job, everything=everything))
    settled = {item.canonical for item in (*job.settings, *told) if item.given and item.canonical}
    names = {item.name for item in told}
    rest = [
        item
        for item in _defaults(job)
        if item.name not in names and (everything or _shown(item, job, settled))
    ]
    facts = [item for item in job.facts if everything or _is_shown_fact(item)]
    found: dict[Topic, list[Item]] = {topic: [] for topic in words.TOPIC}
    for item in (*told, *rest, *facts):
        found[item.topic].append(item)
    return {topic: items for topic, items in found.items() if items}


def hidden(job: InspectedJob) -> int:
    """Count the arguments that are shown only on demand."""
    shown = sum(len(items) for items in rows(job, everything=False).values())
    return sum(len(items) for items in rows(job, everything=True).values()) - shown


def unknowns(job: InspectedJob) -> Iterator[Item]:
    """Give what is set, but to a value nobody can tell from the inputs."""
    for item in _given(job, everything=True):
        if not item.known:
            yield item


def _given(job: InspectedJob, *, everything: bool) -> Iterator[Item]:
    names: set[str] = set()
    for item in job.arguments:
        if item.given:
            names.add(item.name)
            yield item
    variables = [item for item in job.env if everything or _is_weighty(item, job)]
    names |= {item.name for item in variables}
    for item in job.settings:
        if item.given and item.name not in names:
            names.add(item.name)
            yield item
    yield from variables


def _is_weighty(item: Item, job: InspectedJob) -> bool:
    """Tell whether a variable is of interest: the launch sets it, or it is known to matter."""
    own = any(origin.source == job.place.source for origin in item.origins)
    return own or bool(item.canonical) or item.name.startswith(_WEIGHTY)


def _defaults(job: InspectedJob) -> Iterator[Item]:
    names: set[str] = set()
    computed = {item.name: item for item in job.settings if item.via == "computed"}
    for item in job.arguments:
        if not item.given:
            names.add(item.name)
            # a value the framework works out is more than the default it declares
            yield computed.get(item.name, item)
    yield from (item for item in job.settings if not item.given and item.name not in names)


def _shown(item: Item, job: InspectedJob, settled: set[str]) -> bool:
    if not item.canonical or item.canonical in settled:
        return False
    if item.value is None:
        # None is of interest only where it stands for a choice the program makes itself
        return item.topic in _TELLING_NONE and item.canonical.split(".")[0] not in _PART_ONLY
    return any(other.canonical == item.canonical for other in job.settings)


def _is_shown_fact(item: Item) -> bool:
    if item.name == "parallel.idle_gpus" or item.topic == "memory":
        return item.name in words.FACT and item.value != 0
    return item.name in words.FACT


def name_text(item: Item, lang: Lang) -> str:
    """Give the name of a value; a fact goes by its short name."""
    if item.via != "derived":
        return clean(item.name)
    short = words.FACT.get(item.name)
    return short.in_(lang) if short is not None else clean(item.title or item.name)


def value_text(item: Item, lang: Lang) -> str:
    """Give a value as it would be written."""
    if not item.known:
        if item.given:
            shown = clean(item.text)[:MAX_TEXT]
            return f"{words.UNKNOWN.in_(lang)} ({shown})" if shown else words.UNKNOWN.in_(lang)
        return words.AT_START.in_(lang)
    if item.via == "derived" and isinstance(item.value, bool):
        return (words.YES if item.value else words.NO).in_(lang)
    written = item.text.strip().lower()
    if isinstance(item.value, bool) and written in ("true", "false"):
        # a name that says the opposite (`disable_...`) is shown with what stands behind it
        return written
    return plain_value(item.value)[:MAX_TEXT] or '""'


def plain_value(value: object) -> str:
    """Write a value: switches in lower case, lists with commas, mappings as JSON."""
    if value is None:
        return "None"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:g}"
    if isinstance(value, list):
        return ", ".join(plain_value(part) for part in value) if value else "[]"
    if isinstance(value, dict):
        return clean(json.dumps(value, ensure_ascii=False, default=str))
    return clean(str(value))


def why_text(item: Item, lang: Lang) -> str:
    """Say why a value is not known."""
    known = words.WHY.get(item.why, words.UNKNOWN)
    return known.in_(lang) if item.why in words.WHY or not item.why else clean(item.why)


def origin_text(item: Item, job: InspectedJob | Sided, view: View) -> str:
    """Say where a value comes from: `launch.sh:12`, `ms-swift 3.2.1 default`, `computed`."""
    if item.via == "derived":
        return _from(item, words.DERIVED, words.DERIVED_FROM, view)
    if item.via == "computed":
        if item.why:
            return why_text(item, view.lang)
        return _from(item, words.COMPUTED, words.COMPUTED_FROM, view._replace(everything=True))
    if item.via == "default" and not item.origins:
        return _default(item, job, view)
    place = ", ".join(dict.fromkeys(_place(at, job, view) for at in item.origins[:2]))
    label = {"env": words.ENV, "log": words.LOG}.get(item.via)
    if label is not None and not (item.origins and item.origins[0].source == job.place.source):
        place = f"{view.say(label)} {place}".strip()
    if item.given_as and item.given_as != item.name:
        place += f", {view.say(words.GIVEN_AS, name=clean(item.given_as))}"
    return place or view.say(words.GIVEN)


def _from(item: Item, bare: Text, full: Text, view: View) -> str:
    if not view.everything or not item.sources:
        return view.say(bare)
    names = [_short(name, view) for name in item.sources]
    return view.say(full, names=view.say(LISTED).join(dict.fromkeys(names)))


def _short(name: str, view: View) -> str:
    known = words.FACT.get(name)
    return clean(name) if known is None else view.say(known)


def _default(item: Item, job: InspectedJob | Sided, view: View) -> str:
    package = item.package or job.framework or ""
    if item.how == "assumed":
        return view.say(words.ASSUMED)
    if view.narrow:
        return view.say(words.DEFAULT)
    # a range of versions stands in the head, and is too long for every line
    if package == job.framework and job.version and not set("<>=") & set(job.version):
        return view.say(words.DEFAULT_OF, package=package, version=clean(job.version))
    return view.say(words.DEFAULT_OPEN, package=package)


def _place(origin: Origin, job: InspectedJob | Sided, view: View) -> str:
    source = clean(origin.source).replace("\\", "/").rsplit("/", 1)[-1]
    if origin.line is None:
        return source
    if (view.narrow or len(source) > LONG_NAME) and origin.source == job.place.source:
        return view.say(words.LINE, n=origin.line)
    return f"{source}:{origin.line}"

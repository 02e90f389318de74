"""What remedies leave open (`<model folder>`), filled in from the job where it is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

import msgspec

from trainrx.catalog.catalog import plain
from trainrx.catalog.spell import spell_argument
from trainrx.fix.changes import Target
from trainrx.fix.own_calls import in_own_call
from trainrx.model.facts import Facts, Origin
from trainrx.model.job import COMMAND_LINE, RawLaunch
from trainrx.model.knowledge import Cause
from trainrx.model.pattern import late
from trainrx.model.result import Change

_OPEN = late(r"<(?P<word>[^<>|=]{1,80})>")
"""Something to be filled in: neither a token (`<|im_end|>`) nor a range (`<8`)."""
_LOCAL = late(r"^(?:[~.]?/|\$)|/.*/|\.(?:jsonl?|csv|parquet|txt|arrow)$")
"""What names a place on the machine, and no entry of a hub."""
NAMED = ("path", "file", "model", "folder")
"""What a symptom's pattern captures of the place a message names."""


def is_open(text: str) -> bool:
    """Tell whether a text leaves something to be filled in."""
    return _OPEN.search(text) is not None


def filled(text: str, known: Mapping[str, str]) -> str:
    """Write what is known of a job in the place of its words; what is not stays open."""
    return _OPEN.sub(lambda found: known.get(found["word"], found[0]), text)


def known_words(cause: Cause, job: Target) -> dict[str, str]:
    """Give what the words of remedies stand for in this job."""
    return dict((*_of_launch(job.launch), *_of_facts(job.facts), *_of_message(cause, job.facts)))


def _of_launch(launch: RawLaunch | None) -> Iterator[tuple[str, str]]:
    source = "" if launch is None else launch.origin.source
    if source.endswith(".sh") and source != COMMAND_LINE:
        yield "script", source
    if launch is not None and len(launch.configs) == 1:
        yield "config", launch.configs[0]
    for arg in () if launch is None else launch.args:
        if arg.values and len(arg.values) == 1:
            yield f"the value of {arg.name}", arg.values[0]
            yield f"the value of --{plain(arg.name)}", arg.values[0]


def _of_facts(facts: Facts) -> Iterator[tuple[str, str]]:
    if model := facts.text("model.name"):
        yield "model", model
        if _LOCAL.search(model):
            yield "model folder", model.rstrip("/")
    data = (facts.text("train.dataset") or "").replace(",", " ").split()
    if len(data) == 1 and _LOCAL.search(data[0].partition("#")[0]):
        yield "data file", data[0].partition("#")[0]
    cards = facts.number("hardware.gpus_per_node")
    if cards is not None and cards >= 1:
        yield "number of cards", f"{cards:.0f}"
        yield "cards", ",".join(map(str, range(int(cards))))
    if (log := facts.get("log.given")) is not None and len(log.origins) == 1:
        yield "log", log.origins[0].source


def _of_message(cause: Cause, facts: Facts) -> Iterator[tuple[str, str]]:
    """Give the path a message names that shows the cause."""
    for symptom in cause.explains:
        for seen in facts.sightings(symptom):
            path = next((str(value) for name in NAMED if (value := seen.get(name))), "")
            if path.startswith(("/", "./", "~")):
                yield "path of the message", path
                return


def at_home(change: Change, job: Target) -> Change:
    """Spell a measure's argument as the launch does, with the value that stands there."""
    if change.kind == "code":
        return in_own_call(change, job)
    if change.kind != "arg" or job.launch is None or not job.framework:
        return change
    name = change.param.lstrip("-+")
    now = _stands(name, job)
    if change.action == "remove":
        return change if now is None else _gone(change, now, job)
    value = change.spelled.partition(": ")[2] if change.to is None else change.to
    text = spell_argument(name, value, job.framework, via=job.style, launch=job.launch).text
    if now is None:
        state: Literal["unset", "unknown"] = "unset" if job.launch.args_complete else "unknown"
        return msgspec.structs.replace(change, spelled=text, now=state)
    return msgspec.structs.replace(change, spelled=text, now="set", from_=now.text, at=now.origin)


class _Standing(NamedTuple):
    """What an argument is set to, and where; `text` None: to something that is not known."""

    text: str | None
    origin: Origin | None


def _stands(name: str, job: Target) -> _Standing | None:
    """Find an argument on the command line, else in a file of the launch."""
    args = job.launch.args if job.launch is not None else ()
    found = next((arg for arg in reversed(args) if plain(arg.name) == plain(name)), None)
    if found is not None:
        text = None if found.values is None else " ".join(found.values)
        return _Standing(text, found.origin)
    item = job.given.get(plain(name))
    return None if item is None else _Standing(item.text, next(iter(item.origins), None))


def _gone(change: Change, now: _Standing, job: Target) -> Change:
    """Say what is taken out as it stands there."""
    written = spell_argument(
        plain(change.param), now.text or "", job.framework, via=job.style, launch=job.launch
    )
    spelled = written.text if now.text else change.spelled
    return msgspec.structs.replace(change, spelled=spelled, from_=now.text, at=now.origin)

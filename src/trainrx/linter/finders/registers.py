"""Names the code of a framework looks up at start and does not have; its parser takes any text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainrx.catalog.registers import RegisterContext, is_read, lives, names_at, refuses
from trainrx.knowledge.catalogs import read_parsed, read_registers
from trainrx.linter.finders.values import BEGINS_JSON, stands_in
from trainrx.linter.job import LintedJob, RuleHit
from trainrx.model.catalog import Register
from trainrx.model.job import RawArg
from trainrx.versions.ranges import in_range

_ENCODED = 60
"""Characters from which on a text may be a whole configuration in base64."""
_FEW = 12
_TELLING = 4
"""Characters from which on the beginning of a value tells a name."""


def find(job: LintedJob) -> Iterator[RuleHit]:
    """Give each name that no release the job may run knows."""
    given = _given(job)
    if not given or not job.framework.is_own_program(job.launch.program) or not job.judged():
        return
    place = RegisterContext(job.launch.framework, job.version, job.versions)
    for name, written in given.items():
        found = [item for item in read_registers() if name in item.arguments]
        registers = _deciding(found, place, job)
        if registers:
            json_too = any(item.json for item in registers)
            texts = [
                value
                for value in written.values or ()
                if not _is_open(value) and not (json_too and _is_content(value, name, job.files))
            ]
            yield from _judge(registers, texts, written, place, job)


def _given(job: LintedJob) -> dict[str, RawArg]:
    """Give the arguments of the launch that name something in a register, as written."""
    framework = job.launch.framework
    names = {n for item in read_registers() if framework in item.of for n in item.arguments}
    found: dict[str, RawArg] = {}
    for name in names:
        argument = job.resolved.arguments.get(name)
        written = job.written(argument.given_as or name) if argument is not None else None
        if written is not None and written.values:
            found[name] = written
    return found


def _deciding(found: Sequence[Register], place: RegisterContext, job: LintedJob) -> list[Register]:
    """Give the registers that together decide; none where some release takes any text."""
    kept: list[Register] = []
    for register in found:
        if not _concerns(register, job):
            continue
        within = in_range(place.version or "", register.within) if register.within else True
        read = is_read(register, place) if within is not False else False
        if within is None or read is None:
            return []
        if read:
            kept.append(register)
    return kept if any(not item.adds for item in kept) else []


def _concerns(register: Register, job: LintedJob) -> bool:
    if job.launch.framework not in register.of:
        return False
    if register.commands and job.launch.command not in register.commands:
        return False
    if any(job.written(name) is not None for name in register.opened_by):
        return False
    return all(_is_one(job, fact, values) for fact, values in register.only.items())


def _is_one(job: LintedJob, fact: str, values: Sequence[str]) -> bool:
    """Tell whether a fact, or an argument (`arg.NAME`), is surely one of some values."""
    if fact.startswith("arg."):
        argument = job.resolved.arguments.get(fact.removeprefix("arg."))
        return argument is not None and argument.known and argument.value in values
    return job.facts.value(fact) in values


def _judge(
    registers: Sequence[Register],
    texts: Sequence[str],
    written: RawArg,
    place: RegisterContext,
    job: LintedJob,
) -> Iterator[RuleHit]:
    for value in texts:
        if refuses(registers, value, place):
            shown = written.name if written.via == "config" else f"--{written.name}"
            owner = f"{place.framework} {place.version or ''}".strip()
            values = {"name": shown, "value": value[:80], "owner": owner}
            yield RuleHit(
                "name-not-registered",
                job.texts.value(written),
                values | _more(registers, value, place),
                severity="warning" if _goes_on(registers, place) else "",
            )


def _goes_on(registers: Sequence[Register], place: RegisterContext) -> bool:
    """Tell whether a release the job may run starts all the same with a name it does not know."""
    ranges = [item.ignored for item in registers if item.ignored]
    return any(in_range(place.version or "", spec) is not False for spec in ranges)


def _is_open(value: str) -> bool:
    """Tell whether a value is none, a list of its own, or a text that a reader is to replace."""
    return not value or value.startswith("[") or stands_in(value)


def _is_content(value: str, name: str, files: Mapping[str, str]) -> bool:
    """Tell whether a value may be a file or holds the configuration itself.

    What begins with a brace and is no JSON stays a word, unless it is refused as JSON already.
    """
    if not value.startswith("{"):
        path = "/" in value or "\\" in value or value.endswith((".json", ".yaml", ".yml"))
        if path or len(value) > _ENCODED or value in files:
            return True
    elif not any(item.name == name and not item.strict for item in read_parsed()):
        return True
    if value.lstrip()[:1] not in BEGINS_JSON:
        return False
    import json  # few names look like JSON

    try:
        json.loads(value)
    except ValueError:
        return False
    return True


def _begun_by(value: str, names: Sequence[str]) -> list[str]:
    """Give the longest name a value goes on from: `qwen2_5` of `qwen2_5_instruct`."""
    begun = [name for name in names if len(name) >= _TELLING and value.startswith(name)]
    return sorted(begun, key=len)[-1:]


def _more(registers: Sequence[Register], value: str, place: RegisterContext) -> dict[str, str]:
    """Say where a name lives, which ones there are, and which may have been meant."""
    # only an unknown name pays for this import
    from difflib import get_close_matches

    names = sorted({name for item in registers for name in names_at(item, place)})
    near = get_close_matches(value, names, n=1, cutoff=0.75) or _begun_by(value, names)
    where = [f"{item.package} {text}" for item in registers if (text := lives(item, value))]
    allowed = ", ".join(names) if len(names) <= _FEW else ""
    return {"maybe": near[0] if near else "", "lives": ", ".join(where), "allowed": allowed}

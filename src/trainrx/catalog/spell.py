"""Write a parameter as one framework and version want it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from trainrx.catalog.catalog import plain
from trainrx.catalog.keywords import keyword
from trainrx.catalog.spellbook import OUTER, Spellbook, SpellbookEntry, serves
from trainrx.catalog.tables import Answer, Taker
from trainrx.catalog.values import write_value
from trainrx.frameworks import framework_of
from trainrx.model.facts import Scalar
from trainrx.model.job import RawLaunch
from trainrx.model.parts import Param, Spelling

PROCESSES = "parallel.processes_per_node"


class Spelled(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter in a framework's words.

    `param` is the name without dashes, `value` the value as written ("" for a bare switch), `text`
    both together: `--max_length 2048`, `MAX_PIXELS=602112`, `max_length: 2048`.
    """

    kind: Literal["arg", "env", "config_file"]
    param: str
    value: str
    text: str


def spell(
    canonical: str,
    value: Scalar,
    framework: str,
    version: str | None,
    params: Mapping[str, Param],
    *,
    via: Literal["arg", "config"] = "arg",
    launch: RawLaunch | None = None,
) -> Spelled | None:
    """Write one setting for a framework at a version; None where it has no word for it.

    `version` may be a prefix or a range, None is the newest known. With a `launch`, the name it
    already uses is kept, and what its sub-command takes decides between names.
    """
    param = params.get(canonical)
    if param is None:
        return None
    book = Spellbook({canonical: param}, framework, {framework: version} if version else {})
    command = launch.command if launch is not None else ""
    used = _names(launch) if launch is not None else frozenset()
    taker = Taker(launch, version) if launch is not None and launch.framework else None
    started = _started(value, launch) if canonical == PROCESSES and launch is not None else None
    if started is not None:
        return started
    for entry in _ranked(book, book.by_param[canonical], command, used, value):
        if canonical == PROCESSES and launch is not None and framework and entry.owner == "any":
            continue  # a variable that only the launchers of some frameworks read
        written = write_value(entry.spelling, value)
        if written is None:
            continue
        name = _name(entry.spelling, used)
        answer = _answer(taker, entry, name, written, via)
        if answer != "refused":
            sign = "+" if answer == "added" else ""
            made = _spelled(entry.spelling, name, written, framework, via, sign)
            return _as_keyword(made) if launch is not None and _is_program(launch) else made
    return None


def _started(value: Scalar, launch: RawLaunch) -> Spelled | None:
    """Write the processes of a machine as accelerate counts them: those of all machines."""
    counts = {plain(arg.name): arg.values for arg in launch.launcher}
    machines = (counts.get("num_machines") or counts.get("nnodes") or ("1",))[0]
    if "num_processes" not in counts or not isinstance(value, int) or not machines.isdecimal():
        return None
    total = str(value * int(machines[:6]))
    return Spelled(kind="arg", param="num_processes", value=total, text=f"--num_processes {total}")


def _is_program(launch: RawLaunch) -> bool:
    """Tell whether the arguments are keywords of a Python program, not those of a command."""
    return bool(launch.args) and all(arg.via == "config" for arg in launch.args)


def _as_keyword(made: Spelled) -> Spelled:
    """Write an argument as a keyword of a Python call: `bf16=True`, `optim="adamw_8bit"`."""
    if made.kind != "arg":
        return made
    return msgspec.structs.replace(made, text=keyword(made.param, made.value or "true"))


def _answer(
    taker: Taker | None,
    entry: SpellbookEntry,
    name: str,
    written: str,
    via: Literal["arg", "config"],
) -> Answer:
    """Ask the catalog about names of the framework itself; of others it knows nothing."""
    if taker is None or entry.spelling.env or entry.owner in OUTER:
        return "unlisted"
    return taker.answer(
        name, written or ("true" if via == "config" else ""), from_file=via == "config"
    )


def spell_argument(
    name: str,
    value: Scalar,
    framework: str,
    *,
    via: Literal["arg", "config"] = "arg",
    launch: RawLaunch | None = None,
) -> Spelled:
    """Write one argument by the framework's own name, which is taken to exist.

    With a `launch` whose arguments are keywords of a Python program it is one as well.
    """
    written = str(value).lower() if isinstance(value, bool) else str(value)
    made = _spelled(Spelling(arg=name), name, written, framework, via)
    return _as_keyword(made) if launch is not None and _is_program(launch) else made


def _ranked(
    book: Spellbook,
    entries: Sequence[SpellbookEntry],
    command: str,
    used: frozenset[str],
    value: Scalar,
) -> list[SpellbookEntry]:
    """Order the spellings that exist: in use already, needed, at every version, at the newest one.

    Not needed is a word of releases that do what it says when nothing is said, where others do
    something else: who runs one of them has no use for it.
    """
    usable = [
        entry
        for entry in entries
        if book.live(entry)
        and serves(entry.spelling, command)
        and (entry.owner not in {"launcher", "accelerate"} or _is_used(entry.spelling, used))
    ]

    others = any(_does_otherwise(entry.spelling, value) for entry in usable)

    def badness(entry: SpellbookEntry) -> tuple[bool, bool, bool, bool]:
        bits = book.bits[entry.owner]
        newest = 1 << (bits.bit_length() - 1)
        covers = entry.bits & bits == bits and bits != book.timelines[entry.owner].all
        vague = bool(entry.spelling.commands) and not command
        idle = bool(command) and others and _is_default(entry.spelling, value)
        unused = not _is_used(entry.spelling, used)
        return (unused, vague, idle, not (covers or entry.bits & newest))

    return sorted(usable, key=badness)


def _name(spelling: Spelling, used: frozenset[str]) -> str:
    """Keep the name the launch has, even where it is not the usual one."""
    for name in spelling.also:
        if plain(name) in used and plain(spelling.arg or spelling.env) not in used:
            return name
    return spelling.arg or spelling.env


def _does_otherwise(spelling: Spelling, value: Scalar) -> bool:
    return spelling.default is not None and not _is_default(spelling, value)


def _is_default(spelling: Spelling, value: Scalar) -> bool:
    default = spelling.default
    return default == value and isinstance(default, bool) == isinstance(value, bool)


def _is_used(spelling: Spelling, used: frozenset[str]) -> bool:
    return any(plain(n) in used for n in (spelling.arg or spelling.env, *spelling.also))


def _names(launch: RawLaunch) -> frozenset[str]:
    args = (plain(arg.name) for arg in (*launch.args, *launch.launcher))
    return frozenset((*args, *map(plain, launch.keys), *(variable.name for variable in launch.env)))


def _spelled(  # the parts of one spelling
    spelling: Spelling,
    name: str,
    written: str,
    framework: str,
    via: Literal["arg", "config"],
    sign: str = "",
) -> Spelled:
    if spelling.env:
        return Spelled(kind="env", param=name, value=written, text=f"{name}={_quoted(written)}")
    own = framework_of(framework)
    if own.only_assigns and (via == "arg" or not own.nests_changes):
        text = f"{sign}{name}={_quoted(written)}"
        return Spelled(kind="arg", param=name, value=written, text=text)
    if via == "config":
        shown = written or "true"
        text = _nested(name, shown) if own.nests_changes else f"{name}: {shown}"
        return Spelled(kind="config_file", param=name, value=shown, text=text)
    text = f"--{name} {_quoted(written)}" if written else f"--{name}"
    return Spelled(kind="arg", param=name, value=written, text=text)


def _nested(name: str, shown: str) -> str:
    """Write a dotted key as the mapping it stands for: `trl: {vllm_mode: colocate}`."""
    first, *inner = name.split(".")
    for part in reversed(inner):
        shown = f"{{{part}: {shown}}}"
    return f"{first}: {shown}"


def _quoted(text: str) -> str:
    """Quote what a shell would split or expand."""
    safe = all(c.isalnum() or c in "_-./:,=+@%" for c in text)
    if safe:
        return text
    escaped = text.replace("'", "'\\''")
    return f"'{escaped}'"

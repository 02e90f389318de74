"""Gather what the caller names into typed inputs; what one option says of a file holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from trainrx.kb.store import Knowledge
from trainrx.model.errors import UsageError
from trainrx.model.facts import Fact, Origin, fact
from trainrx.model.job import EnvVar, Input, InputKind
from trainrx.model.knowledge import Gpu
from trainrx.model.result import Unread
from trainrx.parse.environment import read_environment
from trainrx.parse.hardware import GpuReading, read_gpu, usable_gib
from trainrx.parse.versions import Versions, read_versions
from trainrx.read.inputs import Found, read_path, read_stdin

NO_BF16_BELOW = 8.0


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller asked, as given."""

    paths: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    env: str | None = None
    versions: Mapping[str, str] | None = None
    versions_file: str | None = None
    logs: tuple[str, ...] = ()
    gpu: str | None = None
    gpus: int | None = None
    nodes: int | None = None
    notes: tuple[str, ...] = ()
    good: str | None = None
    stdin: bytes | None = None


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What was read. `beside` maps a script's name to the folder it lies in."""

    scripts: tuple[Input, ...] = ()
    configs: tuple[Input, ...] = ()
    logs: tuple[Input, ...] = ()
    notes: tuple[Input, ...] = ()
    env: tuple[EnvVar, ...] = ()
    env_complete: bool = False
    versions: dict[str, str] = {}
    facts: tuple[Fact, ...] = ()
    good: Input | None = None
    beside: dict[str, Path] = {}
    unread: tuple[Unread, ...] = ()


def gather(request: Request, knowledge: Knowledge) -> Given:
    """Read everything.

    Raises:
        UsageError: something the caller named is missing, empty or not readable as what it should
            be; or nothing was given at all.
    """
    inputs: list[Input] = []
    unread: list[Unread] = []
    for names, kind in _named(request):
        for name in names:
            found, problems = _read(name, kind, request.stdin)
            inputs += [_as(item, kind) for item in found]
            unread += problems
    if not inputs and not any((request.gpu, request.notes, request.versions)):
        raise UsageError(
            "nothing to look at: expected a run folder, a launch script or a log. "
            "Try: diagnose --cmd launch.sh --log train.log"
        )
    inputs += [Input(kind="note", name="note", text=note) for note in request.notes if note]
    return _sort(inputs, unread, request, knowledge)


def _named(request: Request) -> Iterator[tuple[tuple[str, ...], InputKind | None]]:
    yield request.paths, None
    yield request.cmd, "script"
    yield request.config, "config"
    yield (request.env,) if request.env else (), "env"
    yield (request.versions_file,) if request.versions_file else (), "versions"
    yield request.logs, "log"


def _read(name: str, kind: InputKind | None, stdin: bytes | None) -> Found:
    # `--cmd` takes scripts and configs alike: which of them it is, is told by the content
    said = None if kind == "script" else kind
    if name == "-":
        return read_stdin(stdin or b"", kind=said)
    return read_path(Path(name), kind=said)


def _as(item: Input, kind: InputKind | None) -> Input:
    """Take a file named by `--cmd` for a script unless it is a config or a dump of arguments."""
    if kind != "script" or item.kind in ("script", "config", "args"):
        return item
    if item.text is None and item.path is not None:
        text = item.path.read_text(encoding="utf-8", errors="replace")[: 1 << 20]
        return Input(kind="script", name=item.name, path=item.path, text=text)
    return msgspec.structs.replace(item, kind="script")


def _sort(
    inputs: Sequence[Input], unread: list[Unread], request: Request, knowledge: Knowledge
) -> Given:
    by_kind: dict[str, list[Input]] = {}
    for item in inputs:
        by_kind.setdefault(item.kind, []).append(item)
    environments = [read_environment(i.text or "", i.name) for i in by_kind.get("env", ())]
    listings = [read_versions(i.text or "", i.name) for i in by_kind.get("versions", ())]
    unread += [problem for read in environments for problem in read.unread]
    unread += [problem for read in listings for problem in read.unread]
    versions = {name: text for read in listings for name, text in read.texts().items()}
    versions.update(request.versions or {})
    good = _good(request, unread)
    hardware, problems = _hardware(request, listings, knowledge.gpus)
    return Given(
        scripts=tuple(by_kind.get("script", ())),
        configs=(*by_kind.get("config", ()), *by_kind.get("args", ())),
        logs=(*by_kind.get("log", ()), *by_kind.get("metrics", ())),
        notes=tuple(by_kind.get("note", ())),
        env=tuple(v for read in environments for v in read.variables),
        env_complete=any(read.complete for read in environments),
        versions=versions,
        facts=hardware,
        good=good,
        beside={
            item.name: item.path.parent
            for item in (*inputs, *([good] if good else []))
            if item.path is not None
        },
        unread=(*unread, *problems),
    )


def _good(request: Request, unread: list[Unread]) -> Input | None:
    if request.good is None:
        return None
    found, problems = _read(request.good, "script", request.stdin)
    unread += problems
    return _as(found[0], "script") if found else None


def _hardware(
    request: Request, listings: Sequence[Versions], gpus: Sequence[Gpu]
) -> tuple[tuple[Fact, ...], tuple[Unread, ...]]:
    """Say what cards there are: as told on the command line, else as collect_env lists them."""
    facts: list[Fact] = []
    unread: list[Unread] = []
    named = [(name, origin) for read in listings for name, origin in read.gpus]
    if request.gpu is not None:
        reading = read_gpu(request.gpu, gpus)
        if reading.unread is not None and reading.gib is None and reading.gpu is None:
            raise UsageError(f"--gpu {request.gpu}: {reading.unread.reason}")
        unread += [reading.unread] if reading.unread is not None else []
        facts += _card(reading, Origin(source="--gpu", text=request.gpu))
    elif named:
        reading = read_gpu(named[0][0], gpus, source=named[0][1].source)
        facts += _card(msgspec.structs.replace(reading, count=None), named[0][1])
    told = (("hardware.gpus", request.gpus, "--gpus"), ("hardware.nodes", request.nodes, "--nodes"))
    given = [
        fact(kind, value, Origin(source=flag, text=str(value)), how="given")
        for kind, value, flag in told
        if value is not None
    ]
    return (*given, *facts), tuple(unread)


def _card(reading: GpuReading, origin: Origin) -> list[Fact]:
    out: list[Fact] = []
    gpu = reading.gpu
    gib = reading.gib
    if gib is None and gpu is not None and reading.unread is None:
        gib = usable_gib(gpu)
    if gib is not None:
        out.append(fact("hardware.gpu_gib", float(gib), origin, how="given"))
    if reading.count is not None:
        out.append(fact("hardware.gpus", reading.count, origin, how="given"))
    if gpu is None:
        return out
    out.append(fact("hardware.gpu", gpu.id, origin, how="given"))
    capability = _number(gpu.compute_capability)
    if capability is not None:
        out.append(fact("hardware.compute_capability", capability, origin, how="derived"))
    bf16 = gpu.bf16 if gpu.bf16 is not None else _has_bf16(capability)
    if bf16 is not None:
        out.append(fact("hardware.bf16", bf16, origin, how="derived"))
    return out


def _has_bf16(capability: float | None) -> bool | None:
    return None if capability is None else capability >= NO_BF16_BELOW


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None

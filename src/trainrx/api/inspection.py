"""`inspect_launch()`: every launch of the inputs as its framework would understand it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from trainrx.api.describe import Surroundings, describe
from trainrx.api.facts import log_versions
from trainrx.api.inputs import Given, Request, gather
from trainrx.api.job import all_launches, pasted_launch, printed_launch, settle
from trainrx.kb.load import load
from trainrx.kb.store import Knowledge
from trainrx.model.errors import UsageError
from trainrx.model.facts import Fact, How
from trainrx.model.hardware import ModelShape
from trainrx.model.inspection import Inspection, Job
from trainrx.model.job import RawLaunch
from trainrx.model.result import Tool, Unread
from trainrx.model.text import Lang
from trainrx.model.version import __version__
from trainrx.read.inputs import read_path

PathLike = Path | str
Versions = PathLike | dict[str, str] | None


class Seen(NamedTuple):
    """What the logs tell: facts, package versions, and what could not be used."""

    facts: tuple[Fact, ...] = ()
    versions: dict[str, str] = {}  # noqa: RUF012 - never written to
    unread: tuple[Unread, ...] = ()


def inspect_launch(  # noqa: PLR0913  # the contract's inputs, one keyword each
    paths: PathLike | Sequence[PathLike] = (),
    *,
    cmd: PathLike | Sequence[PathLike] = (),
    config: Sequence[PathLike] = (),
    env: PathLike | None = None,
    versions: Versions = None,
    logs: Sequence[PathLike] = (),
    gpu: str | None = None,
    gpus: int | None = None,
    nodes: int | None = None,
    model_config: PathLike | None = None,
    lang: Lang = "en",
    kb: Sequence[PathLike] = (),
    rules: Sequence[PathLike] = (),
    stdin: bytes | None = None,
) -> Inspection:
    """Resolve every launch: each argument with its effective value and where that comes from.

    Values are as they stand: secrets of the environment are not masked.

    Args:
        paths: scripts, configs, run folders or logs, recognised by content; "-" is `stdin`.
        cmd: launch scripts, or configs a framework takes.
        config: further config files.
        env: `KEY=VALUE` lines of where the job ran.
        versions: any listing of package versions, or a mapping name to version.
        logs: what the job printed: it tells versions and the command.
        gpu: a card by name ("A100-80G") or its memory ("24GiB").
        gpus: number of GPUs of the whole job.
        nodes: number of machines.
        model_config: `config.json` of the model, for a model that is not known here.
        lang: language of the titles of derived facts.
        kb: folders of further knowledge.
        rules: folders of further rules (checked, not run).
        stdin: the bytes "-" stands for.

    Raises:
        UsageError: an input cannot be used, or none holds a launch; says what to do.
        KnowledgeError: a folder of further knowledge is malformed.
    """
    knowledge = load([Path(k) for k in kb], [Path(r) for r in rules])
    request = Request(
        paths=_many(paths),
        cmd=_many(cmd),
        config=_many(config),
        env=None if env is None else str(env),
        versions=versions if isinstance(versions, dict) else None,
        versions_file=None if versions is None or isinstance(versions, dict) else str(versions),
        logs=_many(logs),
        gpu=gpu,
        gpus=gpus,
        nodes=nodes,
        stdin=stdin,
    )
    shape = None if model_config is None else read_shape(model_config)
    jobs, unread = jobs_of(request, knowledge, lang, shape)
    return Inspection(tool=tool(knowledge), lang=lang, jobs=jobs, unread=unread)


def jobs_of(
    request: Request, knowledge: Knowledge, lang: Lang, shape: ModelShape | None = None
) -> tuple[tuple[Job, ...], tuple[Unread, ...]]:
    """Give every launch of the inputs as a job, and what could not be used.

    Raises:
        UsageError: an input cannot be used, or none holds a launch.
    """
    given = gather(request, knowledge)
    seen = _read_logs(given)
    launches, problems = _launches(given)
    if not launches:
        raise UsageError(_no_launch(request, (*problems, *given.unread)))
    around = Surroundings(
        knowledge=knowledge,
        facts=(*given.facts, *seen.facts),
        env=given.env.variables,
        versions={**seen.versions, **given.versions},
        version_how=dict.fromkeys(seen.versions, _READ) | dict.fromkeys(given.versions, _GIVEN),
        lang=lang,
    )
    jobs = tuple(_job(group, given, around, shape) for group in _grouped(launches))
    told = {item for job in jobs for item in job.unread}
    unread = dict.fromkeys((*given.unread, *problems, *seen.unread))
    return jobs, tuple(item for item in unread if item not in told)


_READ: How = "read"
_GIVEN: How = "given"


def tool(knowledge: Knowledge) -> Tool:
    """Say who answers; no inference engine has a part in it."""
    return Tool(name="trainrx", version=__version__, kb=knowledge.digest, engine="")


def _many(given: PathLike | Sequence[PathLike]) -> tuple[str, ...]:
    return (str(given),) if isinstance(given, (str, Path)) else tuple(str(item) for item in given)


def _read_logs(given: Given) -> Seen:
    if not given.logs:
        return Seen()
    # the scanner of logs costs more than all the rest
    from trainrx.detect.detector import detect
    from trainrx.kb.load import load as load_all

    found = detect(given.logs, tuple(load_all().symptoms.values()))
    return Seen(found.facts, log_versions(found.facts), found.unread)


def _launches(given: Given) -> tuple[list[RawLaunch], tuple[Unread, ...]]:
    found, unread = all_launches(given.scripts, given.configs, given.env)
    if found or not given.logs:
        return found, unread
    raw, further = pasted_launch(given.logs)
    if raw is None:
        from trainrx.detect.launches import embedded_launches

        raw = printed_launch(embedded_launches(given.logs))
    return [] if raw is None else [raw], (*unread, *further)


def _grouped(launches: Sequence[RawLaunch]) -> list[list[RawLaunch]]:
    """Put the launches of one job on several machines together."""
    groups: dict[object, list[RawLaunch]] = {}
    for index, raw in enumerate(launches):
        key = (raw.origin.source, raw.job) if raw.job else index
        groups.setdefault(key, []).append(raw)
    return list(groups.values())


def _job(
    group: Sequence[RawLaunch], given: Given, around: Surroundings, shape: ModelShape | None
) -> Job:
    raw = group[0]
    launch = settle(
        raw,
        configs=given.configs,
        env=given.env,
        versions=around.versions,
        knowledge=around.knowledge,
        beside=given.beside.get(raw.origin.source),
    )
    around = around._replace(nodes=tuple(other.origin for other in group[1:]))
    name = launch.resolved.settings.get("model.name")
    if shape is not None and name is not None and isinstance(name.value, str):
        # the file is of the model the launch names, whatever it is called
        own = msgspec.structs.replace(shape, id=name.value)
        models = (own, *around.knowledge.models)
        known = msgspec.structs.replace(around.knowledge, models=models)
        around = around._replace(knowledge=known)
    return describe(launch, around)


def read_shape(path: PathLike) -> ModelShape:
    """Read the shape of a model from its `config.json`.

    Raises:
        UsageError: it cannot be read, or describes no language model.
    """
    from trainrx.parse.model_config import shape_from_config

    found, _ = read_path(Path(path), kind="config")
    shapes = (shape_from_config(item.text or "", item.name) for item in found)
    shape = next((shape for shape in shapes if shape is not None), None)
    if shape is None:
        raise UsageError(
            f"{path}: describes no language model: expected the config.json of the model, "
            "with hidden_size and num_hidden_layers"
        )
    return shape


def _no_launch(request: Request, unread: Sequence[Unread]) -> str:
    named = (*request.paths, *request.cmd, *request.config, *request.logs)
    reasons = "\n".join(f"  {item.source}: {item.reason}" for item in unread[:5])
    said = f"no launch found in {', '.join(named)}" if named else "no launch to look at"
    return f"{said}\n{reasons}".rstrip()

"""What a launch does in the whole job: train, serve a trainer, infer, evaluate, export, prepare."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from trainrx.frameworks import framework_of
from trainrx.model.job import RawLaunch, Role
from trainrx.model.pattern import late

_BY_NAME: tuple[tuple[Role, re.Pattern[str]], ...] = (
    (
        "trainer",
        late(r"(?:pre)?train(?:er|ing)?|(?:fine)?tun(?:e|er|ing)|sft|[dgpk]po|kto|rlhf|distill?"),
    ),
    ("evaluation", late(r"eval\w*|test\w*|bench\w*|score\w*|judge|metrics?|mmlu|ceval|vqa")),
    (
        "inference",
        late(
            r"infer\w*|generat\w*|gen|predict\w*|serv(?:e|er|ing|ice)|deploy|chat\w*|demo|cli|web|ui"
            r"|gradio|rollout|sampl(?:e|ing)|worker|controller|api"
        ),
    ),
    (
        "export",
        late(r"export\w*|merg(?:e|er|ing)|conver\w*|consolidate|quanti[sz]\w*|hf|mcore"),
    ),
    (
        "preparation",
        late(r"prepro\w*|prepare\w*|tokeni[sz]\w*|download|data|dataset|make|build|split"),
    ),
)
_PARTS = late(r"[A-Za-z]+")
_SERVED: tuple[tuple[Role, re.Pattern[str]], ...] = (
    ("teacher", late(r"teacher_(?:model_)?(?:server|url|base_url|api)\w*|teacher_\w*port")),
    (
        "reward",
        late(
            r"(?:.*[._])?(?:remote_)?(?:reward|rm|genrm|judge|prm|orm)(?:_\w+)?_(?:url|server|host|port|api)\w*"
            r"|reward_api\w*"
        ),
    ),
    ("reference", late(r"(?:remote_)?ref(?:erence)?(?:_model)?_(?:url|server|host|port)\w*")),
    (
        "rollout",
        late(r"vllm_server_(?:host|port|base_url)|vllm_mode|rollout\w*_(?:url|port)"),
    ),
)
_REWARD_MODEL = late(r"(?:.*[-_/])?(?:reward|rm|prm|orm|genrm)(?:[-_/.].*)?", re.IGNORECASE)
_PORT = late(r":(\d{2,5})(?:/|$)|^(\d{2,5})$")


def script_role(path: str) -> Role | None:
    """Name the role a script's file name tells; None when it tells none."""
    name = path.rpartition("/")[2].removesuffix(".py").rpartition(".")[2]
    parts = [part.lower() for part in _PARTS.findall(name)]
    for role, pattern in _BY_NAME:
        if any(pattern.fullmatch(part) for part in parts):
            return role
    return None


def related(launches: tuple[RawLaunch, ...]) -> tuple[RawLaunch, ...]:
    """Name the roles that only show beside the others: what a trainer's arguments point at."""
    if not any(_may_serve(launch) for launch in launches):
        return launches
    trainers = [launch for launch in launches if launch.role == "trainer"]
    wanted = [item for trainer in trainers for item in _wanted(trainer)]
    return tuple(
        msgspec.structs.replace(launch, role=_served(launch, wanted, beside=bool(trainers)))
        if _may_serve(launch)
        else launch
        for launch in launches
    )


def _may_serve(launch: RawLaunch) -> bool:
    serves = launch.command in framework_of(launch.framework).servers
    return serves and launch.role == "inference"


def _wanted(trainer: RawLaunch) -> Iterable[tuple[Role, str]]:
    """Give the servers a trainer is told of: their role, and their port or ""."""
    for arg in trainer.args:
        name = arg.name.rpartition(".")[2]
        for role, pattern in _SERVED:
            if pattern.fullmatch(name) and arg.values != ("colocate",):
                text = arg.values[0] if arg.values else ""
                port = _PORT.search(text)
                yield role, (port[1] or port[2]) if port else ""
                break


def _served(launch: RawLaunch, wanted: list[tuple[Role, str]], *, beside: bool) -> Role:
    port = next((a.values[0] for a in launch.args if a.name == "port" and a.values), "8000")
    for role, at in wanted:
        if at == port:
            return role
    roles = {role for role, _ in wanted}
    if len(roles) == 1 and not any(at for _, at in wanted):
        return roles.pop()
    named = next((a.values[0] for a in launch.args if a.name == "model" and a.values), "")
    return "reward" if beside and _REWARD_MODEL.fullmatch(named) else "inference"

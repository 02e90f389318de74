"""Which launches of a script are one job on several nodes."""

from __future__ import annotations

import msgspec

from trainrx.model.job import RawLaunch

_OF_THE_NODE = frozenset(
    {"node_rank", "NODE_RANK", "RANK", "MACHINE_RANK", "GROUP_RANK", "local_addr", "host"}
    | {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "HOST_IP", "VLLM_HOST_IP", "MLP_ROLE_INDEX"}
)
"""What differs between the nodes of one job: arguments of launchers, variables."""


def numbered(launches: tuple[RawLaunch, ...]) -> tuple[RawLaunch, ...]:
    """Number the jobs: launches that differ in host or node rank only share a number."""
    jobs: dict[object, list[tuple[int, object]]] = {}
    found = []
    count = 0
    for launch in launches:
        place = _place(launch)
        mates = jobs.setdefault(_what(launch), [])
        number = mates[-1][0] if mates else 0
        # the same command on the same node again is another run
        if not number or place is None or any(place == other for _, other in mates):
            count += 1
            number = count
        mates.append((number, place))
        found.append(msgspec.structs.replace(launch, job=number))
    return tuple(found)


def _place(launch: RawLaunch) -> object:
    """Say which node a launch is for; None when it names none."""
    given = {
        **{item.name: item.value for item in launch.env if item.name in _OF_THE_NODE},
        **{item.name: item.values for item in launch.launcher if item.name in _OF_THE_NODE},
    }
    if not launch.host and not given:
        return None
    return launch.host, tuple(sorted((name, str(value)) for name, value in given.items()))


def _what(launch: RawLaunch) -> object:
    return (
        launch.framework,
        launch.command,
        tuple((item.name, item.values) for item in launch.args),
        tuple((a.name, a.values) for a in launch.launcher if a.name not in _OF_THE_NODE),
        tuple((e.name, e.value) for e in launch.env if e.name not in _OF_THE_NODE),
    )

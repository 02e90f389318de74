"""What runs where, by the kind of a Kubernetes object: containers, machines, number of pods.

https://kubernetes.io/docs/concepts/workloads/controllers/job/
https://github.com/kubeflow/trainer/blob/v1.9.0/pkg/controller.v1/pytorch/envvar.go
https://github.com/kubeflow/trainer/blob/v2.0.0/pkg/runtime/framework/plugins/torch/torch.go
https://github.com/volcano-sh/volcano/blob/master/docs/user-guide/how_to_use_pytorch_plugin.md
https://docs.ray.io/en/latest/cluster/kubernetes/getting-started/rayjob-quick-start.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

import msgspec
import yaml

from trainrx.launch.manifests.nodes import count, entries, get, items, scalar
from trainrx.model.pattern import late

MAX_DEPTH = 16
MOST_NODES = 20_000
MOST_PODS = 1_000_000
GPU = late(r"(?:.*/)?(?:gpu|npu|ascend\S*|mig-\S+|rocm|vgpu)", re.IGNORECASE)
HOSTS_OF_MPI = "OMPI_MCA_orte_default_hostfile"
"""By which the operator of an MPIJob tells mpirun the workers."""
_COPIES = frozenset({"Deployment", "ReplicaSet", "DaemonSet"})
"""Kinds whose pods are the same thing several times, not parts of one job."""


class ContainerRun(msgspec.Struct, frozen=True, kw_only=True):
    """A container and what it runs on.

    Attributes:
        container: its command, variables and image.
        machine: the container whose resources count: of MPI and Ray that of the workers.
        pod: the pod around the machine.
        pods: how many of these pods there are.
        counted: where that number stands.
        total: the pods of the whole job, where they are not the sum of those that run the same.
        command: a command line that stands instead of the container's own.
        variables: further variables, by name.
        around: variables its controller sets.
        whole_pod: whether all of the pod stands here; else a runtime elsewhere completes it.
    """

    container: yaml.MappingNode
    machine: yaml.MappingNode
    pod: yaml.Node | None
    pods: int = 1
    counted: yaml.Node | None = None
    total: int | None = None
    command: yaml.ScalarNode | None = None
    variables: tuple[tuple[str, yaml.Node], ...] = ()
    around: Mapping[str, str] = {}
    whole_pod: bool = True


def workloads(document: yaml.Node) -> Iterator[ContainerRun]:
    """Give what the containers of a document run."""
    kind = scalar(get(document, "kind"))
    if kind.endswith("List"):
        for item in items(get(document, "items")):
            yield from _of_kind(item)
    else:
        yield from _of_kind(document)


def _of_kind(document: yaml.Node) -> Iterator[ContainerRun]:
    kind = scalar(get(document, "kind"))
    if kind == "Job" and get(document, "spec", "tasks") is not None:
        kind = "VolcanoJob"
    read: Callable[[yaml.Node], Iterator[ContainerRun]] = _KINDS.get(kind, _pods)
    for found in read(document):
        single = msgspec.structs.replace(found, pods=1, counted=None)
        yield single if kind in _COPIES else found


def _pods(document: yaml.Node) -> Iterator[ContainerRun]:
    """Find all containers of pods, and Argo's templates, with the replicas above them."""
    left = MOST_NODES
    stack: list[tuple[yaml.Node, int, yaml.Node | None, int]] = [(document, 1, None, 0)]
    while stack and left > 0:
        left -= 1
        node, pods, counted, depth = stack.pop()
        if isinstance(node, yaml.MappingNode):
            for container in _containers(node):
                yield ContainerRun(
                    container=container, machine=container, pod=node, pods=pods, counted=counted
                )
            written = get(node, "replicas") or get(node, "parallelism")
            if isinstance(written, yaml.ScalarNode):
                pods, counted = min(pods * count(written), MOST_PODS), written
        children = [value for _, value in entries(node)] or items(node)
        if depth < MAX_DEPTH:
            stack += [(child, pods, counted, depth + 1) for child in reversed(children)]


def _containers(node: yaml.MappingNode) -> Iterator[yaml.MappingNode]:
    for container in items(get(node, "containers")):
        if isinstance(container, yaml.MappingNode):
            yield container
    for name in ("container", "script"):  # templates of Argo
        single = get(node, name)
        if isinstance(single, yaml.MappingNode) and get(single, "image") is not None:
            yield single


def _with(found: ContainerRun, around: Mapping[str, str], total: int | None = None) -> ContainerRun:
    return msgspec.structs.replace(found, around=around, total=total)


def _pytorch_job(document: yaml.Node) -> Iterator[ContainerRun]:
    """Read a PyTorchJob: its operator sets what torchrun and `env://` take for granted."""
    found = list(_pods(get(document, "spec", "pytorchReplicaSpecs") or document))
    groups = entries(get(document, "spec", "pytorchReplicaSpecs"))
    total = sum(count(get(group, "replicas")) for _, group in groups) or 1
    per_node = scalar(get(document, "spec", "nprocPerNode"))
    elastic = get(document, "spec", "elasticPolicy")
    per_node = per_node or scalar(get(elastic, "nProcPerNode"))
    processes = int(per_node) if per_node.isdecimal() and len(per_node) <= 4 else 1
    around = {"WORLD_SIZE": str(total * processes), "PET_NNODES": _elastic(elastic) or str(total)}
    if per_node:
        around["PET_NPROC_PER_NODE"] = per_node
    # master and workers are one job, also where their commands differ in the rank of the node
    yield from (_with(item, around, total) for item in found)


def _elastic(policy: yaml.Node | None) -> str:
    least, most = scalar(get(policy, "minReplicas")), scalar(get(policy, "maxReplicas"))
    return least if least == most else f"{least or 1}:{most}"


def _train_job(document: yaml.Node) -> Iterator[ContainerRun]:
    """Read a TrainJob, whose runtime completes the pod."""
    trainer = get(document, "spec", "trainer")
    if not isinstance(trainer, yaml.MappingNode):
        return
    nodes, per_node = get(trainer, "numNodes"), scalar(get(trainer, "numProcPerNode"))
    around = {"PET_NNODES": str(count(nodes))} if nodes is not None else {}
    if per_node:
        around["PET_NPROC_PER_NODE"] = per_node
    yield ContainerRun(
        container=trainer,
        machine=trainer,
        pod=None,
        pods=count(nodes),
        counted=nodes,
        around=around,
        whole_pod=False,
    )


def _ray_job(document: yaml.Node) -> Iterator[ContainerRun]:
    """Read a RayJob: the entrypoint runs on the head, the work on the workers with GPUs."""
    entrypoint = get(document, "spec", "entrypoint")
    cluster = get(document, "spec", "rayClusterSpec")
    heads = list(_pods(get(cluster, "headGroupSpec") or document))
    if not isinstance(entrypoint, yaml.ScalarNode) or not heads:
        return
    head = heads[0]
    workers = [w for group in items(get(cluster, "workerGroupSpecs")) for w in _pods(group)]
    groups = [w for w in workers if _has_gpus(w.machine)]
    on = groups[0] if groups else head
    pods = sum(w.pods for w in groups) + _has_gpus(head.machine) if groups else 1
    yield msgspec.structs.replace(
        head,
        machine=on.machine,
        pod=on.pod,
        pods=pods,
        counted=on.counted,
        command=entrypoint,
        variables=(*_runtime_env(document), *_variables(on.container)),
    )


def _runtime_env(document: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
    """Give the variables of `runtimeEnvYAML`, a text of YAML inside the manifest."""
    written = get(document, "spec", "runtimeEnvYAML")
    try:
        inner = yaml.compose(scalar(written), yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return
    for name, value in entries(get(inner, "env_vars")):
        if isinstance(value, yaml.ScalarNode) and written is not None:
            mark = written.start_mark
            yield name, yaml.ScalarNode(value.tag, value.value, mark, mark)


def _variables(container: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
    for item in items(get(container, "env")):
        value = get(item, "value")
        if scalar(get(item, "name")):
            yield scalar(get(item, "name")), value if value is not None else item


def _mpi_job(document: yaml.Node) -> Iterator[ContainerRun]:
    """Read an MPIJob: the launcher's mpirun starts its processes on the workers."""
    specs = get(document, "spec", "mpiReplicaSpecs")
    workers = list(_pods(get(specs, "Worker") or document))
    for launcher in _pods(get(specs, "Launcher") or document):
        if workers:
            on = workers[0]
            yield msgspec.structs.replace(
                launcher,
                machine=on.machine,
                pod=on.pod,
                pods=on.pods,
                counted=on.counted,
                around={HOSTS_OF_MPI: "/etc/mpi/hostfile"},
            )


def _leader_worker_set(document: yaml.Node) -> Iterator[ContainerRun]:
    """Read a LeaderWorkerSet: each of its groups is one job on `size` pods."""
    template = get(document, "spec", "leaderWorkerTemplate")
    size = get(template, "size")
    for found in _pods(template) if template is not None else ():
        replaced = msgspec.structs.replace(found, pods=count(size), counted=size)
        yield _with(replaced, {"LWS_GROUP_SIZE": str(count(size))}, count(size))


def _volcano_job(document: yaml.Node) -> Iterator[ContainerRun]:
    """Read a Job of Volcano: its plugins tell each task how many pods there are."""
    tasks = items(get(document, "spec", "tasks"))
    total = sum(count(get(task, "replicas")) for task in tasks)
    around = {
        f"VC_{scalar(get(task, 'name')).upper().replace('-', '_')}_NUM": str(
            count(get(task, "replicas"))
        )
        for task in tasks
    }
    if get(document, "spec", "plugins", "pytorch") is not None:
        around["WORLD_SIZE"] = str(total)
    found = [item for task in tasks for item in _pods(task)]
    workers = [item for item in found if _has_gpus(item.machine)]
    for item in found:
        on = workers[0] if workers and not _has_gpus(item.machine) else item
        yield msgspec.structs.replace(
            item,
            machine=on.machine,
            pod=on.pod,
            counted=on.counted,
            around=around,
            total=sum(one.pods for one in workers) or total,
        )


def _job_set(document: yaml.Node) -> Iterator[ContainerRun]:
    """Read a JobSet: leader and workers are one job."""
    found = list(_pods(document))
    workers = [item for item in found if _has_gpus(item.machine)]
    total = sum(item.pods for item in workers)
    for item in found:
        yield msgspec.structs.replace(item, total=total) if item in workers else item


def _has_gpus(container: yaml.Node) -> bool:
    given = (*_limits(container, "limits"), *_limits(container, "requests"))
    return any(GPU.fullmatch(name) and scalar(value) not in ("", "0") for name, value in given)


def _limits(container: yaml.Node, what: str) -> list[tuple[str, yaml.Node]]:
    return entries(get(container, "resources", what) or get(container, "resourcesPerNode", what))


def limits(container: yaml.Node) -> list[tuple[str, yaml.Node]]:
    """Give what a container may use, or what it asks for where no limit is set."""
    return _limits(container, "limits") or _limits(container, "requests")


_KINDS: Mapping[str, Callable[[yaml.Node], Iterator[ContainerRun]]] = {
    "PyTorchJob": _pytorch_job,
    "TrainJob": _train_job,
    "RayJob": _ray_job,
    "MPIJob": _mpi_job,
    "JobSet": _job_set,
    "LeaderWorkerSet": _leader_worker_set,
    "VolcanoJob": _volcano_job,
}

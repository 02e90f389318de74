"""A Kubernetes cluster, asked through kr8s: pods with cards, grouped by the job that made them.

Labels: kubernetes.io/docs (Job), kubeflow.org (training operator, trainer), volcano.sh, ray.io,
JobSet and LeaderWorkerSet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from trainrx.fleet.record import FleetJob, JobFile
from trainrx.fleet.sources import state_digest
from trainrx.model.errors import UsageError

if TYPE_CHECKING:
    from kr8s import Api

OWNERS = (
    "jobset.sigs.k8s.io/jobset-name",
    "training.kubeflow.org/job-name",
    "trainer.kubeflow.org/trainjob-name",
    "volcano.sh/job-name",
    "ray.io/cluster",
    "leaderworkerset.sigs.k8s.io/name",
    "batch.kubernetes.io/job-name",
    "job-name",
)
"""Labels of a pod that name its job, what made the others first."""
USERS = ("user", "owner", "app.kubernetes.io/created-by")
CARDS = ("nvidia.com/", "amd.com/gpu", "huawei.com/", "habana.ai/", "cambricon.com/", "metax-tech")
LAST_LINES = 5000
"""Lines of the output of a pod that are fetched, from its end."""
MOST_PODS = 64
"""Pods of a job whose output is fetched, those that failed first."""
MOST_FETCHED = 8
"""Pods whose output is fetched at the same time, of all jobs: the server is that of others, too."""
OVER = frozenset({"Succeeded", "Failed"})
Pod = Mapping[str, Any]


class KubernetesSource:
    """Jobs of a cluster, as the current context of kubectl reaches it.

    Args:
        namespace: only of this one; all when "".
    """

    at_once = 4

    def __init__(self, namespace: str = "") -> None:
        self._namespace = namespace
        self._pods: dict[str, list[Pod]] = {}
        self._api: Api | None = None
        self._fetching = ThreadPoolExecutor(MOST_FETCHED, thread_name_prefix="kubernetes")

    def jobs(self, since: float | None) -> Iterator[FleetJob]:
        """List the jobs whose pods began.

        Raises:
            UsageError: kr8s is not installed, or no cluster answers.
        """
        for pod in self._listed():
            self._pods.setdefault(_key(pod), []).append(pod)
        for key, pods in self._pods.items():
            job = _job(key, pods)
            begun = any(_phase(pod) not in ("", "Pending") for pod in pods)
            if begun and job.gpus and not (since and job.ended and job.ended < since):
                yield job

    def prepared(self, job: FleetJob) -> FleetJob:
        """Fetch the pods of a job and what they printed."""
        pods = sorted(self._pods.get(job.key, ()), key=lambda pod: _phase(pod) != "Failed")
        files = [JobFile(name="kubectl.json", data=_listing(pods))]
        for fetched in self._fetching.map(self._output, pods[:MOST_PODS]):
            files += fetched
        digest = job.inputs_digest or state_digest((), *(file.data for file in files))
        return msgspec.structs.replace(job, files=tuple(files), inputs_digest=digest)

    def _listed(self) -> Iterator[Pod]:
        try:
            import httpx
            import kr8s
        except ImportError as error:
            raise UsageError(
                "`diagnose fleet k8s` needs kr8s: pip install 'trainrx[fleet]'"
            ) from error
        try:
            self._api = kr8s.api()
            for pod in self._api.get("pods", namespace=self._namespace or kr8s.ALL):
                yield pod.raw  # type: ignore[union-attr]
        except (kr8s.ServerError, kr8s.APITimeoutError, httpx.HTTPError, ValueError) as error:
            raise UsageError(f"k8s: the cluster cannot be asked: {error}") from error

    def _output(self, pod: Pod) -> list[JobFile]:
        return list(self._printed(pod))

    def _printed(self, pod: Pod) -> Iterator[JobFile]:
        """Give what the containers of a pod printed; of one that was restarted also before."""
        import httpx
        import kr8s
        from kr8s.objects import Pod as ClusterPod

        named = ClusterPod(dict(pod), api=self._api)
        for container in pod.get("status", {}).get("containerStatuses", ()):
            name = container.get("name", "")
            for previous in (True, False) if container.get("restartCount") else (False,):
                options = {"container": name, "previous": previous, "tail_lines": LAST_LINES}
                try:
                    lines = list(named.logs(**options))
                except (
                    kr8s.ServerError,
                    kr8s.NotFoundError,
                    kr8s.APITimeoutError,
                    httpx.HTTPError,
                ):
                    continue  # it is gone with its node
                mark = ".previous" if previous else ""
                text = "\n".join(lines)
                if text.strip():
                    file = f"{pod['metadata']['name']}.{name}{mark}.log"
                    yield JobFile(name=file, data=text.encode("utf-8", "replace"))


def _metadata(pod: Pod) -> Mapping[str, Any]:
    return dict(pod.get("metadata", {}))


def _labels(pod: Pod) -> Mapping[str, str]:
    return _metadata(pod).get("labels") or {}


def _phase(pod: Pod) -> str:
    return str(pod.get("status", {}).get("phase", ""))


def _owner(pod: Pod) -> str:
    labels = _labels(pod)
    return next((labels[name] for name in OWNERS if labels.get(name)), _metadata(pod)["name"])


def _key(pod: Pod) -> str:
    return f"k8s/{_metadata(pod).get('namespace', 'default')}/{_owner(pod)}"


def _job(key: str, pods: Sequence[Pod]) -> FleetJob:
    phases = [_phase(pod) for pod in pods]
    over = all(phase in OVER for phase in phases)
    ends = [end for pod in pods for end in _ends(pod)]
    starts = [at for pod in pods if (at := _moment(pod.get("status", {}).get("startTime")))]
    labels = _labels(pods[0])
    versions = (str(_metadata(pod).get(k, "")) for pod in pods for k in ("uid", "resourceVersion"))
    codes = [code for _, code in ends if code]
    return FleetJob(
        key=key,
        name=_owner(pods[0]),
        source="kubernetes",
        user=next((labels[name] for name in USERS if labels.get(name)), ""),
        nodes=tuple(sorted({n for pod in pods if (n := pod.get("spec", {}).get("nodeName"))})),
        image=next((str(c.get("image", "")) for pod in pods for c in _containers(pod)), ""),
        partition=key.split("/")[1],
        submitted=_moment(_metadata(pods[0]).get("creationTimestamp")),
        started=min(starts, default=None),
        ended=max((at for at, _ in ends if at), default=None) if over else None,
        state="Failed" if "Failed" in phases else phases[0],
        exit_code=next(iter(codes), 0 if over else None),
        gpus=sum(_cards(pod) for pod in pods) or None,
        # what is over changes no more; of what runs the output has to be looked at
        inputs_digest=state_digest((), *(v.encode() for v in versions)) if over else "",
    )


def _containers(pod: Pod) -> Sequence[Mapping[str, Any]]:
    return pod.get("spec", {}).get("containers") or ()


def _cards(pod: Pod) -> int:
    limits = (c.get("resources", {}).get("limits") or {} for c in _containers(pod))
    counts = (n for limit in limits for name, n in limit.items() if str(name).startswith(CARDS))
    return sum(int(n) for n in counts if str(n).isdecimal())


def _ends(pod: Pod) -> Iterator[tuple[float | None, int | None]]:
    """Give when the containers of a pod ended, and with which status."""
    for status in pod.get("status", {}).get("containerStatuses", ()):
        ended = status.get("state", {}).get("terminated")
        if ended:
            yield _moment(ended.get("finishedAt")), ended.get("exitCode")


def _moment(text: object) -> float | None:
    try:
        return datetime.fromisoformat(str(text).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None


def _listing(pods: Sequence[Pod]) -> bytes:
    """Write pods down as `kubectl get -o json` prints them."""
    plain = ({"apiVersion": "v1", "kind": "Pod", **pod} for pod in pods)
    listing = {"apiVersion": "v1", "kind": "List", "items": list(plain)}
    return msgspec.json.format(msgspec.json.encode(listing), indent=2)

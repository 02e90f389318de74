"""Jobs of a cluster, asked of a server that speaks the interface of Kubernetes."""

import importlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from trainrx.fleet.record import JobLimits
from trainrx.fleet.sources import sources_of
from trainrx.fleet.work import examine
from trainrx.model.errors import UsageError

pytest.importorskip("kr8s")
LIMITS = {"limits": {"nvidia.com/gpu": "4"}}
LOG = "OSError: [Errno 28] No space left on device\n"
CONFIG = """
apiVersion: v1
kind: Config
current-context: c
contexts: [{{name: c, context: {{cluster: k, user: u}}}}]
clusters: [{{name: k, cluster: {{server: "{}"}}}}]
users: [{{name: u, user: {{}}}}]
"""
RESOURCE = {
    "name": "pods",
    "singularName": "pod",
    "namespaced": True,
    "kind": "Pod",
    "shortNames": ["po"],
}


def _pod(
    name: str, job: str, *, restarts: int = 0, phase: str = "Failed", gpus: bool = True
) -> dict:
    ended = {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-11-01T11:00:00Z"}}
    return {
        "metadata": {
            "name": name,
            "namespace": "ml",
            "uid": f"uid-{name}",
            "resourceVersion": "7",
            "creationTimestamp": "2026-11-01T09:00:00Z",
            "labels": {"training.kubeflow.org/job-name": job, "user": "ann"},
        },
        "spec": {
            "nodeName": f"node-{name}",
            "containers": [
                {"name": "pytorch", "image": "train:7", "resources": LIMITS if gpus else {}}
            ],
        },
        "status": {
            "phase": phase,
            "startTime": "2026-11-01T10:00:00Z",
            "containerStatuses": [{"name": "pytorch", "restartCount": restarts, "state": ended}],
        },
    }


PODS = [
    _pod("sft-0", "sft"),
    _pod("sft-1", "sft", restarts=1),
    _pod("dns", "dns", gpus=False),
    _pod("waits", "waits", phase="Pending"),
]


class _Cluster(BaseHTTPRequestHandler):
    meeting = threading.Barrier(1)

    def do_GET(self):
        url = urlsplit(self.path.rstrip("/"))
        answers = {
            "/api": {"kind": "APIVersions", "versions": ["v1"]},
            "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [RESOURCE]},
            "/apis": {"kind": "APIGroupList", "groups": []},
            "/version": {"major": "1", "minor": "33", "gitVersion": "v1.33.0"},
            "/api/v1/pods": {"kind": "PodList", "metadata": {}, "items": PODS},
        }
        if url.path.endswith("/log"):
            self.meeting.wait()
            previous = parse_qs(url.query).get("previous", ["false"]) == ["true"]
            return self._send((LOG if previous else "restarted\n").encode(), "text/plain")
        by_name = {f"/api/v1/namespaces/ml/pods/{p['metadata']['name']}": p for p in PODS}
        found = answers.get(url.path) or by_name.get(url.path)
        return self._send(json.dumps(found or {}).encode(), "application/json", found is not None)

    def _send(self, data: bytes, kind: str, found: bool = True):
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_args):
        """Say nothing."""


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    # the library keeps the connection to the cluster that was asked first in a process
    importlib.import_module("kr8s._api").Api._instances.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Cluster)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    config = tmp_path / "config"
    config.write_text(CONFIG.format(f"http://127.0.0.1:{server.server_port}"))
    monkeypatch.setenv("KUBECONFIG", str(config))
    yield
    server.shutdown()
    server.server_close()


@pytest.mark.usefixtures("cluster")
def test_the_output_of_several_pods_is_fetched_at_the_same_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(PODS[1]["status"]["containerStatuses"][0], "restartCount", 0)
    monkeypatch.setattr(_Cluster, "meeting", threading.Barrier(2, timeout=30))
    (source,) = sources_of(["k8s"])
    (job,) = source.jobs(None)

    ready = source.prepared(job)

    assert [file.name for file in ready.files[1:]] == ["sft-0.pytorch.log", "sft-1.pytorch.log"]


@pytest.mark.usefixtures("cluster")
def test_pods_with_cards_are_grouped_by_their_job_and_read_with_their_output():
    (source,) = sources_of(["k8s"])
    (job,) = source.jobs(None)

    ready = source.prepared(job)

    assert (job.key, job.user, job.image, job.gpus) == ("k8s/ml/sft", "ann", "train:7", 8)
    assert (job.nodes, job.state, job.exit_code) == (("node-sft-0", "node-sft-1"), "Failed", 1)
    assert job.ended - job.started == 3600
    assert [file.name for file in ready.files] == [
        "kubectl.json",
        "sft-0.pytorch.log",
        "sft-1.pytorch.previous.log",
        "sft-1.pytorch.log",
    ]
    assert ready.inputs_digest == job.inputs_digest != ""
    assert examine(ready, JobLimits()).causes[0][0] == "disk-full"


def test_a_cluster_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    config = tmp_path / "config"
    config.write_text(CONFIG.format("http://127.0.0.1:9"))
    monkeypatch.setenv("KUBECONFIG", str(config))
    (source,) = sources_of(["k8s:ml"])

    with pytest.raises(UsageError, match="the cluster cannot be asked"):
        list(source.jobs(None))

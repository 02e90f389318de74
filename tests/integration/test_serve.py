"""The service as it runs: a process that is asked over HTTP."""

from __future__ import annotations

import base64
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/01-vl7b-grpo-2xA800-80g"
KNOWN_WORD = "known-to-callers"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture(scope="module")
def service() -> Iterator[httpx.Client]:
    port = free_port()
    words = ["serve", "--port", str(port), "--processes", "1", "--seconds", "20"]
    process = subprocess.Popen(
        [sys.executable, "-m", "trainrx.cli", *words],
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TRAINRX_TOKEN": KNOWN_WORD},
    )
    headers = {"Authorization": f"Bearer {KNOWN_WORD}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client:
        for _ in range(100):
            try:
                client.get("/healthz")
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield client
    process.terminate()
    assert process.wait(timeout=20) in (0, -15)


def test_a_form_and_json_are_answered_alike(service):
    launch, log = ((EXAMPLE / name).read_bytes() for name in ("launch.sh", "train.log"))
    form = service.post(
        "/v1/diagnose",
        files=[("file", ("launch.sh", launch)), ("log", ("train.log", log))],
        data={"gpu": "A800-80G", "gpus": "2"},
    )
    body = {
        "files": [
            {"name": "launch.sh", "text": launch.decode()},
            {"name": "train.log", "base64": base64.b64encode(log).decode(), "role": "log"},
        ],
        "gpu": ["A800-80G"],
        "gpus": 2,
    }
    sent = service.post("/v1/diagnose", json=body)

    assert (form.status_code, sent.status_code) == (200, 200)
    assert form.json() == sent.json()
    assert sent.json()["causes"][0]["id"] == "image-pixels-uncapped"


def test_a_question_is_answered_by_the_token_of_the_answer(service):
    log = (EXAMPLE / "train.log").read_bytes()
    first = service.post("/v1/diagnose", files={"log": ("train.log", log)})
    ask = next(ask for ask in first.json()["asks"] if ask["id"] == "launch")
    reply = {
        "token": first.headers["Trainrx-Token"],
        "answers": {ask["id"]: (EXAMPLE / "launch.sh").read_text()},
    }

    second = service.post("/v1/answer", json=reply)

    assert second.status_code == 200
    assert second.json()["job"]["framework"] == "ms-swift"
    assert service.post("/v1/answer", json={**reply, "token": "none"}).status_code == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 422),
        (b'{"files": [{"name": "a"}]}', 422),
        (b'{"files": [{"name": "a", "base64": "!"}]}', 422),
        (b'{"gpus": 0}', 422),
        (b'{"unheard": 1}', 422),
        (b"{}", 422),
    ],
)
def test_what_is_malformed_is_refused_with_a_reason(service, body, status):
    found = service.post("/v1/diagnose", content=body)

    assert found.status_code == status
    assert found.json()["detail"]


def test_strangers_and_other_names_are_refused(service):
    assert service.get("/metrics", headers={"Authorization": "Bearer x"}).status_code == 401
    assert service.get("/healthz", headers={"Host": "attacker.example"}).status_code == 400


def test_what_is_counted_names_no_input(service):
    service.post("/v1/lint", files={"file": ("secret-name.sh", b"swift sft --model a\n")})

    said = service.get("/metrics").text

    assert 'trainrx_answers_total{command="lint",outcome="answered"}' in said
    assert "secret-name" not in said

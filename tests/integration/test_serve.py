"""The service as it runs: a process that is asked over HTTP."""

from __future__ import annotations

import base64
import gzip
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
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


def raw(service, sent: bytes) -> bytes:
    """Send bytes as they are, no more after them, and give the line of status."""
    url = service.base_url
    with socket.create_connection((url.host, url.port), timeout=20) as connection:
        connection.sendall(sent)
        # who is refused before all is sent may have been let go already
        with suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
        return connection.makefile("rb").readline()


HEAD = b"POST /v1/diagnose HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
HEAD %= KNOWN_WORD.encode()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (HEAD + b"Content-Length: 99999999999\r\n\r\n", b"413"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"411"),
        (HEAD + b"Content-Length: -5\r\n\r\n", b"400"),
        (HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}", b"400"),
        (HEAD + b"Content-Length: 2\r\nX: " + b"a" * 200_000 + b"\r\n\r\n{}", b"400"),
        (b"\0\xff\r\n\r\n", b"400"),
        (HEAD + b"Content-Length: 500\r\n\r\n{", b""),
        (HEAD + b"Content-Length: 500", b""),
    ],
)
def test_what_is_no_request_is_refused_or_let_go(service, sent, status):
    assert status in raw(service, sent)
    assert service.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    "files",
    [
        {"file": ("../../../etc/passwd", b"swift sft --model a\n")},
        {"file": ("a\0b\n\x1b[31m.log", b"CUDA out of memory\n")},
        {"log": ("a.log.gz", gzip.compress(b"loss\n" * 30_000_000))},
        {"file": ("a.json", b"[" * 200_000)},
        {"file": ("a.yaml", b"&a [*a, *a]\n" * 10_000)},
        [("file", (f"{number}.log", b"x")) for number in range(1000)],
    ],
    ids=["path", "control", "bomb", "deep", "yaml", "many"],
)
def test_a_hostile_file_is_answered_or_refused(service, files):
    found = service.post("/v1/diagnose", files=files)

    assert found.status_code in (200, 400, 413, 422)
    assert service.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=", b"--\r\n"),
        ("multipart/form-data; boundary=a", b"--a\r\nContent-Disposition: form-data\r\n\r\n1"),
        ("application/json; charset=utf-7", b"+AHs-"),
        ("application/json", b"[" * 500_000),
        ("application/json", b'{"note": "' + b"\xff\xfe" + b'"}'),
        ("application/json", b'{"gpus": 1e999}'),
        ("application/json", b'{"answers": {"' + b"a" * 100_000 + b'": ""}}'),
    ],
)
def test_a_hostile_body_is_refused(service, kind, body):
    found = service.post("/v1/diagnose", content=body, headers={"Content-Type": kind})

    assert found.status_code in (400, 422)


def test_who_sends_slowly_keeps_nobody_waiting(service):
    url = service.base_url
    slow = [socket.create_connection((url.host, url.port), timeout=20) for _ in range(200)]
    for number, connection in enumerate(slow):
        connection.sendall(b"POST /v1/di" if number % 2 else HEAD + b"Content-Length: 900\r\n\r\n{")

    found = service.post("/v1/lint", files={"file": ("a.sh", b"swift sft --model a\n")})

    assert found.status_code == 200
    for connection in slow:
        connection.close()

from __future__ import annotations

import socket
from urllib.request import urlopen

import msgspec
import pytest
from test_render_watch import FAILED, STATE

from trainrx.model.errors import UsageError
from trainrx.render.prometheus import Port, TextFile


def test_a_text_file_holds_the_numbers_of_the_job_and_its_ranks(tmp_path):
    path = tmp_path / "job.prom"

    TextFile(path).publish(FAILED)

    text = path.read_text(encoding="utf-8")
    job = 'trainrx_job{cause="long-sample",family="oom",framework="",outcome="failed"} 1.0'
    assert job in text
    assert 'trainrx_alert{family="oom"} 1.0' in text
    assert "trainrx_step 120.0" in text
    assert 'trainrx_rank_step{rank="3"} 111.0' in text
    assert [file.name for file in tmp_path.iterdir()] == ["job.prom"]


def test_no_text_of_a_log_and_no_name_of_a_file_is_a_label(tmp_path):
    path = tmp_path / "job.prom"

    TextFile(path).publish(msgspec.structs.replace(FAILED, sources=("/secret/run.log",)))

    text = path.read_text(encoding="utf-8")
    assert "secret" not in text
    assert "t.log" not in text


def test_what_is_over_is_no_longer_given(tmp_path):
    path = tmp_path / "job.prom"
    file = TextFile(path)

    file.publish(FAILED)
    file.publish(STATE)

    text = path.read_text(encoding="utf-8")
    assert 'outcome="training"' in text
    assert 'outcome="failed"' not in text
    assert "trainrx_memory_full_step 310.0" in text


def test_a_port_gives_the_newest_state():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    publisher = Port(port)

    publisher.publish(STATE)
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        text = answer.read().decode()
    publisher.close()

    assert "trainrx_step 120.0" in text


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UsageError, match="there is no folder"):
        TextFile(tmp_path / "no" / "job.prom")

"""What collectors of logs put around each line, taken off: formats from their documentation."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from log_signatures import signature

from trainrx.evidence.detector import Detector, Engine
from trainrx.inputs.stream import chunks, tail
from trainrx.inputs.wrappers.layers import DEEPEST, LAYERS
from trainrx.inputs.wrappers.unwrap import ANSI, HEAD, is_wrapped, unwrapped
from trainrx.knowledge.load import load
from trainrx.model.job import Detection, Input

TESTS = Path(__file__).parents[1]
Wrap = Callable[[int, str], str]


def _stamp(at: int, digits: int = 9) -> str:
    return f"2025-03-04T05:06:{at % 60:02d}.{at % 7}{'123456789'[: digits - 1]}"


def _json(**fields: object) -> str:
    return json.dumps(fields)


SILENT: dict[str, Wrap] = {
    "cri": lambda n, line: f"{_stamp(n)}Z stderr F {line}",
    "docker": lambda n, line: _json(log=line + "\n", stream="stderr", time=_stamp(n) + "Z"),
    "docker logs -t": lambda n, line: f"{_stamp(n)}Z {line}",
    "kubectl --prefix": lambda _, line: f"[pod/sft-worker-0/pytorch] {line}",
    "kubectl --prefix --timestamps": lambda n, line: f"[pod/sft-0/pytorch] {_stamp(n)}Z {line}",
    "stern": lambda _, line: f"sft-worker-0 pytorch {line}",
    "stern -o json": lambda _, line: _json(
        message=line, nodeName="gpu-7", namespace="ml", podName="sft-0", containerName="pytorch"
    ),
    "compose": lambda _, line: f"train-1  | {line}",
    "compose, coloured": lambda _, line: f"\x1b[36mtrain-1  | \x1b[0m{line}",
    "swarm": lambda _, line: f"ml_train.1.x0kq3@gpu-7    | {line}",
    "logcli": lambda _, line: f'2025-03-04T05:06:07Z {{app="sft", pod="sft-0"}} {line}',
    "logcli -o jsonl": lambda n, line: _json(
        labels={"pod": "sft-0"}, line=line, timestamp=_stamp(n) + "Z"
    ),
    "journald": lambda _, line: f"Mar 04 05:06:07 gpu-7 torchrun[4242]: {line}",
    "journald short-iso": lambda _, line: f"2025-03-04T05:06:07+0100 gpu-7 run[42]: {line}",
    "journald -o json": lambda _, line: _json(
        MESSAGE=line, _HOSTNAME="gpu-7", __REALTIME_TIMESTAMP="1741064767000000"
    ),
    "github": lambda n, line: f"{_stamp(n, 7)}Z {line}",
    "gh run view": lambda n, line: f"train\tRun the job\t{_stamp(n, 7)}Z {line}",
    "gitlab": lambda n, line: f"{_stamp(n, 6)}Z 00O {line}",
    "jenkins": lambda n, line: f"[{_stamp(n, 3)}Z] {line}",
    "ts": lambda _, line: f"Mar 04 05:06:07 {line}",
    "ts with a date": lambda _, line: f"2025-03-04 05:06:07 {line}",
    "pdsh": lambda _, line: f"gpu-7: {line}",
    "skypilot": lambda _, line: f"(head, rank=0, pid=4242) {line}",
    "supervisor": lambda _, line: f"train | stderr | {line}",
    "jenkins, elapsed": lambda n, line: f"21:51:{n % 60:02d}  {line}",
    "fluentd": lambda n, line: (
        f"{_stamp(n)}Z\tkube.sft\t"
        + _json(message=line, stream="stderr", kubernetes={"pod_name": "sft-0"})
    ),
    "elastic": lambda n, line: _json(
        **{"@timestamp": _stamp(n) + "Z", "message": line, "kubernetes": {"pod": {"name": "a-0"}}}
    ),
    "aws logs tail": lambda n, line: f"{_stamp(n, 6)}+00:00 sft/algo-1-17410 {line}",
    "github around compose": lambda n, line: f"{_stamp(n, 7)}Z \x1b[36mtrain-1  |\x1b[0m {line}",
    "cri around docker": lambda n, line: (
        f"{_stamp(n)}Z stdout F " + _json(log=line + "\n", stream="stderr", time=_stamp(n))
    ),
}
"""Of one source: nothing of them is left."""
RANKED: dict[str, Wrap] = {
    "srun --label": lambda _, line: f"3: {line}",
    "srun --label, padded": lambda _, line: f" 3: {line}",
    "torchrun --tee": lambda _, line: f"[default3]:{line}",
    "mpirun --tag-output": lambda _, line: f"[1,3]<stderr>:{line}",
    "sagemaker": lambda _, line: f"[1,mpirank:3,algo-1]<stderr>:{line}",
    "mpiexec -prepend-rank": lambda _, line: f"[3] {line}",
    "github around srun": lambda n, line: f"{_stamp(n, 7)}Z 3: {line}",
}


@cache
def _logs() -> tuple[str, ...]:
    """Give logs of real jobs that end in a traceback or have none."""
    files = [*TESTS.rglob("*.log"), *TESTS.parent.joinpath("examples").rglob("*.log")]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(files)[::3]]
    threads = sorted(TESTS.joinpath("cases", "threads").rglob("*.yaml"))[::40]
    cases = [yaml.load(path.read_bytes(), yaml.CSafeLoader) for path in threads]
    texts += [case.get("log") or "" for case in cases]
    return tuple(text for text in texts if not is_wrapped(text.encode()))


@cache
def _long() -> tuple[list[str], ...]:
    """Give those that are long enough to tell a wrapping by, with lines that a log has."""
    found = []
    for text in _logs():
        lines = text.replace("\r", "").rstrip("\n").split("\n")
        if len(lines) >= 12 and any(line.startswith("  ") for line in lines):
            found.append([ANSI.sub(b"", line.encode()).decode().rstrip() for line in lines])
    return tuple(found)


def _bare(text: str) -> str:
    return b"".join(unwrapped([text.encode()])).decode()


def _detected(text: str) -> Detection:
    return _detector().detect([Input(kind="log", name="train.log", text=text)])


@cache
def _detector() -> Detector:
    return Detector(tuple(load().symptoms.values()))


def test_a_log_without_wrapping_passes_byte_by_byte() -> None:
    for text in _logs():
        data = text.encode()

        assert b"".join(unwrapped([data])) == data


@pytest.mark.parametrize("name", SILENT)
def test_of_the_wrapping_of_one_source_nothing_is_left(name: str) -> None:
    assert len(_long()) >= 20
    for lines in _long():
        wrapped = "\n".join(SILENT[name](at, line) for at, line in enumerate(lines))

        assert _bare(wrapped).split("\n") == lines


@pytest.mark.parametrize("name", RANKED)
def test_the_label_of_a_rank_takes_the_form_that_torch_prints(name: str) -> None:
    for lines in _long():
        wrapped = "\n".join(RANKED[name](at, line) for at, line in enumerate(lines))
        expected = [
            line if not line or re.match(r"\[rank\d", line) else f"[rank3]: {line}"
            for line in lines
        ]

        assert _bare(wrapped).split("\n") == expected


@pytest.mark.parametrize("name", ["cri", "docker", "compose", "fluentd", "github around compose"])
def test_a_wrapped_log_shows_the_same_symptoms_on_the_same_lines(name: str) -> None:
    for lines in _long()[::6]:
        wrapped = "\n".join(SILENT[name](at, line) for at, line in enumerate(lines))

        assert _detected(wrapped).symptoms == _detected("\n".join(lines)).symptoms


@pytest.mark.parametrize("name", ["srun --label", "torchrun --tee", "mpirun --tag-output"])
def test_a_labelled_log_shows_the_same_symptoms_and_the_rank(name: str) -> None:
    for lines in _long()[::10]:
        wrapped = "\n".join(RANKED[name](at, line) for at, line in enumerate(lines))
        found = {hit.symptom: hit.rank for one in _detected(wrapped).symptoms for hit in one.hits}
        bare = {
            hit.symptom: hit.rank
            for one in _detected("\n".join(lines)).symptoms
            for hit in one.hits
        }

        assert found.keys() >= bare.keys()
        assert all(found[name] in (3, rank) for name, rank in bare.items())


TRACE = [
    "Traceback (most recent call last):",
    '  File "/app/{0}.py", line 7, in main',
    "    {0}()",
    '  File "/usr/lib/python3/dist-packages/{0}/core.py", line 9, in run',
    "    raise ValueError",
    "ValueError: {0} is broken",
]


@pytest.mark.parametrize(
    "prefix",
    [
        "[pod/{}/pytorch] ",
        "{}: ",
        "{}  | ",
        "{} pytorch ",
        "Mar 04 05:06:07 {} train[7]: ",
        '2025-03-04T05:06:07Z {{pod="{}"}} ',
        "{}: [rank0]: ",
    ],
)
def test_tracebacks_of_two_hosts_interleaved_are_told_apart(prefix: str) -> None:
    hosts = {"sft-worker-0": "peft", "sft-worker-1": "trl"}
    mixed = [
        prefix.format(host) + line.format(package)
        for line in (*["starting {0}"] * 4, *TRACE)
        for host, package in hosts.items()
    ]

    found = _detected("\n".join(mixed)).symptoms
    frames = {hit.line: hit.frame for one in found for hit in one.hits if hit.frame is not None}

    last = len(mixed)
    assert frames[last - 1] == ("peft", "peft/core.py", "run")
    assert frames[last] == ("trl", "trl/core.py", "run")


@pytest.mark.parametrize("name", ["cri", "docker", "fluentd", "kubectl --prefix --timestamps"])
def test_the_times_of_the_wrapping_order_what_several_logs_say(name: str) -> None:
    late, soon = (
        "\n".join(SILENT[name](at, line) for at in range(start, start + 8))
        for start, line in ((30, "KeyError: 'late'"), (10, "KeyError: 'soon'"))
    )
    logs = [Input(kind="log", name=f"{at}.log", text=text) for at, text in enumerate((late, soon))]

    first = _detector().detect(logs).symptoms[0].hits[0]

    assert first.stamped
    assert "soon" in first.text


def test_a_symptom_bound_to_the_beginning_of_a_line_is_seen_behind_the_label_of_a_host() -> None:
    text = "\n".join(f"gpu-{n % 2}: {line}" for n, line in enumerate(["x"] * 8 + ["EOFError"] * 2))

    hits = [hit for one in _detected(text).symptoms for hit in one.hits]

    assert {hit.line for hit in hits if "EOFError" in hit.text} == {9, 10}


@pytest.mark.parametrize("engine", ["needles", "linear"])
def test_workers_of_ray_are_told_apart_and_their_labels_hide_nothing(engine: Engine) -> None:
    labels = {"(WorkerDict pid=7, ip=10.0.0.1) ": "peft", "(pid=7, ip=10.0.0.2) ": "trl"}
    again = " [repeated 7x across cluster]"
    mixed = [label + line.format(name) for line in TRACE for label, name in labels.items()]
    mixed += [label + text + again for label in labels for text in ("EOFError", "StopIteration")]
    symptoms = [signature(text, (text, f"^{text}$")) for text in ("EOFError", "StopIteration")]
    symptoms.append(signature("broken", ("ValueError", "ValueError: ")))

    found = Detector(symptoms, engine=engine).detect(
        [Input(kind="log", name="a.log", text="\n".join(mixed))]
    )

    lines = {one.symptom: [hit.line for hit in one.hits] for one in found.symptoms}
    assert lines == {"broken": [11, 12], "EOFError": [13, 15], "StopIteration": [14, 16]}


def test_a_line_in_pieces_is_joined_where_its_last_piece_stands() -> None:
    stamp = "2025-03-04T05:06:07.123456789Z stdout "
    text = f"{stamp}F a\n{stamp}P one \n{stamp}P two \n{stamp}F three\n{stamp}F b\n"

    assert _bare(text) == "a\n\n\none two three\nb\n"


def test_a_gitlab_line_goes_on_in_the_next_and_section_marks_are_no_text() -> None:
    stamp = "2025-03-04T05:06:07.123456Z 00O"
    text = (
        f"{stamp} \x1b[0Ksection_start:1741064767:step_script\r\x1b[0K$ swift sft\n"
        f"{stamp} ValueError: \n{stamp}+bad\n{stamp} end\n"
    )

    assert _bare(text) == "$ swift sft\nValueError: bad\n\nend\n"


def test_the_lines_of_one_record_stay_one_line_of_the_file() -> None:
    record = _json(message="Traceback (most recent call last):\n  x\nValueError: y", level="error")
    text = "\n".join([record, _json(msg="done", level="info"), _json(msg="bye", ts=1)]) + "\n"

    assert _bare(text) == "Traceback (most recent call last):\r  x\rValueError: y\ndone\nbye\n"


def test_a_journal_message_that_is_no_text_comes_as_its_bytes() -> None:
    text = "\n".join(_json(MESSAGE=list(b"\x1b[31mred"), _PID=str(n)) for n in range(4))

    assert _bare(text).split("\n")[0] == "\x1b[31mred"


def test_what_a_record_says_of_an_error_is_read_with_its_message() -> None:
    text = "\n".join(_json(level="error", msg="failed", error=f"CUDA error {n}") for n in range(4))

    assert _bare(text).split("\n")[0] == "failed\rCUDA error 0"


def test_a_preamble_and_an_end_without_the_wrapping_stay() -> None:
    lines = ["+ srun --label python train.py", *(f"{n % 4}: step {n}" for n in range(40)), "done"]

    bare = _bare("\n".join(lines)).split("\n")

    assert bare[:3] == [lines[0], "[rank0]: step 0", "[rank1]: step 1"]
    assert bare[-1] == "done"


def test_a_wrapping_that_begins_late_is_found() -> None:
    plain = [b"a line of the setup %d\n" % n for n in range(40_000)]
    text = b"".join(plain) + b"".join(b"[default1]:step %d\n" % n for n in range(60_000))

    bare = b"".join(unwrapped(text[at : at + HEAD] for at in range(0, len(text), HEAD)))

    assert bare.startswith(b"".join(plain))
    assert bare.endswith(b"\n[rank1]: step 59999\n")


def test_numbers_of_lines_and_of_lists_are_no_ranks() -> None:
    assert not is_wrapped(b"".join(b"%d: a line\n" % n for n in range(1, 60)))


@pytest.mark.parametrize(
    "line",
    [
        "2025-03-04 05:06:07,123 INFO a line of logging",
        "[2025-03-04 05:06:07,123] [INFO] [engine.py:1] a line of DeepSpeed",
        "ValueError: not a host",
        "epoch-1: not a host",
        "GPU-0: not a host",
        "gpu-7:42:42 [0] NCCL INFO a line of NCCL",
        '{"loss": 1.5, "step": 3}',
        '{"message": "a row of a data set", "label": 1}',
        "| name | value |",
    ],
)
def test_what_programs_print_themselves_is_no_wrapping(line: str) -> None:
    assert not is_wrapped(f"{line}\n".encode() * 50)


def test_the_end_of_a_wrapped_file_comes_without_it(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"[pod/a-0/c] line {n}\n" for n in range(60_000)))

    last = tail(Input(kind="log", name="train.log", path=path))

    assert last.data.endswith(b"\nline 59998\nline 59999\n")
    assert not last.whole


def test_scripts_are_read_as_they_are() -> None:
    text = "".join(f"[default0]:{n}\n" for n in range(9))

    assert b"".join(chunks(Input(kind="script", name="a.sh", text=text), print)) == text.encode()


def test_each_layer_names_where_its_form_is_documented() -> None:
    assert all(layer.source.startswith("https://") for layer in LAYERS)


MARKS = st.sampled_from(
    [
        b"2025-03-04T05:06:07.1234567Z ",
        b"stdout P ",
        b"stderr F ",
        b"00O+",
        b'{"log":"a\\n","stream":"x"}',
        b'{"message":',
        b"[pod/a-0/c] ",
        b"a-1  | ",
        b"3: ",
        b"[default0]:",
        b"gpu-1: ",
        b"\x1b[31m",
        b"\n",
        b"\r",
    ]
)


@given(st.lists(st.one_of(MARKS, st.binary(max_size=12)), max_size=80), st.integers(1, 40))
def test_any_bytes_pass_and_lines_keep_their_number(pieces: list[bytes], size: int) -> None:
    data = b"".join(pieces) * 3

    bare = b"".join(unwrapped(data[at : at + size] for at in range(0, len(data), size)))

    assert bare.count(b"\n") == data.count(b"\n")


def test_wrappings_within_each_other_end_somewhere() -> None:
    line = "[rank0]: text"
    for _ in range(DEEPEST + 4):
        line = _json(log=line + "\n", stream="stderr")

    assert _bare(f"{line}\n" * 5).count("\n") == 5


def test_the_pieces_a_stream_comes_in_change_nothing() -> None:
    pick = random.Random(7)  # noqa: S311 (no secret)
    text = "".join(f"[pod/sft-{n % 3}/c] line {n}\n" for n in range(9000)).encode()
    whole = b"".join(unwrapped([text]))
    cuts = sorted(pick.randrange(len(text)) for _ in range(40))

    assert (
        b"".join(unwrapped(text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)))
        == whole
    )

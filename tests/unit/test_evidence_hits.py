from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from log_signatures import OOM_LINE, cuda_oom, scan, signature, values

from trainrx.evidence.conclude import FIRST, quote
from trainrx.evidence.detector import Detector, Engine
from trainrx.model.job import Hit, Input
from trainrx.model.knowledge import Symptom


def only(hits: tuple[Hit, ...]) -> Hit:
    assert len(hits) == 1
    return hits[0]


def test_a_hit_carries_line_text_and_typed_captures() -> None:
    found = scan("start\n" + OOM_LINE.format(gpu=3) + "\n", cuda_oom())

    hit = only(found.symptoms[0].hits)
    assert (hit.line, hit.source, hit.text[:29]) == (2, "t.log", "torch.OutOfMemoryError: CUDA ")
    assert dict(hit.captures) == {
        "asked": 20.0,
        "gpu": 3,
        "card": 80.0,
        "allocated": 60.0,
        "unused": 8.0,
    }


def test_the_first_pattern_that_fits_gives_the_captures() -> None:
    found = scan("CUDA error: out of memory. Tried to allocate 2.00 GiB\n", cuda_oom())

    assert dict(only(found.symptoms[0].hits).captures) == {"asked": 2.0}


def test_a_capture_that_is_not_what_its_type_says_is_left_out() -> None:
    odd = signature("odd", ("size ", r"size (?P<a>\S+)"), types={"a": "gib"})

    found = scan("size 1.2.3GiB\n", odd)

    assert only(found.symptoms[0].hits).captures == ()


def test_a_code_carries_what_it_means() -> None:
    meanings = {"code": {"79": {"side": "card"}}}
    plain = signature("coded", ("Xid ", r"Xid (?P<code>\d+)"), types={"code": "int"})
    coded = msgspec.structs.replace(plain, codes=meanings)

    known, other = scan("Xid 79\nXid 12\n", coded).symptoms[0].hits

    assert dict(known.captures) == {"code": 79, "side": "card"}
    assert dict(other.captures) == {"code": 12}


def test_colours_inside_the_text_do_not_hide_it() -> None:
    found = scan("CUDA \x1b[1;31merror: out\x1b[0m of memory\n", cuda_oom())

    assert only(found.symptoms[0].hits).text == "CUDA error: out of memory"


def test_lines_are_counted_as_an_editor_shows_them_despite_progress_bars() -> None:
    bars = "".join(f"\r {n}%|#  | {n}/100 [00:01<00:02,  1.00it/s]" for n in range(50))

    found = scan(f"one\n{bars}\rCUDA error: out of memory\nthree\r\n", cuda_oom())

    assert only(found.symptoms[0].hits).line == 2
    assert found.lines == 3


def test_a_pattern_does_not_match_across_a_carriage_return() -> None:
    found = scan("CUDA error: \rout of memory\n", cuda_oom())

    assert found.symptoms == ()


def test_anchors_hold_at_the_parts_of_a_progress_line() -> None:
    killed = signature("killed", ("Killed", "^Killed$"))

    found = scan("12%\rKilled\rx\nnot Killed\nKilled", killed)

    assert [(hit.line) for hit in found.symptoms[0].hits] == [1, 3]


def test_nul_bytes_and_torn_characters_do_not_hide_a_line(tmp_path: Path) -> None:
    log = tmp_path / "t.log"
    log.write_bytes(b"\0" * 9000 + b"\xe6\x98 CUDA err\0or: out of memory \xff\n")

    found = Detector([cuda_oom()]).detect([Input(kind="log", name="t.log", path=log)])

    assert only(found.symptoms[0].hits).line == 1


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16", "utf-8-sig"])
def test_a_log_in_another_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    log = tmp_path / "t.log"
    log.write_bytes(("错误：显存不足，请减小批大小，训练已经停止\n" * 3).encode(encoding))
    short = signature("short", ("显存不足", "显存不足，请(?P<what>.{2})"))

    found = Detector([short]).detect([Input(kind="log", name="t.log", path=log)])

    assert found.symptoms[0].count == 3
    assert dict(found.symptoms[0].hits[0].captures) == {"what": "减小"}


def test_a_case_insensitive_signature_finds_its_needle_in_any_case() -> None:
    killer = signature("killer", ("OOM killer", r"(?i)\boom[- ]killer\b"))

    found = scan("the Oom Killer came\nzoom killer\n", killer)

    assert only(found.symptoms[0].hits).line == 1


def test_hits_are_counted_in_full_but_kept_only_in_part() -> None:
    text = "".join(f"[rank{n % 2}]: CUDA error: out of memory {n}\n" for n in range(1000))

    seen = scan(text, cuda_oom()).symptoms[0]

    assert (seen.count, seen.ranks) == (1000, (0, 1))
    assert len(seen.hits) == 2 * (FIRST + 1)
    assert [hit.line for hit in seen.hits][:3] == [1, 2, 3]
    assert [hit.line for hit in seen.hits][-2:] == [999, 1000]


@pytest.mark.parametrize(
    ("line", "rank"),
    [
        ("[rank3]: {}", 3),
        ("[default5]:{}", 5),
        ("[2025-01-14 10:19:36,904] [INFO] [Rank 2] {}", 2),
        ("[rank: 7] {}", 7),
        ("[rank1]:[E1123 16:02:10.083090635 x.cpp:607] [Rank 9] {}", 1),
        ("[1,6]<stderr>:{}", 6),
        ("node-1: [rank12]: {}", 12),
        ("(WorkerDict pid=44) {}", None),
        ("GPU 5: {}", None),
        ("3: {}", None),
        ("{}", None),
    ],
)
def test_the_rank_is_the_one_the_line_names(line: str, rank: int | None) -> None:
    found = scan(line.format("CUDA error: out of memory") + "\n", cuda_oom())

    assert only(found.symptoms[0].hits).rank == rank


@pytest.mark.parametrize("label", ["{}: ", " {}: ", "[{}]: "])
def test_numbers_label_ranks_where_most_lines_carry_them(label: str) -> None:
    text = "".join(label.format(n % 4) + f"loading part {n}\n" for n in range(20))

    found = scan(text + label.format(2) + "CUDA error: out of memory\n", cuda_oom())

    assert only(found.symptoms[0].hits).rank == 2


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("logs/none_abc/attempt_0/3/stderr.log", 3),
        ("run/rank_11.log", 11),
        ("run/train-rank2.out", 2),
        ("slurm-12345_6.out", 6),
        ("frankfurt3.log", None),
        ("train.log", None),
    ],
)
def test_a_log_of_one_rank_lends_its_rank_to_its_lines(name: str, rank: int | None) -> None:
    found = scan("CUDA error: out of memory\n", cuda_oom(), name=name)

    assert only(found.symptoms[0].hits).rank == rank


def test_a_captured_rank_goes_before_the_label() -> None:
    failed = signature("failed", ("failed", r"rank (?P<rank>\d+) failed"), types={"rank": "int"})

    found = scan("[rank0]: worker of rank 5 failed\n", failed)

    assert only(found.symptoms[0].hits).rank == 5


def test_one_endless_line_is_searched_to_its_end() -> None:
    text = "y " * 1_500_000 + "CUDA error: out of memory" + " z" * 1_500_000

    found = scan(f"a\n{text}\nb\n", cuda_oom())

    hit = only(found.symptoms[0].hits)
    assert (hit.line, found.symptoms[0].count) == (2, 1)
    assert "out of memory" in hit.text
    assert len(hit.text) <= 400


@pytest.mark.parametrize("engine", get_args(Engine))
def test_an_endless_line_does_not_open_or_close_at_the_cuts(engine: Engine) -> None:
    word = signature("word", ("Killed", "^Killed|Killed$"))

    found = scan("Killed ".join(["x" * 5000] * 600), word, engine=engine)

    assert found.symptoms == ()


def test_what_no_log_says_is_unknown() -> None:
    found = Detector([cuda_oom()]).detect([])

    assert found.facts == ()
    assert found.symptoms == ()


def test_an_empty_log_is_unread_yet_given() -> None:
    found = scan("", cuda_oom())

    assert values(found) == {"log.given": True}
    assert [(item.source, item.reason) for item in found.unread] == [("t.log", "is empty")]


def growing() -> Symptom:
    return signature(
        "seen-memory-grows",
        ("显存", "显存.{0,8}(?:上涨|增长)"),
        role="observation",
        facts={"note.grows": True},
    )


def test_observations_are_looked_for_in_notes_and_not_in_logs() -> None:
    detector = Detector([growing(), cuda_oom()])
    text = "训练时显存一直上涨\n"

    noted = detector.detect([Input(kind="note", name="note", text=text)])
    logged = detector.detect([Input(kind="log", name="log", text=text)])

    assert [item.symptom for item in noted.symptoms] == ["seen-memory-grows"]
    assert values(noted) == {"note.grows": True}
    assert logged.symptoms == ()


def climbing() -> Symptom:
    return signature(
        "climbing", ("memory", "(?i)memory (?:grows|growth)"), ("显存", "显存.{0,4}上涨")
    )


@pytest.mark.parametrize("text", ["It hangs, there is no memory growth.", "卡住了，没有显存上涨"])
def test_trouble_that_a_note_denies_was_not_so(text: str) -> None:
    found = Detector([climbing()]).detect([Input(kind="note", name="note", text=text)])

    assert found.symptoms == ()
    assert values(found) == {"unseen.climbing": True}


@pytest.mark.parametrize(
    "text",
    [
        "The memory grows.",
        "No memory growth at first, later memory grows.",
        "I cannot train without memory growth.",
        "Is there memory growth?",
    ],
)
def test_what_is_not_denied_is_not_said_to_be_absent(text: str) -> None:
    found = Detector([climbing()]).detect([Input(kind="note", name="note", text=text)])

    assert "unseen.climbing" not in values(found)


def test_a_failure_pasted_into_a_note_is_one() -> None:
    note = Input(kind="note", name="note", text=OOM_LINE.format(gpu=2))

    found = Detector([growing(), cuda_oom()]).detect([note])

    assert [item.symptom for item in found.symptoms] == ["cuda-oom"]
    assert values(found)["oom.asked_share"] == 0.25
    assert "log.given" not in values(found)


def test_a_note_that_repeats_the_log_adds_no_second_failure() -> None:
    inputs = [
        Input(kind="log", name="log", text="\nCUDA error: out of memory\n"),
        Input(kind="note", name="note", text="it says CUDA error: out of memory"),
    ]

    found = Detector([cuda_oom()]).detect(inputs)

    assert [(item.symptom, item.count) for item in found.symptoms] == [("cuda-oom", 1)]
    assert found.symptoms[0].hits[0].source == "log"


def test_a_stage_that_is_announced_again_and_again_is_counted_in_full() -> None:
    mapping = signature("mapping", ("Map:", "Map: +\\d"), role="phase", phase="tokenize")
    text = "".join(f"\rMap:  {n}%|# | {n}/999 [00:42<41:47, 2.5s/it]" for n in range(99))

    found = scan(text + "\nCUDA error: out of memory\n", mapping, cuda_oom())

    assert [(item.symptom, item.count) for item in found.symptoms] == [
        ("mapping", 99),
        ("cuda-oom", 1),
    ]
    assert values(found)["oom.phase"] == "tokenize"


def test_the_plain_search_is_noted_when_the_engine_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "hyperscan", None)

    found = scan("CUDA error: out of memory\n", cuda_oom(), engine="linear")

    assert found.symptoms[0].count == 1
    assert [item.source for item in found.unread] == ["hyperscan"]


def test_an_expression_beyond_the_engine_is_gated_by_its_needle() -> None:
    # the engine counts to 32767 only
    far = signature("far", ("abc", "abc(?:.{40000}|d)"))
    near = signature("near", ("Near", "(?i)near (?P<what>.+)"))

    found = scan("xabcd\nabc\nnear it\n", far, near, engine="linear")

    assert [(item.symptom, item.count) for item in found.symptoms] == [("far", 1), ("near", 1)]


def test_a_secret_is_not_cut_off_from_the_name_that_tells_it():
    key = "0123456789abcdef" * 2 + "01234567"
    error = "unrecognized arguments"
    line = f"run --wandb_api_key {key} {'x' * 20} {error} {'y ' * 300}"
    match = re.search(error, line)

    quoted = quote(line, match)

    assert error in quoted
    assert key[-20:] not in quoted

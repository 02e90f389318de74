"""Both engines and a line-by-line search agree, whatever the bytes and however they arrive."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import hyperscan
from hypothesis import example, given
from hypothesis import strategies as st

from examples import examples
from trainrx.evidence.blocks import clean_blocks
from trainrx.evidence.conclude import summed
from trainrx.evidence.detector import Detector, Engine
from trainrx.evidence.engine import engine_gate
from trainrx.evidence.gate import gate
from trainrx.evidence.matcher import Line, compile_patterns, needle_gate
from trainrx.evidence.scan import Scan, Signatures
from trainrx.model.job import Detection, Input
from trainrx.model.knowledge import LinePattern, Samples, Symptom
from trainrx.model.text import Text

PATTERNS = (
    ("Tried", r"Tried to allocate (?P<asked>[\d.]+ [KMG]iB)(?:\. GPU (?P<gpu>\d+))?"),
    ("error", r"error: (?P<what>.+)"),
    ("Error", r"^(?:\[rank\d+\]: )?\w{1,20}Error(?:: .{0,40})?$"),
    ("显存", r"显存不足(?:，|,)?(?P<what>[^，]{0,6})"),
    ("oom", r"(?i)\boom[- ]kill(?:er|ed)?\b"),
    ("Killed", r"Killed$"),
    ("exit", r"exit(?:ed)? (?:with )?code:?\s+(?P<code>-?\d{1,3})\b"),
    ("=", r"\w+=[^,\s]{1,5},"),
    ("NaN", r"(?:loss|norm)\W{1,4}NaN\S*"),
    ("é", "[àéü]{2}|é."),
    ("Step", r"\bStep \d"),
)

STAGES = ("=", "Killed", "Step")
"""Needles of signatures that begin a stage: repeats of these are only counted."""

PIECES = st.sampled_from(
    [
        *(
            "Tried to allocate 2.00 GiB",
            ". GPU 3",
            "error: ",
            "Error",
            "ValueError: x",
            "显存不足，",
        ),
        *(
            "显存",
            "请",
            "，",
            "OOM killer",
            "oom-killed",
            "zoom",
            "Killed",
            "exit code: 137",
            "exited ",
        ),
        *(
            "a=b,",
            "loss': NaN",
            "é",
            "à",
            "ééx",
            "\x1b[31m",
            "\x1b[0m",
            "\x1b",
            "\0",
            " ",
            "x" * 50,
        ),
        *("\r", "\n", "\r\n", "[rank3]: ", "Traceback (most recent call last):", '  File "a.py"'),
        *("{'loss': 0.0, 'grad_norm': nan}", "{'loss': 1.5, 'memory(GiB)': 4}", "y" * 9000),
        *(
            "Train:  1%|# | 1/60 [00:42<41:47, 2.5s/it]",
            "world_size: 4",
            "\u2028",
            "\x85",
            "\u3000",
        ),
        *("Step 1", "Step 2\n", "xStep 3\n", "Step 4\n"),
        "WorkNCCL(SeqNum=3, OpType=ALLREDUCE, NumelIn=1, ",
        "[2025-11-20 10:10:10,123]",
    ]
)
LOGS = st.lists(st.one_of(PIECES.map(str.encode), st.binary(max_size=4)), max_size=60).map(b"".join)


def symptoms(patterns: tuple[tuple[str, str], ...] = PATTERNS) -> list[Symptom]:
    return [
        Symptom(
            schema=1,
            id=f"s{number}",
            role="phase" if needle in STAGES else "failure",
            family=None if needle in STAGES else "oom",
            phase="load" if needle in STAGES else "",
            title=Text(en="", zh=""),
            since="0.1.0",
            updated="2026-11-21",
            patterns=(LinePattern(needle=needle, regex=regex),),
            samples=Samples(match=(), near_miss=()),
            types={"code": "int", "asked": "gib", "gpu": "int"},
        )
        for number, (needle, regex) in enumerate(patterns)
    ]


SYMPTOMS = symptoms()
NEEDLES = Detector(SYMPTOMS, engine="needles")
LINEAR = Detector(SYMPTOMS, engine="linear")


def as_input(data: bytes) -> Input:
    return Input(kind="log", name="t.log", text=data.decode("utf-8", "replace"))


def counts(found: Detection) -> Counter[tuple[str, int]]:
    own = {symptom.id for symptom in SYMPTOMS}
    return Counter((s.symptom, s.count) for s in found.symptoms if s.symptom in own)


@examples(150)
@given(LOGS)
def test_both_engines_give_the_same_answer(data: bytes) -> None:
    assert NEEDLES.detect([as_input(data)]) == LINEAR.detect([as_input(data)])


@examples(200)
@given(LOGS)
def test_hits_are_those_of_trying_every_pattern_on_every_line(data: bytes) -> None:
    log = as_input(data)
    expected: Counter[str] = Counter()
    clean = b"".join(block.data for block in clean_blocks([(log.text or "").encode()]))
    for line in re.split(rb"[\r\n]", clean):
        for pattern in compile_patterns(SYMPTOMS):
            if pattern.search(Line(line)) is not None:
                expected[SYMPTOMS[pattern.symptom].id] += 1

    found = LINEAR.detect([log])

    assert counts(found) == Counter(expected.items())


def scanned(pieces: list[bytes], engine: Engine) -> Scan:
    signatures = Signatures(SYMPTOMS)
    found = engine_gate(signatures.patterns) if engine == "linear" else None
    scan = Scan("t.log", signatures, found or needle_gate(signatures.patterns))
    for block in clean_blocks(pieces):
        scan.feed(block)
    return scan


def seen(scan: Scan) -> dict[str, list[object]]:
    stages = {symptom.id for symptom in SYMPTOMS if symptom.role == "phase"}
    return {
        symptom: [
            (hit.line, hit.text, hit.rank, hit.captures) for b in group.values() for hit in b.hits()
        ]
        for symptom, group in scan.tally.buckets.items()
        if symptom not in stages
    }


@examples(40)
@given(LOGS, st.lists(st.integers(300, 90_000), min_size=1, max_size=5))
def test_how_the_bytes_arrive_changes_nothing(data: bytes, sizes: list[int]) -> None:
    # long enough that blocks really end within it
    lines = "".join(f"line {n}\n" for n in range(9000)).encode()
    data = lines + data.decode("utf-8", "replace").encode() * 40

    whole = scanned([data], "needles")
    torn = scanned(list(cut(data, sizes)), "needles")

    assert seen(whole) == seen(torn)
    assert totals(whole) == totals(torn)
    assert (whole.lines, whole.bytes) == (torn.lines, torn.bytes)
    assert whole.series.count == torn.series.count


def totals(scan: Scan) -> dict[str, int]:
    return {item.symptom: item.count for item in summed([scan.tally])}


def cut(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        for size in sizes:
            yield data[at : at + size]
            at += size


@examples(150)
@given(st.binary(max_size=3000))
def test_arbitrary_bytes_never_raise(data: bytes) -> None:
    logs = [as_input(data), Input(kind="metrics", name="m", text=data.decode("latin-1"))]

    found = NEEDLES.detect(logs)

    # a mark at the very start is no part of the text
    assert found.bytes == len((logs[0].text or "").removeprefix("\ufeff").encode())


LITERALS = st.text("ab .é显:1", min_size=1, max_size=4).map(re.escape)
ATOMS = st.one_of(
    LITERALS,
    st.sampled_from(
        [r"\d", r"\w", r"\s", r"\S", ".", "[a-c]", "[^a]", "[^é]", "[é1]", r"[^\s:]", r"\b"]
    ),
)
ITEMS = st.tuples(ATOMS, st.sampled_from(["", "?", "*", "+", "{1,3}", "*?"])).map(
    lambda pair: pair[0] if pair[0] == r"\b" else f"(?:{pair[0]}){pair[1]}"
)
REGEXES = st.recursive(
    st.lists(ITEMS, min_size=1, max_size=4).map("".join),
    lambda inner: st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
    max_leaves=4,
)


@examples(300)
@given(st.booleans(), REGEXES, st.booleans(), st.text("aé显 :1", max_size=5))
@example(head=True, body="[^a]{1,3}", foot=True, text="显显显")
def test_the_gate_lets_pass_whatever_the_regex_matches(
    head: bool, body: str, foot: bool, text: str
) -> None:
    regex = ("^" if head else "") + body + ("$" if foot else "")
    if re.search(regex, text) is None:
        return
    ends: list[int] = []
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    flags = hyperscan.HS_FLAG_MULTILINE | hyperscan.HS_FLAG_ALLOWEMPTY
    database.compile(expressions=[gate(regex)], ids=[0], flags=[flags])

    database.scan(text.encode(), match_event_handler=lambda _i, _s, end, *_: ends.append(end))

    assert ends

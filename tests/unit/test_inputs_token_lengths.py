"""Token statistics of data files in the usual schemas."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from trainrx.inputs import samples
from trainrx.inputs.sample_text import parts_of
from trainrx.inputs.token_lengths import PER_MESSAGE, estimate_tokens, token_lengths
from trainrx.model.errors import UsageError

HELLO = "Hello, how are you?"
WELL = "I am well."


def _lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


CHAT = [{"role": "user", "content": HELLO}, {"role": "assistant", "content": WELL}]
SCHEMAS = [
    {"messages": CHAT},
    {"conversations": [{"from": "human", "value": HELLO}, {"from": "gpt", "value": WELL}]},
    {"query": HELLO, "response": WELL},
    {"instruction": HELLO, "input": "", "output": WELL},
    {"prompt": HELLO, "completion": WELL},
    {"prompt": HELLO, "chosen": WELL, "rejected": "No."},
    {"question": HELLO, "answer": WELL},
    {"prompt": "ignored", "chosen": CHAT, "rejected": [CHAT[0]]},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": HELLO}]}, CHAT[1]]},
    {"messages": CHAT, "solution": "42"},
]


class TestSchemas:
    @pytest.mark.parametrize("sample", SCHEMAS)
    def test_all_schemas_hold_the_same_words(self, sample: dict[str, object]) -> None:
        parts = parts_of(sample)

        assert parts is not None
        assert (parts.text, parts.messages) == (f"{HELLO}\n{WELL}", 2)

    def test_plain_text_has_no_template(self) -> None:
        parts = parts_of({"text": "once upon a time"})

        assert parts is not None
        assert (parts.text, parts.messages) == ("once upon a time", 0)

    def test_history_counts(self) -> None:
        parts = parts_of({"query": "c", "response": "d", "history": [["a", "b"]]})

        assert parts is not None
        assert sorted(parts.text.split()) == ["a", "b", "c", "d"]

    def test_rejected_response_takes_the_place_of_the_last_message(self) -> None:
        parts = parts_of({"messages": CHAT, "rejected_response": "No."})

        assert parts is not None
        assert parts.rejected == f"{HELLO}\nNo."

    @pytest.mark.parametrize(
        "sample",
        [
            {"query": "<image>what<image>", "response": "x", "images": ["a.png", "b.png"]},
            {"query": "what", "response": "x", "images": ["a.png", "b.png"]},
            {"query": "<image><image>what", "response": "x"},
            {"messages": [{"content": [{"type": "image"}, {"type": "image_url"}]}, CHAT[0]]},
        ],
    )
    def test_images_are_counted_once(self, sample: dict[str, object]) -> None:
        parts = parts_of(sample)

        assert parts is not None
        assert parts.images == 2
        assert "<image>" not in parts.text

    @pytest.mark.parametrize("sample", [{}, {"id": 1}, {"messages": []}, {"text": None}])
    def test_nothing_known_is_no_sample(self, sample: dict[str, object]) -> None:
        assert parts_of(sample) is None

    def test_deep_nesting_ends(self) -> None:
        value: object = "x"
        for _ in range(500):
            value = [value]

        assert parts_of({"messages": value}) is None


class TestFiles:
    def test_json_lines(self, tmp_path: Path) -> None:
        path = _lines(tmp_path / "a.jsonl", {"text": "a" * 100}, {"text": "a" * 300})

        stats = token_lengths(path).stats

        one = estimate_tokens("a" * 100)
        assert (stats.count, stats.max, stats.mean) == pytest.approx((2, 3 * one, 2 * one))
        assert stats.std == pytest.approx(one)
        assert stats.how == "characters"

    @pytest.mark.parametrize("indent", [None, 2])
    def test_a_json_list(self, tmp_path: Path, indent: int | None) -> None:
        path = tmp_path / "a.json"
        path.write_text(json.dumps([{"query": HELLO, "response": WELL}] * 3, indent=indent))

        stats = token_lengths(path).stats

        assert stats.count == 3
        assert stats.mean == pytest.approx(estimate_tokens(f"{HELLO}\n{WELL}") + 2 * PER_MESSAGE)

    def test_a_list_within_an_object(self, tmp_path: Path) -> None:
        path = tmp_path / "a.json"
        path.write_text(json.dumps({"version": 1, "data": [{"text": "a"}]}, indent=1))

        assert token_lengths(path).stats.count == 1

    def test_a_list_longer_than_what_is_read_at_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(samples, "PIECE", 7)
        path = tmp_path / "a.json"
        path.write_text(json.dumps([{"text": "word " * count} for count in range(1, 40)]))

        assert token_lengths(path).stats.count == 39

    def test_a_table(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        with path.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerows([["instruction", "output"], [HELLO, WELL], [HELLO, 'a "b",\nc']])

        assert token_lengths(path).stats.count == 2

    def test_bad_lines_are_counted_and_named(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text('{"text": "a"}\n{"text": \n[1]\n{"foo": 1}\n\n{"text": "b"}\n')

        found = token_lengths(path)

        assert (found.stats.count, found.stats.unread) == (2, 3)
        assert "line 2" in found.problems[0]
        assert "foo" in found.problems[0]

    def test_a_broken_list_says_that_it_ends_early(self, tmp_path: Path) -> None:
        path = tmp_path / "a.json"
        path.write_text('[{"text": "a"}, {"text": "b"')

        found = token_lengths(path)

        assert found.stats.count == 1
        assert "nothing behind it was read" in found.problems[0]

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"", "is empty"),
            (b"\x1f\x8b\x08", "compressed"),
            (b"no data at all", "expected JSON lines"),
            (b'{"foo": 1}\n', "no sample"),
            (b"[]", "no sample"),
        ],
    )
    def test_what_holds_no_samples_is_an_error(
        self, tmp_path: Path, content: bytes, said: str
    ) -> None:
        path = tmp_path / "data.jsonl"
        path.write_bytes(content)

        with pytest.raises(UsageError, match=said):
            token_lengths(path)

    def test_a_missing_file_and_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="cannot be read"):
            token_lengths(tmp_path / "none.jsonl")
        with pytest.raises(UsageError, match="folder"):
            token_lengths(tmp_path)

    def test_parquet_without_pyarrow_says_what_to_do(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        path = tmp_path / "a.parquet"
        path.write_bytes(b"PAR1....PAR1")

        with pytest.raises(UsageError, match="pip install 'trainrx\\[data\\]'"):
            token_lengths(path)

    def test_pairs_count_the_longer_answer(self, tmp_path: Path) -> None:
        row = {"prompt": "p", "chosen": "c", "rejected": "r" * 400}
        path = _lines(tmp_path / "a.jsonl", row)

        stats = token_lengths(path).stats

        assert stats.pair
        assert stats.mean > estimate_tokens("r" * 400)

    def test_quantiles_of_more_samples_than_are_kept(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("trainrx.inputs.token_lengths.RESERVOIR", 200)
        path = _lines(tmp_path / "a.jsonl", *({"text": "a" * n} for n in range(1, 2001)))

        stats = token_lengths(path).stats

        assert stats.p50 is not None
        assert stats.max is not None
        assert stats.p50 == pytest.approx(stats.max / 2, rel=0.2)

    def test_a_named_tokenizer_that_cannot_be_used_is_an_error(self, tmp_path: Path) -> None:
        path = _lines(tmp_path / "a.jsonl", {"text": "a"})

        with pytest.raises(UsageError, match="tokenizer"):
            token_lengths(path, tmp_path / "tokenizer.json")


class TestEstimates:
    @pytest.mark.parametrize(
        ("text", "tokens"),
        [
            # counted with the tokenizer of Qwen
            ("The quick brown fox jumps over the lazy dog while the band plays on.", 15),
            ("今天天气很好，我们一起去公园散步吧。", 10),
            ("12345678", 8),
        ],
    )
    def test_within_a_third_of_a_real_tokenizer(self, text: str, tokens: int) -> None:
        assert estimate_tokens(text) == pytest.approx(tokens, rel=0.35)

    def test_nothing_is_nothing(self) -> None:
        assert estimate_tokens("") == 0

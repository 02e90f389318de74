"""The entry of dataset_info.json that rows describe, as LLaMA-Factory 0.9.3 reads it."""

from __future__ import annotations

from typing import Any

import pytest

from trainrx.frameworks.llamafactory.entries import described

ASKED, TOLD = {"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}
OPENAI = {
    "role_tag": "role",
    "content_tag": "content",
    "user_tag": "user",
    "assistant_tag": "assistant",
}


def talk(*messages: dict[str, str]) -> dict[str, Any]:
    return {"messages": list(messages)}


@pytest.mark.parametrize(
    ("row", "stage", "entry"),
    [
        (
            {"question": "2+2?", "answer": "4"},
            "sft",
            {"columns": {"prompt": "question", "response": "answer"}},
        ),
        (
            {"instruction": "add", "input": "2 2", "output": "4", "system": "You add."},
            "sft",
            {
                "columns": {
                    "prompt": "instruction",
                    "query": "input",
                    "response": "output",
                    "system": "system",
                }
            },
        ),
        (
            talk(ASKED, TOLD),
            "sft",
            {"formatting": "sharegpt", "columns": {"messages": "messages"}, "tags": OPENAI},
        ),
        (
            {"dialog": [{"from": "human", "value": "2+2?"}, {"from": "gpt", "value": "4"}]},
            "sft",
            {"formatting": "sharegpt", "columns": {"messages": "dialog"}},
        ),
        (
            {"question": "2+2?", "chosen": "4", "rejected": "5"},
            "dpo",
            {
                "columns": {"prompt": "question", "chosen": "chosen", "rejected": "rejected"},
                "ranking": True,
            },
        ),
        (
            {**talk(ASKED), "chosen": TOLD, "rejected": {"role": "assistant", "content": "5"}},
            "dpo",
            {
                "formatting": "sharegpt",
                "columns": {"messages": "messages", "chosen": "chosen", "rejected": "rejected"},
                "tags": OPENAI,
                "ranking": True,
            },
        ),
        (
            {"instruction": "2+2?", "output": "4", "label": True},
            "kto",
            {"columns": {"prompt": "instruction", "response": "output", "kto_tag": "label"}},
        ),
    ],
)
def test_rows_say_their_entry(row: dict[str, Any], stage: str, entry: dict[str, Any]) -> None:
    assert described([row, row], stage) == entry


@pytest.mark.parametrize(
    ("row", "stage"),
    [
        ({"a": "2+2?", "b": "4"}, "sft"),
        ({"question": "2+2?", "answer": "4", "response": "four"}, "sft"),
        ({"instruction": "2+2?", "output": "4"}, "dpo"),
        ({"instruction": "2+2?", "output": "4", "good": "yes"}, "kto"),
        ({"instruction": "2+2?", "output": "4", "good": True, "checked": True}, "kto"),
        (talk({"role": "user", "content": "2+2?"}, {"role": "bot", "content": "4"}), "sft"),
        (talk({"speaker": "user", "content": "2+2?"}), "sft"),
        ({**talk(ASKED), "chosen": [TOLD], "rejected": [TOLD]}, "dpo"),
    ],
)
def test_rows_that_leave_it_open_say_nothing(row: dict[str, Any], stage: str) -> None:
    assert described([row, row], stage) is None


def test_no_rows_say_nothing() -> None:
    assert described([], "sft") is None


def test_usual_tags_are_said_where_the_entry_has_others() -> None:
    rows = [{"dialog": [{"from": "human", "value": "?"}, {"from": "gpt", "value": "."}]}]
    found = described(rows, "sft", tagged=True)
    assert found is not None
    assert found["tags"]["role_tag"] == "from"

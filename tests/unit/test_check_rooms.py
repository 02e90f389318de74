"""The name of a framework stands in its room only."""

import ast

import pytest

import check_rooms
from check_rooms import named, problems

KNOWN = frozenset({"verl", "ms-swift"})


@pytest.mark.parametrize(
    "text",
    [
        'if job.framework == "verl":\n    pass',
        'SHARES = {"ms-swift": 0.3}',
        'NEEDLES = (b"verl",)',
        "from trainrx.frameworks.verl import Verl",
        "from trainrx.frameworks import ms_swift",
        "import trainrx.frameworks.ms_swift.effective",
    ],
)
def test_a_name_is_found(text: str) -> None:
    assert [line for line, _ in named(ast.parse(text), KNOWN)] == [1]


@pytest.mark.parametrize(
    "text",
    [
        '"""What verl prints."""',
        'text = "verl and ms-swift"',
        "from trainrx.frameworks import framework_of",
        "from trainrx.frameworks.base import Framework",
        "verl = 1",
    ],
)
def test_what_names_none_is_let_pass(text: str) -> None:
    assert list(named(ast.parse(text), KNOWN)) == []


def test_a_new_name_and_a_needless_exception_are_told(tmp_path, monkeypatch) -> None:
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "roles.py").write_text('ENGINE = "vllm"\n')
    (tmp_path / "frameworks").mkdir()
    (tmp_path / "frameworks" / "vllm.py").write_text('NAME = "vllm"\n')
    monkeypatch.setattr(check_rooms, "EXCEPTIONS", {"fix/plan.py": "none"})

    found = list(problems(tmp_path))

    assert found == [
        "facts/roles.py:1: names vllm: ask the framework",
        "fix/plan.py: no exception is needed here",
    ]

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.linter.check import Linter
from trainrx.linter.files import File
from trainrx.linter.jobs import RunContext
from trainrx.linter.mend import mended
from trainrx.linter.run import groups, lint_file
from trainrx.linter.settings import Settings, chooser

LOADED = LoadedKnowledge()
LINTER = Linter(LOADED.lint, chooser(Settings(), groups(LOADED.lint)), "en")
AROUND = RunContext(LOADED, {"ms-swift": "3.2.1", "llamafactory": "0.9.3"})

NAMES = st.sampled_from(
    ["max_length", "max_lenght", "sft_type", "lora_rank", "bf16", "dataset", "no_such", "deepspeed"]
)
VALUES = st.sampled_from(["1", "true", "ture", "x", "$UNSET", "'a b'", "–x", "zero2", ""])
ENDS = st.sampled_from([" \\\n", " \\ \n", " \\\r\n", " \\\n\n", " \\\n# note\n", "\n", " "])
FLAGS = st.lists(st.tuples(st.sampled_from(["--", "-", "–-", ""]), NAMES, VALUES, ENDS), max_size=8)


def _script(flags: list[tuple[str, str, str, str]]) -> File:
    words = "".join(f"{dash}{name} {value}{end}" for dash, name, value, end in flags)
    return File(
        "f.sh", f"NPROC_PER_NODE=2 swift sft --model a {words}\n", "script", None, named=True
    )


@given(st.text(max_size=300), st.sampled_from(["script", "config"]))
def test_no_text_makes_lint_fail(text: str, kind: str) -> None:
    file = File("f", text, "config" if kind == "config" else "script", None, named=True)

    found, _ = lint_file(file, LINTER, AROUND, [])

    assert all(item.file for item in found)


@given(FLAGS)
def test_every_finding_lies_in_the_text(flags: list[tuple[str, str, str, str]]) -> None:
    file = _script(flags)
    lines = file.text.split("\n")

    found, _ = lint_file(file, LINTER, AROUND, [])

    for item in found:
        assert item.line is None or 1 <= item.line <= len(lines)
        if item.line is not None and item.column is not None:
            assert 1 <= item.column <= (item.end_column or item.column)
            assert (item.end_column or 1) <= len(lines[item.line - 1]) + 2


@given(FLAGS)
def test_mending_twice_is_mending_once(flags: list[tuple[str, str, str, str]]) -> None:
    file = _script(flags)

    once = mended(file, LINTER, AROUND, unsafe=True)
    twice = mended(msgspec.structs.replace(file, text=once.text), LINTER, AROUND, unsafe=True)

    assert twice.text == once.text
    assert twice.made == 0

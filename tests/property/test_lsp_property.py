from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.linter.places import apply
from trainrx.lsp.actions import all_fixes, quick_fixes
from trainrx.lsp.desk import Desk, Document, Wishes, own
from trainrx.lsp.hover import as_markdown, hover, span
from trainrx.lsp.sheet import EditedText, readable

PIECES = (
    *("swift sft ", "--model m ", "--lora_rnak 8 ", "--lora_rank ", "\\\n", "\n", "\r\n", "\r"),
    *("# diagnose: ignore=all x\n", "# diagnose: ignore=misspelt-argument\n", "NPROC_PER_NODE=2 "),
    *("llamafactory-cli train ", "stage: sft\n", "cutof_len: 8\n", "finetuning_type: lora\n"),
    *(
        "'",
        '"',
        "$(",
        "数据😀",
        "\ud800",
        "\x0c",
        "\u2028",
        "{",
        "}",
        "[",
        "--",
        "—",
        "`",
        " \\ \n",
    ),
)
TEXT = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
NAMES = st.sampled_from(["a.sh", "a.yaml", "a.json", "a.txt"])


@pytest.fixture(scope="module")
def desk() -> Desk:
    made = Desk("zh")
    made.wishes = Wishes(versions={"ms-swift": "3.2.1", "llamafactory": "0.9.3"})
    return made


@given(TEXT, NAMES, st.data())
def test_any_text_is_judged_explained_and_mended(desk, text, name, data):
    sight = desk.look(Document(text, Path("/nowhere") / name, "shellscript"))
    sheet = EditedText(readable(text))

    for item in sight.findings:
        start, stop = span(item, sheet)
        assert 0 <= start <= stop <= len(text)
    shown = hover(sight, sheet, data.draw(st.integers(0, len(text))), ((), ()))
    assert shown is None or as_markdown(shown.lines).strip()
    last = text.count("\n") + 1
    for action in quick_fixes(sight, 1, last, desk.knowledge):
        after = desk.look(
            Document(apply(sight.file.text, action.edits)[0], Path("/nowhere") / name, "sh")
        )
        errors = [sum(i.severity == "error" for i in s.findings) for s in (after, sight)]
        assert errors[0] <= errors[1]
        if action.title.startswith("在此处忽略"):
            counts = [sum(i.rule == action.finding.rule for i in own(s)) for s in (after, sight)]
            assert counts[0] < counts[1]
    every = all_fixes(sight)
    assert every is None or apply(sight.file.text, every.edits)[0] != sight.file.text

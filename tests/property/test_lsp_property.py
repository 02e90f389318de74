from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.linter.places import apply
from trainrx.lsp.actions import all_fixes, quick_fixes
from trainrx.lsp.edited_text import EditedText, readable
from trainrx.lsp.hover import as_markdown, hover, span
from trainrx.lsp.workspace import EditorOptions, OpenDocument, Workspace, own

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
def workspace() -> Workspace:
    made = Workspace("zh")
    made.options = EditorOptions(versions={"ms-swift": "3.2.1", "llamafactory": "0.9.3"})
    return made


@given(TEXT, NAMES, st.data())
def test_any_text_is_judged_explained_and_mended(workspace, text, name, data):
    linted = workspace.look(OpenDocument(text, Path("/nowhere") / name, "shellscript"))
    edited = EditedText(readable(text))

    for item in linted.findings:
        start, stop = span(item, edited)
        assert 0 <= start <= stop <= len(text)
    shown = hover(linted, edited, data.draw(st.integers(0, len(text))), ((), ()))
    assert shown is None or as_markdown(shown.lines).strip()
    last = text.count("\n") + 1
    for action in quick_fixes(linted, 1, last, workspace.knowledge):
        after = workspace.look(
            OpenDocument(apply(linted.file.text, action.edits)[0], Path("/nowhere") / name, "sh")
        )
        errors = [sum(i.severity == "error" for i in s.findings) for s in (after, linted)]
        assert errors[0] <= errors[1]
        if action.title.startswith("在此处忽略"):
            counts = [sum(i.rule == action.finding.rule for i in own(s)) for s in (after, linted)]
            assert counts[0] < counts[1]
    every = all_fixes(linted)
    assert every is None or apply(linted.file.text, every.edits)[0] != linted.file.text

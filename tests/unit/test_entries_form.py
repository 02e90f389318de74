from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.cli import main
from trainrx.entries.form import WIDTH, formatted, width
from trainrx.knowledge.yaml12 import nodes_of
from trainrx.model.errors import KnowledgeError

HERE = Path("a.yaml")
LONG = "Every rank loads the whole data set, in several copies, and every worker does so once more."
KEYS = st.text("abcxyz._-", min_size=1, max_size=8).filter(lambda key: key[0] not in "-.")
SCALARS = (
    st.text(max_size=120)
    | st.text(st.sampled_from("ab :#'\"\\-，。中 {}[]&*!|>%@`\t"), max_size=160)
    | st.integers()
    | st.booleans()
    | st.none()
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner),
    max_leaves=12,
)


def as_text(data: object) -> str:
    import yaml

    return yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=1000)


@given(st.dictionaries(KEYS, TREES, min_size=1, max_size=4))
def test_the_form_keeps_the_data_and_stays_as_it_is(data: dict[str, object]) -> None:
    text = as_text(data)
    held = nodes_of(text, HERE)[0]

    once = formatted(text, HERE)

    assert nodes_of(once, HERE)[0] == held
    assert formatted(once, HERE) == once


def test_a_flow_mapping_that_does_not_fit_becomes_a_block() -> None:
    text = f"fixes:\n- {{id: a, title: {{en: '{LONG}', zh: 短}}, set: {{x: 1}}}}\n"

    lines = formatted(text, HERE).splitlines()

    assert lines[:4] == ["fixes:", "  - id: a", "    title:", "      en: >-"]
    assert lines[-2:] == ["      zh: 短", "    set: {x: 1}"]
    assert max(map(width, lines)) <= WIDTH


def test_english_stands_before_chinese() -> None:
    assert formatted("why: {zh: 有, en: It does}\n", HERE) == "why: {en: It does, zh: 有}\n"


def test_chinese_without_spaces_is_broken_behind_its_signs() -> None:
    text = f"zh: {'显存不足时请减小批大小，' * 8}\n"

    lines = formatted(text, HERE).splitlines()

    assert len(lines) > 1
    assert max(map(width, lines)) <= WIDTH


def test_what_cannot_be_broken_stays_on_its_line() -> None:
    text = f"url: https://example.org/{'a' * 120}\n"

    assert formatted(text, HERE) == text


def test_comments_stay_where_they_are() -> None:
    text = "# head\na:                  # why\n  # below\n  - b  # behind\n\n# foot\nc: 1\n"

    assert formatted(text, HERE) == text


def test_an_alias_is_refused() -> None:
    with pytest.raises(KnowledgeError, match="holds an alias"):
        formatted("a: &x {b: 1}\nc: *x\n", HERE)


def test_the_command_writes_or_only_says_what_it_would(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a:\n- {b:   1}\n")

    checked = main(["kb", "format", "--check", str(tmp_path)])
    before = path.read_text()
    wrote = main(["kb", "format", str(tmp_path)])
    again = main(["kb", "format", "--check", str(tmp_path)])

    assert (checked, wrote, again) == (1, 0, 0)
    assert before == "a:\n- {b:   1}\n"
    assert path.read_text() == "a:\n  - {b: 1}\n"
    assert capsys.readouterr().out.startswith(f"would write {path}\n1 changed\n")


def test_an_entry_is_formatted_by_its_id_with_its_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a-thing.yaml", "a-thing.test.yaml", "b-thing.yaml"):
        (tmp_path / name).write_text("a:\n- {b:   1}\n")

    status = main(["kb", "format", "a-thing", "--kb", str(tmp_path)])

    assert status == 0
    assert capsys.readouterr().out.endswith("2 changed\n")
    assert main(["kb", "format", "c-thing", "--kb", str(tmp_path)]) == 2
    assert "'c-thing' is no file, no folder and no entry" in capsys.readouterr().err


def test_a_comment_below_a_block_stays_in_it() -> None:
    text = "a:\n  - b: 1\n    # c: 2\nd: 3\n"

    assert formatted(text, HERE) == text


@pytest.mark.parametrize("name", ["cause hang/a-state", "symptom hang/a-line", "guard trl/a-guard"])
def test_a_new_entry_is_in_the_form(name: str, tmp_path: Path) -> None:
    main(["kb", "new", *name.split(), "--kb", str(tmp_path)])

    assert main(["kb", "format", "--check", str(tmp_path)]) == 0

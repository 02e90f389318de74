"""Tables of many releases become ranges, and ranges the same tables."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.build import decode, encode
from catalog.ranges import changes, code_ranges, expand, spans
from catalog.releases import ascending, read_releases
from catalog.renames import write_renames
from catalog.tables import Argument, Command
from trainrx.model.catalog import Contents, Option, Value

RELEASES = ("1.0", "1.1", "2.0", "2.1", "3.0")

VALUES: st.SearchStrategy[Value] = st.sampled_from(
    [None, True, 1, 1.0, 0, False, "a", [1, "b"], {"expr": "f()"}, {"required": True}]
)
ARGUMENTS = st.builds(
    Argument,
    type=st.sampled_from(["int", "str", "Optional[List[str]]"]),
    default=VALUES,
    choices=st.sampled_from([None, ("a", "b"), (1,)]),
    aliases=st.sampled_from([(), ("-x",), ("-x", "other")]),
)
COMMANDS = st.dictionaries(
    st.sampled_from(["sft", "rlhf", "infer"]),
    st.builds(
        Command,
        arguments=st.dictionaries(st.sampled_from(["a", "b", "c"]), ARGUMENTS),
        inherits=st.sampled_from([(), (("transformers", "TrainingArguments"),)]),
        yielding=st.just(frozenset()),
    ),
)


@given(st.fixed_dictionaries(dict.fromkeys(RELEASES, COMMANDS)))
def test_ranges_give_the_tables_back(tables: dict[str, dict[str, Command]]) -> None:
    written = encode(*code_ranges("p", RELEASES, tables))

    back = expand(*decode(written))

    assert _exact(back) == _exact(tables)
    assert encode(*code_ranges("p", RELEASES, back)) == written


def _exact(tables: dict[str, dict[str, Command]]) -> bytes:
    """Tell 1, 1.0 and True apart, as == does not."""
    return msgspec.json.encode(tables, order="sorted")


def test_commands_that_agree_where_both_exist_share_a_line() -> None:
    one, other = Argument("int", 1), Argument("int", 2)
    tables = {
        "1.0": {"sft": Command({"a": one})},
        "2.0": {
            "sft": Command({"a": one}),
            "rlhf": Command({"a": one}),
            "infer": Command({"a": other}),
        },
    }

    _, options = code_ranges("p", ("1.0", "2.0"), tables)

    assert [(o.commands, o.spans) for o in options] == [
        (("rlhf", "sft"), (("1.0", None),)),
        (("infer",), (("2.0", None),)),
    ]


def test_a_release_without_the_command_ends_no_stretch() -> None:
    tables = {
        "1.0": {"sft": Command({"a": Argument("int", 1)})},
        "2.0": {"other": Command({})},
        "3.0": {"sft": Command({"a": Argument("int", 1)})},
    }

    contents, (option,) = code_ranges("p", ("1.0", "2.0", "3.0"), tables)

    assert option.spans == (("1.0", None),)
    assert contents.commands["sft"] == (("1.0", "2.0"), ("3.0", None))


def test_spans_close_at_the_first_release_without() -> None:
    assert spans(RELEASES, {"1.0", "2.0", "2.1"}) == (("1.0", "1.1"), ("2.0", "3.0"))
    assert spans(RELEASES, set()) == ()


def test_changes_tell_numbers_and_booleans_apart() -> None:
    assert changes([("1", 1), ("2", True), ("3", True), ("4", 1.0)]) == (
        ("1", 1),
        ("2", True),
        ("4", 1.0),
    )


def test_releases_are_ordered_as_versions() -> None:
    assert ascending(["3.10.0", "3.9.0", "3.9.0.post1"]) == ("3.9.0", "3.9.0.post1", "3.10.0")


@pytest.mark.parametrize("text", ["ms-swift\n", "a==1\na==1\n"])
def test_a_bad_list_of_releases_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "releases.txt"
    path.write_text(text)

    with pytest.raises(ValueError, match="twice"):
        read_releases(path)


def test_the_release_of_a_rename_is_looked_up(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(
        '{"package":"p","old":"gone","new":"kept"}\n{"package":"p","old":"kept","new":"x"}\n'
    )
    life: tuple[tuple[str, str | None], ...] = (("1.0", None),)
    contents = Contents(package="p", releases=("1.0", "2.0"), commands={"sft": life})
    options = (
        Option(name="gone", commands=("sft",), spans=(("1.0", "2.0"),)),
        Option(name="kept", commands=("sft",), spans=life),
    )

    written = write_renames({"p": (contents, options)}, pairs)

    assert written.splitlines() == [
        b'{"package":"p","old":"gone","new":"kept","until":"2.0","commands":["sft"]}',
        b'{"package":"p","old":"kept","new":"x"}',
    ]

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.lsp.edited_text import EditedText, EditorPosition, readable

TEXT = st.text(alphabet="ab \\\n\r\x0c\u2028数é😀🚀", max_size=60)
UNITS = {
    "utf-8": lambda t: len(t.encode()),
    "utf-16": lambda t: len(t.encode("utf-16-le")) // 2,
    "utf-32": len,
}


@pytest.mark.parametrize(
    ("encoding", "unit"), [("utf-8", 3 + 4 + 1), ("utf-16", 1 + 2 + 1), ("utf-32", 3)]
)
def test_units_are_those_of_the_encoding(encoding, unit):
    edited = EditedText("a\n数😀bc", encoding)

    assert edited.place(edited.offset(2, 4)) == EditorPosition(1, unit)
    assert edited.found(EditorPosition(1, unit)) == 5


@pytest.mark.parametrize(
    ("offset", "place"),
    [(0, (0, 0)), (1, (0, 1)), (2, (0, 1)), (3, (1, 0)), (4, (1, 1)), (5, (2, 0)), (7, (3, 0))],
)
def test_each_line_end_begins_a_line_of_the_editor(offset, place):
    assert EditedText("a\r\nb\rc\n").place(offset) == EditorPosition(*place)


def test_what_lies_outside_is_moved_inside():
    edited = EditedText("ab\ncd")

    assert [edited.offset(0, 0), edited.offset(1, 99), edited.offset(99, 1)] == [0, 3, 5]
    assert [edited.found(EditorPosition(*p)) for p in ((-1, -1), (0, 99), (99, 0))] == [0, 2, 5]


def test_a_lone_surrogate_keeps_its_width():
    assert readable("a\ud800b") == "a\ufffdb"


@given(TEXT, st.sampled_from(sorted(UNITS)), st.data())
def test_an_offset_is_found_again(text, encoding, data):
    edited = EditedText(text, encoding)
    offset = data.draw(st.integers(0, len(text)))

    place = edited.place(offset)

    inside = text[offset - 1 : offset + 1] == "\r\n"
    assert edited.found(place) == offset - inside
    assert edited.offset(*edited.counted(offset)) == offset
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert place.unit <= UNITS[encoding](lines[place.line])

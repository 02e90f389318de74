from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trainrx.render.document import CopyLine, View
from trainrx.render.formats.text import TextPage, to_copy
from trainrx.render.layout import cells

LONG = CopyLine("--per_device_train_batch_size 2", "instead of --batch_size 2 (launch.sh:10)")
SHORT = (CopyLine("--lora_rank 8", "was 4 (launch.sh:9)"), CopyLine("--seed 1", "not set now"))


def shown(lines, width=80, indent=9):
    return [
        "".join(span.text for span in line)
        for line in to_copy(TextPage(View("en", width)), lines, indent)
    ]


def test_remarks_stand_in_one_column_and_only_what_finds_no_room_goes_below():
    first, second, third, below = shown((*SHORT, LONG))

    assert first.index("# was 4") == second.index("# not set now") == 9 + len("--lora_rank 8") + 2
    assert third.strip() == LONG.text
    assert below == " " * 11 + f"# {LONG.remark}"


def test_a_wide_terminal_has_room_for_all():
    lines = shown((*SHORT, LONG), width=120)

    assert len(lines) == 3
    assert len({line.index("# ") for line in lines}) == 1


@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(0, 60)), max_size=8), st.integers(20, 120)
)
def test_every_line_and_remark_is_shown_once_and_remarks_beside_are_in_line(sizes, width):
    lines = [CopyLine("x" * text, "y" * remark) for text, remark in sizes]
    out = shown(lines, width)

    assert "".join(out).count("x") == sum(text for text, _ in sizes)
    assert "".join(out).count("y") == sum(remark for _, remark in sizes)
    beside = [line for line in out if "x" in line and "#" in line]
    assert len({line.index("#") for line in beside}) <= 1
    assert all(cells(line) <= width for line in beside)

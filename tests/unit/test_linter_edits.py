from __future__ import annotations

from trainrx.linter.places import LineRange, apply, line_removed, replaced
from trainrx.model.findings import Edit

TEXT = "one two\nthree\nfour"


def test_edits_of_one_line_keep_their_places() -> None:
    edits = (*replaced(LineRange("f", 1, 1, 4), "1"), *replaced(LineRange("f", 1, 5, 8), "2222"))

    text, made = apply(TEXT, edits)

    assert text == "1 2222\nthree\nfour"
    assert len(made) == 2


def test_of_two_that_overlap_the_first_counts() -> None:
    edits = (*replaced(LineRange("f", 1, 1, 5), "x"), *replaced(LineRange("f", 1, 4, 8), "y"))

    text, made = apply(TEXT, edits)

    assert text == "xtwo\nthree\nfour"
    assert len(made) == 1


def test_a_line_goes_with_its_end() -> None:
    assert apply(TEXT, line_removed("f", 2))[0] == "one two\nfour"


def test_the_last_line_can_go() -> None:
    assert apply(TEXT, line_removed("f", 3))[0] == "one two\nthree\n"


def test_a_place_outside_the_text_changes_nothing() -> None:
    edit = Edit(file="f", line=9, column=1, end_line=9, end_column=2, text="x")

    assert apply(TEXT, (edit,)) == (TEXT, ())


def test_an_unknown_stretch_makes_no_edit() -> None:
    assert replaced(LineRange("f", 1), "x") == ()

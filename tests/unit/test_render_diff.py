from __future__ import annotations

import os
import re
from pathlib import Path

import inspections
import msgspec
import pytest

from trainrx.render import render
from trainrx.render.document import View
from trainrx.render.layout import cells

FOLDER = Path(__file__).parents[1] / "golden"


def shown(lang: str = "en", width: int = 80, *, everything: bool = False) -> str:
    view = View("zh" if lang == "zh" else "en", width, everything)
    return render(inspections.comparison(), "text", view)


@pytest.mark.parametrize("form", ["txt", "all.txt", "60.txt"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_reads_as_it_was_approved(lang, form):
    golden = FOLDER / f"diff.{lang}.{form}"

    text = shown(lang, 60 if form == "60.txt" else 80, everything=form == "all.txt")

    if os.environ.get("TRAINRX_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_line_is_wider_than_the_terminal(lang, width):
    lines = shown(lang, width).splitlines()

    assert [line for line in lines if cells(line) > width and " " in line.strip()] == []


def test_what_matters_stands_first_with_both_values_and_both_names():
    text = shown()

    assert text.startswith("DIFFERENT in 2 values that matter\n")
    assert re.search(r"MAX_PIXELS +602112 +None\n +launch.sh:2 +\(max_pixels\)\n", text)


def test_renamed_arguments_are_one_short_list():
    assert "model_id_or_path -> model\n" in shown()


def test_defaults_of_one_side_are_counted_and_listed_on_demand():
    assert "1 defaults exist only on the good side" in " ".join(shown().split())
    assert "lang = en" in shown(everything=True)


def test_two_equal_launches_are_said_to_be_the_same():
    same = msgspec.structs.replace(
        inspections.comparison(), verdict="same", changes=(), facts=(), lone=(), open=()
    )

    assert render(same, "text", View("en", 80)).startswith("SAME in what matters\n")


def test_a_token_is_never_shown():
    assert "hf_abcd" not in shown(everything=True)

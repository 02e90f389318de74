from __future__ import annotations

import os
import re
from pathlib import Path

import inspections
import pytest

from trainrx.model.inspection import Inspection
from trainrx.render import render
from trainrx.render.document import View
from trainrx.render.inspect import MAX_JOBS
from trainrx.render.inspect_rows import plain_value
from trainrx.render.layout import cells

FOLDER = Path(__file__).parents[1] / "golden"


def shown(
    answer: Inspection | None = None,
    lang: str = "en",
    width: int = 80,
    *,
    everything: bool = False,
) -> str:
    view = View("zh" if lang == "zh" else "en", width, everything)
    return render(answer or inspections.inspection(), "text", view)


@pytest.mark.parametrize("form", ["txt", "all.txt", "60.txt"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_reads_as_it_was_approved(lang, form):
    golden = FOLDER / f"inspect.{lang}.{form}"

    width = 60 if form == "60.txt" else 80
    text = shown(lang=lang, width=width, everything=form == "all.txt")

    if os.environ.get("TRAINRX_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 60, 72, 80, 120, 200])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_line_is_wider_than_the_terminal(lang, width):
    lines = shown(lang=lang, width=width).splitlines()

    # names and paths are never broken, they can be copied
    assert [line for line in lines if cells(line) > width and " " in line.strip()] == []


def test_a_given_value_stands_with_its_line_and_a_default_with_its_release():
    text = shown()

    assert re.search(r"per_device_train_batch_size +2 +launch\.sh:5\n", text)
    assert re.search(r"packing +false +ms-swift 3\.2\.1 default\n", text)


def test_a_computed_value_names_what_it_comes_from():
    text = " ".join(shown(width=200).split())

    assert "gradient_accumulation_steps 4 computed from" in text
    assert "per_device_train_batch_size, NPROC_PER_NODE" in text


def test_an_argument_without_a_meaning_here_is_shown_only_on_demand():
    assert "lang" not in shown()
    assert re.search(r"lang +en +ms-swift 3\.2\.1 default", shown(everything=True))


def test_a_name_of_another_release_comes_with_its_name_here():
    assert "sft_type lora (launch.sh:9): is called train_type here" in shown()


def test_an_unknown_value_says_why_and_what_it_may_be():
    text = " ".join(shown().split())

    assert "max_length $LEN (launch.sh:6): not set in the script" in text
    assert "may be: 2048, 8192" in text


def test_a_defect_stands_with_line_and_column():
    assert "jobs/launch.sh:7:29: " in shown()


def test_the_head_says_what_is_the_matter():
    head = " ".join(shown().split("\n\n", maxsplit=1)[0].split())

    assert "defects of the script: 1" in head
    assert "values not known: 1" in head


def test_a_token_is_never_shown():
    for text in (shown(), shown(everything=True)):
        assert "hf_abcd" not in text
        assert re.search(r"HF_TOKEN +\*\*\*", text)


def test_several_launches_are_numbered_and_many_are_cut():
    many = inspections.inspection(*[inspections.job()] * (MAX_JOBS + 3))

    text = shown(many)

    assert f"launch {MAX_JOBS} of {MAX_JOBS + 3}" in text
    assert "3 more launches" in text
    assert f"launch {MAX_JOBS + 3} of" in shown(many, everything=True)


def test_a_program_nobody_knows_is_not_said_to_refuse_its_arguments():
    text = shown(inspections.inspection(inspections.job(framework=None, version=None)))

    assert "Names this version does not take" not in text
    assert "not known here" in text


def test_without_a_version_it_asks_for_one():
    assert "--versions" in shown(inspections.inspection(inspections.job(version=None)))


def test_a_page_holds_no_control_character():
    evil = inspections.arg("other", "x\x1b[31m", "a\x1b[0m\u202eb\r\nc", 3)

    text = shown(inspections.inspection(inspections.job(arguments=(evil,))))

    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "true"),
        (1.0, "1"),
        (1e-4, "0.0001"),
        (1e300, "1e+300"),
        ([], "[]"),
        (["a", 2], "a, 2"),
        ({"a": "中"}, '{"a": "中"}'),
        ("x y", "x y"),
    ],
)
def test_a_value_is_written_as_one_would_type_it(value, text):
    assert plain_value(value) == text

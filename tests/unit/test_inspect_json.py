from __future__ import annotations

import json

import inspections
import msgspec
import pytest
from jsonschema import Draft202012Validator

from trainrx.model.facts import Origin
from trainrx.model.inspection import Comparison, Inspection
from trainrx.render.formats.json import FOLDER, schemas
from trainrx.render.formats.json import write as as_json
from trainrx.render.redact import masked

ANSWERS = {
    "inspection.schema.json": inspections.inspection(),
    "comparison.schema.json": inspections.comparison(),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_is_valid_by_the_committed_schema(name):
    schema = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)

    answer = json.loads(as_json(masked(ANSWERS[name])))

    assert list(Draft202012Validator(schema).iter_errors(answer)) == []


@pytest.mark.parametrize("name", ANSWERS)
def test_the_committed_schema_is_the_one_of_the_records(name):
    assert (FOLDER / name).read_text(encoding="utf-8") == schemas()[name]


def test_the_schema_refuses_what_is_not_the_contract():
    schema = json.loads((FOLDER / "inspection.schema.json").read_text(encoding="utf-8"))
    answer = json.loads(as_json(inspections.inspection()))
    answer["schema_version"] = 2
    answer["jobs"][0]["arguments"][0]["topic"] = "weather"

    assert len(list(Draft202012Validator(schema).iter_errors(answer))) == 2


def test_json_reads_back_as_the_same_answer():
    for answer, kind in zip(ANSWERS.values(), (Inspection, Comparison), strict=True):
        assert msgspec.json.decode(as_json(answer), type=kind) == answer


def test_a_secret_is_masked_in_values_texts_and_quotes():
    text = as_json(masked(inspections.inspection()))

    assert "hf_abcd" not in text
    assert json.loads(text)["jobs"][0]["env"][1]["value"] == "***"


def test_what_is_no_secret_is_not_masked():
    text = as_json(masked(inspections.inspection()))

    assert "***" not in text.replace('"***"', "", 2).replace("HF_TOKEN=***", "")
    assert "602112" in text


def test_bytes_that_are_no_text_do_not_break_it():
    job = inspections.job(place=Origin(source="\udcff.sh", line=1))

    read = json.loads(as_json(masked(inspections.inspection(job))).encode())

    assert read["jobs"][0]["place"]["source"] == "?.sh"

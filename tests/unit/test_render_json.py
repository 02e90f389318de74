from __future__ import annotations

import json

import diagnoses
import msgspec
import pytest
from jsonschema import Draft202012Validator

from trainrx.model.facts import Origin
from trainrx.model.result import Diagnosis
from trainrx.render import render
from trainrx.render.document import View
from trainrx.render.formats.json import FOLDER, schemas


def as_json(answer: Diagnosis) -> str:
    return render(answer, "json", View("en"))


def validator() -> Draft202012Validator:
    schema = json.loads((FOLDER / "diagnosis.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("name", diagnoses.ALL)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_answer_is_valid_by_the_committed_schema(name, lang):
    answer = json.loads(as_json(diagnoses.ALL[name](lang)))

    assert list(validator().iter_errors(answer)) == []


def test_the_schema_refuses_what_is_not_the_contract():
    answer = json.loads(as_json(diagnoses.oom()))
    answer["verdict"] = "fine"
    answer["causes"][0]["fixes"][0]["changes"][0]["to"] = 602112

    assert len(list(validator().iter_errors(answer))) == 2


def test_the_committed_schema_is_the_one_of_the_records():
    assert {name: (FOLDER / name).read_text(encoding="utf-8") for name in schemas()} == schemas()


def test_the_fields_are_those_of_the_contract():
    answer = json.loads(as_json(diagnoses.oom()))

    change = answer["causes"][0]["fixes"][1]["changes"][0]

    assert answer["schema_version"] == 1
    assert change["from"] == "zero3_offload"
    assert change["to"] == "zero3"
    assert change["param"] == "deepspeed"
    assert "from_" not in change
    assert answer["symptoms"][0]["evidence"][0]["line"] == 412


def test_json_reads_back_as_the_same_answer():
    answer = diagnoses.oom("zh")

    assert msgspec.json.decode(as_json(answer), type=Diagnosis) == answer


def test_bytes_that_are_no_text_do_not_break_it():
    symptom = msgspec.structs.replace(
        diagnoses.oom().symptoms[0], evidence=(Origin(source="\udcff.log", text="\x00\x1b[31m"),)
    )
    answer = msgspec.structs.replace(diagnoses.oom(), symptoms=(symptom,))

    read = json.loads(as_json(answer).encode())

    assert read["symptoms"][0]["evidence"][0] == {
        "source": "?.log",
        "line": None,
        "text": "\x00\x1b[31m",
    }

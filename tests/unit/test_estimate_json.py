from __future__ import annotations

import json

import estimates
import msgspec
import pytest
from jsonschema import Draft202012Validator

from trainrx.estimation.run import rounded
from trainrx.model.estimate import Estimate
from trainrx.render import render
from trainrx.render.document import View
from trainrx.render.formats.json import FOLDER, schemas
from trainrx.render.formats.json import write as as_json
from trainrx.render.redact import masked

ANSWERS = (estimates.estimate(), estimates.too_large(), estimates.refused("impossible"))

PATH = FOLDER / "estimate.schema.json"


@pytest.mark.parametrize("answer", ANSWERS)
def test_every_answer_is_valid_by_the_committed_schema(answer):
    schema = json.loads(PATH.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)

    read = json.loads(as_json(masked(answer)))

    assert list(Draft202012Validator(schema).iter_errors(read)) == []


def test_the_committed_schema_is_the_one_of_the_records():
    assert PATH.read_text(encoding="utf-8") == schemas()[PATH.name]


def test_the_schema_refuses_what_is_not_the_contract():
    schema = json.loads(PATH.read_text(encoding="utf-8"))
    answer = json.loads(as_json(estimates.estimate()))
    answer["schema_version"] = 2
    answer["verdict"] = "perhaps"

    assert len(list(Draft202012Validator(schema).iter_errors(answer))) == 2


@pytest.mark.parametrize("answer", ANSWERS)
def test_json_reads_back_as_the_same_answer(answer):
    assert msgspec.json.decode(as_json(answer), type=Estimate) == answer


def test_figures_are_rounded_to_a_hundredth():
    exact = estimates.figure(1 / 3, 0.126, 12345.6789)

    assert rounded(exact) == estimates.figure(0.33, 0.13, 12345.68)


def test_counts_and_texts_are_not_rounded():
    answer = estimates.estimate()

    assert rounded(answer).job == answer.job


def test_a_secret_is_masked_and_bytes_that_are_no_text_do_not_break_it():
    job = msgspec.structs.replace(estimates.JOB, model="https://u:hunter2secret@host/m\udcff")
    answer = masked(estimates.estimate(job=job))

    for shown in (as_json(answer), render(answer, "markdown", View("en"))):
        assert "hunter2secret" not in shown
        shown.encode()


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("answer", ANSWERS)
def test_markdown_has_no_table_and_closes_its_fences(answer, lang):
    shown = render(answer, "markdown", View(lang))

    assert not any(line.startswith("|") for line in shown.splitlines())
    assert shown.count("```") % 2 == 0


@pytest.mark.parametrize(
    ("answer", "lang", "first"),
    [
        (estimates.estimate(), "en", "**FITS**: A100-SXM4-80GB: 54.1 of 79.3 GiB"),
        (estimates.too_large(), "zh", "**放不下**：RTX A6000：47.4 GiB 中占用 54.1 GiB"),
        (estimates.refused(), "en", "**no prediction**: the shape of ./my-model is not known"),
    ],
)
def test_markdown_begins_with_the_verdict(answer, lang, first):
    assert render(answer, "markdown", View(lang)).startswith(first)


def test_markdown_neutralises_what_the_job_names():
    job = msgspec.structs.replace(estimates.JOB, model="@all [x](http://evil)")

    shown = render(estimates.estimate(job=job), "markdown", View("en"))

    assert "@all" not in shown
    assert "[x](http" not in shown


def test_markdown_leaves_out_terms_that_are_nothing():
    nothing = estimates.phase(
        "loss", *estimates.PHASES[1].terms, estimates.Term(name="engine", gib=0.0)
    )

    assert "vLLM" not in render(estimates.estimate(phases=(nothing,)), "markdown", View("en"))

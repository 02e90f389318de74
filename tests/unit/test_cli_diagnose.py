from __future__ import annotations

import io
import json
from pathlib import Path

import diagnoses
import msgspec
import pytest

import command_line
from trainrx.cli._options import request_from
from trainrx.cli._output import read_stdin, view
from trainrx.cli.diagnose import failing
from trainrx.model.errors import UsageError
from trainrx.model.result import Diagnosis, Verdict
from trainrx.render import render
from trainrx.render.document import View
from trainrx.render.formats import names

SECRET = "hf_" + "abcdEFGHijklMNOPqrstuvWXyz"
LEAKY = msgspec.structs.replace(diagnoses.oom(), warnings=(f"seen {SECRET}",))
EN = View("en", 80)
FORMS = names("Diagnosis")


def called(verdict: Verdict) -> Diagnosis:
    return msgspec.structs.replace(diagnoses.oom(), verdict=verdict)


class Stdin:
    """Standard input as the interpreter gives it."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)

    def isatty(self) -> bool:
        return False


@pytest.mark.parametrize("form", FORMS)
def test_every_form_names_the_first_fix(form):
    assert "MAX_PIXELS=602112" in render(LEAKY, form, EN)


def test_json_is_json():
    assert json.loads(render(LEAKY, "json", EN))["verdict"] == "diagnosed"


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_masked_in_every_form_unless_it_is_asked_for(form):
    assert SECRET not in render(LEAKY, form, EN)
    assert SECRET in render(LEAKY, form, EN._replace(redaction="none", everything=True))


@pytest.mark.parametrize(
    ("answer", "fail_on", "status"),
    [
        (diagnoses.oom(), "none", 0),
        (diagnoses.oom(), "possible", 1),
        (diagnoses.oom(), "likely", 1),
        (diagnoses.healthy(), "possible", 0),
        (diagnoses.unknown(), "likely", 0),
        (called("suspected"), "likely", 0),
        (called("suspected"), "possible", 1),
        (called("will_fail"), "likely", 1),
        (called("will_not_fit"), "likely", 1),
        (called("at_risk"), "likely", 0),
        (called("at_risk"), "possible", 1),
        (called("no_problem_foreseen"), "unknown", 0),
        (diagnoses.healthy(), "unknown", 0),
        (diagnoses.unknown(), "possible", 0),
        (diagnoses.unknown(), "unknown", 1),
        (called("will_fail"), "unknown", 1),
        (called("will_fail"), "none", 0),
    ],
)
def test_the_status_is_1_only_when_asked_for_and_found(answer, fail_on, status):
    assert failing(answer, fail_on) == status


def test_standard_input_is_read_only_for_a_dash(monkeypatch):
    monkeypatch.setattr("sys.stdin", Stdin(b"log \xff"))

    assert read_stdin([Path("a")]) is None
    assert read_stdin(["a", "-"]) == b"log \xff"


def test_two_dashes_are_refused():
    with pytest.raises(UsageError, match="stands twice"):
        read_stdin(["-", "-"])


def test_a_closed_standard_input_is_refused(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)

    with pytest.raises(UsageError, match="closed"):
        read_stdin(["-"])


def test_an_endless_standard_input_is_refused(monkeypatch):
    monkeypatch.setattr("sys.stdin", Stdin(b"12345"))
    monkeypatch.setattr("trainrx.cli._output.MAX_BYTES", 4)

    with pytest.raises(UsageError, match="write it to a file"):
        read_stdin(["-"])


@pytest.mark.parametrize(
    ("environment", "width"),
    [({}, 80), ({"COLUMNS": "60"}, 60), ({"COLUMNS": "7"}, 40), ({"COLUMNS": "x"}, 80)],
)
def test_the_width_of_a_pipe_is_80_unless_columns_says_otherwise(environment, width, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert view("en").width == width
    assert view("en", 100).width == 100


def test_the_language_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")

    assert request_from({}).lang == "zh"
    assert request_from({"lang": "en"}).lang == "en"


EXAMPLE = Path(__file__).resolve().parents[2] / "examples/01-vl7b-grpo-2xA800-80g"


def test_a_message_for_a_chat_comes_with_the_whole_page_as_a_file(tmp_path):
    done = command_line.run(
        [".", "--for", "slack", "--attach", str(tmp_path / "whole.md"), "--lang", "en"], EXAMPLE
    )

    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("*Diagnosed*")
    assert "### 1. " in (tmp_path / "whole.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--for", "irc"], "is not one of"),
        (["--for", "slack", "--format", "json"], "leave out --format"),
        (["--attach", "no/such/folder.md"], "cannot be written"),
    ],
)
def test_a_message_that_cannot_be_written_is_a_wrong_use(words, said):
    done = command_line.run([".", *words, "--lang", "en"], EXAMPLE)

    assert done.status == 2
    assert said in done.err.replace("\n", " ")

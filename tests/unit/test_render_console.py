from __future__ import annotations

import diagnoses
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.cli._output import wants_colour
from trainrx.model.facts import Origin
from trainrx.model.result import Change, Diagnosis, FixOut, ProvedPlan, Reason
from trainrx.render import document_of, render
from trainrx.render.document import View
from trainrx.render.formats.text import coloured, page, plain
from trainrx.render.layout import cells

WIDTHS = (60, 80, 200)
FIX_LINES = (
    "MAX_PIXELS=602112",
    "--deepspeed zero3",
    "pip install flash-attn --no-build-isolation --no-cache-dir --verbose -U",
)


def shown(diagnosis: Diagnosis, width: int = 80, *, everything: bool = False) -> str:
    return render(diagnosis, "text", View(diagnosis.lang, width, everything))


def with_title(title: str) -> Diagnosis:
    answer = diagnoses.oom()
    cause = msgspec.structs.replace(answer.causes[0], title=title)
    return msgspec.structs.replace(answer, causes=(cause,))


def to_copy(line: str) -> str:
    return line.removeprefix("Fix").removeprefix("修改").split("  #")[0].strip()


def with_change(change: Change) -> str:
    return shown(msgspec.structs.replace(diagnoses.oom(), plan=ProvedPlan(changes=(change,))))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_lines_to_copy_stand_whole_and_alone(lang, width):
    lines = shown(diagnoses.oom(lang), width, everything=True).splitlines()

    for wanted in FIX_LINES:
        assert [line for line in lines if to_copy(line) == wanted] != [], wanted


@pytest.mark.parametrize("name", diagnoses.ALL)
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_but_one_to_copy_is_wider_than_the_terminal(name, lang, width):
    lines = shown(diagnoses.ALL[name](lang), width).splitlines()

    wide = [line for line in lines if cells(line) > width]

    assert [line for line in wide if line.strip() not in FIX_LINES] == []


def test_the_present_value_and_its_place_stand_beside_the_change():
    text = shown(diagnoses.oom(), 120, everything=True)

    assert "# zero3_offload -> zero3 (launch.sh:27)" in text
    assert "MAX_PIXELS=602112  # not set now" in text


def test_a_change_of_unknown_present_value_claims_nothing_about_it():
    text = with_change(
        Change(
            kind="arg",
            param="batch",
            canonical="train.micro_batch",
            action="set",
            to=None,
            spelled="batch: half",
        )
    )

    assert "batch: half\n" in text


def test_a_removed_argument_is_marked_as_removed():
    text = with_change(
        Change(
            kind="arg",
            param="device_map",
            canonical="parallel.device_map",
            action="remove",
            from_="auto",
            to=None,
            spelled="--device_map auto",
            at=Origin(source="launch.sh", line=4),
        )
    )

    assert "remove --device_map auto  # (launch.sh:4)" in text


def test_evidence_is_quoted_with_its_place():
    short, whole = (shown(diagnoses.oom(), everything=all_of_it) for all_of_it in (False, True))

    assert "logs/rank4.log:412  ... torch.OutOfMemoryError: CUDA out" in short
    assert "logs/rank4.log:412  [rank4]: torch.OutOfMemoryError" in whole


def test_unknown_says_what_to_collect_and_never_looks_healthy():
    text = shown(diagnoses.unknown())

    assert text.startswith("UNKNOWN  the cause was not found; this does not mean that the job is")
    assert "--redirects 3 --log-dir logs" in text
    assert "HEALTHY" not in text
    assert "nothing wrong" not in text


def test_unknown_without_questions_still_says_what_to_collect():
    text = shown(msgspec.structs.replace(diagnoses.unknown(), asks=()))

    assert "pip freeze" in text
    assert "diagnose --cmd launch.sh --log train.log" in text


def test_healthy_says_what_was_checked():
    text = shown(diagnoses.healthy())

    assert text.startswith("HEALTHY  nothing wrong was found\nChecked")
    assert "2 settings of the launch, the log, knowledge base" in text


def test_healthy_without_a_log_says_that_only_the_launch_was_judged():
    answer = msgspec.structs.replace(
        diagnoses.healthy(), facts={"launch.given": True, "log.given": False}
    )

    assert "no log was given" in shown(answer)


def test_healthy_of_an_unfinished_log_does_not_vouch_for_the_rest():
    answer = msgspec.structs.replace(diagnoses.healthy(), facts={"log.given": True})

    assert "later steps were not judged" in " ".join(shown(answer).split())


def test_explain_quotes_each_line_once_and_names_it_afterwards():
    text = shown(diagnoses.oom(), everything=True)

    assert text.count("Process 88123") == 1
    assert text.count("logs/rank4.log:412") == 3


def test_explain_shows_unknown_votes_as_not_known_and_no_false_ones():
    text = shown(diagnoses.oom(), everything=True)

    assert "?+ Attention without flash-attn" in text
    assert "text only" not in text
    assert "- Sequences are cut at 2048 tokens." in text


def test_explain_shows_what_is_right_already_and_what_else_it_explains():
    text = shown(diagnoses.oom(), everything=True)

    assert "--freeze_vit true  launch.sh:18" in text
    assert "Explains also: torchrun reports that a rank failed" in text


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_explain_ends_with_the_questions(lang):
    text = shown(diagnoses.oom(lang), everything=True)

    assert text.rstrip().rpartition("\n\n")[2].splitlines()[1].startswith("  ? ")
    assert "--versions" in "".join(text.splitlines()[-2:])


def test_explain_prints_the_same_changes_once():
    answer = diagnoses.oom()
    twin = msgspec.structs.replace(answer.causes[1], fixes=answer.causes[0].fixes)

    text = shown(msgspec.structs.replace(answer, causes=(answer.causes[0], twin)), everything=True)

    copied = [to_copy(line) for line in text.splitlines()]
    assert [copied.count(line) for line in FIX_LINES] == [1, 1, 1]
    assert "cap-pixels (see the\n" in text
    assert "shard-weights (see cause 1)" in " ".join(text.split())


def test_explain_adds_every_term_of_the_score():
    text = shown(diagnoses.oom(), everything=True)

    for term in (
        "-1.39  prior 0.20",
        "+2.00  one-rank-only: holds",
        "0  text-only: does not hold (would count -3.00)",
        "0  flash-missing: unknown (would count +0.80)",
        "+2.35  sum -> probability 91%",
    ):
        assert term in text


def test_explain_says_when_correlated_votes_count_once():
    answer = diagnoses.oom()
    cause = msgspec.structs.replace(answer.causes[0], score=1.0)

    text = shown(msgspec.structs.replace(answer, causes=(cause,)), everything=True)

    assert "-1.35  votes that say the same count once" in text


def test_escape_sequences_of_a_log_never_reach_the_terminal():
    answer = diagnoses.oom()
    evil = Origin(source="a\x1b]0;x\x07.log", line=1, text="\x1b[2J\x1b[31mboom\u202e\x00\x9b")
    reason = msgspec.structs.replace(answer.causes[0].reasons[0], evidence=(evil,))
    cause = msgspec.structs.replace(answer.causes[0], reasons=(reason,))

    text = shown(msgspec.structs.replace(answer, causes=(cause,)))

    assert "a.log:1  boom" in text
    assert not set(text) & set("\x1b\x00\x07\x9b\u202e")


def test_the_plain_form_holds_no_control_sequences_and_the_coloured_one_does():
    answer = diagnoses.oom()

    assert "\x1b" not in render(answer, "text", View("en", 80))
    assert "\x1b[1;31mDIAGNOSED" in render(answer, "text", View("en", 80, colour=True))


def test_colour_changes_no_text():
    view = View("zh", 60)
    lines = page(document_of(diagnoses.oom("zh"), view), view)

    stripped = "".join(
        part.partition("m")[2] if index else part
        for index, part in enumerate(coloured(lines).split("\x1b["))
    )

    assert [row.rstrip() for row in stripped.splitlines()] == plain(lines).splitlines()


@pytest.mark.parametrize(
    ("environment", "terminal", "wanted"),
    [
        ({"TERM": "xterm"}, True, True),
        ({"TERM": "xterm"}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({}, True, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
    ],
)
def test_colour_is_for_terminals_that_want_it(environment, terminal, wanted):
    assert wants_colour(environment, terminal=terminal) is wanted


@given(
    text=st.text(max_size=300),
    width=st.integers(min_value=40, max_value=200),
    lang=st.sampled_from(["en", "zh"]),
)
def test_any_text_of_a_log_is_shown_within_the_width(text, width, lang):
    answer = diagnoses.oom(lang)
    reason = Reason(
        id="x", text="x", weight=1, holds=True, evidence=(Origin(source="f", text=text),)
    )
    cause = msgspec.structs.replace(answer.causes[0], reasons=(reason,), fixes=(), already_right=())
    only = msgspec.structs.replace(answer, causes=(cause,), symptoms=())

    lines = shown(only, width).splitlines()

    assert max(cells(line) for line in lines) <= width


def with_fixes(*fixes: FixOut) -> Diagnosis:
    answer = diagnoses.oom()
    cause = msgspec.structs.replace(answer.causes[0], fixes=fixes)
    return msgspec.structs.replace(answer, causes=(cause,))


def test_a_package_of_unknown_version_claims_nothing_about_it():
    text = with_change(
        Change(
            kind="package",
            param="vllm",
            canonical="package.vllm",
            action="upgrade",
            to=">=0.8",
            spelled='pip install "vllm>=0.8"',
        )
    )

    assert '  pip install "vllm>=0.8"\n' in text

"""The first screen: what it says first, and what gives way where there is little room."""

from __future__ import annotations

from typing import Any

import diagnoses
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.model.facts import Origin
from trainrx.model.findings import Edit, Finding, FindingFix, Unread
from trainrx.model.result import (
    Ask,
    CauseOut,
    Change,
    Diagnosis,
    DifferentialItem,
    Predicted,
    ProvedPlan,
    Reason,
)
from trainrx.render import render
from trainrx.render.document import View
from trainrx.render.screen.page import ROOM

WIDTHS = (60, 80, 200)
LONG = "a rather long text of several words " * 12


def shown(diagnosis: Diagnosis, width: int = 80, form: str = "text") -> str:
    return render(diagnosis, form, View(diagnosis.lang, width))


def with_first(**changes: Any) -> Diagnosis:
    answer = diagnoses.oom()
    cause = msgspec.structs.replace(answer.causes[0], **changes)
    return msgspec.structs.replace(answer, causes=(cause, *answer.causes[1:]))


def with_others(*others: CauseOut) -> Diagnosis:
    answer = diagnoses.oom()
    return msgspec.structs.replace(answer, causes=(answer.causes[0], *others))


def other(title: str, probability: float, **changes: Any) -> CauseOut:
    second = diagnoses.oom().causes[1]
    return msgspec.structs.replace(second, title=title, probability=probability, **changes)


def with_plan(**fields: Any) -> Diagnosis:
    return msgspec.structs.replace(diagnoses.oom(), plan=ProvedPlan(**fields))


def reason(number: int, **changes: Any) -> Reason:
    at = Origin(source="train.log", line=number, text=f"line {number}")
    plain = Reason(id=f"r{number}", text=f"reason {number}", weight=1, holds=True, evidence=(at,))
    return msgspec.structs.replace(plain, **changes)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_verdict_cause_and_change_stand_on_one_screen(lang, width):
    lines = shown(diagnoses.oom(lang), width).splitlines()

    assert len(lines) <= ROOM.lines
    assert lines[0].startswith("已定位" if lang == "zh" else "DIAGNOSED")
    assert diagnoses.oom(lang).causes[0].title[:20] in lines[1]
    assert any("MAX_PIXELS=602112" in line for line in lines)
    assert "`--explain`" in "".join(lines[-2:])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_screen_keeps_its_size_however_much_there_is_to_say(lang, width):
    answer = diagnoses.oom(lang)
    long = msgspec.structs.replace(
        answer.causes[0],
        title=LONG,
        reasons=tuple(reason(n, text=LONG) for n in range(9)),
    )
    asked = Ask(id="x", what=LONG, how=LONG, command="py-spy dump", reading=(LONG, LONG))
    full = msgspec.structs.replace(
        answer,
        causes=(long, *(other(f"{n} {LONG}", 0.4) for n in range(5))),
        asks=(asked,) * 3,
        plan=msgspec.structs.replace(answer.plan, cost=LONG, steps=LONG, reason=LONG),
    )

    lines = shown(full, width).splitlines()

    assert len(lines) <= ROOM.lines
    assert any("MAX_PIXELS=602112" in line for line in lines)
    assert any("py-spy dump" in line for line in lines)
    assert len(shown(full, form="markdown").encode()) <= ROOM.size


def test_what_matters_less_gives_way_first():
    answer = with_first(reasons=tuple(reason(n) for n in range(1, 6)))
    others = tuple(other(f"other {n}", 0.4) for n in range(3))
    steps = "\n".join(f"step {n} " + "word " * 16 for n in range(3))
    full = msgspec.structs.replace(
        answer,
        causes=(answer.causes[0], *others),
        plan=ProvedPlan(changes=answer.causes[0].fixes[1].changes, steps=steps, cost=LONG),
        asks=(Ask(id="x", what="Which?", how="", command="look", reading=("one", "two")),),
    )

    text = shown(full, 60)

    assert "reason 1" in text
    assert "other 0" in text
    assert "look" in text
    assert "\n\n" not in text


def test_each_reason_stands_with_the_line_that_shows_it_strongest_first():
    text = shown(with_first(reasons=tuple(reason(n) for n in range(1, 6))))

    assert [f"reason {n}" in text for n in range(1, 6)] == [True, True, True, False, False]
    assert "reason 1\n            train.log:1  line 1\n" in text


def test_a_reason_that_only_repeats_a_line_is_left_out():
    again = reason(2, evidence=reason(1).evidence)

    text = shown(with_first(reasons=(reason(1), again, reason(3))))

    assert "reason 2" not in text
    assert "reason 3" in text


def test_a_reason_without_a_line_cites_none():
    text = shown(with_first(reasons=(reason(1, evidence=(), text="No cap is set."),)))

    assert "Why       No cap is set.\n\n" in text


@pytest.mark.parametrize(
    "hidden",
    [
        {"probability": 0.09},
        {"reasons": ()},
    ],
)
def test_a_cause_that_is_improbable_or_only_common_is_no_runner_up(hidden):
    text = shown(with_others(other("another", **{"probability": 0.4, **hidden})))

    assert "another" not in text


def test_runners_up_stand_in_a_line_each_under_how_sure_they_are():
    first, second = other("one", 0.8, verdict="likely"), other("two", 0.4)

    text = shown(with_others(first, second))

    assert "Also likely  one\nPossible     two\n" in text


def test_the_proved_plan_goes_before_the_first_fix():
    fix = diagnoses.oom().causes[0].fixes[1]

    text = shown(
        with_plan(changes=fix.changes, proved=True, command="diagnose fix launch.sh --gpu 3090")
    )

    assert "--deepspeed zero3  # zero3_offload -> zero3" in text
    assert "MAX_PIXELS" not in text
    assert "Apply: `diagnose fix launch.sh --gpu 3090` · all of it: `--explain`\n" in text


def test_a_long_command_is_said_to_be_the_same_but_stands_whole_in_a_post():
    command = "diagnose fix launch.sh " + "--log train.log " * 6
    answer = with_plan(changes=diagnoses.oom().plan.changes, command=command)

    assert "Apply: `diagnose fix` with the same inputs" in shown(answer)
    assert f"`{command}`" in shown(answer, form="markdown")


@pytest.mark.parametrize(
    ("fits", "after", "high", "said"),
    [
        (None, 18, 20.0, "fits"),
        (None, 18, 30.0, "probably fits"),
        (None, 26, 30.0, "does not fit"),
        (None, 24.5, 30.0, "probably does not fit"),
        (False, 18, 20.0, "probably does not fit"),
        (True, 26, 30.0, "probably fits"),
    ],
)
def test_the_memory_of_the_plan_says_whether_it_fits(fits, after, high, said):
    memory = Predicted(
        before_gib=40, after_gib=after, limit_gib=24, low_gib=after - 1, high_gib=high
    )
    changes = diagnoses.oom().causes[0].fixes[1].changes

    text = shown(with_plan(changes=changes, predicted=memory, fits=fits))

    assert f"Memory    40.0 -> {after:.1f} of 24.0 GiB per GPU, {said} ({after - 1:.1f}-" in text


def test_a_plan_without_changes_says_why():
    text = shown(with_plan(reason="No change of settings is predicted to fit: the weights alone."))

    assert "Fix       No change of settings is predicted to fit: the weights alone.\n" in text
    assert "MAX_PIXELS" not in text


def test_a_plan_by_hand_shows_its_steps():
    text = shown(with_plan(steps="End process 7.\nWait."))

    assert "Fix       End process 7.\n          Wait.\n" in text


def test_a_launch_that_has_not_run_is_not_asked_for_its_log():
    asks = (Ask(id="log", what="No log.", how="--log"), Ask(id="x", what="Which card?", how=""))
    known = msgspec.structs.replace(diagnoses.oom(), asks=asks)

    text = shown(msgspec.structs.replace(known, verdict="will_not_fit"))

    assert "Ask       No log." in shown(known)
    assert "Ask       Which card?" in text


def test_one_question_is_asked_with_its_command():
    asks = tuple(
        Ask(id=str(n), what=f"Question {n}?", how="", command=f"run-{n}", reading=("if yes, so",))
        for n in range(3)
    )

    text = shown(msgspec.structs.replace(diagnoses.oom(), asks=asks))

    assert "Ask       Question 0?\n              run-0\n            if yes, so\n" in text
    assert "Question 1?" not in text


def test_what_nobody_can_name_gets_its_differential_and_the_commands_that_split_it():
    items = tuple(
        DifferentialItem(id=f"c{n}", title=f"cause {n}", probability=0.2, confirm=f"line {n}")
        for n in range(7)
    )
    asks = tuple(Ask(id=str(n), what=f"Q{n}?", how="", command=f"run-{n}") for n in range(5))
    answer = msgspec.structs.replace(diagnoses.unknown(), differential=items, asks=asks)

    text = shown(answer)

    assert "Could be  cause 0\n            if: line 0\n          cause 1\n" in text
    assert ("cause 4" in text, "cause 5" in text) == (True, False)
    assert ("run-2" in text, "run-3" in text) == (True, False)


@pytest.mark.parametrize(
    ("verdict", "start"),
    [
        ("will_fail", "WILL FAIL  the launch is refused, or crashes before it trains\n"),
        ("at_risk", "AT RISK  nothing has failed so far; by its launch this job may\n"),
    ],
)
def test_a_launch_that_is_refused_shows_the_findings_with_their_change(verdict, start):
    edit = Edit(file="a.sh", line=2, column=1, end_line=2, end_column=9, text="--batch 1")
    finding = Finding(
        rule="r",
        severity="error",
        message="no such option",
        file="a.sh",
        line=2,
        fix=FindingFix(safety="safe", edits=(edit,)),
    )
    answer = msgspec.structs.replace(
        diagnoses.oom(), verdict=verdict, causes=(), symptoms=(), findings=(finding,)
    )

    text = shown(answer)

    assert text.startswith(start)
    assert "error: no such option\n" in text
    assert "a.sh:2  -> --batch 1\n" in text


def test_a_launch_that_does_not_fit_says_by_how_much():
    answer = msgspec.structs.replace(diagnoses.oom(), verdict="will_not_fit")

    text = shown(answer)

    assert text.startswith(
        "WILL NOT FIT  about 38.9 GiB per GPU are predicted, the card has 31.7\n"
    )


def test_a_warning_that_says_nothing_of_the_run_is_no_reason_for_the_verdict():
    finding = Finding(rule="secret-in-script", severity="warning", message="a key", file="a.sh")
    answer = msgspec.structs.replace(
        diagnoses.oom(), verdict="will_not_fit", causes=(), symptoms=(), findings=(finding,)
    )

    text = shown(answer)

    assert "a key" not in text


@pytest.mark.parametrize(
    ("verdict", "rule", "severity"),
    [
        ("at_risk", "memory-is-tight", "info"),
        ("will_not_fit", "memory-exceeds-card", "error"),
    ],
)
def test_a_verdict_that_rests_on_the_memory_alone_says_so(verdict, rule, severity):
    finding = Finding(rule=rule, severity=severity, message="takes 17 to 35 GiB", file="a.sh")
    answer = msgspec.structs.replace(
        diagnoses.oom(), verdict=verdict, causes=(), symptoms=(), plan=None, findings=(finding,)
    )

    text = shown(answer)

    assert "takes 17 to 35 GiB" in text


def test_a_launch_without_a_problem_says_what_was_checked():
    answer = msgspec.structs.replace(
        diagnoses.healthy(), verdict="no_problem_foreseen", facts={"launch.given": True}
    )

    text = shown(answer)

    assert text.startswith("NO PROBLEM FORESEEN  nothing in the launch foretells a failure\n")
    assert "Checked" in text
    assert "no log was given" in text


def test_what_could_not_be_used_is_said_in_a_line():
    assert "Mind      launch.sh:3: the file that is sourced is not here" in shown(diagnoses.oom())


@given(title=st.text(max_size=200), text=st.text(max_size=300), width=st.sampled_from(WIDTHS))
def test_any_text_keeps_the_screen_to_its_size(title, text, width):
    answer = with_first(title=title, reasons=(reason(1, text=text), reason(2, text=title)))

    assert len(shown(answer, width).splitlines()) <= ROOM.lines


def change(**fields: Any) -> Change:
    plain = Change(
        kind="code",
        param="reward_funcs",
        canonical="",
        action="switch",
        now="unknown",
        to=None,
        spelled="reward_funcs",
    )
    return msgspec.structs.replace(plain, **fields)


def test_what_cannot_be_copied_is_said_in_words_first_and_not_twice():
    vague = (change(), change(param="--shm-size", to="16g", spelled="--shm-size: 16g"))
    text = shown(
        with_plan(
            title="Mend the reward",
            changes=vague,
            steps="Call reward_funcs by hand; docker run --shm-size=16g.",
        )
    )
    unnamed = shown(with_plan(title="Mend the reward", changes=(change(),)))

    assert "Fix       Mend the reward\n" in text
    assert "change reward_funcs" not in text
    assert "--shm-size: 16g" not in text
    assert "change reward_funcs" in unnamed


def test_what_can_be_copied_needs_no_title():
    text = shown(with_plan(title="Lower it", changes=diagnoses.oom().causes[0].fixes[0].changes))

    assert "Lower it" not in text


def test_a_new_name_is_said_as_one():
    renamed = change(
        kind="arg",
        param="max_length",
        spelled="max_length",
        to="max_length",
        from_="max_seq_length 8",
        now="set",
        at=Origin(source="train.py", line=9, text=""),
    )

    text = shown(with_plan(title="t", changes=(renamed,)))

    assert "rename max_seq_length to max_length  # (train.py:9)" in text


def test_an_error_that_is_the_cause_or_that_the_plan_mends_is_not_minded_again():
    def minded(message: str, rule: str = "other") -> str:
        found = Finding(rule=rule, severity="error", message=message, file="train.yaml", line=6)
        plan = ProvedPlan(
            changes=(change(kind="arg", param="max_steps", to="9", spelled="--max_steps 9"),)
        )
        return shown(msgspec.structs.replace(diagnoses.oom(), findings=(found,), plan=plan))

    assert "train.yaml:6" in minded("fp16 and bf16 are both on")
    assert "train.yaml:6" not in minded("max_steps is not set")
    assert "train.yaml:6" not in minded("what it is", diagnoses.oom().causes[0].id)


def test_a_known_cause_is_followed_by_no_question_that_changes_nothing():
    def asked(*reading: str) -> str:
        ask = Ask(
            id="symptom.ecc-error", what="Does the card report errors?", how="", reading=reading
        )
        return shown(msgspec.structs.replace(diagnoses.oom(), asks=(ask,)))

    assert "Does the card" not in asked()
    assert "Does the card" in asked("yes -> A card is defect")


def test_a_value_that_could_not_be_read_is_not_minded_where_it_is_the_cause():
    at = Origin(source="train.yaml", line=19, text="save_strategy: epochs")
    cause = with_first(
        title="save_strategy takes one of no, steps, not epochs",
        reasons=(Reason(id="r", text="It says so.", weight=1, holds=True, evidence=(at,)),),
    )

    def minded(line: int) -> str:
        item = Unread(source="train.yaml", line=line, reason="save_strategy: 'epochs' is no choice")
        return shown(msgspec.structs.replace(cause, unread=(item,)))

    assert "is no choice" not in minded(19)
    assert "is no choice" in minded(20)


def test_more_of_a_log_is_asked_for_only_where_nothing_was_found():
    asks = (Ask(id="whole-log", what="What came last?", how="--log"),)

    assert "What came last?" in shown(msgspec.structs.replace(diagnoses.unknown(), asks=asks))
    assert "What came last?" not in shown(msgspec.structs.replace(diagnoses.oom(), asks=asks))

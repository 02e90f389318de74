from __future__ import annotations

import json

import diagnoses
import msgspec

from trainrx.model.findings import Edit, Finding, FindingFix
from trainrx.model.fixing import FixAnswer, Proposal
from trainrx.model.lint import LintReport
from trainrx.model.planning import FilePatch, Patched
from trainrx.model.result import Change
from trainrx.render import render
from trainrx.render.document import View
from trainrx.render.redact import masked

HF = "hf_" + "abcdEFGHijklMNOPqrstuvWXyz"
HEX40 = "0123456789abcdef0123456789abcdef01234567"
CONTEXT = f"""\
--- a/run.sh
+++ b/run.sh
@@ -1,4 +1,4 @@
 export HF_TOKEN={HF}
 cd /work
-swift sft --bs 4
+swift sft --bs 1
 date
"""
CHANGED = f"""\
--- a/run.sh
+++ b/run.sh
@@ -1 +1 @@
-swift sft --hub_token {HF} --bs 4
+swift sft --hub_token {HF} --bs 1
"""


def fix_answer(diff: str) -> FixAnswer:
    patched = Patched(files=(FilePatch(name="run.sh", before="", after=""),))
    proposal = Proposal(
        number=1, kind="fix", id="a", title="Lower it", safety="safe", diff=diff, patched=patched
    )
    return FixAnswer(
        tool=diagnoses.TOOL,
        job=diagnoses.oom().job,
        verdict="proved",
        chosen=1,
        proposals=(proposal,),
    )


def unwrapped(text: str) -> str:
    return " ".join(text.replace("\n#", " ").split())


def test_every_text_of_an_answer_is_masked():
    answer = diagnoses.oom()
    leaky = msgspec.structs.replace(
        answer,
        warnings=(f"see {HF}",),
        facts={"train.output_dir": f"s3://me:{HF}@bucket", "train.micro_batch": 1},
    )

    safe = masked(leaky)

    assert safe.warnings == ("see ***",)
    assert safe.facts == {"train.output_dir": "s3://***@bucket", "train.micro_batch": 1}
    assert msgspec.structs.replace(safe, warnings=(), facts=answer.facts) == answer


def test_an_answer_without_secrets_is_the_same_record():
    answer = diagnoses.oom()

    assert masked(answer) is answer


def test_a_value_is_masked_by_the_name_it_stands_under():
    change = Change(
        kind="arg",
        param="hub_token",
        canonical="",
        action="remove",
        to=None,
        from_="plainword",
        spelled="",
    )
    proposal = msgspec.structs.replace(fix_answer("").proposals[0], changes=(change,))
    answer = msgspec.structs.replace(
        diagnoses.oom(), facts={"arg.wandb_api_key": "plainword", "arg.max_token": "plainword"}
    )

    numbered = msgspec.structs.replace(answer, facts={"arg.redis_password": 123456})
    assert masked(numbered).facts == {"arg.redis_password": "***"}
    assert masked(proposal).changes[0].from_ == "***"
    assert masked(answer).facts == {"arg.wandb_api_key": "***", "arg.max_token": "plainword"}


def test_a_secret_named_in_one_text_is_masked_in_another():
    answer = msgspec.structs.replace(
        diagnoses.oom(), warnings=(f"--wandb_api_key {HEX40}", f"using {HEX40} now")
    )

    assert masked(answer).warnings == ("--wandb_api_key ***", "using *** now")


def test_the_caret_of_a_finding_stands_below_stars_as_many_as_it_points_at():
    line = f"swift sft --hub_token {HF} --lorarank 8"
    column = line.index("--lorarank") + 1
    finding = Finding(
        rule="misspelt-argument",
        severity="error",
        message="--lorarank",
        file="a.sh",
        line=1,
        column=column,
        end_column=column + len("--lorarank"),
    )
    report = LintReport(findings=(finding,), files=1, texts={"a.sh": {1: line}})

    shown = render(report, "text", View("en", 200)).splitlines()

    quoted, caret = shown[1], shown[2]
    assert HF not in "".join(shown)
    assert quoted[caret.index("^") : caret.rindex("^") + 1] == "--lorarank"


def test_an_edit_that_would_write_a_mask_into_a_file_is_left_out():
    edit = Edit(file="a.sh", line=1, column=1, end_line=1, end_column=2, text=f"--hub_token {HF}")
    fix = FindingFix(safety="safe", edits=(edit,))
    finding = Finding(rule="r", severity="error", message="m", file="a.sh", line=1, fix=fix)

    read = json.loads(render(LintReport(findings=(finding,)), "json", View("en")))

    assert read["findings"][0]["fix"]["edits"] == []


def test_a_patch_in_a_pipe_keeps_the_bytes_of_changed_lines_and_leaves_secrets_beside_out():
    pipe, screen = View("en"), View("en", terminal=True)

    beside = render(fix_answer(CONTEXT), "text", pipe)
    changed = render(fix_answer(CHANGED), "text", pipe)
    looked_at = render(fix_answer(CHANGED), "text", screen)

    assert HF not in beside
    assert "\n@@ -2,3 +2,3 @@\n cd /work\n-swift sft --bs 4\n+swift sft --bs 1\n date\n" in beside
    assert changed.endswith(CHANGED)
    assert "do not pass it on" in unwrapped(changed)
    assert HF not in looked_at
    assert "does not apply as it is shown" in unwrapped(looked_at)


def test_a_patch_that_is_passed_on_is_masked():
    for form in ("markdown", "json"):
        assert HF not in render(fix_answer(CHANGED), form, View("en"))


def test_a_patch_in_a_pipe_keeps_its_bytes():
    diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n \x1b[0m\xad\u202e  \n-a \n+b\t\n"

    piped = render(fix_answer(diff), "text", View("en", colour=True))
    shown = render(fix_answer(diff), "text", View("en", terminal=True))

    assert piped.endswith(diff)
    assert not {"\x1b", "\xad", "\u202e"} & set(shown)


def test_a_reference_to_a_variable_is_no_secret():
    answer = msgspec.structs.replace(diagnoses.oom(), facts={"env.HF_TOKEN": "$MY_TOKEN"})

    assert masked(answer) is answer

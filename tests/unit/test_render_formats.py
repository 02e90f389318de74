from __future__ import annotations

from pathlib import Path
from pkgutil import iter_modules

import diagnoses
import estimates
import inspections
import msgspec
import pytest

from trainrx.collect.state import WatchState
from trainrx.model.bundle import BundleGap, BundleItem, BundleManifest, CollectReport
from trainrx.model.dry_run import ColumnUse, DataLoss, DryRunAnswer
from trainrx.model.findings import Finding
from trainrx.model.fixing import FixAnswer, RetryAnswer
from trainrx.model.lint import LintReport
from trainrx.model.planning import OnHardware, PlanAnswer
from trainrx.model.translation import Translated, Translation
from trainrx.render import ANSWERS, formats, render
from trainrx.render import document as doc
from trainrx.render.formats import markdown, text
from trainrx.render.formats.json import FOLDER, schemas

CARD = """
from trainrx.render.formats import Format


def write(document, view):
    return f"{document.children[0].word} in {view.lang}"


FORMAT = Format(write, kinds=("Diagnosis", "Estimate"), post=True)
"""
FINDING = Finding(rule="a-rule", severity="error", message="a message", file="a.sh", line=1)
RECORDS = {
    "Diagnosis": diagnoses.oom(),
    "Estimate": estimates.estimate(),
    "Inspection": inspections.inspection(),
    "Comparison": inspections.comparison(),
    "LintReport": LintReport(findings=(FINDING,), files=1),
    "FixAnswer": FixAnswer(tool=diagnoses.TOOL, job=diagnoses.oom().job, verdict="unknown"),
    "PlanAnswer": PlanAnswer(
        tool=diagnoses.TOOL,
        job=diagnoses.oom().job,
        hardware=(OnHardware(name="A100", verdict="fits"),),
    ),
    "RetryAnswer": RetryAnswer(
        tool=diagnoses.TOOL,
        job=diagnoses.oom().job,
        verdict="transient",
        exit_code=75,
        reason="a card was lost",
    ),
    "DryRunAnswer": DryRunAnswer(
        tool=diagnoses.TOOL,
        verdict="stops",
        framework="ms-swift",
        release="4.6.0",
        reached="loaded",
        error="TypeError: 'NoneType' object is not iterable",
        said=("AttributeError: 'str' object has no attribute 'get'",),
        losses=(
            DataLoss(kind="row-lost", file="a.jsonl", rows=(3, 4), lines=(3, 4), count=9, of=14),
            DataLoss(
                kind="text-cut", file="a.csv", column="output", rows=(2,), lines=(4,), count=1
            ),
            DataLoss(kind="rows-fewer", count=2, of=14),
            DataLoss(kind="odd-value", file="a.csv", rows=(2,), count=1, shown="null / bool"),
        ),
        uses=(
            ColumnUse(file="a.jsonl", column="output", rows=9, read=9, learnt=9),
            ColumnUse(file="a.jsonl", column="source", rows=9, read=0, learnt=0),
        ),
        left_out=("deepspeed",),
        notes=("the collator is not watched",),
        diagnosis=diagnoses.oom(),
    ),
    "CollectReport": CollectReport(
        manifest=BundleManifest(
            job="4711",
            items=(BundleItem(path="a/py-spy-1.json", kind="stacks", rank=0),),
            gaps=(BundleGap(kind="kernel", reason="not-permitted", right="kernel-log"),),
        ),
        path="trainrx-4711.tar.zst",
    ),
    "WatchState": WatchState(outcome="training", at=0.0, tool=diagnoses.TOOL, step=5, total=10),
    "Translation": Translation(
        tool=diagnoses.TOOL,
        lang="en",
        launches=(
            Translated(
                place=diagnoses.OOM_LINE,
                framework="ms-swift",
                version="3.0",
                version_how="given",
                target="4.0",
                command="sft",
                command_now="sft",
            ),
        ),
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path)])
    return tmp_path


def test_a_format_is_one_file(folder):
    (folder / "one_file_card.py").write_text(CARD, encoding="utf-8")

    assert "one_file_card" in formats.names("Diagnosis")
    assert "one_file_card" not in formats.names("LintReport")
    assert render(diagnoses.oom(), "one_file_card", doc.View("zh")) == "已定位 in zh"


def test_text_and_json_come_first():
    for kind in ANSWERS:
        assert formats.names(kind)[:2] == ("text", "json")
    assert {"sarif", "github", "gitlab", "junit"} < set(formats.names("LintReport"))


def test_a_format_is_for_answers_there_are():
    for module in iter_modules(formats.__path__):
        assert set(formats.load(module.name).kinds) <= set(ANSWERS), module.name


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_format_of_an_answer_writes_it(kind):
    for name in formats.names(kind):
        assert render(RECORDS[kind], name, doc.View("en")).endswith("\n"), name


@pytest.mark.parametrize(("kinds", "base"), [(text.lines_of, "text"), (markdown.put, "markdown")])
def test_a_writer_knows_every_kind_of_node(kinds, base):
    nodes = {
        kind for kind in vars(doc).values() if isinstance(kind, type) and issubclass(kind, doc.Node)
    }

    assert nodes - {doc.Node, doc.Case} <= set(kinds.registry), base


def test_every_answer_but_that_of_lint_has_a_schema():
    without = {name for name, answer in ANSWERS.items() if not answer.schema}

    assert without == {"LintReport"}
    assert {path.name for path in FOLDER.glob("*.schema.json")} == set(schemas())


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_plan_for_no_hardware_is_still_a_page(form, lang):
    answer = msgspec.structs.replace(RECORDS["PlanAnswer"], hardware=())

    assert "ms-swift" in render(answer, form, doc.View(lang))

import html
import json
import re
from pathlib import Path

import pytest
from fleet_answers import MONDAY, failed, fleet, healthy

from trainrx.fleet.history.store import ToldOutcome
from trainrx.fleet.report.forms import Form, written
from trainrx.fleet.report.rows import rows, write_parquet
from trainrx.fleet.report.summary import FleetReport, report_on
from trainrx.model.text import Lang
from trainrx.render.document import View

NODES = tuple(f"gpu-{number:02}" for number in range(20))
EVIL = "<script>alert(1)</script>\x1b[2J"
TOLD = (ToldOutcome(job="job-3", param="MAX_PIXELS", value="1", worked=True, told=MONDAY),)


def _report(lang: Lang = "en", by: str = "cause") -> FleetReport:
    answers = [*fleet(600, NODES, 5, bad="gpu-17"), failed("evil", EVIL, user=EVIL, nodes=(EVIL,))]
    answers.append(failed("job-3b", "out-of-luck", gpu_hours=None))
    told = [
        ToldOutcome(job=one.key, param="MAX_PIXELS", value="1", worked=True, told=MONDAY)
        for one in answers
        if one.causes and one.causes[0][0] == "pixels-not-capped"
    ]
    return report_on(answers, told, by, now=MONDAY, since=MONDAY - 86400, lang=lang)


@pytest.mark.parametrize(
    ("form", "lang", "said"),
    [
        ("text", "en", ["node `gpu-17`: ", "failed, elsewhere", "GPU hours lost", "solved"]),
        ("text", "zh", ["节点 `gpu-17`：", "损失", "按需修改的参数"]),
        ("markdown", "en", ["gpu-17", "| name | jobs | failed |", "pixels-not-capped"]),
        ("html", "zh", ["节点 gpu-17：", 'lang="zh-CN"', "偶然应为"]),
    ],
)
def test_a_report_names_the_bad_node_with_its_counts(
    form: Form, lang: Lang, said: list[str]
) -> None:
    shown = written(_report(lang), form, View(lang, 120))

    assert [part for part in said if part not in shown] == []
    assert "\x1b" not in shown


@pytest.mark.parametrize("by", ["cause", "user", "framework", "node", "version"])
def test_a_report_groups_by_what_is_asked(by: str) -> None:
    report = json.loads(written(_report(by=by), "json", View("en")))

    names = [group["name"] for group in report["groups"]]
    expected = {"cause": "port-taken", "user": "user-3", "framework": "ms-swift"}
    assert {**expected, "node": "gpu-17", "version": "torch 2.5.1"}[by] in names
    assert report["schema_version"] == 1


def test_the_page_loads_nothing_runs_nothing_and_text_of_jobs_stands_for_itself() -> None:
    shown = written(_report(by="user"), "html", View("en"))

    policy = html.unescape(re.search(r'Policy" content="([^"]*)"', shown)[1])
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
    assert set(re.findall(r'(?:src|href)="([a-z]+:[a-z]+/)', shown)) == {"data:image/"}
    assert " style=" not in shown
    assert not re.findall(r"https?://", shown)


def test_metrics_have_no_label_for_a_job_a_host_a_user_or_a_text() -> None:
    shown = written(_report(), "prometheus", View("en"))

    labels = set(re.findall(r"(\w+)=\"", shown))
    assert labels == {"cause", "family", "framework", "outcome", "axis"}
    assert not re.search(r"gpu-1|job-|user-", shown)
    line = re.search(r'trainrx_fleet_jobs\{cause="port-taken".*outcome="failed"\} (\S+)', shown)
    assert float(line[1]) > 10
    assert 'trainrx_fleet_suspects{axis="node"} 1.0' in shown


def test_rows_of_parquet_are_those_of_json_lines(tmp_path: Path) -> None:
    from pyarrow.parquet import read_table

    answers = [failed("job-3", versions={"torch": "2.5.1"}, nodes=("n1",)), healthy("job-4")]

    write_parquet(rows(answers, TOLD), tmp_path / "jobs.parquet")

    table = read_table(tmp_path / "jobs.parquet").to_pylist()
    assert [row["key"] for row in table] == ["job-3", "job-4"]
    assert (table[0]["cause"], table[0]["versions"]) == ("pixels-not-capped", ["torch==2.5.1"])
    assert (table[0]["worked"], table[0]["failed"]) == (["MAX_PIXELS"], True)
    assert (table[1]["probability"], table[1]["failed"]) == (None, False)


def test_a_fleet_of_none_has_all_columns_and_a_report(tmp_path: Path) -> None:
    from pyarrow.parquet import read_schema

    write_parquet(rows([], []), tmp_path / "none.parquet")
    empty = report_on([], [], "cause", now=MONDAY)

    assert len(read_schema(tmp_path / "none.parquet").names) == 28
    forms: list[Form] = ["text", "markdown", "json", "html", "prometheus"]
    assert all(written(empty, form, View("zh")) for form in forms)

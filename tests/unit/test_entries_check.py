from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from knowledge_folders import CAUSE, CAUSE_TEST, FILES, SYMPTOM, findings, said, write_files

from trainrx.model.knowledge import Role

SYMPTOM_FILE = "kb/symptoms/hang/my-error.yaml"
CAUSE_FILE = "kb/causes/hang/my-state.yaml"
TEST_FILE = "kb/causes/hang/my-state.test.yaml"
RULE_FILE = "rules/explain/one-explains-other.yaml"
GUARD_FILE = "kb/guards/ms-swift/my-guard.yaml"
NO_YAML = "is not valid YAML: did not find expected node content"
PACKAGE_FILE = "kb/packages/my-package.yaml"


ECHO = "echo_of: [{{by: [{}], refs: [{}], why: {{en: It ends., zh: 结束。}}}}]\ntypes:"


def test_right_entries_pass(tmp_path: Path) -> None:
    assert said(write_files(tmp_path)) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "line"),
    [
        (SYMPTOM_FILE, "never", "5", "13: my-error: samples.near_miss[0]: is matched"),
        (
            SYMPTOM_FILE,
            "it went wrong: 3",
            "it is",
            "12: my-error: samples.match[0]: is not matche",
        ),
        (SYMPTOM_FILE, ', "all went well"', "", "13: my-error: samples.near_miss: has 1 lines"),
        (SYMPTOM_FILE, "types:", ECHO.format("gone", "a"), "10: my-error: echo_of[0].by: no other"),
        (
            SYMPTOM_FILE,
            "types:",
            ECHO.format("my-error", "a"),
            "10: my-error: echo_of[0].by: no ot",
        ),
        (
            SYMPTOM_FILE,
            "types:",
            ECHO.format("x", "b"),
            "10: my-error: echo_of[0].refs: no referen",
        ),
        (SYMPTOM_FILE, "{code: int}", "{kode: int}", "10: my-error: types.kode: no pattern captur"),
        (
            SYMPTOM_FILE,
            "types:",
            "codes: {kode: {'7': {side: card}}}\ntypes:",
            "10: my-error: codes.kode: no pattern captures it",
        ),
        (
            SYMPTOM_FILE,
            "types:",
            "codes: {code: {'7': {code: card}}}\ntypes:",
            "10: my-error: codes.code.7: a pattern captures code already",
        ),
        (SYMPTOM_FILE, "zh: 我的错误", "zh: my other error", "5: my-error: title.zh: the Chinese"),
        (SYMPTOM_FILE, "en: My error", "en: 我的", "5: my-error: title.en: the English text hol"),
        (
            SYMPTOM_FILE,
            "{en: My error, zh: 我的错误}",
            "{en: my error, zh: my error}",
            "5: my-error: title.zh: repeats",
        ),
        (SYMPTOM_FILE, "My error", "My error.", "5: my-error: title.en: a title ends without"),
        (SYMPTOM_FILE, "My error", "My " * 40, "5: my-error: title.en: has 119 characters"),
        (SYMPTOM_FILE, "family: hang", "family: oom", "4: my-error: family: lies in the folder"),
        (
            SYMPTOM_FILE,
            "(?P<code>\\d+)",
            "(?P<code>(a+)+)",
            "9: my-error: patterns[0].regex: nest",
        ),
        (SYMPTOM_FILE, "id: my-error", "id: other", "2: my-error: id: is 'other', the file"),
        (SYMPTOM_FILE, '"https://example.org/x"', '"x"', "15: my-error: references.a.url: 'x' is"),
        (
            SYMPTOM_FILE,
            'ed: "2026-11-21"',
            'ed: "2026-11-22"',
            "7: my-error: updated: 2026-11-22 h",
        ),
        (
            SYMPTOM_FILE,
            'updated: "2026-11-21"',
            'updated: "2026-02-30"',
            "7: my-error: updated: '2",
        ),
        (
            SYMPTOM_FILE,
            "since: 0.1.0",
            "since: 99.0.0",
            "6: my-error: since: 99.0.0 is not released",
        ),
        (CAUSE_FILE, "id: my-state", "id: set-my-state", "2: my-state: id: names a remedy"),
        (CAUSE_FILE, "family: hang", "family: oom", "3: my-state: family: is 'oom', the folder"),
        (CAUSE_FILE, "[my-error]", "[your-error]", "9: my-state: explains: no symptom 'your-"),
        (CAUSE_FILE, "prior: 0.1", "prior: 0.9", "10: my-state: prior: is 0.9, must lie in"),
        (CAUSE_FILE, "weight: 1.0", "weight: 7", "14: my-state: evidence.died-in-training.weight"),
        (CAUSE_FILE, "oom.phase", "oom.fase", "15: my-state: evidence.died-in-training.when: the"),
        (CAUSE_FILE, "ref: a", "ref: b", "17: my-state: evidence.died-in-training.ref: no ref"),
        (
            CAUSE_FILE,
            "      ref: a",
            "      ref: a\n      computed: true",
            "18: my-state: evidence.died-in-training.computed: oom.phase says so",
        ),
        (
            CAUSE_FILE,
            "{fact: oom.phase, eq: train}",
            "{symptom: my-error}\n      computed: true",
            "16: my-state: evidence.died-in-training.computed: nothing of the launch",
        ),
        (CAUSE_FILE, "severity: fatal", "severity: fatal\ngeneric: true", "9: my-state: generic: "),
        (CAUSE_FILE, "train.micro_batch", "train.mbs", "23: my-state: fixes.halve.set: no param"),
        (
            CAUSE_FILE,
            "    set: {",
            "    measures: [{kind: arg, param: x, action: set, to: /path/to/data}]\n    set: {",
            "23: my-state: fixes.halve.measures.x: '/path/to/data' is nobody's path",
        ),
        (CAUSE_FILE, "set: {", "unset: [] # ", "19: my-state: fixes.halve: changes nothing"),
        (TEST_FILE, "verdict: absent", "verdict: unknown", "1: my-state: its test has no case wi"),
        (TEST_FILE, "oom.phase", "oom.fase", "4: my-state: cases[0].facts: the fact 'oom.fase'"),
        (RULE_FILE, "by: $by}", "by: $bye}", "11: one-explains-other: then[0].explain.by: no cl"),
        (RULE_FILE, "symptom: my-error", "symptom: x", "8: one-explains-other: when[0]: no sympt"),
        (RULE_FILE, "stage: explain", "stage: derive", "4: one-explains-other: stage: is 'derive'"),
        (GUARD_FILE, "package: ms-swift", "package: trl", "3: my-guard: package: is 'trl', the f"),
        (GUARD_FILE, ">=3.7", "newer", "4: my-guard: versions[0]: 'newer' is not a PEP 440"),
        (
            PACKAGE_FILE,
            "cause: my-state",
            "cause: x",
            "8: my-package: ranges.my-range.cause: no cause",
        ),
        (PACKAGE_FILE, ">=1.2", ">=0.9", "11: my-package: ranges.my-range.pin: >=0.9 lets 1.0 in"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    tmp_path: Path, file: str, old: str, new: str, line: str
) -> None:
    assert old in FILES[file]
    folder = write_files(tmp_path, {file: FILES[file].replace(old, new, 1)})

    found = [str(finding) for finding in findings(folder)]

    entry = file.replace(".test", "") if line.startswith("1:") else file
    assert any(text.startswith(f"{entry}:{line}") for text in found), found


def test_all_errors_of_a_malformed_file_are_listed(tmp_path: Path) -> None:
    text = SYMPTOM.replace("role: failure", "role: fail").replace("needle:", "neddle:")
    text = text.replace("title: {en: My error, zh: 我的错误}\n", "").replace('"2026', '"20O6')

    found = said(write_files(tmp_path, {SYMPTOM_FILE: text}))

    assert [line.removeprefix(f"{SYMPTOM_FILE}:") for line in found] == [
        "1: my-error: title: is missing",
        f"3: my-error: role: is 'fail', must be one of {', '.join(get_args(Role))}",
        "6: my-error: updated: '20O6-11-21' is no date like 2026-11-21",
        "8: my-error: patterns[0].neddle: is no key here; is needle meant?",
        "8: my-error: patterns[0].needle: is missing",
        "14: my-error: references.a.checked: '20O6-11-21' is no date like 2026-11-21",
    ]


def test_a_file_that_is_no_yaml_hides_nothing_and_lends_its_name(tmp_path: Path) -> None:
    cause = CAUSE.replace("prior: 0.1", "prior: 3")

    found = said(write_files(tmp_path, {SYMPTOM_FILE: "schema: [", CAUSE_FILE: cause}))

    assert found == [
        f"{CAUSE_FILE}:10: my-state: prior: is 3, must lie in (0, 0.6]",
        f"{SYMPTOM_FILE}:2: my-error: line 2: {NO_YAML}",
    ]


@pytest.mark.parametrize("text", ["", "- a\n", "12", "a: 1\na: 2\n", "\x00", "{[: }"])
def test_a_file_that_is_no_entry_is_said(tmp_path: Path, text: str) -> None:
    found = findings(write_files(tmp_path, {SYMPTOM_FILE: text}))

    assert [f.path for f in found] == [SYMPTOM_FILE]


def test_bytes_that_are_no_text_are_said(tmp_path: Path) -> None:
    folder = write_files(tmp_path)
    (folder / SYMPTOM_FILE).write_bytes(b"\xff\xfe\x00 id: x")

    assert [f.path for f in findings(folder)] == [SYMPTOM_FILE]


def test_a_cause_and_a_rule_need_a_test_and_a_test_an_entry(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {"kb/causes/hang/alone.test.yaml": CAUSE_TEST})
    (folder / TEST_FILE).unlink()
    (folder / "rules/explain/one-explains-other.test.yaml").unlink()

    found = said(folder)

    assert found[0].endswith("alone: tests no entry: there is none of that name beside it")
    assert found[1].endswith("has no test beside it (my-state.test.yaml)")
    assert found[2].endswith("has no test beside it (one-explains-other.test.yaml)")
    assert len(found) == 3


def test_an_id_that_two_files_claim_is_refused(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {"kb/symptoms/hang/deeper/my-error.yaml": SYMPTOM})

    assert any("the symptom 'my-error' is in" in line for line in said(folder))


def test_two_causes_of_the_same_symptoms_and_changes_are_refused(tmp_path: Path) -> None:
    told = CAUSE.replace("{fact: oom.phase, eq: train}", "{symptom: my-error}")
    other = told.replace("id: my-state", "id: other-state")
    changed = {CAUSE_FILE: told, "kb/causes/hang/other-state.yaml": other}

    found = said(write_files(tmp_path, changed))

    assert any("has the symptoms and the changes of 'my-state'" in line for line in found)


def test_a_warning_is_marked_and_is_no_error(tmp_path: Path) -> None:
    unused = CAUSE.replace("      ref: a\n", "")

    (found,) = findings(write_files(tmp_path, {CAUSE_FILE: unused}))

    assert found.level == "warning"
    assert str(found) == (
        f"{CAUSE_FILE}:24: warning: my-state: references.a: no vote and no fix points to it by ref"
    )


def test_a_pattern_of_another_symptom_and_a_failure_without_a_cause_are_warned_of(
    tmp_path: Path,
) -> None:
    twin = SYMPTOM.replace("my-error", "my-twin")
    folder = write_files(tmp_path, {"kb/symptoms/hang/my-twin.yaml": twin})

    found = findings(folder)

    assert {f.level for f in found} == {"warning"}
    assert [(f.ident, f.key, f.message.partition(":")[0]) for f in found] == [
        ("my-error", "patterns[0]", "the same needle and regex stand in my-twin"),
        ("my-twin", "patterns", "no cause explains what they find"),
        ("my-twin", "patterns[0]", "the same needle and regex stand in my-error"),
    ]

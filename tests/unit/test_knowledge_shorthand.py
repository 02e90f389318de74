from __future__ import annotations

from pathlib import Path

import pytest
from knowledge_folders import CAUSE, findings, write_files

from trainrx.knowledge.load import find_entry, read_entry
from trainrx.knowledge.places import shipped
from trainrx.knowledge.shorthand import written_out
from trainrx.model.errors import KnowledgeError
from trainrx.model.knowledge import Cause, Fix

CAUSE_FILE = "kb/causes/hang/my-state.yaml"
FIX = """\
id: ours
title: {en: Do it, zh: 做}
safety: safe
cost: {en: None., zh: 无。}
steps: {en: Do., zh: 做。}
"""
AT = Path("kb/causes/hang/x.yaml")


def test_a_shared_fix_is_written_out_and_what_stands_beside_it_counts(tmp_path: Path) -> None:
    at = CAUSE.index("fixes:")
    end = CAUSE.index("references:")
    text = f"{CAUSE[:at]}fixes: [{{fix: ours, ref: a, safety: manual}}]\n{CAUSE[end:]}"
    folder = write_files(tmp_path, {CAUSE_FILE: text, "kb/fixes/ours.yaml": FIX})

    (fix,) = read_entry(folder / CAUSE_FILE, Cause).fixes

    assert (fix.id, fix.title.en, fix.safety, fix.ref) == ("ours", "Do it", "manual", "a")
    assert [f.key for f in findings(folder) if f.path == "kb/fixes/ours.yaml"] == ["id"]


def test_a_folder_of_ones_own_may_refer_to_the_shipped_fixes() -> None:
    shared = min((shipped()[0] / "fixes").glob("*.yaml")).stem

    out = written_out(AT, {"fixes": [{"fix": shared}]})

    assert isinstance(out, dict)
    assert out["fixes"][0]["id"] == shared
    assert isinstance(find_entry(shared)[0], Fix)


def test_a_fix_that_is_not_there_is_named() -> None:
    with pytest.raises(KnowledgeError, match=r"fixes\[0\].fix: there is no fix 'nothing'"):
        written_out(AT, {"fixes": [{"fix": "nothing"}]})


def test_a_cause_that_restates_a_symptom_has_its_vote() -> None:
    why = {"en": "It says so.", "zh": "已说明。"}

    out = written_out(AT, {"restates": {"symptom": "s", "why": why, "ref": "a"}})

    vote = {"id": "named", "weight": 2.4, "why": why, "ref": "a", "when": {"symptom": "s"}}
    assert out == {"explains": ["s"], "evidence": {"supports": [vote]}}


@pytest.mark.parametrize("said", ["s", {"why": "x"}, None])
def test_what_restates_no_symptom_is_refused(said: object) -> None:
    with pytest.raises(KnowledgeError, match="names no symptom"):
        written_out(AT, {"restates": said})


def test_a_status_is_read_over_and_warned_of(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {CAUSE_FILE: CAUSE.replace("prior:", "status: stable\nprior:")})

    read_entry(folder / CAUSE_FILE, Cause)
    (found,) = findings(folder)

    assert (found.key, found.level) == ("status", "warning")

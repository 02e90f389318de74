"""Runs that went well, recorded from the real frameworks: nothing may be found in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainrx import diagnose

HERE = Path(__file__).parent
FOLDERS = sorted(path.name for path in HERE.iterdir() if path.is_dir() and path.name[0] not in "._")


@pytest.mark.parametrize("name", FOLDERS)
def test_a_healthy_run_has_no_cause_and_no_warning(name: str) -> None:
    result = diagnose([HERE / name])

    assert [cause.id for cause in result.causes] == []
    assert [seen.id for seen in result.symptoms] == []
    assert result.warnings == ()
    assert result.verdict == "healthy"


@pytest.mark.parametrize("name", [n for n in FOLDERS if "folder" not in n])
def test_the_framework_and_its_version_are_known(name: str) -> None:
    result = diagnose([HERE / name])

    framework, version = name.rsplit("-sft", 1)[0].rsplit("-ddp", 1)[0].rsplit("-", 1)
    assert (result.job.framework, result.job.framework_version) == (framework, version)

"""Runs recorded from the real frameworks, with what must come out first.

Those of `real/` were drawn and judged by hand before anything was asked; logs are shortened.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from trainrx import diagnose
from trainrx.knowledge.yaml12 import read_yaml

HERE = Path(__file__).parent
FOLDERS = sorted(
    path.parent.relative_to(HERE).as_posix()
    for pattern in ("*/expect.yaml", "real/*/expect.yaml")
    for path in HERE.glob(pattern)
)


class Expected(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The symptom that is no echo, the first cause, and lines its fixes must hold.

    `symptom` is "" where no signature is kept for what the parser printed. `proved` is said where
    the edit was made in the real framework: it ran, and so may be called proved, or what it takes
    to run is not known from the job.
    """

    symptom: str
    cause: str | None = None
    verdict: str = "diagnosed"
    fixes: tuple[str, ...] = ()
    note: str = ""
    proved: bool | None = None


@pytest.mark.parametrize("name", FOLDERS)
def test_a_recorded_failure_is_explained(name: str) -> None:
    expected = msgspec.convert(read_yaml(HERE / name / "expect.yaml"), Expected)

    result = diagnose([HERE / name], note=expected.note)

    roots = [seen.id for seen in result.symptoms if seen.echo_of is None]
    assert expected.symptom in (roots or [""])
    assert result.verdict == expected.verdict
    # what little speaks for is named too, and called no more than possible
    named = [cause for cause in result.causes if expected.cause or cause.verdict == "likely"]
    assert (named[0].id if named else None) == expected.cause
    text = msgspec.json.encode(result.causes[:1]).decode()
    assert [fix for fix in expected.fixes if fix not in text] == []
    if expected.proved is not None:
        assert result.plan is not None
        assert result.plan.proved == expected.proved


@pytest.mark.parametrize("name", FOLDERS)
def test_each_conclusion_quotes_a_line_that_stands_there(name: str) -> None:
    result = diagnose([HERE / name])

    for seen in result.symptoms:
        for origin in seen.evidence:
            path = HERE / name / Path(origin.source).name
            # bytes: a progress bar's \r ends no line of the file
            lines = path.read_bytes().decode().split("\n")
            assert origin.line is not None
            assert origin.text.strip()[:40] in lines[origin.line - 1], origin

"""The diff is what `patch -p1` and `git apply` take, byte for byte."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from trainrx.fix.patch import unified_diff
from trainrx.model.planning import FilePatch, Patched

LONG = "".join(f"line {number}\n" for number in range(40))
CASES = {
    "one line": (("run.sh", "a\nb\nc\n", "a\nx\nc\n"),),
    "no line end before": (("run.sh", "a\nb", "a\nb\n"),),
    "no line end after": (("run.sh", "a\nb\n", "a\nc"),),
    "no line end at all": (("run.sh", "a", "b"),),
    "far apart": (("run.sh", LONG, LONG.replace("line 3\n", "x\n").replace("line 33\n", "")),),
    "line ends of windows": (("run.sh", "a\r\nb\r\nc\r\n", "a\r\nx\r\nc\r\n"),),
    "other line separators": (("run.sh", "a\x0cb\u2028c\x1dd\ne\n", "a\x0cb\u2028c\x1dd\nf\n"),),
    "name with a blank": (("my run.sh", "a\n", "b\n"),),
    "file in a folder": (("a/b/run.sh", "a\n", "b\n"),),
    "two files": (("run.sh", "a\n", "b\n"), ("x.yaml", "k: 1\n", "k: 2\n")),
    "new file": (("run.sh", "a\n", "b\n"), ("conf/ds_zero3.json", None, "{\n}\n")),
    "new file without a line end": (("new.json", None, "{}"),),
    "empty before": (("run.sh", "", "a\n"),),
    "chinese": (("run.sh", "# 训练\na\n", "# 训练\nb\n"),),
}
TOOLS = {
    "patch": ["patch", "-p1", "--batch", "--silent", "--binary"],
    "git": ["git", "apply", "--whitespace=nowarn"],
}


def patched(case: str) -> Patched:
    return Patched(files=tuple(FilePatch(name=n, before=b, after=a) for n, b, a in CASES[case]))


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("case", CASES)
def test_diff_is_applied_by_the_real_tools(tool: str, case: str, tmp_path: Path) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    for name, before, _ in CASES[case]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        if before is not None:
            (tmp_path / name).write_bytes(before.encode())

    diff = unified_diff(patched(case))
    done = subprocess.run(
        TOOLS[tool], input=diff.encode(), cwd=tmp_path, capture_output=True, check=False
    )

    assert done.returncode == 0, done
    for name, _, after in CASES[case]:
        assert (tmp_path / name).read_bytes() == after.encode()


def test_diff_has_the_headers_of_git() -> None:
    assert unified_diff(patched("one line")) == (
        "diff --git a/run.sh b/run.sh\n--- a/run.sh\n+++ b/run.sh\n"
        "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"
    )


def test_absolute_name_becomes_one_below_the_folder() -> None:
    files = (FilePatch(name="/home/u/run.sh", before="a\n", after="b\n"),)

    assert "--- a/home/u/run.sh\n" in unified_diff(Patched(files=files))


def test_nothing_changed_is_no_diff() -> None:
    assert unified_diff(Patched(files=(FilePatch(name="a", before="x", after="x"),))) == ""

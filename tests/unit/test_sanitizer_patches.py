from __future__ import annotations

import difflib
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from trainrx.sanitizer.patches import RedactedPatch, redacted
from trainrx.sanitizer.redactor import Redactor

SECRET = "export HF_TOKEN=hf_" + "aB3dE5gH7jK9mN1pQ3sT5v\n"


def diff(before: list[str], after: list[str]) -> str:
    return "".join(difflib.unified_diff(before, after, "a/run.sh", "b/run.sh"))


def applied(tmp_path: Path, before: list[str], patch: str, *command: str) -> str:
    (tmp_path / "run.sh").write_text("".join(before), encoding="utf-8")
    done = subprocess.run(
        command, input=patch, text=True, cwd=tmp_path, check=False, capture_output=True
    )
    assert done.returncode == 0, (done.stdout, done.stderr, patch)
    return (tmp_path / "run.sh").read_text(encoding="utf-8")


def script(rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Make a script with secrets in it, and change some of its other lines."""
    before = [
        SECRET if rng.random() < 0.2 else f"line {rng.integers(3)}\n"
        for _ in range(rng.integers(1, 30))
    ]
    after = []
    for line in before:
        if line == SECRET or rng.random() > 0.15:
            after.append(line)
        elif rng.random() < 0.6:
            after += [f"new {rng.integers(9)}\n"] * rng.integers(1, 3)
    return before, after


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs patch")
def test_a_patch_without_secrets_still_applies(tmp_path):
    rng = np.random.default_rng(7)
    shortened = exposed = 0
    for _ in range(60):
        before, after = script(rng)
        found = redacted(diff(before, after), Redactor("secrets"), applies=True)

        # of lines that repeat, the diff may say that another one was removed
        assert found.exposed or "hf_" not in found.text
        if found.text:
            after_patch = applied(tmp_path, before, found.text, "patch", "-p1", "-s", "-F0")
            assert after_patch == "".join(after)
        shortened += found.text != diff(before, after)
        exposed += found.exposed
    assert shortened > 20
    assert exposed < 10


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_git_takes_it_unless_it_is_said_to_be_bare(tmp_path):
    rng = np.random.default_rng(11)
    bare = 0
    for _ in range(25):
        before, after = script(rng)
        found = redacted(diff(before, after), Redactor("secrets"), applies=True)
        bare += found.bare
        if found.text:
            zero = ("--unidiff-zero",) if found.bare else ()
            command = ("git", "apply", *zero, "-p1", "-")
            assert applied(tmp_path, before, found.text, *command) == "".join(after)
    assert 0 < bare < 25


def test_a_diff_without_secrets_stays_as_it_is():
    plain = diff(["a\n", "b\n", "c\n"], ["a\n", "B\n", "c\n"])

    assert redacted(plain, Redactor("secrets"), applies=True) == RedactedPatch(plain)


def test_a_removed_line_that_looks_like_a_head_is_one_of_the_hunk():
    before = [SECRET, "-- a/x\n", "@@ -1 +1 @@\n", "c\n"]
    plain = diff(before, [SECRET, "b\n", "@@ -1 +1 @@\n", "c\n"])

    found = redacted(plain, Redactor("secrets"), applies=True)

    assert found.text.endswith("@@ -2,3 +2,3 @@\n--- a/x\n+b\n @@ -1 +1 @@\n c\n")


def test_a_key_of_several_lines_is_found_whole():
    key = [
        "-----BEGIN PRIVATE KEY-----\n",
        f"MII{'aB3/' * 15}x\n",
        "MIIdef==\n",
        "-----END PRIVATE KEY-----\n",
    ]
    plain = diff(["a\n", *key, "b\n", "c\n"], ["a\n", *key, "B\n", "c\n"])

    found = redacted(plain, Redactor("secrets"), applies=True)

    assert "MII" not in found.text


def test_a_secret_that_is_changed_is_kept_for_patch_and_masked_for_people():
    plain = diff([SECRET], [SECRET, "b\n", SECRET.replace("export ", "")])

    kept = redacted(plain, Redactor("secrets"), applies=True)
    masked = redacted(plain, Redactor("secrets"), applies=False)

    assert kept.exposed
    assert "+HF_TOKEN=hf_" in kept.text
    assert masked.masked
    assert "+HF_TOKEN=***\n" in masked.text
    assert "hf_" not in masked.text

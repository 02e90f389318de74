"""The wrapper of sbatch, with an sbatch that writes down what it is given."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

WRAPPER = Path(__file__).parents[2] / "integrations" / "slurm" / "sbatch"
BIN = Path(sys.executable).parent
GOOD = "#!/bin/bash\n#SBATCH --gres=gpu:8\nswift sft --model m --dataset d --lora_rank 8\n"
BAD = GOOD.replace("rank", "rnak")
REAL = """\
#!/bin/bash
printf '%s\\n' "$@" > "$RECORD"
[[ $TAKES_INPUT ]] && cat > "$RECORD.input"
echo "Submitted batch job 7"
exit 3
"""
SUBMITTED = 3
"""What the real sbatch ends with here."""


class Cluster:
    """A folder of programs and one of scripts."""

    def __init__(self, root: Path) -> None:
        self.programs = root / "bin"
        self.work = root / "work"
        self.programs.mkdir()
        self.work.mkdir()
        self.record = root / "record"
        self.program("sbatch", REAL)
        (self.work / "good.sh").write_text(GOOD)
        (self.work / "bad.sh").write_text(BAD)

    def program(self, name: str, text: str) -> None:
        path = self.programs / name
        path.write_text(text)
        path.chmod(0o755)

    def sbatch(self, *words: str, stdin: str | None = None, **env: str):
        path = os.pathsep.join((str(WRAPPER.parent), str(self.programs), str(BIN), "/usr/bin:/bin"))
        given = {"PATH": path, "RECORD": str(self.record), "LC_ALL": "C.UTF-8"}
        given |= {"TAKES_INPUT": "1"} if stdin is not None else {}
        given |= {key: os.environ[key] for key in ("PYTHONPATH",) if key in os.environ}
        return subprocess.run(
            ["sbatch", *words],
            cwd=self.work,
            env={**given, **env},
            input=stdin or "",
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            # the program is looked for on the path given, not on ours
            executable=str(WRAPPER),
        )

    def given(self) -> list[str] | None:
        return self.record.read_text().splitlines() if self.record.exists() else None


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path)


@pytest.mark.parametrize("name", ["good.sh", "bad.sh"])
def test_a_script_with_errors_is_not_submitted(cluster, name):
    done = cluster.sbatch("-p", "gpu", name, "arg", "--model", "x")

    if name == "good.sh":
        assert (done.returncode, done.stderr) == (SUBMITTED, "")
        assert done.stdout == "Submitted batch job 7\n"
        assert cluster.given() == ["-p", "gpu", "good.sh", "arg", "--model", "x"]
    else:
        assert (done.returncode, cluster.given(), done.stdout) == (1, None, "")
        assert "did you mean --lora_rank?" in done.stderr
        assert "TRAINRX_SKIP=1" in done.stderr


def test_a_warning_is_shown_and_the_job_submitted(cluster):
    (cluster.work / "warned.sh").write_text(GOOD.replace("--model m", "--model n --model m"))

    done = cluster.sbatch("warned.sh")

    assert done.returncode == SUBMITTED
    assert "warning: " in done.stderr
    assert done.stdout == "Submitted batch job 7\n"


def test_it_is_skipped_on_demand(cluster):
    done = cluster.sbatch("bad.sh", TRAINRX_SKIP="1")

    assert (done.returncode, done.stderr) == (SUBMITTED, "")


@pytest.mark.parametrize(
    "check",
    [
        "no-such-program lint",
        "broken",
        "crashing",
        "uninstalled",
        "slow",
    ],
)
def test_a_check_that_fails_stops_nothing(cluster, check):
    cluster.program("broken", "#!/bin/sh\necho nonsense\necho more\nexit 2\n")
    cluster.program("crashing", "#!/bin/sh\nkill -SEGV $$\n")
    cluster.program("uninstalled", "#!/bin/sh\necho ModuleNotFoundError >&2\nexit 1\n")
    cluster.program("slow", "#!/bin/sh\nexec sleep 50\n")

    done = cluster.sbatch("bad.sh", TRAINRX_LINT=check, TRAINRX_TIMEOUT="0.5")

    assert done.returncode == SUBMITTED
    assert cluster.given() == ["bad.sh"]
    assert ("was not checked" in done.stderr) == (check != "no-such-program lint")
    assert "nonsense" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--wrap", "swift sft --model m --dataset d --lora_rnak 8"],
        ["-N1", "--wrap=swift sft --model m --dataset d --lora_rnak 8"],
        ["--partition", "good.sh", "bad.sh"],
        ["--part", "good.sh", "bad.sh"],
        ["--exclusive", "--gres=gpu:8", "-Hp", "good.sh", "bad.sh"],
        ["-Hpgood.sh", "--parsable", "--test-onl", "bad.sh", "good.sh"],
        ["-N", "1", ":", "-n", "2", "./bad.sh"],
        ["--", "bad.sh"],
    ],
)
def test_the_script_is_found_behind_the_options(cluster, words):
    assert cluster.sbatch(*words).returncode == 1
    assert cluster.given() is None
    assert cluster.sbatch(*(word.replace("rnak", "rank") for word in words)).returncode == (
        1 if "bad.sh" in " ".join(words) else SUBMITTED
    )


@pytest.mark.parametrize("text", [GOOD, BAD])
def test_a_script_from_standard_input_arrives_whole(cluster, text):
    done = cluster.sbatch("--parsable", stdin=text)

    if text == GOOD:
        assert done.returncode == SUBMITTED
        assert cluster.record.with_name("record.input").read_text() == text
    else:
        assert (done.returncode, cluster.given()) == (1, None)


@pytest.mark.parametrize("word", ["--version", "-V", "--help", "--usage"])
def test_questions_go_through(cluster, word):
    done = cluster.sbatch(word)

    assert (done.returncode, cluster.given()) == (SUBMITTED, [word])


@pytest.mark.parametrize("words", [["missing.sh"], ["program.py"], ["other.sh"]])
def test_what_is_no_launch_goes_through(cluster, words):
    (cluster.work / "program.py").write_text("#!/usr/bin/env python\nprint(1)\n")
    (cluster.work / "other.sh").write_text("#!/bin/bash\nhostname\n")

    done = cluster.sbatch(*words)

    assert (done.returncode, done.stderr) == (SUBMITTED, "")


def test_a_script_on_the_path_is_found_as_sbatch_finds_it(cluster):
    cluster.program("launch.sh", BAD)

    assert cluster.sbatch("launch.sh").returncode == 1


@pytest.mark.parametrize(("gpus", "status"), [("4", 1), ("8", SUBMITTED), ("a100:8", SUBMITTED)])
def test_options_of_the_command_line_are_known_to_the_check(cluster, gpus, status):
    text = "#!/bin/bash\nNPROC_PER_NODE=8 swift sft --model m --dataset d\n"
    (cluster.work / "many.sh").write_text(text)

    assert cluster.sbatch("-G", gpus, "-N", "1", "many.sh").returncode == status


def test_options_for_the_check_are_passed_on(cluster):
    line = "swift sft --model m --dataset d --tuner_type lora\n"
    (cluster.work / "new.sh").write_text("#!/bin/bash\n" + line)

    assert cluster.sbatch("new.sh").returncode == SUBMITTED
    done = cluster.sbatch("new.sh", TRAINRX_LINT_OPTIONS="--versions ms-swift==3.2.1 --lang zh")

    assert done.returncode == 1
    assert "错误" in done.stderr


def test_without_another_sbatch_it_says_so(cluster):
    (cluster.programs / "sbatch").unlink()

    done = cluster.sbatch("good.sh")

    assert done.returncode == 127
    assert "TRAINRX_SBATCH" in done.stderr


def test_the_real_one_can_be_named(cluster):
    elsewhere = cluster.programs / "real"
    (cluster.programs / "sbatch").rename(elsewhere)

    assert cluster.sbatch("good.sh", TRAINRX_SBATCH=str(elsewhere)).returncode == SUBMITTED

"""A launch is looked at from the folder its script goes to first."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainrx.launch.files import ConfigTexts, config_texts
from trainrx.launch.find import find_launches
from trainrx.launch.places import started_in
from trainrx.launch.programs import joined
from trainrx.model.job import RawLaunch, Workdir
from trainrx.shell import read_script

PROGRAM = """\
from trl import SFTConfig, SFTTrainer
config = SFTConfig(output_dir="out", learning_rate={rate})
SFTTrainer(model="Qwen/Qwen3-8B", args=config).train()
"""
ZERO = '{{"zero_optimization": {{"stage": {stage}}}}}'


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """Lay out a repository whose folders hold files of the same names."""
    (tmp_path / ".git").mkdir()
    for number, folder in enumerate((".", "scripts", "scripts/sub"), start=1):
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        (place / "train.py").write_text(PROGRAM.format(rate=number / 10))
        (place / "ds.json").write_text(ZERO.format(stage=number))
    return tmp_path / "scripts"


def launch(script: str) -> RawLaunch:
    (found,) = find_launches(read_script(script, "run.sh"), trains={"train.py"})
    return found


def rates(script: str, beside: Path) -> list[tuple[str, ...] | None]:
    (found,) = joined([launch(script)], (), beside)
    return [arg.values for arg in found.args if arg.name == "learning_rate"]


def configs(script: str, beside: Path) -> ConfigTexts:
    return config_texts(launch(script), (), beside)


STAYED, ABOVE, BELOW = "0.2", "0.1", "0.3"
COURSES = [
    ("python train.py", STAYED),
    ("cd sub; python train.py", BELOW),
    ("cd sub && python train.py", BELOW),
    ("(cd sub && python train.py)", BELOW),
    ("(cd sub; ls)\npython train.py", STAYED),
    ("pushd sub\npython train.py", BELOW),
    ("pushd sub; popd\npython train.py", STAYED),
    ("cd sub; cd -; python train.py", STAYED),
    ("cd sub; cd ..; python train.py", STAYED),
    ("cd ..\npython train.py", ABOVE),
    ('cd "$(dirname "$0")"\npython train.py', STAYED),
    ('cd "$(dirname "${BASH_SOURCE[0]}")/.."\npython train.py', ABOVE),
    ('D=$(cd "$(dirname "$0")/.." && pwd)\ncd $D/scripts/sub\npython train.py', BELOW),
    ("cd $SLURM_SUBMIT_DIR/sub; python train.py", BELOW),
    ("bash -c 'cd sub && python train.py'", BELOW),
    ("go() { cd $1; }\ngo sub\npython train.py", BELOW),
    ("env -C sub python train.py", BELOW),
    ("uv run --directory sub train.py", BELOW),
    ("srun --chdir=sub python train.py", BELOW),
    ("mpirun -wdir sub -np 2 python train.py", BELOW),
    ("ray job submit --working-dir sub -- python train.py", BELOW),
    ("#SBATCH --chdir=sub\npython train.py", BELOW),
    ("#SBATCH -D sub\ncd ..\npython train.py", STAYED),
    ("sbatch --chdir sub --wrap 'python train.py'", BELOW),
    ("sbatch -D sub --wrap 'cd ..; python train.py'", STAYED),
    ("docker run -v $PWD:/w -w /w/sub image python train.py", BELOW),
    ("docker run -v $(pwd)/sub:/w -w /w image python train.py", BELOW),
    ("docker run -v ./sub:/w image bash -c 'cd /w; python train.py'", BELOW),
    ("apptainer exec --pwd sub image.sif python train.py", BELOW),
    ("python sub/train.py", BELOW),
    ("cd sub; python ../train.py", STAYED),
]


@pytest.mark.parametrize(("script", "rate"), COURSES)
def test_the_program_is_the_one_where_the_command_starts(
    script: str, rate: str, scripts: Path
) -> None:
    assert rates(script, scripts) == [(rate,)]


@pytest.mark.parametrize(("script", "rate"), COURSES)
def test_a_configuration_is_looked_for_where_the_command_starts(
    script: str, rate: str, scripts: Path
) -> None:
    named = "sub/ds.json" if "sub/train" in script else "ds.json"
    named = "../ds.json" if "../train" in script else named

    found = configs(script.replace("train.py", f"train.py --deepspeed {named}"), scripts)

    stage = {ABOVE: 1, STAYED: 2, BELOW: 3}[rate]
    assert found.texts == {named: ZERO.format(stage=stage)}
    assert not found.guessed


@pytest.mark.parametrize(
    "front",
    ["cd $WORK", "cd", "cd /other/place", "cd sub/nowhere", "if [ -d $X ]; then cd sub; fi"],
)
def test_in_a_folder_that_is_not_at_hand_a_file_found_by_name_is_a_guess(
    front: str, scripts: Path
) -> None:
    script = f"{front}\npython train.py --deepspeed ds.json"

    found = configs(script, scripts)
    (program,) = joined([launch(script)], (), scripts)

    assert found.texts
    assert found.guessed == {"ds.json"}
    assert program.program_read
    assert "may be another file" in program.unread[-1].reason


def test_a_file_only_elsewhere_is_found_and_said_to_be_a_guess(scripts: Path) -> None:
    (scripts / "sub/ds.json").unlink()

    found = configs("cd sub; python train.py --deepspeed ds.json", scripts)

    assert found.found == {"ds.json": str(scripts / "ds.json")}
    assert found.guessed == {"ds.json"}


def test_the_path_of_another_machine_is_followed_from_the_repository(scripts: Path) -> None:
    root = scripts.parent.name

    found = configs(f"cd /home/x/{root}/scripts/sub; python train.py --deepspeed ds.json", scripts)

    assert found.texts == {"ds.json": ZERO.format(stage=3)}
    assert not found.guessed


@pytest.mark.parametrize("path", ["/etc", "../../../../..", "a\0b", "x" * 2000])
def test_a_folder_outside_the_repository_is_not_entered(path: str, scripts: Path) -> None:
    assert started_in(Workdir(path), scripts) is None


def test_a_script_is_taken_in_from_the_folder_it_went_to() -> None:
    texts = {"env.sh": "export A=1\n", "sub/env.sh": "export A=2\n"}

    script = read_script("cd sub\nsource env.sh\npython train.py", "run.sh", {}, texts.get)

    assert [(item.name, item.value) for item in script.commands[-1].env] == [("A", "2")]

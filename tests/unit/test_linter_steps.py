"""What lint says of programs that only prepare, of steps in a job, and what it leaves as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

import trainrx
from command_line import run


@pytest.mark.parametrize(("program", "told"), [("train.py", 1), ("data_prepare.py", 0)])
def test_a_program_that_prepares_data_starts_no_engine(tmp_path: Path, program: str, told: int):
    script = tmp_path / "run.sh"
    script.write_text(
        f"torchrun --nproc_per_node 8 {program} --per_device_train_batch_size 1"
        " --gradient_accumulation_steps 0 --deepspeed zero2.json\n",
        encoding="utf-8",
    )

    found = [item.rule for item in trainrx.lint(script)]

    assert found.count("ds-accumulation-not-positive") == told


def test_a_line_is_not_joined_to_the_text_above_it(tmp_path: Path):
    script = tmp_path / "run.sh"
    script.write_text('A=" --lora_rank 8 \\ \n --output_dir o "\nbash -c "swift sft $A"\n', "utf-8")

    run(["lint", "--fix", "run.sh"], tmp_path)

    assert script.read_text("utf-8") == (
        'A=" --lora_rank 8 \\\n --output_dir o "\nbash -c "swift sft $A"\n'
    )

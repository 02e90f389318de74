from __future__ import annotations

import pytest

from trainrx.shell import read_script


@pytest.mark.parametrize("length", range(12_150, 12_300, 10))
def test_a_long_script_cuts_no_command_in_two(length: int) -> None:
    before = "\n".join(["echo 0123456789"] * 900)[:length]
    command = "python -m verl.trainer.main_ppo \\\n    a.b=1 \\\n    c.d=2 \\\n    e.f=3\n"

    script = read_script(f"{before}\n{command}", "x")

    assert script.defects == ()
    words = [word.text for word in script.commands[-1].words]
    assert words[-3:] == ["a.b=1", "c.d=2", "e.f=3"]

"""The command of a plan: what was given, spelled so that a shell reads it back."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from trainrx.launch.request import Inputs, request_of
from trainrx.verdict.command import fix_command


def test_what_was_given_comes_back_as_words_of_a_shell() -> None:
    given: Inputs = {
        "cmd": "my launch.sh",
        "logs": ["train.log", "rank1.log"],
        "versions": {"ms-swift": "3.2.1", "torch": ">=2.5"},
        "gpu": "A100-80G",
        "gpus": 8,
        "note": "it's OOM",
        "lang": "zh",
    }

    answers = {"rank": "no", "stack": Path("stack.txt"), "kernel": "a\nb", "log": "unknown"}
    words = shlex.split(fix_command(request_of("run", given, answers=answers)))

    assert words == [
        *("diagnose", "fix", "run", "--cmd", "my launch.sh"),
        *("--versions", "ms-swift==3.2.1,torch>=2.5"),
        *("--log", "train.log", "--log", "rank1.log", "--note", "it's OOM"),
        *("--answer", "rank=no", "--answer", "stack=@stack.txt", "--answer", "kernel=@kernel.txt"),
        *("--gpu", "A100-80G", "--gpus", "8", "--lang", "zh"),
    ]


@pytest.mark.parametrize("given", [{"cmd": "-"}, {"logs": "-"}, {"config": ["a.yaml", "-"]}])
def test_what_came_by_a_pipe_has_no_command(given: Inputs) -> None:
    assert fix_command(request_of((), given)) == ""


def test_a_reply_that_came_by_a_pipe_has_no_command() -> None:
    asked = request_of((), {"cmd": "a.sh"}, answers={"stack": Path("-")})

    assert fix_command(asked) == ""

from __future__ import annotations

import pytest

from trainrx.fix.patch.tokens import read_words

COMMAND = "swift sft --model a"


@pytest.mark.parametrize(
    "text",
    [
        "{} > train.log 2>&1 &\n",
        "cd x && {}\n",
        "( {} )\n",
        "{{ {}; }}\n",
        "if true; then {}; fi\n",
        "for i in 1 2; do {}; done\n",
        "while true; do {}; done\n",
        "case $1 in a) {} ;; esac\n",
        "run() {{ {}; }}\nrun\n",
        "! {} | tee x\n",
    ],
)
def test_the_words_of_a_command_are_read_whatever_it_stands_in(text: str) -> None:
    found = [[token.text for token in run.words] for run in read_words(text.format(COMMAND)).runs]

    assert COMMAND.split() in found

"""`--ask`: questions on a terminal, one at a time; a real one, and one held in memory."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import command_line
from trainrx.cli._consultation import MOST, Terminal, consult, show_options
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import Request
from trainrx.model.result import Diagnosis
from trainrx.model.text import Lang
from trainrx.render.document import View
from trainrx.verdict import run

NOTE = "the process is killed after two hours, the training dies"
KERNEL = "[1.0] up\n\n[7.5] Out of memory: Killed process 42 (python) total-vm:2kB, anon-rss:1kB\n"
EXAMPLE = Path(__file__).parents[2] / "examples" / "01-vl7b-grpo-2xA800-80g"
PROMPT = "\n> "
WAIT = 60.0
"""Seconds, far more than it takes."""
LOADED = LoadedKnowledge()


@cache
def answered(request: Request) -> Diagnosis:
    return run.diagnose(request, LOADED, top=1)


def talk(typed: str, lang: Lang = "en", note: str = NOTE) -> tuple[Request, Diagnosis, str]:
    """Hold a consultation on a note with all that is typed; give what was said as well."""
    return consulted(Request(notes=(note,), lang=lang), typed)


def consulted(asked: Request, typed: str) -> tuple[Request, Diagnosis, str]:
    source = io.TextIOWrapper(io.BytesIO(typed.encode()), encoding="utf-8")
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    terminal, seen = Terminal(source, out), View(asked.lang, 80)
    request, answer = consult(asked, answered, seen, terminal)
    show_options(request, seen, terminal)
    said = out.buffer
    assert isinstance(said, io.BytesIO)
    return request, answer, said.getvalue().decode()


def test_at_most_five_questions_are_put_and_none_twice() -> None:
    request, _, said = talk("\n" * 20)

    asked = [reply.id for reply in request.answers]
    assert len(asked) == len(set(asked)) == MOST == said.count(PROMPT)
    assert [reply.text for reply in request.answers] == ["unknown"] * MOST


def test_the_answer_is_the_one_the_options_give_without_questions() -> None:
    request, answer, said = talk("1\n?\n不知道\nq\n")

    plain = Request(notes=(NOTE,), answers=request.answers)
    assert answered(plain) == answer
    assert [reply.text for reply in request.answers] == ["1", "?", "不知道"]
    for reply in request.answers:
        assert f"--answer {reply.id}=" in said or f"--answer '{reply.id}=" in said


def test_a_stop_or_the_end_of_input_ends_the_questions() -> None:
    for typed in ("q\n", "退出\n", ""):
        request, answer, said = talk(typed)

        assert request.answers == ()
        assert said.count(PROMPT) == 1
        assert answer == answered(request)


@pytest.mark.parametrize(("lang", "hint"), [("en", "the number, 1 to"), ("zh", "编号 1 到")])
def test_outcomes_are_numbered_and_answered_by_their_number(lang: Lang, hint: str) -> None:
    note = "training hangs in the middle, no error"
    first = answered(Request(notes=(note,), lang=lang)).asks[0]

    request, answer, said = talk("2\nq\n", lang, note)

    assert hint in said
    assert "2. " in said
    assert [(reply.id, reply.text) for reply in request.answers] == [(first.id, "2")]
    assert answer.facts[f"answered.{first.id}"] == first.values[1]


def test_what_is_no_answer_is_asked_again(capsys: pytest.CaptureFixture[str]) -> None:
    request, _, said = talk("@missing.txt\n77\n\nq\n")

    refused = capsys.readouterr().err
    assert "missing.txt: no such file" in refused
    assert "expected one of " in refused
    # which questions are open is no matter where one is being put
    assert "Open questions" not in refused
    assert [reply.text for reply in request.answers] == ["unknown"]
    assert "Question 2" in said
    assert "Question 3" not in said


def test_what_an_answer_changed_is_said_after_each() -> None:
    _, _, same = talk("\nq\n")
    _, answer, other = talk("swift sft --model Qwen/Qwen2.5-7B --deepspeed zero3_offload\n\nq\n")

    assert "as before" in same
    assert "before: " in other
    assert answer.job.framework == "ms-swift"


def test_both_languages_ask_the_same() -> None:
    english, _, _ = talk("\n\nq\n")
    chinese, _, said = talk("\n\nq\n", "zh")

    assert [reply.id for reply in chinese.answers] == [reply.id for reply in english.answers]
    assert "问题 1（最多 5 个）" in said
    assert "Question" not in said


def test_a_likely_cause_leaves_nothing_to_ask() -> None:
    log, launch = EXAMPLE / "train.log", EXAMPLE / "launch.sh"

    request, answer, said = consulted(Request(logs=(str(log),), cmd=(str(launch),)), "")

    assert answer.causes[0].verdict == "likely"
    assert (request.answers, said) == ((), "Nothing is asked: the first cause is likely.\n\n")


class Screen:
    """A command on a terminal of its own."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.ours, theirs = pty.openpty()
        # what the answer is written to is no part of the dialogue
        self.answer = (folder / "answer").open("w+b")
        command = [sys.executable, "-m", "trainrx.cli", *words]
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=self.answer, stderr=theirs, cwd=folder
        )
        os.close(theirs)

    def until(self, text: str) -> str:
        """Read what is shown, up to a text."""
        shown, end = b"", time.monotonic() + WAIT
        while text.encode() not in shown and time.monotonic() < end:
            if select.select([self.ours], [], [], 0.1)[0]:
                shown += os.read(self.ours, 65536).replace(b"\r\n", b"\n")
        assert text.encode() in shown, shown.decode()
        return shown.decode()

    def type(self, text: str) -> None:
        os.write(self.ours, f"{text}\n".encode())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.answer.close()
        os.close(self.ours)


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    found = Screen(tmp_path, "--note", NOTE, "--ask", "--format", "json", "--lang", "en")
    yield found
    found.close()


def test_a_paste_with_empty_lines_is_one_answer_on_a_real_terminal(screen: Screen) -> None:
    typed = 0
    while "Killed process" not in (shown := screen.until(PROMPT)) and typed < MOST:
        # the question for the kernel's lines gets them, the others nothing
        kernel = "Run" in shown and "dmesg" in shown and "killed process" in shown
        screen.type(KERNEL if kernel else "")
        typed += 1
        if kernel:
            break
    after = screen.until(PROMPT)
    screen.type("q")
    screen.until("--answer ")

    assert screen.process.wait(WAIT) == 0
    screen.answer.seek(0)
    answer = json.loads(screen.answer.read())
    lines = [at for item in answer["symptoms"] for at in item["evidence"]]
    assert any("Killed process 42" in at["text"] and at["line"] == 3 for at in lines)
    assert after.count(PROMPT) == 1


@pytest.mark.parametrize(("lang", "message"), [("en", "here is none"), ("zh", "没有终端")])
def test_without_a_terminal_nothing_is_asked_and_it_says_what_to_do(
    tmp_path: Path, lang: str, message: str
) -> None:
    done = command_line.run(("--note", NOTE, "--ask", "--lang", lang), tmp_path)

    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert "--answer ID=VALUE" in done.err


def test_what_is_typed_is_shown_masked_and_without_effect() -> None:
    token = "hf_" + "aB3dE5gH7jK9mN1pQ3sT5v"
    _, _, said = talk(f"--hub_token {token} \x1b]52;c;cm0=\x07\nq\n", note=f"{NOTE} {token}\x9b2J")

    assert token not in said
    assert "\x1b]52" not in said
    assert "\x9b" not in said

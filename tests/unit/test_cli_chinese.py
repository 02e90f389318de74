"""The catalogue of what the command line says in Chinese: nothing is missing, nothing left over."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import trainrx
from trainrx.cli import commands, main, module_of
from trainrx.cli._chinese import HELP, _said
from trainrx.render.chinese import catalogue, chinese, messages
from trainrx.render.layout import cells

SOURCES = Path(trainrx.__file__).parent
CHINESE = re.compile(r"[\u4e00-\u9fff]")
ERRORS = {
    *("UsageError", "UnknownContentError", "NoInputError", "ReplyError", "WriteRefusedError"),
    "EngineLostError",
}
VALUE = "⟦{}⟧"
FOR_AUTHORS = ("entries/", "cli/_scaffold.py")
"""Rooms whose messages are for those who write entries."""
COMPUTED = {
    "catalog/framework_choice.py": "--framework foo: no such framework is known here; Expected one "
    "of trl, or a library (accelerate, deepspeed, ...); pytorch or nccl where the failure lies "
    "there and no framework is used. For a program of your own leave the option out.",
    "estimation/run.py": "no launch found in a.sh: give the script or config that starts the "
    "training with --cmd\n  a.sh: holds nothing",
    "inspect/inspection.py": "no launch found in a.sh: give the script or config that starts the "
    "training with --cmd",
    "linter/settings.py": "there is no rule or group 'x': did you mean y? `diagnose lint --list` "
    "shows all",
    "inputs/token_lengths.py": "a.json: is no tokenizer: bad",
    "inputs/containers/__init__.py": "a.bin: is a pickle, which runs code where it is loaded and "
    "is never read: give the launch command, trainer_state.json or the log instead.",
    "inputs/files.py": "a.log.gz: the gzip data is damaged or cut off: bad.",
    "launch/given.py": "--gpu x: no GPU or memory is named. Expected a card or its memory, e.g. "
    "`--gpu A100-80G` or `--gpu 24GiB`.",
    "verdict/joined.py": '--answer a=x: expected GiB, or "unknown". Open questions: log.',
    "share/bots/github_issues.py": "no launch found in a.sh: give the script or config that starts "
    "the training with --cmd",
    "render/figures.py": "--plot a.svg: No space left on device",
}
"""Rooms that put a message together before it is raised, and one of theirs."""


def _messages() -> Iterator[tuple[str, str | None]]:
    """Give where an error is raised and what it says, its values marked; None: put together."""
    for path in sorted(SOURCES.rglob("*.py")):
        room = path.relative_to(SOURCES).as_posix()
        if room.startswith(FOR_AUTHORS):
            continue
        module = None
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and node.args and _name(node.func) in ERRORS):
                continue
            name = "trainrx." + room.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
            module = module or import_module(name)
            yield f"{room}:{node.lineno}", _text(node.args[0], module)


def _reasons() -> Iterator[tuple[str, str]]:
    """Give where an input is said to be of no use and why, as far as it is said there."""
    for path in sorted(SOURCES.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        room = path.relative_to(SOURCES).as_posix()
        module = None
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and _name(node.func) == "Unread"):
                continue
            (why,) = (word.value for word in node.keywords if word.arg == "reason")
            name = "trainrx." + room.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
            module = module or import_module(name)
            said = getattr(module, _name(why) or "-", None) or _text(why, module)
            if isinstance(said, str):
                yield f"{room}:{node.lineno}", said


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _text(node: ast.expr, module: Any) -> str | None:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if not isinstance(node, ast.JoinedStr):
        return None
    parts = []
    for number, part in enumerate(node.values):
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        elif isinstance(part, ast.FormattedValue):
            constant = getattr(module, _name(part.value) or "-", None)
            parts.append(constant if isinstance(constant, str) else VALUE.format(number))
    said = "".join(parts)
    return said if re.search(r"[a-z]{3}", re.sub(r"--\w+|⟦\d+⟧", "", said)) else None


MESSAGES = dict(_messages())


@pytest.mark.parametrize("place", [place for place, said in MESSAGES.items() if said])
def test_every_error_has_its_chinese(place):
    said = MESSAGES[place] or ""

    translated = chinese(said)

    assert CHINESE.search(translated), f"{place}: render/texts/errors.yaml lacks {said!r}"
    assert set(re.findall(r"⟦\d+⟧", translated)) == set(re.findall(r"⟦\d+⟧", said))


def test_every_reason_for_an_input_of_no_use_has_its_chinese():
    reasons = dict(_reasons())

    assert len(reasons) > 20
    assert {at: said for at, said in reasons.items() if not CHINESE.search(chinese(said))} == {}


def test_a_message_put_together_elsewhere_has_its_chinese():
    rooms = {place.rpartition(":")[0] for place, said in MESSAGES.items() if said is None}

    assert rooms - {"cli/explain.py"} == set(COMPUTED)
    assert [said for said in COMPUTED.values() if not CHINESE.search(chinese(said))] == []


def _help(command: Any) -> Iterator[str]:
    for text in filter(None, (command.help, command.epilog)):
        for paragraph in inspect.cleandoc(text).split("\n\n"):
            if not paragraph.startswith("\b"):
                yield " ".join(paragraph.split())
    for param in command.params:
        if getattr(param, "help", None) and not getattr(param, "hidden", False):
            yield " ".join(param.help.split())
    for below in getattr(command, "commands", {}).values():
        yield from _help(below)


@pytest.mark.parametrize("name", sorted(commands()))
def test_all_help_has_its_chinese(name):
    command = get_command(import_module(module_of(name)).app)

    lacking = [text for text in _help(command) if not CHINESE.search(_said(text))]

    assert lacking == [], "src/trainrx/cli/texts/help.yaml"


def test_no_help_is_translated_that_nobody_reads():
    apps = [get_command(import_module(module_of(name)).app) for name in commands()]
    read = {text for app in apps for text in _help(app)}
    lines = {line.strip() for app in apps for line in (app.help or "").splitlines()}
    parser = {"Show this message and exit.", "Options", "Arguments", "Commands"}

    assert {text.en for text in catalogue(HELP)} - read - lines - parser == set()


@pytest.mark.parametrize("path", [*messages(), HELP])
def test_both_languages_hold_the_same_values(path):
    def values(text: str) -> list[str]:
        return sorted(re.findall(r"\{(\w+)\}", text))

    other = [
        text.en for text in catalogue(path) if not set(values(text.zh)) <= set(values(text.en))
    ]
    lost = [t.en for t in catalogue(path) if set(values(t.en)) - set(values(t.zh))]

    assert other == []
    assert lost == []


@pytest.mark.parametrize("name", [(), *((n,) for n in sorted(commands() - {"diagnose"}))])
def test_help_in_chinese_stays_within_eighty_columns(name, capsys):
    assert main(["--lang", "zh", *name, "--help"]) == 0

    shown = capsys.readouterr().out
    prose = [line for line in shown.splitlines() if not line.startswith("    diagnose ")]
    assert shown.startswith("用法：")
    assert "选项：" in shown or name == ("kb",)
    assert max(map(cells, prose)) <= 80


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--bogus"], "没有选项 --bogus"),
        (["--fromat", "json"], "--format"),
        (["--gpus"], "需要一个值"),
        (["--gpus", "0", "x"], "不在范围"),
        (["--gpus", "many", "x"], "不是整数"),
        (["--format", "xml", "x"], "不在可选值之中"),
        (["--fail-on", "always", "x"], "不在可选值之中"),
        (["--version=1"], "不带值"),
        (["kb", "lits"], "你是否想写 'list'"),
        (["kb", "new", "cause"], "缺少参数"),
        (["explain", "a", "b"], "多余的参数"),
        (["nosuch.sh"], "没有这个文件或目录"),
        (["lnit"], "你是否想写 diagnose lint"),
        (["--gpu", "4090x8", "--gpus", "4", "--note", "OOM"], "数量只写一次"),
        (["--framework", "swfit", "--note", "OOM"], "你是否想写 ms-swift"),
        (["--kb", "nowhere", "--note", "OOM"], "不是目录"),
        (["lint", "nosuch.sh"], "没有这个文件或目录"),
        (["fix", "--gpu", "H20"], "没有可修改的内容"),
        ([], "没有可读的内容"),
    ],
)
@pytest.mark.parametrize("by", ["option", "locale"])
def test_a_wrong_use_is_told_in_chinese(words, said, by, capsys, monkeypatch):
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8" if by == "locale" else "C.UTF-8")

    status = main([*(["--lang", "zh"] if by == "option" else []), *words])

    told = capsys.readouterr().err
    assert status == 2
    assert said in told
    assert not re.search(r"Error|Usage|Try '|Invalid|No such", told)


def test_what_is_not_in_the_catalogue_stays_as_it_is():
    assert chinese("a message nobody wrote") == "a message nobody wrote"
    assert chinese("a{b}: no such file or folder. Check the spelling and where you are.") == (
        "a{b}：没有这个文件或目录。请检查拼写和当前目录。"
    )


@pytest.mark.parametrize(("lang", "module"), [("en", "trainrx.cli._chinese"), ("zh", "yaml")])
def test_an_answer_needs_no_catalogue(lang, module):
    code = (
        f"import sys; from trainrx.cli import main; main(['--version', '--lang', '{lang}'])\n"
        f"print({module!r} in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.endswith("False\n")

"""What writes: every place in the package where text could leave it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainrx.render.formats import load
from trainrx.render.formats import names as formats
from trainrx.sanitizer import media

SOURCE = Path(media.__file__).parents[1]
STREAMS = {"stdout", "stderr", "__stdout__", "__stderr__"}
CALLS = {"print", "input", "breakpoint", "pager"}
METHODS = {"write_text", "write_bytes", "writelines", "write", "savefig", "echo", "secho"}
OPENS = {"open", "fdopen"}
MODULES = {"logging", "warnings", "syslog", "pprint", "socket", "http.client", "urllib.request"}
WORD = re.compile(
    "|".join([*STREAMS, *(f"{name}\\(" for name in (*CALLS, *METHODS, "open", "fdopen")), *MODULES])
)
"""Without any of these a module has no outlet."""
KNOWN = {
    "evidence/engine.py": "the compiled signatures, in the user's cache",
    "fleet/work.py": "the inputs of a job, for its answer, in a folder that is gone afterwards",
    "fleet/export.py": "labelled cases, masked",
    "fleet/process.py": "jobs and their answers, between its own processes",
    "fleet/engines/dask.py": "the log of the engine is quietened",
    "fleet/engines/ray.py": "the log of the engine is quietened",
    "fleet/report/html.py": "figures of masked reports",
    # what passes the gate and is sent
    "cli/_output.py": "the writer of the commands",
    "cli/_consultation.py": "questions on the terminal: pages of a masked answer",
    # the user's own files, which hold what they held
    "fix/patch/write.py": "changed files",
    "cli/lint.py": "mended files, a baseline, an answer that has been rendered",
    "cli/_scaffold.py": "new entries of the knowledge",
    "cli/kb.py": "entries of the knowledge",
    # files of this program
    "render/lint.py": "pages of the documentation",
    "render/formats/json.py": "the schemas",
    # pipes between its own processes
    "linter/files.py": "findings of a worker",
    "exact/trial/__main__.py": "the outcome of a trial",
    "dry_run/child/trainrx_hooks/record.py": "what the hooks of a dry run tell, and its output",
    "dry_run/run.py": "the output of a dry run, in a folder that is gone afterwards",
    "dry_run/answer.py": "the same, for its diagnosis",
    # reads, or writes to memory
    "entries/launch_tests.py": "files of a test of the knowledge, gone afterwards",
    "inputs/content.py": "puts the pieces of an input together",
    "inputs/containers/tensorboard.py": "a copy for the reader of event files, deleted behind it",
    "launch/python_source.py": "silences what the parser warns of",
    "knowledge/cache.py": "the compiled knowledge",
    # evidence of live jobs: what is written of it is masked
    "cli/collect.py": "a bundle on standard output, for the machine that asked for it",
    "cli/run.py": "what is said of the job, rendered, on standard error",
    "cli/_watching.py": "that it is interrupted, to itself",
    "cli/_progress.py": "what is being done, in words of its own",
    "collect/bundle.py": "the bundle",
    "collect/observe.py": "the last output of the job, for the answer, in a folder of its own",
    "collect/relay.py": "the output of the job, byte for byte, to where it was going",
    "collect/supervise.py": "events, to the process that observes",
    "collect/ras.py": "the questions of NCCL's protocol, to this machine",
    "collect/processes.py": "asks for the name of this machine",
    "collect/remote.py": "asks for the name of this machine",
    "collect/streams.py": "a pair of sockets between its own processes",
    # what came over a wire
    "share/spool.py": "files that were sent, in a folder that only the service opens",
    "share/serve/body.py": "a file that was sent, to the spool",
    "share/connection.py": "that a request was too slow, in words of its own",
    "share/task.py": "files that were sent, in a folder that is gone afterwards",
    "share/bots/_background.py": "that a message could not be answered, without its text",
    "share/bots/dingtalk.py": "the log of the SDK is quietened",
    "share/bots/discord.py": "the log of the SDK is quietened",
    "share/bots/slack.py": "the log of the SDK is quietened",
    "share/bots/github_issues.py": "the comment it would write, masked",
    "collect/notify.py": "an alert, masked, on the input of a command of the user",
    "render/figures.py": "figures of masked answers; matplotlib's log is silenced",
}


def outlets(text: str) -> Iterator[str]:
    """Name what in a module could let text out."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr in STREAMS:
            if ast.unparse(node.value) == "sys":
                yield f"sys.{node.attr}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in CALLS or _writes(node):
                yield f"{node.func.id}()"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in METHODS or _writes(node):
                yield f".{node.func.attr}()"
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module]
            yield from (f"import {name}" for name in names if name in MODULES)


def _writes(call: ast.Call) -> bool:
    """Tell whether a file is opened to be written, or in a way nobody can tell."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    modes = [ast.unparse(value) for value in (*call.args, *(k.value for k in call.keywords))]
    return name in OPENS and any(re.fullmatch(r"'[rbt+]*[wax+][bt+]*'", mode) for mode in modes)


def test_text_leaves_only_where_it_is_known_to():
    found = {}
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        ways = sorted(set(outlets(text))) if WORD.search(text) else []
        if ways:
            found[path.relative_to(SOURCE).as_posix()] = ways

    assert {name: ways for name, ways in found.items() if name not in KNOWN} == {}
    assert set(KNOWN) <= set(found)


def test_the_writer_of_the_commands_sends_only_what_has_passed_the_gate():
    """What is handed to `write_answer` as it is comes from `render` or is a file's own bytes."""
    found = {}
    for path in (SOURCE / "cli").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "write_answer":
                found.setdefault(path.name, []).append(ast.unparse(node.args[0]))

    assert {name: sorted(set(given)) for name, given in found.items()} == {
        "_output.py": [
            "media.terminal(Redactor(level, (text,)).text(text))",
            "media.terminal(patch.text)",
            "patch.text",
            "render(answer, form, seen)",
            "text",
            "written(document, seen)",
        ],
        "diagnose.py": ["card(found, shown.platform, seen)"],
        "_history.py": ["part", "text"],
        "fleet.py": ["text"],
        "lint.py": ["text"],
    }


@pytest.mark.parametrize("form", formats("LintReport"))
def test_every_format_names_its_medium(form):
    chosen = load(form)

    own = chosen.medium.__module__ == chosen.document.__module__ or chosen.record is not None
    assert chosen.medium.__module__ == media.__name__ or (form in ("text", "github") and own)


def test_an_editor_gets_no_text_that_has_not_passed_the_gate():
    """Messages and titles are `shown`; the page of a hover is made of lines that have passed."""
    given = set()
    for path in (SOURCE / "lsp").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("types."):
                named = {k.arg: ast.unparse(k.value) for k in node.keywords}
                given |= {
                    text
                    for name, text in named.items()
                    if name in ("message", "title", "value", "label")
                }

    passed = re.compile(r"shown\(.*\)|'\\n'\.join\(map\(shown, .*\)\)|text")
    assert given
    assert {text for text in given if not passed.fullmatch(text)} == set()

"""Two hundred secrets of all kinds, in all that is given in, and every form of what comes out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from planted_secrets import KINDS, PLACES, Planted, planted

from trainrx import diagnose, estimate, inspect_launch, plan_job, retry
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import request_of
from trainrx.linter.run import lint
from trainrx.linter.settings import Settings
from trainrx.render import render
from trainrx.render.document import View
from trainrx.render.formats import names
from trainrx.sanitizer.redactor import Redactor

COUNT = 200
REPOSITORY = Path(__file__).parents[2]
ROUNDS = 2
ERRORS = (
    "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.27 GiB. {}",
    "[rank1]: ValueError: unrecognized arguments: {}",
    "FileNotFoundError: [Errno 2] No such file or directory: '{}'",
    "huggingface_hub.errors.HfHubHTTPError: 401 Client Error: Unauthorized for {}",
    "[rank2]:[E] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9) {}",
)


class Rendered(NamedTuple):
    """An answer in a form, with its secrets and without, all words joined."""

    name: str
    bare: str
    masked: str


def files(folder: Path, given: list[Planted]) -> dict[str, Any]:
    """Write the inputs of a job that hold the secrets, a fifth of them each."""
    at = {
        place: [p.written for p in given[index :: len(PLACES)]]
        for index, place in enumerate(PLACES)
    }
    exports = [f"export NOTE_{i}='{text}'" for i, text in enumerate(at["launch"])]
    options = " ".join(
        text if text.startswith("--") else f"--remark_{i} '{text}'"
        for i, text in enumerate(at["launch"])
    )
    launch = f"swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset a.jsonl {options}"
    (folder / "launch.sh").write_text("\n".join((*exports, launch, "")), encoding="utf-8")
    config = [f'remark_{i}: "{text}"' for i, text in enumerate(at["config"])]
    config += ["model_name_or_path: Qwen/Qwen2.5-7B-Instruct", "stage: sft", "do_train: true"]
    (folder / "train.yaml").write_text("\n".join((*config, "")), encoding="utf-8")
    env = [
        text if re.match(r"[A-Z_]+=", text) else f"REMARK_{i}={text}"
        for i, text in enumerate(at["env"])
    ]
    (folder / "env.txt").write_text("\n".join((*env, "")), encoding="utf-8")
    log = [ERRORS[i % len(ERRORS)].format(text) for i, text in enumerate(at["log"])]
    (folder / "train.log").write_text("\n".join((*log, "")), encoding="utf-8")
    return {
        "cmd": [folder / "launch.sh"],
        "config": [folder / "train.yaml"],
        "env": folder / "env.txt",
        "versions": {"ms-swift": "3.2.1"},
        "gpu": "A100-80G",
        "gpus": 8,
        "logs": [folder / "train.log"],
        "note": [f"it hangs: {text}" for text in at["note"]],
    }


def answers(given: dict[str, Any]) -> Iterator[Any]:
    """Give the answers of all commands that take a job."""
    launch = {k: v for k, v in given.items() if k not in ("logs", "note")}
    yield diagnose(**given)
    yield diagnose(**launch)
    yield lint(request_of((), launch), LoadedKnowledge(), settings=Settings())
    yield inspect_launch(**given)
    yield retry(**given)
    yield estimate(**launch)
    yield plan_job(**launch)


@pytest.fixture(scope="module")
def rendered(
    tmp_path_factory: pytest.TempPathFactory,
) -> list[tuple[list[Planted], list[Rendered]]]:
    """Give every form of every answer, for each round of secrets."""
    every = planted(COUNT)
    out = []
    for number in range(ROUNDS):
        mine = every[number::ROUNDS]
        folder = tmp_path_factory.mktemp("job")
        shown = [
            Rendered(
                f"{type(answer).__name__} {form} {'all' * everything}",
                joined(render(answer, form, view._replace(redaction="none"))),
                joined(render(answer, form, view)),
            )
            for answer in answers(files(folder, mine))
            for form in names(type(answer).__name__)
            for everything in ((False, True) if form == "text" else (False,))
            for view in (View("en", 100, everything),)
        ]
        out.append((mine, shown))
    return out


def joined(text: str) -> str:
    """Undo what breaks a text apart: lines, their quotes and their ends."""
    return re.sub(r"\\|\s|%0A", "", text)


def holds(secret: str, text: str) -> bool:
    """Tell whether a secret, or enough of it to be of use, can be read from a text."""
    return secret[:-4] in text or secret[4:] in text


def test_every_planted_secret_is_masked_in_every_form(rendered):
    leaks = {
        (planted.kind, planted.written, item.name)
        for secrets, shown in rendered
        for item in shown
        for planted in secrets
        if holds(planted.secret, item.masked)
    }

    assert leaks == set()


def test_what_is_masked_would_have_been_shown(rendered):
    """Else the test above could not fail."""
    shown = {
        planted.secret: {item.name for item in page if holds(planted.secret, item.bare)}
        for secrets, page in rendered
        for planted in secrets
    }
    reached = {name for names in shown.values() for name in names}
    kinds = {p.kind for secrets, _ in rendered for p in secrets if shown[p.secret]}

    # an environment's own secrets are not kept when it is read; of a log some lines are quoted
    assert sum(map(bool, shown.values())) > 0.6 * COUNT
    assert kinds == set(KINDS)
    assert {"Diagnosis text all", "Diagnosis json ", "Inspection markdown "} <= reached
    assert {"LintReport text ", "LintReport json ", "LintReport sarif "} <= reached


def test_what_people_write_is_not_taken_for_secrets():
    """On all launches, logs and threads that are here; none of them holds a secret."""
    words, masked = 0, []
    for folder in ("tests/healthy", "tests/cases", "examples"):
        for path in (REPOSITORY / folder).rglob("*"):
            if path.is_file() and path.suffix not in (".png", ".svg"):
                page = path.read_text(encoding="utf-8", errors="replace")
                words += len(page.split())
                masked += [page[span.start : span.end] for span in Redactor("secrets").spans(page)]

    assert words > 100_000
    assert len(masked) < 0.0001 * words, masked


def test_a_secret_alone_in_a_message_is_masked():
    redactor = Redactor("secrets")

    leaks = [p.written for p in planted(COUNT) if holds(p.secret, joined(redactor.text(p.written)))]

    assert leaks == []

"""The command that applies a plan, with what the user gave, ready to paste."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from trainrx.launch.reply_values import is_not_known
from trainrx.launch.request import Reply, Request

PROGRAM = ("diagnose", "fix")
_OPERATOR = re.compile(r"[<>=!~]")


def fix_command(request: Request) -> str:
    """Spell `diagnose fix` for the same inputs; "" where one of them came by a pipe."""
    words = (*PROGRAM, *_words(request))
    piped = "-" in words or any(reply.path == "-" for reply in request.answers)
    return "" if piped else shlex.join(words)


def _words(request: Request) -> Iterator[str]:
    yield from (*request.paths, *request.posts)
    for flag, texts in _options(request):
        for text in texts:
            yield from (flag, text)


def _options(request: Request) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "--cmd", request.cmd
    yield "--config", request.config
    yield "--env", _given(request.env)
    yield "--versions", _given(request.versions_file) or _given(_listed(request))
    yield "--framework", _given(request.framework)
    yield "--log", request.logs
    yield "--note", request.notes
    yield "--answer", tuple(reply.spelled for reply in request.answers if _is_known(reply))
    yield "--good", _given(request.good)
    yield "--gpu", request.cards
    yield "--gpus", _given(request.gpus)
    yield "--nodes", _given(request.nodes)
    yield "--model-config", _given(request.model_config)
    yield "--kb", request.kb
    yield "--rules", request.rules
    yield "--lang", () if request.lang == "en" else (request.lang,)


def _given(value: str | int | None) -> tuple[str, ...]:
    return () if value in (None, "") else (str(value),)


def _is_known(reply: Reply) -> bool:
    return reply.path is not None or not is_not_known(reply.text)


def _listed(request: Request) -> str:
    """Write versions out as the option takes them: `ms-swift==3.2.1,torch==2.5.1`."""
    return ",".join(
        f"{name}{text}" if _OPERATOR.match(text) else f"{name}=={text}"
        for name, text in (request.versions or {}).items()
    )

"""Paste labelled cases whole, in eight dresses, and compare with the same as separate files.

    python benchmarks/pastes.py tests/cases/threads/*/ [--sample N] [--seed S] [--dress NAME]...

A dress is what people make of a case before they hand it over: an issue form (English, Chinese), a
chat message, a scroll-back with prompts, blocks one below the other without fences, the same
wrapped at 80 columns, quoted in a mail, a form whose command lost its backslashes. Printed are
hit@1 and hit@3 of each dress as a share of those of separate files (the peer, in the same run), and
each paste that answers less. Card, numbers of cards and framework are given as options in both.
All are asked in one process, and no plan is proved: it changes nothing in the causes.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec
from accuracy import Names, asked, judge, read_cases

from trainrx.api import SHARED
from trainrx.launch.request import Inputs, request_of
from trainrx.model.errors import UsageError
from trainrx.verdict.joined import joined


class Pieces(NamedTuple):
    """What a case holds, each as text, "" where there is none."""

    prose: str
    script: str
    configs: tuple[str, ...]
    versions: str
    log: str


def pieces(case: Mapping[str, Any]) -> Pieces:
    """Give the parts of a labelled case as a person would paste them."""
    versions = {name: str(text) for name, text in (case.get("versions") or {}).items()}
    if case.get("framework_version"):
        versions.setdefault(case["framework"], str(case["framework_version"]))
    env = (f"export {name}={value}" for name, value in (case.get("env") or {}).items())
    return Pieces(
        prose=case.get("observed") or "",
        script="\n".join([*env, (case.get("cmd") or "").strip("\n")]).strip("\n"),
        configs=tuple(text.strip("\n") for text in (case.get("config") or {}).values()),
        versions="\n".join(f"{name}=={text}" for name, text in versions.items()),
        log=(case.get("log") or "").strip("\n"),
    )


def _fenced(text: str, language: str = "") -> str:
    return f"```{language}\n{text}\n```"


def _form(case: Pieces, heads: Sequence[str]) -> str:
    parts = [f"### {heads[0]}\n\n{case.prose}"]
    parts += [f"### {heads[1]}\n\n{_fenced(case.script, 'bash')}"] if case.script else []
    parts += [_fenced(text, "yaml") for text in case.configs]
    parts += [f"### {heads[2]}\n\n{_fenced(case.versions)}"] if case.versions else []
    parts += [f"### {heads[3]}\n\n{_fenced(case.log)}"] if case.log else []
    return "\n\n".join([*parts, "### Checklist\n\n- [x] I have searched the existing issues"])


def _plain(case: Pieces) -> str:
    parts = (case.prose, case.script, *case.configs, case.versions, case.log)
    return "\n\n".join(part for part in parts if part)


def _chat(case: Pieces) -> str:
    said = [case.prose]
    said += ["这是我的脚本：", case.script] if case.script else []
    said += [*case.configs, case.versions]
    said += ["报错：", case.log] if case.log else []
    return "\n".join(part for part in said if part)


def _scrolled(case: Pieces) -> str:
    prompt = "(base) user@host:~/work$ "
    parts = [f"{prompt}cat train.yaml\n{text}" for text in case.configs]
    parts += [f"{prompt}{case.script}"] if case.script else []
    parts += [case.log] if case.log else []
    parts += [f"{prompt}pip list\n{case.versions}"] if case.versions else []
    return "\n".join([*parts, "", case.prose])


def _wrapped(case: Pieces) -> str:
    lines = _plain(case).splitlines()
    broken = (textwrap.wrap(line, 80, break_on_hyphens=False) or [""] for line in lines)
    return "\n".join(part for parts in broken for part in parts)


def _mail(case: Pieces) -> str:
    quoted = "\n".join(f"> {line}" for line in _plain(case).splitlines())
    return f"On Tuesday it was written:\n\n{quoted}"


def _lost(case: Pieces) -> str:
    bare = re.sub(r"\s*\\\s*$", "", case.script, flags=re.MULTILINE)
    return _form(case._replace(script=bare), ENGLISH)


ENGLISH = ("Describe the bug", "Reproduction", "System Info", "Logs")
CHINESE = ("问题描述", "复现步骤", "环境信息", "报错信息")
DRESSES: dict[str, Callable[[Pieces], str]] = {
    "issue form": lambda case: _form(case, ENGLISH),
    "Chinese form": lambda case: _form(case, CHINESE),
    "chat": _chat,
    "scroll-back": _scrolled,
    "unfenced": _plain,
    "wrapped": _wrapped,
    "mail": _mail,
    "lost backslashes": _lost,
}
FILES = "separate files"
TOP = 5


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--sample", type=int, help="so many cases, drawn at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dress", action="append", choices=DRESSES, help="only this one")
    given = parser.parse_args()
    cases = [case for folder in given.folders for case in read_cases(folder, strict=True)]
    if given.sample:
        drawn = random.Random(given.seed)  # noqa: S311  # a sample, not a secret
        cases = drawn.sample(cases, min(given.sample, len(cases)))
    names = Names()
    hits = {name: [0, 0] for name in (FILES, *(given.dress or DRESSES))}
    for case in cases:
        outcomes = {name: judge(case, found, names) for name, found in _answers(case, hits)}
        for name, outcome in outcomes.items():
            hits[name][0] += outcome.hit[0]
            hits[name][1] += outcome.hit[1]
            if sum(outcome.hit) < sum(outcomes[FILES].hit):
                print(f"< {name:16} {case['set']}/{case['id']}", flush=True)
    print("\n".join(_table(hits, len(cases))))
    return 0


def _answers(case: dict[str, Any], ways: Iterable[str]) -> Iterable[tuple[str, dict[str, Any]]]:
    with tempfile.TemporaryDirectory() as folder:
        given = asked(case, Path(folder))
        yield FILES, _answer(given)
    options = ("gpu", "gpus", "nodes", "framework")
    kept = {name: given[name] for name in options if name in given}
    for name in ways:
        if name != FILES:
            text = DRESSES[name](pieces(case))
            yield name, _answer({"paths": "-", "stdin": text.encode(), **kept})


def _answer(given: dict[str, Any]) -> dict[str, Any]:
    """Ask; what is refused is answered with nothing."""
    paths = given.pop("paths", ())
    try:
        request = request_of(paths, cast("Inputs", given))
        found = joined(request, SHARED.loaded(request), top=TOP, near=True).answer
    except UsageError:
        return {"symptoms": [], "causes": [], "verdict": "unknown"}
    answer: dict[str, Any] = msgspec.to_builtins(found)
    return answer


def _table(hits: Mapping[str, Sequence[int]], cases: int) -> Iterable[str]:
    yield f"{cases} cases{'':12}hit@1   hit@3   of separate files"
    whole = hits[FILES]
    for name, (first, third) in hits.items():
        shares = (first / max(1, whole[0]), third / max(1, whole[1]))
        yield f"{name:20}{first:6}{third:8}   {shares[0]:.3f} {shares[1]:.3f}"


if __name__ == "__main__":
    sys.exit(main())

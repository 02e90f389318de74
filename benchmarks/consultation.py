"""Consult on labelled threads with an oracle that answers, and say how many are solved when.

    python benchmarks/consultation.py tests/cases/threads/SET... [--start note|command|log]
        [--sample N] [--seed N] [--json LINES]

Each consultation begins with little of what the thread holds; all else is withheld:

    note      the first sentence of what the user saw, and the framework; where nothing was noted
              the last line of the log
    command   that, and the launch command with its configs
    log       the framework and the last twenty lines of the log (threads that have one)

Then one question is put at a time, as `diagnose --ask` does, until the first cause is likely, none
is left, or five were put. An oracle answers from the thread itself, as the tool reads it when it is
given everything: the launch, the log or the versions as they were posted, the value of a fact,
whether a symptom was seen, the outcome of a step whose facts are known; else "unknown".

Solved: a fix that worked stands among the changes of the first cause (`accuracy.py`, hit@1). Beside
the tool's own order stand questions in arbitrary order, of all that the causes of the symptoms seen
rest on, and the answer to all that the thread holds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec
from accuracy import Names, arguments, judge, read_cases

from trainrx import api, diagnose
from trainrx.cli._consultation import MOST, next_question
from trainrx.diagnosis.pipeline import conclude
from trainrx.knowledge.conditions import facts_of, packages_of, symptoms_of
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.knowledge.store import Knowledge
from trainrx.launch.given import gather
from trainrx.launch.request import PathLike, request_of
from trainrx.model.errors import UsageError
from trainrx.model.facts import SYMPTOM
from trainrx.model.parts import Condition
from trainrx.model.protocols import ProtocolStep
from trainrx.model.result import Diagnosis
from trainrx.reason.conditions import decide

COUNTED = (0, 1, 3, 5)
"""Numbers of answers after which it is counted."""
LINES = 20
"""Lines of the log that are left of it."""
STARTS = ("note", "command", "log")
UNKNOWN = "unknown"
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")

Inputs = dict[str, Any]
"""Keywords of `diagnose`."""
Chooser = Callable[[Diagnosis, int], str]
"""Gives the id of the question that is put next; "" where none is."""


class Case(NamedTuple):
    """A thread with its files in a folder; `full` is all it holds, `start` what is left of it."""

    label: dict[str, Any]
    full: Inputs
    start: Inputs


class Curve(NamedTuple):
    """Whether a case is solved after so many answers; `put` is how many questions were put."""

    solved: tuple[bool, ...]
    put: int
    known: int
    answers: dict[str, str]


def main() -> int:
    """Consult on the cases and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--start", choices=STARTS, default="note")
    parser.add_argument("--sample", type=int, metavar="N", help="so many cases, drawn at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    said = parser.parse_args()
    cases = [case for folder in said.folders for case in read_cases(folder, strict=True)]
    if said.sample is not None:
        cases = sorted(cases, key=lambda case: drawn(said.seed, case["id"]))[: said.sample]
    found = []
    with (said.json or Path(os.devnull)).open("w") as rows:
        for row in consultations(cases, said.start, said.seed):
            found.append(row)
            rows.write(json.dumps(row) + "\n")
            rows.flush()
    print("\n".join(table(found)))
    return 0


def drawn(seed: int | str, name: str) -> str:
    """Give a place in an order that is arbitrary, and the same each time."""
    return hashlib.sha256(f"{seed} {name}".encode()).hexdigest()


def consultations(
    cases: Iterable[dict[str, Any]], start: str, seed: int
) -> Iterator[dict[str, Any]]:
    """Consult on each case three ways; cases that have nothing to start with are left out."""
    names, loaded = Names(), LoadedKnowledge()
    for label in cases:
        with tempfile.TemporaryDirectory() as name:
            case = case_of(label, Path(name), start)
            if case is None:
                continue
            oracle = Oracle(case.full, loaded)
            arbitrary = Arbitrary(loaded.whole, f"{seed} {label['id']}")
            before = diagnose(**case.start)
            curves = {
                "tool": consult(case, before, Asker(oracle, best_first), names),
                "arbitrary": consult(case, before, Asker(oracle, arbitrary), names),
            }
            everything = solved(case, diagnose(**case.full), names)
        yield {"id": label["id"], "everything": everything} | {
            way: curve._asdict() for way, curve in curves.items()
        }


def case_of(label: dict[str, Any], folder: Path, start: str) -> Case | None:
    """Write the files of a thread and say what a consultation starts with."""
    full = inputs_of(arguments(label, folder, note=True))
    log = (label.get("log") or "").strip().splitlines()
    note = (label.get("observed") or "").strip()
    first = _SENTENCE.split(note)[0] if note else (log or [""])[-1]
    left: Inputs = {"framework": full["framework"]} if "framework" in full else {}
    if start == "log":
        tail = folder / "tail.log"
        tail.write_text("\n".join(log[-LINES:]))
        return Case(label, full, left | {"logs": [tail]}) if log else None
    if start == "command":
        left |= {key: full[key] for key in ("cmd", "config") if key in full}
    return Case(label, full, left | {"note": first}) if first else None


def inputs_of(words: Sequence[str]) -> Inputs:
    """Turn the words of a command line into the keywords of `diagnose`."""
    found: Inputs = {}
    for option, text in zip(words[::2], words[1::2], strict=True):
        name = {"log": "logs"}.get(option.removeprefix("--"), option.removeprefix("--"))
        if name in ("cmd", "config", "logs"):
            found.setdefault(name, []).append(Path(text))
        elif name in ("gpus", "nodes"):
            found[name] = int(text)
        else:
            found[name] = Path(text) if name in ("env", "versions") else text
    return found


class Oracle:
    """Answers from all that a thread holds."""

    def __init__(self, full: Inputs, loaded: LoadedKnowledge) -> None:
        self._full = full
        self._steps = {
            name: step for one in loaded.whole.protocols.values() for name, step in one.own.items()
        }
        request = request_of((), cast("api.Inputs", full))
        self._done = conclude(gather(request, loaded.whole), loaded)

    def reply(self, ident: str) -> PathLike:
        """Answer a question as somebody of the thread could have."""
        files = {
            "launch": (*self._full.get("cmd", ()), *self._full.get("config", ())),
            "log": self._full.get("logs", ()),
            "rank-log": self._full.get("logs", ()),
            "versions": [self._full["versions"]] if "versions" in self._full else (),
        }
        if ident in files:
            path: PathLike = next(iter(files[ident]), UNKNOWN)
            return path
        if ident.startswith(SYMPTOM):
            sought = Condition(symptom=ident.removeprefix(SYMPTOM))
            return _word(decide(sought, self._done.reasoning.situation))
        if (step := self._steps.get(ident)) is not None:
            return self._outcome(step)
        value = self._done.facts.value(ident)
        return _word(value) if value is None or isinstance(value, bool) else str(value)

    def _outcome(self, step: ProtocolStep) -> str:
        """Name the outcome whose facts are so; most threads say nothing of it."""
        known = self._done.facts
        return next(
            (
                one.id
                for one in step.outcomes
                if one.facts
                and all(known.value(name) == value for name, value in one.facts.items())
            ),
            UNKNOWN,
        )


def _word(value: bool | None) -> str:
    return UNKNOWN if value is None else "yes" if value else "no"


def best_first(answer: Diagnosis, put: int) -> str:
    """Choose as `diagnose --ask` does."""
    ask = next_question(answer, put)
    return "" if ask is None else ask.id


class Arbitrary:
    """Chooses among all that could be asked, with no regard to what it would say."""

    def __init__(self, knowledge: Knowledge, seed: str) -> None:
        self._knowledge = knowledge
        self._seed = seed
        self._asked: set[str] = set()

    def __call__(self, answer: Diagnosis, put: int) -> str:
        """Give the id of a question that was not put yet."""
        if next_question(answer, put) is None:
            return ""
        left = set(self._open(answer)) - self._asked
        chosen = min(left, key=lambda ident: drawn(self._seed, ident), default="")
        self._asked.add(chosen)
        return chosen

    def _open(self, answer: Diagnosis) -> Iterator[str]:
        """Name what is not known and what causes of the symptoms seen rest on."""
        yield from (f for f in ("launch", "log") if answer.facts.get(f"{f}.given") is not True)
        seen = {item.id for item in answer.symptoms}
        known = self._knowledge
        for cause in known.causes.values():
            if seen.isdisjoint(cause.explains):
                continue
            for vote in (*cause.evidence.supports, *cause.evidence.contradicts):
                yield from ("versions" for _ in packages_of(vote.when)[:1])
                for name in facts_of(vote.when):
                    entry = known.facts.get(name) or known.params.get(name)
                    if entry is not None and entry.ask is not None and name not in answer.facts:
                        yield name
                for name in symptoms_of(vote.when):
                    if known.symptoms[name].found_by is not None and name not in seen:
                        yield SYMPTOM + name


class Asker(NamedTuple):
    """Who answers, and who says what is asked."""

    oracle: Oracle
    choose: Chooser


def consult(case: Case, answer: Diagnosis, asker: Asker, names: Names) -> Curve:
    """Put questions one by one; what is solved when none is left stays so."""
    answers: dict[str, PathLike] = {}
    history = [solved(case, answer, names)]
    while len(history) <= MOST and (ident := asker.choose(answer, len(answers))):
        answers[ident] = asker.oracle.reply(ident)
        try:
            answer = diagnose(**case.start, answers=answers)
        except UsageError:  # the value is written as no person would write it
            answers[ident] = UNKNOWN
            answer = diagnose(**case.start, answers=answers)
        history.append(solved(case, answer, names))
    known = sum(said != UNKNOWN for said in answers.values())
    last = len(history) - 1
    told = {ident: str(said)[:80] for ident, said in answers.items()}
    return Curve(tuple(history[min(count, last)] for count in COUNTED), len(answers), known, told)


def solved(case: Case, answer: Diagnosis, names: Names) -> bool:
    """Tell whether a fix that worked stands among the changes of the first cause."""
    return judge(case.label, msgspec.to_builtins(answer), names).hit[0]


def table(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Give the shares."""
    count = max(len(found), 1)
    yield f"{'order':12}" + "".join(f"{n:>4} answers" for n in COUNTED) + "    put  known"
    for way in ("tool", "arbitrary"):
        shares = [
            sum(row[way]["solved"][at] for row in found) / count for at in range(len(COUNTED))
        ]
        put, known = (sum(row[way][key] for row in found) / count for key in ("put", "known"))
        yield (
            f"{way:12}" + "".join(f"{share:12.3f}" for share in shares) + f"{put:7.2f}{known:7.2f}"
        )
    everything = sum(row["everything"] for row in found) / count
    yield f"{'everything':12}{everything:12.3f}    ({len(found)} cases)"


if __name__ == "__main__":
    sys.exit(main())

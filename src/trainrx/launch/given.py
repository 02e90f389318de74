"""Gather what the caller names into typed inputs; what one option says of a file holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from trainrx.catalog.framework_choice import FrameworkChoice, read_framework
from trainrx.evidence.readers import as_evidence
from trainrx.inputs.budget import ReadingBudget
from trainrx.inputs.containers import NO_INPUT
from trainrx.inputs.content import Found
from trainrx.inputs.environment import Environment, read_environment
from trainrx.inputs.files import in_words, read_path, read_stdin, whole_contents
from trainrx.inputs.hardware import card_and_count, read_gpu
from trainrx.knowledge.store import Knowledge
from trainrx.launch.cards import card_facts
from trainrx.launch.config_kinds import strangers
from trainrx.launch.programs import STARTS, folder_programs
from trainrx.launch.prose.statements import Stated, stated
from trainrx.launch.python_source import is_program, read_program
from trainrx.launch.replies import Replies, with_replies
from trainrx.launch.request import Request
from trainrx.launch.scripts import holds_log, pasted_script
from trainrx.model.errors import NoInputError, UnknownContentError, UsageError
from trainrx.model.facts import Fact, Origin, fact
from trainrx.model.findings import Unread
from trainrx.model.hardware import Gpu, TokenStats
from trainrx.model.job import COMMAND_LINE, NOTE, Input, InputKind
from trainrx.model.pattern import late
from trainrx.model.result import InputRead
from trainrx.models.config import shape_from_config
from trainrx.versions.listing import Versions, read_versions

MOST_GPUS = 1_000_000
CARD_NAME = late(r"(?!nan|inf)[a-z]{2}", re.IGNORECASE)
"""A card that is not known here is no reason to say nothing of the rest."""
GPU_EXPECTED = "Expected a card or its memory, e.g. `--gpu A100-80G` or `--gpu 24GiB`."
Asked = InputKind | Literal["post"]
"""What the user says a file is."""
LOGS = ("log", "metrics")
NOT_A_LAUNCH = (
    "holds the output of a job and no command that starts one: it was read as a log; give the "
    "script that starts the job with --cmd"
)
NO_VERSIONS = "names no package and version: expected the output of pip freeze, pip list, ..."
NOT_SO = "{name} was answered, but the inputs say {now}, which counts"
HARDWARE = "hardware."
FIRST_WORDS = 120
"""Characters of its first line by which an input is known again."""
STRANGE = "is no configuration known here, and nothing here names it: give it with --config"
NO_PROGRAM = "is Python that sets no arguments of a training"
NO_VARIABLES = "holds no variable: expected the output of `env` where the job ran (NAME=VALUE)"


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What was read.

    `framework` is what the user names it, which a launch overrules. `beside` maps a script's name
    to the folder it lies in. `model_config` is the text of the model's config.json, when the user
    gave it. `outputs` are of commands that were run to answer a question; `replied` are the
    versions that only such an answer states: they stand among `versions` too. `evidence` is what a
    stuck or dead job left besides its logs, `others` lie beside and are no part of the job.
    `inputs` say what was read as what. `stated` is what notes state of the job, which gives way to
    all else.
    """

    scripts: tuple[Input, ...] = ()
    configs: tuple[Input, ...] = ()
    logs: tuple[Input, ...] = ()
    notes: tuple[Input, ...] = ()
    outputs: tuple[Input, ...] = ()
    evidence: tuple[Input, ...] = ()
    others: tuple[Input, ...] = ()
    replies: Replies = Replies()
    replied: dict[str, str] = {}
    stated: Stated = Stated()
    env: Environment = Environment()
    versions: dict[str, str] = {}
    facts: tuple[Fact, ...] = ()
    framework: FrameworkChoice | None = None
    good: Input | None = None
    beside: dict[str, Path] = {}
    model_config: str | None = None
    inputs: tuple[InputRead, ...] = ()
    unread: tuple[Unread, ...] = ()

    @property
    def named(self) -> FrameworkChoice | None:
        """Give the framework the user names, or else the one that notes and versions are about."""
        return self.framework or self.stated.framework


def lengths_of(data: str | None) -> tuple[TokenStats | None, tuple[Unread, ...]]:
    """Measure how long the samples of the user's data are."""
    if not data:
        return None, ()
    # the readers of data are loaded only where there is some
    from trainrx.inputs.token_lengths import token_lengths

    found = token_lengths(Path(data))
    reasons = (text.removeprefix(f"{data}: ") for text in found.problems)
    return found.stats, tuple(Unread(source=data, reason=text) for text in reasons)


def gather(request: Request, knowledge: Knowledge) -> Given:
    """Read everything.

    Raises:
        UsageError: something the caller named is missing, empty or not readable as what it should
            be; several cards are named for one job; nothing was given at all; or what is replied
            answers no question.
    """
    request, replies = with_replies(request, knowledge)
    _refuse_hardware(request)
    words = in_words((*request.paths, *request.cmd))
    inputs = [Input(kind="script", name=COMMAND_LINE, text=words)] if words else []
    unread: list[Unread] = []
    refused: list[NoInputError] = []
    named = list(_named(request))
    budget = ReadingBudget().shared(sum(len(names) for names, _ in named))
    for names, kind in named:
        for name in names:
            try:
                found, problems = _read(name, kind, request.stdin, budget)
            except UnknownContentError as error:
                found, problems = [as_evidence(item) for item in error.others], []
                if all(item.kind == "other" for item in found):
                    if not isinstance(error, NoInputError):
                        raise
                    refused.append(error)
                    unread.append(_passed_over(name, error))
                    continue
            if kind is not None:
                _refuse_empty(found, problems)
            inputs += _evidence(found) if kind in (None, "log") else found
            unread += problems
    inputs += [item for item in replies.inputs if item.kind != "versions"]
    inputs += folder_programs(request.paths, inputs)
    nothing = not inputs and not any((request.gpu, request.notes, request.versions))
    if nothing and refused:
        raise refused[0]
    if nothing and unread:
        raise UsageError(f"{unread[0].source}: {unread[0].reason}.")
    if nothing:
        raise UsageError(
            "nothing to look at: expected a run folder, a launch script or a log. "
            "Try: diagnose --cmd launch.sh --log train.log"
        )
    inputs += [Input(kind="note", name=NOTE, text=note) for note in request.notes if note]
    given = _with(replies, _typed(inputs, unread, request, knowledge))
    given = msgspec.structs.replace(given, stated=stated(given.notes, knowledge, given.versions))
    if request.model_config is None:
        return given
    return msgspec.structs.replace(given, model_config=read_model_config(request.model_config))


def _evidence(found: Sequence[Input]) -> list[Input]:
    """Take what readers of evidence know for that; a dump that was taken for a post is whole."""
    apart = {item.name for item in found if item.spans}
    whole = {
        item.name: dump
        for item in whole_contents(apart)
        if (dump := as_evidence(item)).kind == "evidence"
    }
    parts = (as_evidence(item) for item in found if item.name not in whole)
    return [*parts, *whole.values()]


def _with(replies: Replies, given: Given) -> Given:
    """Add what was replied, behind what the job's own files say."""
    listings = [item for item in replies.inputs if item.kind == "versions"]
    said = [(item, read_versions(item.text or "", item.name)) for item in listings]
    stated = {name: text for _, read in said for name, text in read.texts().items()}
    replied = {name: text for name, text in stated.items() if name not in given.versions}
    other = [
        Unread(source=item.name, reason=NOT_SO.format(name=f"{name} {text}", now=now))
        for item, read in said
        for name, text in read.texts().items()
        if (now := given.versions.get(name, text)) != text
    ]
    return msgspec.structs.replace(
        given,
        replies=replies,
        replied=replied,
        versions={**replied, **given.versions},
        facts=(*given.facts, *(item for item in replies.facts if item.kind.startswith(HARDWARE))),
        unread=(*given.unread, *other, *_barren({"versions": listings}, (), [r for _, r in said])),
    )


def _refuse_empty(found: Sequence[Input], problems: Sequence[Unread]) -> None:
    """Refuse what an option names and nothing could be used of."""
    if problems and not found:
        raise UsageError(f"{problems[0].source}: {problems[0].reason}.")


def _passed_over(name: str, error: NoInputError) -> Unread:
    reason = str(error).partition(": ")[2].removesuffix(".")
    return Unread(source=name, reason=reason)


def read_model_config(path: str) -> str:
    """Read the `config.json` of a model.

    Raises:
        UsageError: it cannot be read, or describes no language model.
    """
    found, _ = read_path(Path(path), kind="config")
    texts = (item.text or "" for item in found)
    text = next((text for text in texts if shape_from_config(text, path) is not None), None)
    if text is None:
        raise UsageError(
            f"{path}: describes no language model: expected the config.json of the model, "
            "with hidden_size and num_hidden_layers"
        )
    return text


def _refuse_hardware(request: Request) -> None:
    if len(request.cards) > 1:
        named = ", ".join(request.cards)
        raise UsageError(
            f"--gpu stands {len(request.cards)} times ({named}): expected the one card the job "
            "runs on. `diagnose estimate` and `diagnose plan` compare several."
        )
    count = None if request.gpu is None else card_and_count(request.gpu)[1]
    if None not in (count, request.gpus) and count != request.gpus:
        raise UsageError(
            f"--gpu {request.gpu} names {count} cards, --gpus says {request.gpus}: give the number "
            "once (--gpus is that of the whole job)"
        )
    for flag, count in (("--gpus", request.gpus), ("--nodes", request.nodes)):
        if count is not None and not 1 <= count <= MOST_GPUS:
            raise UsageError(f"{flag} {count}: expected a number from 1 to {MOST_GPUS}.")


def _named(request: Request) -> Iterator[tuple[tuple[str, ...], Asked | None]]:
    yield tuple(name for name in request.paths if not in_words((name,))), None
    yield request.posts, "post"
    yield tuple(name for name in request.cmd if not in_words((name,))), "script"
    yield request.config, "config"
    yield () if request.env is None else (request.env,), "env"
    yield () if request.versions_file is None else (request.versions_file,), "versions"
    yield request.logs, "log"


def _read(name: str, kind: Asked | None, stdin: bytes | None, budget: ReadingBudget) -> Found:
    found, unread = _read_given(name, kind, stdin, budget)
    found = [_program(item) for item in found]
    strange = list(strangers(found)) if kind is None and Path(name).is_dir() else []
    if len(strange) < len(found):
        found = [
            msgspec.structs.replace(item, kind="other", why=STRANGE) if item in strange else item
            for item in found
        ]
    barren = [item for item in found if _is_barren(item)]
    if barren and len(barren) == len(found):
        raise NoInputError(f"{name}: {NO_INPUT}.")
    unread += [
        Unread(source=item.name, reason=NO_PROGRAM, line=item.spans[0][0] if item.spans else None)
        for item in barren
    ]
    return [item for item in found if item not in barren], unread


def _is_barren(item: Input) -> bool:
    """Tell whether an input is a program that sets nothing of a training."""
    text = item.text or ""
    is_python = item.format == "python" or (item.kind == "script" and is_program(text))
    return is_python and not read_program(text, item.name)


def _program(item: Input) -> Input:
    """Take a training program that was given as a configuration for what it is."""
    text = item.text or ""
    if item.kind == "config" and is_program(text) and read_program(text, item.name):
        return msgspec.structs.replace(item, kind="script")
    return item


def _read_given(name: str, kind: Asked | None, stdin: bytes | None, budget: ReadingBudget) -> Found:
    if kind != "script":
        return _read_as(name, kind, stdin, budget)
    # `--cmd` takes scripts and configs alike: which of them it is, is told by the content
    found, unread = _read_as(name, None, stdin, budget)
    if all(item.kind in STARTS or item.spans for item in found):
        return found, unread
    scripts, _ = _read_as(name, "script", stdin, ReadingBudget())
    said = {item.name: item for item in scripts if item.kind == "script"}
    apart = {item.name for item in found if item.kind in STARTS}
    inputs: list[Input] = []
    for item in found:
        script = said.get(item.name)
        # what lies in a folder is what it is, and so is what was taken apart
        if item.name in apart or script is None:
            inputs.append(item)
        elif item.kind not in LOGS or not holds_log(script.text or ""):
            inputs.append(script)
        else:  # an issue pasted whole holds the command and the log
            pasted = pasted_script(item)
            inputs += [item, pasted] if pasted is not None else [item]
            unread += [] if pasted is not None else [Unread(source=item.name, reason=NOT_A_LAUNCH)]
    return inputs, unread


def _read_as(name: str, kind: Asked | None, stdin: bytes | None, budget: ReadingBudget) -> Found:
    said, pasted = (None, True) if kind == "post" else (kind, False)
    if name == "-":
        return read_stdin(stdin or b"", kind=said, pasted=pasted, budget=budget)
    return read_path(Path(name), kind=said, pasted=pasted, budget=budget)


def _typed(
    inputs: Sequence[Input], unread: list[Unread], request: Request, knowledge: Knowledge
) -> Given:
    """Read each input as what it is, and the versions, framework and hardware that are stated."""
    by_kind: dict[str, list[Input]] = {}
    for item in inputs:
        by_kind.setdefault(item.kind, []).append(item)
    environments = [read_environment(i.text or "", i.name) for i in by_kind.get("env", ())]
    listings = [read_versions(i.text or "", i.name) for i in by_kind.get("versions", ())]
    unread += [problem for read in environments for problem in read.unread]
    unread += [problem for read in listings for problem in read.unread]
    unread += _barren(by_kind, environments, listings)
    versions = {name: text for read in listings for name, text in read.texts().items()}
    versions.update(request.versions or {})
    framework = None if request.framework is None else read_framework(request.framework)
    if framework is not None and framework.version:
        versions.setdefault(framework.name, framework.version)
    good = _good(request, unread)
    hardware, problems = _hardware(request, listings, knowledge.gpus)
    return Given(
        scripts=(*by_kind.get("script", ()), *by_kind.get("argv", ())),
        configs=(*by_kind.get("config", ()), *by_kind.get("args", ())),
        logs=(*by_kind.get("log", ()), *by_kind.get("metrics", ())),
        # a listing of versions may be what nvidia-smi prints, which tells more than versions
        evidence=(*by_kind.get("evidence", ()), *by_kind.get("versions", ())),
        notes=tuple(by_kind.get("note", ())),
        outputs=tuple(by_kind.get("output", ())),
        others=tuple(by_kind.get("other", ())),
        env=Environment(
            variables=tuple(v for read in environments for v in read.variables),
            complete=any(read.complete for read in environments),
        ),
        versions=versions,
        facts=(*hardware, *_unversioned(listings)),
        framework=framework,
        good=good,
        beside={
            item.name: Path() if item.path is None else item.path.parent
            for item in (*inputs, *([good] if good else []))
            if item.path is not None or item.name == COMMAND_LINE
        },
        inputs=tuple(_as_read(item) for item in inputs if item.kind != "other"),
        unread=(*unread, *problems, *_unknown(by_kind.get("other", ()))),
    )


def _as_read(item: Input) -> InputRead:
    """Say of an input what it was read as, and how it begins."""
    lines = (item.text or "").split("\n")
    begins = (line.strip() for line in lines if line.strip())
    return InputRead(
        kind=item.kind,
        source=item.name,
        spans=item.spans,
        text=next(begins, "")[:FIRST_WORDS],
        repairs=item.repairs,
    )


def _unknown(others: Sequence[Input]) -> Iterator[Unread]:
    """Name what was come upon in a folder and is of no kind; data sets and sources are no loss."""
    for item in others:
        if item.why != NO_INPUT:
            yield Unread(source=item.name, reason=item.why)


def _unversioned(listings: Iterable[Versions]) -> Iterator[Fact]:
    """Name the packages that are there in a version nobody told."""
    names = dict.fromkeys(name for read in listings for name in read.unversioned)
    if names:
        yield fact(
            "packages.unversioned", " ".join(names), Origin(source="--versions"), how="given"
        )


def _barren(
    by_kind: Mapping[str, Sequence[Input]],
    environments: Sequence[Environment],
    listings: Sequence[Versions],
) -> Iterator[Unread]:
    """Name the files that are not the listing they were given as."""
    for item, env in zip(by_kind.get("env", ()), environments, strict=True):
        if not env.variables and not env.unread:
            yield Unread(source=item.name, reason=NO_VARIABLES)
    for item, listed in zip(by_kind.get("versions", ()), listings, strict=True):
        if not listed.packages and not listed.gpus and not listed.unread:
            yield Unread(source=item.name, reason=NO_VERSIONS)


def _good(request: Request, unread: list[Unread]) -> Input | None:
    if request.good is None:
        return None
    found, problems = _read(request.good, "script", request.stdin, ReadingBudget())
    _refuse_empty(found, problems)
    unread += problems
    return found[0] if found else None


def _hardware(
    request: Request, listings: Sequence[Versions], gpus: Sequence[Gpu]
) -> tuple[tuple[Fact, ...], tuple[Unread, ...]]:
    """Say what cards there are: as told on the command line, else as collect_env lists them."""
    facts: list[Fact] = []
    unread: list[Unread] = []
    named = [(name, origin) for read in listings for name, origin in read.gpus]
    if request.gpu is not None:
        reading = read_gpu(request.gpu, gpus)
        unknown = reading.unread is not None and reading.gib is None and reading.gpu is None
        if reading.unread is not None and unknown and not CARD_NAME.match(request.gpu.strip()):
            reason = reading.unread.reason
            more = "" if "--gpu" in reason else f". {GPU_EXPECTED}"
            raise UsageError(f"--gpu {request.gpu}: {reason}{more}")
        unread += [reading.unread] if reading.unread is not None else []
        if request.gpus is not None:  # the number of the whole job, of which this may be one node's
            reading = msgspec.structs.replace(reading, count=None)
        facts += card_facts(reading, Origin(source="--gpu", text=request.gpu))
    elif named:
        reading = read_gpu(named[0][0], gpus, source=named[0][1].source)
        facts += card_facts(msgspec.structs.replace(reading, count=None), named[0][1])
    return (*request.count_facts(), *facts), tuple(unread)

"""Values a framework refuses: of another type, none of the choices, missing, no JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainrx.catalog.catalog import KnownArgument, catalog, plain
from trainrx.catalog.typed import is_bool, is_list, read_as
from trainrx.frameworks import framework_of
from trainrx.knowledge.catalogs import read_parsed
from trainrx.linter.job import LintedJob, RuleHit
from trainrx.linter.places import LineRange, replaced
from trainrx.model.catalog import ParsedArgument
from trainrx.model.findings import Edit
from trainrx.model.job import RawArg
from trainrx.model.parts import Safety
from trainrx.model.pattern import late, needled

_AMBIGUOUS = late(r"could stand for (?P<some>.*): write")
_EXTRA = late(r"takes one value; (?P<rest>.*) behind it")
_THOUSANDS = late(r"(?P<count>\d{1,6})[kK]")
CHANGES_RESULTS: Safety = "changes-results"
_YOURS = ("your-", "your_", "your ")
BEGINS_JSON = frozenset('{["-0123456789tfnNI')
"""What a text that Python reads as JSON begins with."""
_COUNTS = ("parallel.processes_per_node", "parallel.nodes", "parallel.node_rank")
_COUNT = late(r"\s*\d+\s*|\d+:\d+|auto|gpu|cpu|xpu|.*[${}].*", re.DOTALL)
"""What torchrun takes for one of them, or what a shell is still to fill in."""
_MOST_CHOICES = 12
_CHECKED = ("finetuning_type", "stage")
"""Arguments of LLaMA-Factory whose values its own code compares with a list."""


def stands_in(text: str) -> bool:
    """Tell whether a reader is to replace a text: nobody runs `<num-labels>` as it is.

    So are `[path]`, `xxx`, `...` and `your_data`.
    """
    lowered, inside = text.lower(), text[1:-1]
    if text[:1] + text[-1:] == "<>":
        return "<" not in inside and ">" not in inside
    if text[:1] + text[-1:] == "[]":
        named = inside[:1].isascii() and inside[:1].isalpha()
        return named and "[" not in inside and "]" not in inside
    filled = len(text) > 2 and not lowered.strip("x")
    return filled or text == "..." or lowered.startswith(_YOURS)


def find(job: LintedJob) -> Iterator[RuleHit]:
    """Give each value that no release the job may run takes."""
    yield from _nones(job)
    yield from _no_json(job)
    yield from _no_counts(job)
    problems = job.resolved.problems
    if not problems or not job.judged():
        return
    files = {arg.origin.source for arg in job.configs}
    for arg, problem in problems:
        if arg.via == "config" and arg.origin.source not in files:
            continue
        found = _judge(_original(arg, job), arg, problem, job)
        if found is not None:
            yield found


def _nones(job: LintedJob) -> Iterator[RuleHit]:
    """Give each `None` in a file whose values no parser looks at: it is a word, empty is `null`.

    LLaMA-Factory (`parse_dict`) hands it on as it is, and the first comparison with a number fails.
    """
    if not job.framework.unchecked_files:
        return
    for arg in job.configs:
        known = job.taken().get(arg.name) if arg.values == ("None",) else None
        if known is None or known.type not in ("int", "float"):
            continue
        values = {"name": arg.name, "value": "None", "type": known.type}
        yield RuleHit("wrong-type", job.texts.value(arg), values)


def _no_counts(job: LintedJob) -> Iterator[RuleHit]:
    """Give counts of processes, nodes and ranks that are words: launchers stop on them.

    torchrun knows some words (torch/distributed/run.py: determine_local_world_size, parse_min_max).
    """
    counted = {
        item.spelled_as: item
        for item in job.resolved.settings.values()
        if item.value is None and item.via in ("env", "launcher") and item.canonical in _COUNTS
    }
    for variable in job.launch.env:
        if variable.name in counted and _is_no_count(variable.value or ""):
            values = {"name": variable.name, "value": (variable.value or "")[:80], "type": "int"}
            yield RuleHit("wrong-type", job.texts.variable(variable.name, variable.origin), values)
    for arg in job.launch.launcher:
        text = (arg.values or ("",))[0]
        if arg.name in counted and _is_no_count(text):
            values = {"name": f"--{arg.name}", "value": text[:80], "type": "int"}
            yield RuleHit("wrong-type", job.texts.value(arg), values)


def _is_no_count(text: str) -> bool:
    return bool(text) and _COUNT.fullmatch(text) is None and not stands_in(text)


def _original(arg: RawArg, job: LintedJob) -> RawArg:
    """Give the argument as written; the parser's own name replaced it."""
    same = (item for item in job.args if item.origin == arg.origin and item.values == arg.values)
    return next((item for item in same if plain(item.name) == plain(arg.name)), arg)


def _judge(arg: RawArg, named: RawArg, problem: str, job: LintedJob) -> RuleHit | None:
    shown = arg.name if arg.via == "config" else f"--{arg.name}"
    values = {"name": shown, "value": " ".join(arg.values or ())[:80]}
    if match := _AMBIGUOUS.search(problem):
        return RuleHit(
            "ambiguous-abbreviation", job.texts.flag(arg), values | {"some": match["some"]}
        )
    if "is in the configuration already" in problem:
        return RuleHit("hydra-key-exists", job.texts.flag(arg), values)
    known = job.taken().get(named.name)
    if known is None or stands_in(values["value"]):
        return None
    alone = "missing" in problem and not arg.values and job.certain
    if not alone and _accepted_somewhere(known, arg, job):
        return None
    if match := _EXTRA.search(problem):
        told = values | {"rest": match["rest"].strip("'\"")}
        return RuleHit("extra-value", job.texts.value(arg), told)
    if "missing" in problem:
        return RuleHit("value-missing", job.texts.flag(arg), values)
    if known.choices is not None:
        allowed = ", ".join(str(choice) for choice in known.choices[:_MOST_CHOICES])
        more = ", ..." if len(known.choices) > _MOST_CHOICES else ""
        from trainrx.catalog.names import meant_by

        told = values | {"allowed": allowed + more}
        told["maybe"] = meant_by(values["value"], known, job.launch.framework, job.params)
        severity = "warning" if _is_unchecked(arg, known, job) else ""
        at = job.texts.value(arg)
        edits = _written_so(at, values["value"], told["maybe"], job)
        safety = CHANGES_RESULTS if edits else None
        return RuleHit("wrong-choice", at, told, edits, safety, severity)
    severity = "warning" if _is_unchecked(arg, known, job) and is_bool(known.type) else ""
    told = values | {"type": known.type, "maybe": _in_figures(values["value"], known.type)}
    return RuleHit("wrong-type", job.texts.value(arg), told, severity=severity)


def _written_so(at: LineRange, value: str, instead: str, job: LintedJob) -> tuple[Edit, ...]:
    """Replace a value that stands in one piece where the argument does."""
    if not instead or at.column is None or at.end is None:
        return ()
    text = job.texts.line(at.file, at.line)[at.column - 1 : at.end - 1]
    return replaced(at, instead) if text == value else ()


def _in_figures(value: str, type_: str) -> str:
    """Write `2k` as the numbers it may stand for, "" where it is none of these."""
    match = _THOUSANDS.fullmatch(value)
    if match is None or "int" not in type_:
        return ""
    return f"{1024 * int(match['count'])}, {1000 * int(match['count'])}"


def _is_unchecked(arg: RawArg, known: KnownArgument, job: LintedJob) -> bool:
    """Tell whether a file's values go to the dataclass as they are (`parse_dict`): no parser looks.

    LLaMA-Factory does so (`hparams/parser.py`); what a library lists it checks itself.
    """
    in_file = arg.via == "config" and job.framework.unchecked_files
    return (
        in_file
        and (is_bool(known.type) or known.package == job.launch.framework)
        and (known.name not in _CHECKED)
    )


def _accepted_somewhere(known: KnownArgument, arg: RawArg, job: LintedJob) -> bool:
    """Tell whether a release the job may run takes the value: their choices and types differ."""
    owner = catalog(known.package)
    command = job.taken().command if known.package == job.launch.framework else ""
    own = known.package == job.launch.framework
    bits = catalog(job.launch.framework).of(job.version) if own else owner.all
    if not own and known.package in job.versions:
        bits = owner.of(job.versions[known.package])
    values = arg.values or ()
    for option in owner.find(known.name, command):
        for kind in owner.values(option.types, owner.bits(option) & bits) or ("",):
            listed = owner.values(option.choices, owner.bits(option) & bits) or (None,)
            for choices in listed:
                several = kind and not is_list(kind) and len(values) > 1 and arg.via != "config"
                typed = read_as(kind, choices, values, from_file=arg.via == "config")
                if not typed.problem and not several:
                    return True
    return False


_OF_TRANSFORMERS = frozenset(
    {"accelerator_config", "fsdp_config", "deepspeed", "gradient_checkpointing_kwargs"}
    | {"lr_scheduler_kwargs"}
)
"""`TrainingArguments._VALID_DICT_FIELDS`: read as JSON where the text begins with a brace.
https://github.com/huggingface/transformers/blob/v4.49.0/src/transformers/training_args.py"""
_NAMES = frozenset({"deepspeed", "fsdp", "teacher_deepspeed"})
"""Taken by name as well: `registers` judges the words."""
_PATH = needled(r"[/\\]|\.\w{1,5}$", "/", "\\", ".")


def _no_json(job: LintedJob) -> Iterator[RuleHit]:
    """Give each value that no release the job may run can read."""
    if not (job.framework.training_arguments and job.framework.owns_names):
        return
    for arg in job.args:
        name = plain(arg.name)
        if not arg.values or arg.via not in ("arg", "config"):
            continue
        text = " ".join(arg.values).strip()
        if stands_in(text) or job.taken().get(name) is None:
            continue
        if _is_refused(name, text, job) and not _is_json(text):
            yield _unreadable(arg, text, job)


def _is_refused(name: str, text: str, job: LintedJob) -> bool:
    braced = text.startswith("{")
    if not text or (not braced and (_PATH.search(text) or text in job.files)):
        return False
    ways = _ways(name, job) if job.framework.parses_values else []
    if not ways:
        return braced and name in _OF_TRANSFORMERS and _is_text(name, job)
    if name in _NAMES and not braced:
        return False
    # what is mended is no mapping yet where nothing in it divides a key from a value
    mended = braced and ":" in text
    return all(way.strict and not (mended and way.repaired) for way in ways)


def _ways(name: str, job: LintedJob) -> list[ParsedArgument]:
    """Give how the releases the job may run read an argument; empty when one does not."""
    known = catalog(job.launch.framework)
    bits = known.of(job.version)
    found = [item for item in read_parsed() if item.name == name and known.mask(item.spans) & bits]
    covered = 0
    for item in found:
        covered |= known.mask(item.spans)
    return found if bits & ~covered == 0 else []


def _is_text(name: str, job: LintedJob) -> bool:
    """Tell whether the argument reaches transformers as it stands in the launch."""
    known = job.taken().get(name)
    return known is not None and framework_of(known.package).lends_names


def _is_json(text: str) -> bool:
    return text.lstrip()[:1] in BEGINS_JSON and _why(text) == ""


def _why(text: str) -> str:
    """Say why a text is no JSON, "" when it is."""
    import json  # only a finding says why

    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"{error.msg} at column {error.colno}"
    except RecursionError:
        return ""
    return ""


def _unreadable(arg: RawArg, text: str, job: LintedJob) -> RuleHit:
    shown = arg.name if arg.via == "config" else f"--{arg.name}"
    values = {"name": shown, "value": text[:80], "why": _why(text)}
    return RuleHit("no-json", job.texts.value(arg), values)

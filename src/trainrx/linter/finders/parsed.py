"""Values a framework reads as JSON, or as a file that holds it, and that are neither."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.catalog.catalog import catalog, plain
from trainrx.frameworks import framework_of
from trainrx.knowledge.catalogs import read_parsed
from trainrx.linter.finders.values import BEGINS_JSON, stands_in
from trainrx.linter.job import LintedJob, RuleHit
from trainrx.model.catalog import ParsedArgument
from trainrx.model.job import RawArg
from trainrx.model.pattern import needled

_OF_TRANSFORMERS = frozenset(
    {"accelerator_config", "fsdp_config", "deepspeed", "gradient_checkpointing_kwargs"}
    | {"lr_scheduler_kwargs"}
)
"""`TrainingArguments._VALID_DICT_FIELDS`: read as JSON where the text begins with a brace.
https://github.com/huggingface/transformers/blob/v4.49.0/src/transformers/training_args.py"""
_NAMES = frozenset({"deepspeed", "fsdp", "teacher_deepspeed"})
"""Taken by name as well: `registers` judges the words."""
_PATH = needled(r"[/\\]|\.\w{1,5}$", "/", "\\", ".")


def find(job: LintedJob) -> Iterator[RuleHit]:
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
            yield _found(arg, text, job)


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


def _found(arg: RawArg, text: str, job: LintedJob) -> RuleHit:
    shown = arg.name if arg.via == "config" else f"--{arg.name}"
    values = {"name": shown, "value": text[:80], "why": _why(text)}
    return RuleHit("no-json", job.texts.value(arg), values)

"""The files of a launch that is to be edited: their texts, and where they lie."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from trainrx.fix.patch.configs import config_with, keys
from trainrx.fix.patch.wanted import Want
from trainrx.frameworks import framework_of
from trainrx.inputs.recognise import is_manifest
from trainrx.launch.config_kinds import classify_config
from trainrx.launch.files import config_texts
from trainrx.launch.given import Given
from trainrx.launch.places import base, script_file
from trainrx.launch.programs import program_beside
from trainrx.launch.python_source import is_program
from trainrx.model.facts import Facts
from trainrx.model.job import Input, RawLaunch, Script
from trainrx.model.planning import FilePatch, Patched
from trainrx.model.result import Change
from trainrx.prove.reread import LaunchContext
from trainrx.shell import read_script

AUTO = "auto"
_BATCH = frozenset({"train.micro_batch", "train.grad_accum", "parallel.processes_per_node"})
_KEYS = {
    "deepspeed.micro_batch": ("train_micro_batch_size_per_gpu", frozenset({"train.micro_batch"})),
    "deepspeed.grad_accum": ("gradient_accumulation_steps", frozenset({"train.grad_accum"})),
    "deepspeed.train_batch": ("train_batch_size", _BATCH),
}


def autos(changes: Sequence[Change], facts: Facts, held: Collection[str]) -> Iterator[Change]:
    """Give the keys that are to be left to the Trainer, of those a DeepSpeed file holds."""
    if not framework_of(facts.text("launch.framework")).training_arguments:
        return
    names = {change.canonical for change in changes}
    for kind, (key, means) in _KEYS.items():
        value = facts.value(kind)
        if value is not None and key in held and not names.isdisjoint(means):
            yield Change(
                kind="config_file",
                param=key,
                canonical="",
                action="set",
                now="set",
                from_=str(value),
                to=AUTO,
                spelled=f"{key}: {AUTO}",
            )


def texts_of(around: LaunchContext, launch: RawLaunch | None) -> dict[str, str]:
    """Give the texts of the script and of all configurations in play, by name, as they lie there.

    Bytes that are no UTF-8 become lone surrogates, so that they can be written back.
    """
    given: Given = around.given
    texts = {
        item.name: item.text or "" if item.name in around.unmended else as_is(item)
        for item in (*given.scripts, *given.configs)
    }
    if launch is None:
        return texts
    beside = given.beside.get(launch.origin.source)
    version = around.versions.get(launch.framework)
    found = config_texts(launch, given.configs, beside, version)
    inside = {name: text for name, text in found.texts.items() if name not in found.places}
    return {**inside, **texts}


def with_program(around: LaunchContext, launch: RawLaunch | None) -> LaunchContext:
    """Give the context with the Python program of a launch among its files, where it lies there."""
    if launch is None:
        return around
    given = around.given
    programs = [item for item in given.scripts if is_program(item.text or "")]
    found = program_beside(launch, programs, given.beside.get(launch.origin.source))
    if found is None:
        return around
    given = msgspec.structs.replace(given, scripts=(*given.scripts, found))
    return msgspec.structs.replace(around, given=given)


def as_is(item: Input) -> str:
    """Give the text of a file as it lies there, line ends and all."""
    if item.path is None:
        return item.text or ""
    try:
        return item.path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return item.text or ""


def script_of(given: Given, launch: RawLaunch | None, texts: Mapping[str, str]) -> Script | None:
    """Read the script a launch stands in; None where it is none (a manifest, a program)."""
    source = "" if launch is None else launch.origin.source
    if source not in {item.name for item in given.scripts} or is_manifest(texts[source]):
        return None
    if is_program(texts[source]):
        return None
    told = given.env.variables
    inherited = {item.name: item.value for item in told if item.value is not None}
    beside = given.beside.get(source)
    files = None if beside is None else partial(script_file, beside=beside)
    return read_script(texts[source], source, inherited, files)


def place_of(file: FilePatch, folder: Path | None) -> str:
    """Give the path of a file the launch names, from the folder of its script or of one above."""
    if folder is None:
        return file.name
    parts = [part for part in file.name.replace("\\", "/").split("/") if part not in ("", ".")]
    for start in range(len(parts)):
        path = folder.joinpath(*parts[start:])
        if file.before is not None and path.is_file():
            return str(path)
    return str(folder / base(file.name))


def as_named(changes: Iterable[Change], patched: Patched) -> Iterator[Change]:
    """Give changes with the files that were named for them."""
    named = dict(patched.named)
    for change in changes:
        name = named.get(change.to or "")
        if name is None or change.to is None:
            yield change
        else:
            spelled = change.spelled.replace(change.to, name)
            yield msgspec.structs.replace(change, to=name, spelled=spelled)


def left_open(
    files: Sequence[FilePatch],
    inside: Sequence[Change],
    texts: Mapping[str, str],
    facts: Facts,
) -> tuple[tuple[FilePatch, ...], tuple[Change, ...]]:
    """Leave to the Trainer what DeepSpeed files set, where the arguments now say something else.

    Args:
        files: what is edited already.
        inside: the changes of the launch.
        texts: the files at hand.
        facts: what was read of the launch.
    """
    edited = {file.name: file for file in files}
    made: list[Change] = []
    # a new file takes the place of one that is at hand
    new = [file for file in files if file.before is None]
    old = (FilePatch(name=n, before=text, after=text) for n, text in texts.items())
    for file in new or [edited.get(file.name, file) for file in old]:
        if classify_config(file.after) != "deepspeed":
            continue
        text = file.after
        for change in autos(inside, facts, {arg.name for arg in keys(text)}):
            opened = config_with(file.name, text, Want("arg", change.param, (AUTO,))) or text
            made += [change] if opened != text and file.before is not None else []
            text = opened
        if text != file.after:
            edited[file.name] = msgspec.structs.replace(file, after=text)
    return tuple(edited.values()), tuple(made)

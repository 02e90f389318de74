"""Changes of arguments the launch itself tells of: misspelt, of another form, no choice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainrx.catalog.catalog import KnownArgument, catalog, plain
from trainrx.catalog.spell import spell_argument
from trainrx.catalog.typed import read_as
from trainrx.fix.changes import Target, rewritten
from trainrx.frameworks import framework_of, frameworks
from trainrx.knowledge.catalogs import read_renames
from trainrx.model.job import RawArg
from trainrx.model.refusal import Fate
from trainrx.model.result import Change
from trainrx.versions.ranges import in_range

_KINDS = {"int": "number", "float": "number", "bool": "switch", "str": "word", "Literal": "word"}


def value_under(arg: RawArg, now: str, value: str | None, fate: Fate) -> str | None:
    """Translate a value where the table of renames says how."""
    names = {plain(arg.name), plain(now)}
    for entry in read_renames():
        if entry.package == fate.package and {plain(entry.old), plain(entry.new)} == names:
            if entry.inverted and value is not None:
                return {"true": "false", "false": "true", "": "false"}.get(value.lower())
            return entry.values.get(value or "", value) if entry.values else value
    return value


def choices_of(name: str, fate: Fate) -> tuple[str, ...]:
    """Give the values a name may have at the newest of the releases in question, () for any."""
    option = _option(name, fate)
    listed = option.choices if option is not None else None
    return tuple(str(choice) for choice in listed or ())


def refuses(name: str, value: str, fate: Fate) -> bool:
    """Tell whether a value is none of those a name may have."""
    return bool(choices_of(name, fate)) and value not in choices_of(name, fate)


def fits_ill(arg: RawArg, name: str, fate: Fate) -> bool:
    """Tell whether the value cannot be one of the other name: `vllm_mode colocate` is no count.

    Nor is what was switched off a word: `use_flash_attn false` is no `attn_impl`.
    """
    option = _option(name, fate) or _lent(name)
    written = " ".join(arg.values or ())
    value = value_under(arg, name, written, fate)
    if option is not None and value == written and _means_otherwise(arg, option, fate):
        return True
    if option is None or not option.type or option.choices is not None or not value:
        return False
    if value.lower() == "false" and "bool" not in option.type:
        return True
    return bool(read_as(option.type, None, (value,)).problem)


def _means_otherwise(arg: RawArg, option: KnownArgument, fate: Fate) -> bool:
    """Tell whether a name held a number and the one that stands for it holds words, or the reverse.

    `val_dataset_sample 10` became a part of `val_dataset`: its 10 is no data set.
    """
    known = catalog(fate.package)
    old = next(iter(known.find(arg.name, fate.command) or known.find(arg.name)), None)
    if old is None or not option.type:
        return False
    kinds = [_kinds(known.known(old, known.bits(old)).type), _kinds(option.type)]
    return all(kinds) and not kinds[0] & kinds[1]


def _kinds(declared: str) -> frozenset[str]:
    """Give what a declared type may hold: numbers, switches, words."""
    return frozenset(kind for word, kind in _KINDS.items() if re.search(rf"\b{word}\b", declared))


def _option(name: str, fate: Fate) -> KnownArgument | None:
    known = catalog(fate.package)
    bits = known.of(fate.asked or None)
    found = (one for one in known.find(name, fate.command) if known.bits(one) & bits)
    return next((known.known(one, bits) for one in found), None)


def _lent(name: str) -> KnownArgument | None:
    """Give an argument as the library has it whose names other frameworks take over."""
    for lender in (catalog(one.name) for one in frameworks() if one.lends_names):
        for one in lender.find(name, ""):
            return lender.known(one, lender.bits(one))
    return None


def chosen(job: Target) -> Iterator[Change]:
    """Give the change of a value that is no choice into the one that was meant."""
    refused = job.facts.get("launch.refused_value")
    present, arrow, right = str(refused.value if refused else "").partition(" -> ")
    name, _, value = present.partition(" ")
    if refused is None or not arrow:
        return
    written = spell_argument(name, right, job.framework, via=job.style, launch=job.launch)
    at = refused.origins[0] if refused.origins else None
    yield rewritten(written.kind, written.param, right, written.text, before=value, at=at)


def positional(job: Target) -> Iterator[Change]:
    """Give the change of `--config FILE` into the file alone, where only that is taken."""
    first = job.launch.args[0] if job.launch is not None and job.launch.args else None
    if not framework_of(job.framework).takes_file_first(job.version):
        return
    if first is None or first.name != "config" or first.via != "arg" or not first.values:
        return
    file = first.values[0]
    yield rewritten("arg", "config", file, file, before=f"--config {file}", at=first.origin)


def old_types(job: Target) -> Iterator[Change]:
    """Give what stands for a model type that named the model in an earlier release.

    Since then `--model` does, and the type is found in its config.json.
    """
    renames, launch = framework_of(job.framework).value_renames(), job.launch
    if renames is None or launch is None:
        return
    if in_range(job.version or "", f">={renames.SINCE}") is not True:
        return
    given = {plain(arg.name): arg.values for arg in launch.args}
    for arg in launch.args:
        if (
            plain(arg.name) != "model_type"
            or not arg.values
            or not renames.is_old_type(arg.values[0])
        ):
            continue
        if {"model", "model_id_or_path"} & given.keys():
            yield _needless(arg)
            continue
        named = renames.forwards("model_type", arg.values, given, hub=renames.hub_of(launch))
        if named is not None and named.more:
            name, _, value = named.more[0].partition("=")
            yield _instead(arg, name, value, job)


def _needless(arg: RawArg) -> Change:
    shown = f"{'--' if arg.via == 'arg' else ''}{plain(arg.name)} {' '.join(arg.values or ())}"
    return Change(
        kind="arg" if arg.via == "arg" else "config_file",
        param=plain(arg.name),
        canonical="model.type",
        action="remove",
        from_=" ".join(arg.values or ()),
        now="set",
        to=None,
        spelled=shown,
        at=arg.origin,
    )


def _instead(arg: RawArg, name: str, value: str, job: Target) -> Change:
    written = spell_argument(name, value, job.framework, via=job.style, launch=job.launch)
    dashes = "--" if arg.via == "arg" else ""
    return rewritten(
        written.kind,
        written.param,
        written.value,
        written.text,
        before=f"{dashes}{plain(arg.name)} {' '.join(arg.values or ())}",
        at=arg.origin,
        canonical="model.name",
    )


def named_anew(kind: str, job: Target) -> Iterator[Change]:
    """Give the change of an argument that a fact says goes by another name: `old -> new`."""
    found = job.facts.get(kind)
    wrong, arrow, right = str(found.value if found else "").partition(" -> ")
    if found is None or not arrow or " " in wrong + right:
        return
    at = found.origins[0] if found.origins else None
    yield rewritten("arg", right, right, right, before=wrong, at=at)

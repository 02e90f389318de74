"""The lines of data/symbols/*.jsonl."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from symbols.packages import PARTS, is_called
from symbols.spans import runs, spec_of
from symbols.tables import Tables
from trainrx.model.packages import Symbols

OTHER_ENGINES = ("TF", "Flax", "load_tf_", "_TF")
"""Names of transformers for TensorFlow and JAX."""
MODELS = "transformers.models."
MODEL_CALLS = ("__init__", "forward")
"""Functions of a model that others call or replace."""
INNER = ("Kwargs", "Output", "ImageProcessor", "ImageProcessorFast", "ImageProcessorPil")
"""Classes nobody builds but their own module."""


def lines(package: str, tables: Tables, others: Mapping[str, Tables]) -> Iterator[Symbols]:
    """Give what changed between the releases of a package."""
    yield from _modules(package, tables, askers(package, tables, others))
    found: list[Symbols | None] = []
    if not PARTS[package].called:
        found += [_class(name, tables) for name in sorted(tables.classes)]
    called = (name for name in sorted(tables.calls) if _is_called(name, package, tables))
    found += [_call(name, tables) for name in called]
    for line in found:
        if line is not None:
            owner = line.of.partition(".")[0]
            also = tuple(sorted(other for other in others if owner in others[other].defined))
            yield msgspec.structs.replace(line, also=also)


def _modules(
    package: str, tables: Tables, asked: Mapping[str, dict[str, dict[str, str]]]
) -> Iterator[Symbols]:
    """Give the modules; one that only comes and goes with the one above is named there."""
    made: dict[str, Symbols] = {}
    parts: dict[str, list[str]] = defaultdict(list)
    for module in sorted(tables.modules):
        line = _module(package, module, tables, asked.get(module, {}))
        above, _, name = module.rpartition(".")
        plain = line.releases and not (line.names or line.askers)
        if plain and above in made and line.releases == made[above].releases:
            parts[above].append(name)
            continue
        if line.releases or line.names:
            made[module] = line
    for module, line in made.items():
        yield msgspec.structs.replace(line, parts=" ".join(parts.get(module, ())))


def _module(
    package: str, module: str, tables: Tables, asked: Mapping[str, dict[str, str]]
) -> Symbols:
    called = PARTS[package].called
    life = tables.modules[module]
    found = {
        name: mask
        for name, mask in tables.names[module].items()
        if mask != life and _is_told(name, module, tables) and not (called and name.startswith("_"))
    }
    return Symbols(
        of=module,
        kind="module",
        releases="" if life == tables.all else spec_of(life, tables.releases),
        names=_spans(found, tables),
        moved=_moved(module, found, tables),
        askers=dict(asked),
    )


def _is_told(name: str, module: str, tables: Tables) -> bool:
    """Tell whether somebody may ask a module for a name: it is defined somewhere in the package.

    Modules of models are asked for what is their own.
    """
    if _is_dunder(name) or name.startswith(OTHER_ENGINES):
        return False
    if f"{module}.{name}" in tables.modules:
        return True
    homes = tables.defined.get(name, {})
    if name.endswith(("_ARCHIVE_LIST", "_ARCHIVE_MAP", "_DOCSTRING")):
        return module in homes
    if module.startswith(MODELS):
        return module in homes and module.split(".")[2] in tables.writers
    if module in homes or name in tables.offered[module]:
        return True
    # what a module deep inside only imports, nobody looks for there
    is_open = module.count(".") <= 1 or f"{module}.{name}" in tables.modules
    return is_open and bool(homes)


def _moved(module: str, found: Mapping[str, int], tables: Tables) -> dict[str, str]:
    """Say where names that are gone are defined in the release that lacks them first."""
    out: dict[str, list[str]] = defaultdict(list)
    for name, mask in found.items():
        *_, (_, end) = runs(mask)
        there = tables.modules[module] >> end & 1
        if end >= len(tables.releases) or not there:
            continue
        homes = [m for m, held in tables.defined.get(name, {}).items() if held >> end & 1]
        if len(homes) == 1 and homes != [module]:
            out[homes[0]].append(name)
    return {home: " ".join(sorted(names)) for home, names in sorted(out.items())}


def _class(name: str, tables: Tables) -> Symbols | None:
    life = tables.classes[name]
    found = {}
    of_model = _is_of_model(name, tables)
    if name.startswith(OTHER_ENGINES) or (
        of_model and (name.endswith(INNER) or not _generates(name, tables))
    ):
        return None
    for attribute in tables.attributes[name]:
        mask = tables.resolved(name, attribute)
        if mask != life and not attribute.startswith("__" if not of_model else "_"):
            found[attribute] = mask
    bases = sorted(base for base in tables.bases.get(name, ()) if base in tables.classes)
    whole = "" if life == tables.all else spec_of(life, tables.releases)
    if not found and (not bases or of_model):
        return None
    return Symbols(
        of=name,
        kind="class",
        releases=whole,
        names=_spans(found, tables),
        bases=() if of_model else tuple(bases),
    )


def _call(name: str, tables: Tables) -> Symbols | None:
    calls = tables.calls[name]
    takes = {
        arg: mask | calls.open
        for arg, mask in calls.takes.items()
        if mask | calls.open != calls.there
    }
    requires = {arg: mask for arg, mask in calls.requires.items() if mask != calls.there}
    if not takes and not requires:
        return None
    whole = "" if calls.there == tables.all else spec_of(calls.there, tables.releases)
    return Symbols(
        of=name,
        kind="call",
        releases=whole,
        names=_spans(takes, tables),
        required=_spans(requires, tables),
    )


def _is_of_model(name: str, tables: Tables) -> bool:
    return any(home.startswith(MODELS) for home in tables.defined.get(name, {}))


def _generates(name: str, tables: Tables) -> bool:
    """Tell whether something belongs to a model that writes text: those are trained here."""
    homes = tables.defined.get(name, {})
    return any(home.startswith(MODELS) and home.split(".")[2] in tables.writers for home in homes)


def _is_called(name: str, package: str, tables: Tables) -> bool:
    """Tell whether others call a function, or override it.

    What the arguments of a program are stands in its catalog.
    """
    owner, _, function = name.rpartition(".")
    if (owner or name).startswith(("_", *OTHER_ENGINES)):
        return False
    if PARTS[package].called and (name in tables.built or owner.endswith(INNER)):
        return False
    homes = tables.defined.get(owner or name, {})
    if not any(is_called(package, home) for home in homes):
        return False
    if not _is_of_model(owner or name, tables):
        return True
    return _generates(owner, tables) and function in MODEL_CALLS and not owner.endswith(INNER)


def _is_dunder(name: str) -> bool:
    return name.startswith("__")


def _spans(found: Mapping[str, int], tables: Tables) -> dict[str, str]:
    out: dict[int, list[str]] = defaultdict(list)
    for name, mask in found.items():
        out[mask].append(name)
    return {spec_of(mask, tables.releases): " ".join(sorted(out[mask])) for mask in sorted(out)}


def askers(
    package: str, tables: Tables, others: Mapping[str, Tables]
) -> dict[str, dict[str, dict[str, str]]]:
    """Say which releases of other packages need names of this one whenever they are imported."""
    top = PARTS[package].top
    out: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for asker, theirs in others.items():
        wanted: dict[str, dict[str, int]] = defaultdict(dict)
        for (module, name), mask in theirs.needed.items():
            if module.partition(".")[0] != top or mask == theirs.all:
                continue
            if _changed(module, name, tables):
                wanted[module][name or "."] = mask
        for module, names in wanted.items():
            out[module][asker] = _spans(names, theirs)
    return out


def _changed(module: str, name: str, tables: Tables) -> bool:
    life = tables.modules.get(module)
    if life is None:
        return False
    return life != tables.all or tables.names[module].get(name, life) != life


def written(found: Iterable[Symbols]) -> bytes:
    """Give the file."""
    return b"".join(msgspec.json.encode(line) + b"\n" for line in found)

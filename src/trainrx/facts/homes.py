"""Where a thing is that a message names: in which package, in which of its releases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from packaging.version import Version

from trainrx.evidence.sources import packages
from trainrx.facts.lacking import Lack
from trainrx.knowledge.symbols import SymbolTable, open_symbols, recorded
from trainrx.model.packages import Symbols
from trainrx.versions.spans import Span, common, outside, read_spans

BASES: Mapping[str, str] = {
    "Config": "PretrainedConfig",
    "Model": "PreTrainedModel",
    "ForCausalLM": "PreTrainedModel",
    "ForConditionalGeneration": "PreTrainedModel",
    "Processor": "ProcessorMixin",
    "TokenizerFast": "PreTrainedTokenizerFast",
    "Tokenizer": "PreTrainedTokenizer",
    "Trainer": "Trainer",
    "TrainingArguments": "TrainingArguments",
}
"""What classes of models and trainers derive from in transformers, by how their names end."""
UPSTREAM = ("torch", "transformers", "trl", "peft", "accelerate", "datasets", "deepspeed", "vllm")
"""Whose a class is of which several packages have one of that name, but for the framework's own."""
MOST_BASES = 6
SHARED = frozenset({"Config", "Embedding", "Linear", "Model", "Module", "Parameter", "Tensor"})
"""Classes of many packages: the message does not say whose it is."""
TRAINER = "Trainer"
KEPT = ("__init__", "forward", "__call__")
"""Functions of so many classes that the bare name tells nothing."""


class SymbolHome(NamedTuple):
    """Where a thing is: the package, in which of its releases, and who asks for it.

    `asking` are the releases of other packages that need it whenever they are imported. `moved` is
    the module it went to. `by`: the package whose call or import failed.
    """

    package: str
    releases: tuple[Span, ...]
    asking: Mapping[str, tuple[Span, ...]] = {}
    moved: str = ""
    by: str = ""


class SymbolContext(NamedTuple):
    """What else is known: the versions, the framework, the package an exception was raised in."""

    versions: Mapping[str, str]
    framework: str
    raised_in: str


def find_home(lack: Lack, around: SymbolContext) -> SymbolHome | None:
    """Find the releases that have what a message names; None where the record does not know it."""
    if lack.kind in ("name", "module"):
        return _in_module(lack)
    if lack.kind == "attribute":
        return _one(_attributes(lack, around), around)
    return _called(lack, around)


def _in_module(lack: Lack) -> SymbolHome | None:
    package = _package(lack.of)
    table = open_symbols(package)
    line = table.find(lack.of, "module")
    if lack.kind == "module":
        whole = line.releases if line is not None else _part(lack.of, table)
        asking = _asking(line, ".")
        return SymbolHome(package, read_spans(whole), asking) if whole else None
    has = _ranges(line.names, lack.name) if line is not None else ""
    if not has or line is None:
        return None
    return SymbolHome(package, read_spans(has), _asking(line, lack.name), _home(line, lack.name))


def _part(module: str, table: SymbolTable) -> str:
    """Give the releases of a module that came or went with the one above it."""
    above, _, name = module.rpartition(".")
    line = table.find(above, "module") if above else None
    return line.releases if line is not None and name in line.parts.split() else ""


def _asking(line: Symbols | None, name: str) -> dict[str, tuple[Span, ...]]:
    asked = line.askers.items() if line is not None else ()
    return {p: read_spans(text) for p, by in asked if (text := _ranges(by, name))}


def _home(line: Symbols, name: str) -> str:
    return next((home for home, names in line.moved.items() if name in names.split()), "")


def _ranges(names: Mapping[str, str], name: str) -> str:
    """Give the ranges under which a name stands; "" where it stands nowhere."""
    return next((spec for spec, held in names.items() if name in held.split()), "")


def _attributes(lack: Lack, around: SymbolContext) -> Iterator[SymbolHome]:
    if lack.of in SHARED:
        return
    for package in recorded():
        has = _attribute(lack.of, lack.name, package, around)
        if has:
            by = around.raised_in if around.raised_in != package else ""
            yield SymbolHome(package, read_spans(has), by=by)


def _attribute(name: str, attribute: str, package: str, around: SymbolContext) -> str:
    """Look at a class and what it derives from."""
    table, left = open_symbols(package), [name]
    for _ in range(MOST_BASES):
        line = table.find(left.pop(0), "class") if left else None
        if line is not None and not _is_of_another(line, package, around):
            if has := _ranges(line.names, attribute):
                return has
            left += line.bases
    base = next((base for end, base in BASES.items() if name.endswith(end)), "")
    line = table.find(base, "class") if package == "transformers" and base else None
    return _ranges(line.names, attribute) if line is not None else ""


def _is_of_another(line: Symbols, package: str, around: SymbolContext) -> bool:
    """Tell whether a class or function is rather meant that another package has."""
    holders = (package, *line.also)
    if around.framework in holders:
        return package != around.framework
    return package != next((one for one in UPSTREAM if one in holders), package)


def _called(lack: Lack, around: SymbolContext) -> SymbolHome | None:
    """Find the function of a call; else whose method it overrides."""
    found = _one(_functions(lack, around), around)
    if found is not None:
        return _with_caller(lack, found, around)
    owner = lack.of.rpartition(".")[0]
    if around.raised_in or owner.endswith(TRAINER):
        return _overridden(lack, around.raised_in or "transformers", around)
    # with its class the message tells an override from the method itself
    passing = (_overridden(lack, one, around) for one in UPSTREAM if owner)
    listed = [one for one in passing if one is not None]
    return listed[0] if len(listed) == 1 else None


def _functions(lack: Lack, around: SymbolContext) -> Iterator[SymbolHome]:
    if lack.of in KEPT:
        return
    for package in recorded():
        line = open_symbols(package).find(lack.of, "call")
        if line is None or _is_of_another(line, package, around):
            continue
        fits = _fitting(lack, line)
        if fits:
            yield SymbolHome(package, fits)


def _fitting(lack: Lack, line: Symbols) -> tuple[Span, ...]:
    """Give the releases of a function with which a call is right."""
    if lack.kind == "crowded":
        start = _grown_at(line, lack.more)
        return (Span(start, ""),) if start else ()
    if lack.kind == "refused":
        has = _ranges(line.names, lack.name)
        return read_spans(has) if has else ()
    needs = _ranges(line.required, lack.name)
    return _without(read_spans(needs), line) if needs else ()


def _grown_at(line: Symbols, more: int) -> str:
    """Give the release since which a function has so many arguments more; "" where that is open."""
    spans = [(read_spans(text), names.split()) for text, names in line.names.items()]
    grown = [(one[-1].start, names) for one, names in spans if one[-1].start and not one[-1].end]
    return grown[0][0] if len(grown) == 1 and len(grown[0][1]) == more else ""


def _without(spans: Sequence[Span], line: Symbols) -> tuple[Span, ...]:
    """Give the releases that have a function and do not want an argument."""
    return common(outside(spans), read_spans(line.releases))


def _with_caller(lack: Lack, found: SymbolHome, around: SymbolContext) -> SymbolHome:
    """Add which package made a call, and from which release on it passes what is refused."""
    caller = around.raised_in
    if not caller or caller == found.package:
        return found
    start = _passed_from(lack, caller)
    wrong = Span("", start) if lack.kind == "needed" else Span(start, "")
    return found._replace(by=caller, asking={caller: (wrong,)} if start else {})


def _overridden(lack: Lack, caller: str, around: SymbolContext) -> SymbolHome | None:
    """Find the releases of the calling package that call an override as it was written for.

    The call comes from the package that has the method; what was called is somebody else's,
    written before the package passed an argument, or after.
    """
    if "." in lack.of and open_symbols(caller).find(lack.of, "call") is not None:
        return None
    start = _passed_from(lack, caller)
    by = around.framework if around.framework != caller else ""
    right = Span(start, "") if lack.kind == "needed" else Span("", start)
    return SymbolHome(caller, (right,), by=by) if start else None


def _passed_from(lack: Lack, caller: str) -> str:
    """Give the first release that has a method of that name with an argument; "" for none."""
    method = lack.of.rpartition(".")[2]
    if method in KEPT:
        return ""
    lines = open_symbols(caller).methods(method)
    if lack.kind == "crowded":
        starts = [_grown_at(line, lack.more) for line in lines]
    else:
        texts = (_ranges(line.names, lack.name) for line in lines)
        starts = [read_spans(text)[0].start for text in texts if text]
    # where it was there from the first release on, nothing is known of one before
    return min(starts, key=Version, default="") if all(starts) else ""


def _one(found: Iterable[SymbolHome], around: SymbolContext) -> SymbolHome | None:
    """Give the only answer; of several none, for the message does not say whose it is."""
    listed = list(found)
    near = [one for one in listed if one.package in (around.raised_in, around.framework)]
    chosen = listed if len(listed) == 1 else near
    return chosen[0] if len(chosen) == 1 else None


def _package(module: str) -> str:
    top = module.partition(".")[0]
    return packages().get(top, top).replace("_", "-")

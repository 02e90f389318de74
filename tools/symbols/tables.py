"""Which releases have what: one number per thing, of which bit i stands for release i."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from symbols.outline import Class, Outline, Signature

OUR_OWN = frozenset({"logger", "log", "_logger", "TYPE_CHECKING", "T", "P", "R"})
"""Names each module has for itself."""

Modules = Mapping[str, Outline]


class Tables:
    """The releases of a package side by side.

    Args:
        releases: ascending.
    """

    def __init__(self, releases: tuple[str, ...]) -> None:
        self.releases = releases
        self.modules: dict[str, int] = defaultdict(int)
        self.names: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.defined: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.classes: dict[str, int] = defaultdict(int)
        self.bases: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.attributes: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.calls: dict[str, Calls] = defaultdict(Calls)
        self.offered: dict[str, set[str]] = defaultdict(set)
        self.built: set[str] = set()
        self.needed: dict[tuple[str, str], int] = defaultdict(int)

    @cached_property
    def writers(self) -> frozenset[str]:
        """Give the folders of transformers that hold a model that writes text."""
        return frozenset(
            home.split(".")[2]
            for name, homes in self.defined.items()
            if name.endswith(("ForCausalLM", "ForConditionalGeneration"))
            for home in homes
            if home.startswith("transformers.models.")
        )

    @property
    def all(self) -> int:
        """Give all releases."""
        return (1 << len(self.releases)) - 1

    def add(self, at: int, modules: Modules) -> None:
        """Add one release, the `at`-th."""
        bit = 1 << at
        exports = Exports(modules)
        for module, held in modules.items():
            self.modules[module] |= bit
            for name in exports.of(module):
                self.names[module][name] |= bit
            self.offered[module].update(held.listed or (), held.lazy)
            for name in held.own:
                self.defined[name][module] |= bit
            for one in held.needed:
                self.needed[one] |= bit
        self._add_calls(bit, modules)

    def _add_calls(self, bit: int, modules: Modules) -> None:
        classes: dict[str, list[Class]] = defaultdict(list)
        functions: dict[str, list[Signature]] = defaultdict(list)
        for held in modules.values():
            for name, found in held.classes.items():
                classes[name].append(found)
            for name, signature in held.functions.items():
                functions[name].append(signature)
        for name, listed in classes.items():
            self.classes[name] |= bit
            if any(one.is_dataclass and "__init__" not in one.methods for one in listed):
                self.built.add(f"{name}.__init__")
            for one in listed:
                for base in one.bases:
                    self.bases[name][base.rpartition(".")[2]] |= bit
                for attribute in one.attributes:
                    self.attributes[name][attribute] |= bit
            for method, signatures in methods_of(name, classes).items():
                functions[f"{name}.{method}"] = signatures
        for name, signatures in functions.items():
            self.calls[name].add(bit, signatures)

    def resolved(self, name: str, attribute: str, above: frozenset[str] = frozenset()) -> int:
        """Give the releases in which a class has an attribute, its own or that of a base."""
        found = self.attributes[name].get(attribute, 0) if name in self.attributes else 0
        for base, mask in self.bases.get(name, {}).items():
            if base not in above and base != name and base in self.classes:
                found |= mask & self.resolved(base, attribute, above | {name})
        return found


class Calls:
    """Which arguments a function takes, needs, or may be given beside these."""

    def __init__(self) -> None:
        self.there = 0
        self.open = 0
        self.takes: dict[str, int] = defaultdict(int)
        self.requires: dict[str, int] = defaultdict(int)

    def add(self, bit: int, signatures: list[Signature]) -> None:
        """Add what stands under one name in one release: any of them may be meant."""
        self.there |= bit
        if any(one.open for one in signatures):
            self.open |= bit
        for name in {name for one in signatures for name in one.takes}:
            self.takes[name] |= bit
        for name in set.intersection(*(set(one.requires) for one in signatures)):
            self.requires[name] |= bit


def methods_of(name: str, classes: Mapping[str, list[Class]]) -> dict[str, list[Signature]]:
    """Give the methods a class defines itself: Python names a function by where it is defined."""
    found: dict[str, list[Signature]] = defaultdict(list)
    for one in classes[name]:
        for method, signature in one.methods.items():
            found[method].append(signature)
        if one.is_dataclass and "__init__" not in one.methods:
            fields, is_open = _fields(one, classes, frozenset((name,)))
            found["__init__"].append(Signature(tuple(sorted(fields)), one.required, is_open))
    return found


def _fields(
    one: Class, classes: Mapping[str, list[Class]], above: frozenset[str]
) -> tuple[set[str], bool]:
    """Give what the constructor of a dataclass takes, with the fields of its bases.

    What a base outside the package brings is not known: anything may be taken.
    """
    fields, is_open = set(one.fields), False
    for base in one.bases:
        plain = base.rpartition(".")[2]
        for held in classes.get(plain, ()) if plain not in above else ():
            more, further = _fields(held, classes, above | {plain})
            fields |= more
            is_open = is_open or further
    return fields, is_open


class Exports:
    """What can be imported from each module of one release."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self._found: dict[str, frozenset[str]] = {}
        self._below: dict[str, set[str]] = defaultdict(set)
        for module in modules:
            parent, _, name = module.rpartition(".")
            self._below[parent].add(name)

    def of(self, module: str, above: frozenset[str] = frozenset()) -> frozenset[str]:
        """Give the names of a module, with what its star imports bring and its submodules."""
        if module in self._found:
            return self._found[module]
        held = self._modules.get(module)
        if held is None or module in above:
            return frozenset()
        names = {*held.own, *held.others, *held.lazy, *self._below[module]} - OUR_OWN
        for source in held.stars:
            names.update(self._star(source, above | {module}))
        for prefix in held.sweeps:
            names.update(self._sweep(prefix))
        found = frozenset(names)
        if not above:
            self._found[module] = found
        return found

    def _star(self, source: str, above: frozenset[str]) -> Iterator[str]:
        held = self._modules.get(source)
        if held is None:
            return
        if held.listed is not None:
            yield from held.listed
        else:
            yield from (n for n in self.of(source, above) if not n.startswith("_"))

    def _sweep(self, prefix: str) -> Iterator[str]:
        for module, held in self._modules.items():
            if module.startswith(f"{prefix}.") and held.listed is not None:
                yield from held.listed

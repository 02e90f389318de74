"""What a value becomes under another name, and whether that name takes it."""

from __future__ import annotations

from trainrx.catalog.catalog import KnownArgument, catalog, plain
from trainrx.catalog.typed import read_as
from trainrx.knowledge.catalogs import read_renames
from trainrx.model.job import RawArg
from trainrx.model.refusal import Fate


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


def of_another_type(arg: RawArg, name: str, fate: Fate) -> bool:
    """Tell whether the value cannot be one of the other name: `vllm_mode colocate` is no count."""
    option = _option(name, fate)
    value = value_under(arg, name, " ".join(arg.values or ()), fate)
    if option is None or not option.type or option.choices is not None or not value:
        return False
    return bool(read_as(option.type, None, (value,)).problem)


def _option(name: str, fate: Fate) -> KnownArgument | None:
    known = catalog(fate.package)
    bits = known.of(fate.asked or None)
    found = (one for one in known.find(name, fate.command) if known.bits(one) & bits)
    return next((known.known(one, bits) for one in found), None)

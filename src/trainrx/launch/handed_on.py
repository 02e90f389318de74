"""What a program of someone's own hands on to the Trainer of the mappings Hydra composes for it.

A mapping that holds several of the Trainer's own names is handed to it, whatever the program calls
it (`trainer.args.per_device_train_batch_size`): there is no other use of such names. What names a
model where it is loaded (`pretrained_model_name_or_path`) names it here, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from trainrx.catalog.catalog import Catalog, catalog, plain
from trainrx.frameworks import frameworks
from trainrx.model.job import RawArg

LEAST = 2
"""Names of the Trainer that make a mapping one of its arguments."""
_MODEL_NAMES = ("pretrained_model_name_or_path", "model_name_or_path", "name_or_path")
MODEL = "model_name_or_path"


def handed_on(
    args: Sequence[RawArg], given: Sequence[RawArg]
) -> tuple[tuple[RawArg, ...], tuple[RawArg, ...]]:
    """Give the composed arguments and those of the command by the names the Trainer has for them.

    Args:
        args: of the files, the decisive last.
        given: of the command, which go before.
    """
    lends = (one for one in frameworks() if one.training_arguments and one.lends_names)
    known = catalog(next(lends).name)
    counts = Counter(
        arg.name.rpartition(".")[0]
        for arg in {arg.name: arg for arg in (*args, *given)}.values()
        if "." in arg.name and _taken(known, arg.name.rpartition(".")[2])
    )
    mappings = frozenset(name for name, count in counts.items() if count >= LEAST)
    model = _model((*args, *given))
    return (
        tuple(_renamed(args, mappings, model, known)),
        tuple(_renamed(given, mappings, model, known)),
    )


def _taken(known: Catalog, name: str) -> bool:
    return bool(known.find(plain(name), ""))


def _model(args: Iterable[RawArg]) -> str:
    """Give the dotted key that names the model: the one of the usual names, the shallowest."""
    found = [
        arg.name
        for arg in args
        if arg.name.rpartition(".")[2] in _MODEL_NAMES and "tokenizer" not in arg.name
    ]
    return min(found, key=lambda name: (name.count("."), len(name)), default="")


def _renamed(
    args: Iterable[RawArg], mappings: Collection[str], model: str, known: Catalog
) -> Iterator[RawArg]:
    for arg in args:
        front, _, name = arg.name.rpartition(".")
        if arg.name == model:
            yield msgspec.structs.replace(arg, name=MODEL, sign="")
        elif front in mappings and _taken(known, name):
            yield msgspec.structs.replace(arg, name=name, sign="")
        else:
            yield arg

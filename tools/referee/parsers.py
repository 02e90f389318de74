"""Record what the real parsers of small programs make of launches.

`python tools/referee/parsers.py tests/parser_referee > tests/parser_referee/verdicts.jsonl` in an
environment that has transformers: each program is run, with stand-ins for what trains.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import json
import shlex
import sys
import types
from collections.abc import Iterator
from enum import Enum
from pathlib import Path


class RefusedError(Exception):
    """The parser ends the program."""


def refuse(_parser: argparse.ArgumentParser, message: str) -> None:
    """Stand in for the usage message and the exit."""
    raise RefusedError(message)


def verdict(text: str, words: list[str]) -> dict[str, object]:
    """Run a program with these words."""
    sys.argv = ["train.py", *words]
    module = types.ModuleType("referee")
    sys.modules["referee"] = module
    names = module.__dict__
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # --help prints
            exec(text, names)  # noqa: S102 - a program of our own
    except RefusedError as error:
        return {"refused": str(error)}
    except ValueError as error:
        if "not used by" not in str(error):
            return {"values": dict(values_in(names))}
        return {"refused": str(error)}
    except SystemExit:
        return {"values": {}}
    return {"values": dict(values_in(names))}


def values_in(names: dict[str, object]) -> Iterator[tuple[str, object]]:
    """Give what was parsed, by name, plain values only."""
    for found in list(names.values()):
        if isinstance(found, argparse.Namespace):
            fields = vars(found)
        elif dataclasses.is_dataclass(found) and not isinstance(found, type):
            fields = {f.name: getattr(found, f.name, None) for f in dataclasses.fields(found)}
        else:
            continue
        for name, value in fields.items():
            plain = value.value if isinstance(value, Enum) else value
            if isinstance(plain, (str, int, float, list)) or plain is None:
                yield name, plain


def trains_nothing(*_args: object, **_keywords: object) -> types.SimpleNamespace:
    """Stand in for what a program does with its values."""
    return types.SimpleNamespace(train=lambda: None)


def main() -> None:
    """Print a row for each launch."""
    from transformers import Trainer, TrainingArguments

    folder = Path(sys.argv[1])
    trl = types.ModuleType("trl")
    sys.modules["trl"] = trl
    trl.SFTConfig = trl.SFTTrainer = trains_nothing
    # what they check of the machine is no matter of the parser
    TrainingArguments.__post_init__ = lambda _self: None
    Trainer.__init__ = lambda _self, **_keywords: None
    Trainer.train = lambda _self: None
    argparse.ArgumentParser.error = refuse
    for line in (folder / "launches.txt").read_text(encoding="utf-8").splitlines():
        name, _, words = line.partition(":")
        text = (folder / "programs" / name).read_text(encoding="utf-8")
        found = verdict(text, shlex.split(words))
        sys.stdout.write(json.dumps({"program": name, "words": words.strip(), **found}) + "\n")


if __name__ == "__main__":
    main()

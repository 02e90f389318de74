"""List the arguments a framework's own parser takes; runs in that framework's Python.

usage: mutate_fields.py > FIELDS.json, {command: {name: {"type", "choices", "list", "optional"}}}
"""

from __future__ import annotations

import importlib
import json
from typing import Any

SWIFT = {
    "sft": ("SftArguments", "TrainArguments"),
    "pt": ("PretrainArguments", "PtArguments", "TrainArguments"),
    "rlhf": ("RLHFArguments",),
}


def main() -> None:
    """Write the arguments of all commands that train."""
    parser = importlib.import_module("transformers").HfArgumentParser
    found = {}
    for command, kinds in _kinds().items():
        found[command] = {
            action.dest: {
                "type": getattr(action.type, "__name__", str(action.type)),
                "choices": [str(item) for item in action.choices or ()],
                "list": action.nargs in {"+", "*"},
                "optional": action.nargs == "?",
            }
            for action in parser(kinds)._actions  # noqa: SLF001 - argparse tells them nowhere else
            if action.dest != "help"
        }
    print(json.dumps(found))


def _kinds() -> dict[str, Any]:
    try:
        module = importlib.import_module("swift.arguments")
    except ImportError:
        try:
            module = importlib.import_module("swift.llm")
        except ImportError:
            parser = importlib.import_module("llamafactory.hparams.parser")
            return {"train": parser._TRAIN_ARGS}  # noqa: SLF001 - its own list
    return {
        command: [next(getattr(module, name) for name in names if hasattr(module, name))]
        for command, names in SWIFT.items()
    }


if __name__ == "__main__":
    main()

"""The card a Slurm job asks for: `--gres=gpu:v100:8`, `--gpus=a100:4`, `--constraint=h100`.

https://slurm.schedmd.com/gres.html
"""

from __future__ import annotations

import re

from trainrx.model.facts import Origin
from trainrx.model.job import RawLaunch
from trainrx.model.pattern import late

_COUNTED = ("gpus", "gpus_per_node", "gpus_per_task")
_TYPE = r"(?P<card>[A-Za-z][\w.-]{0,40})"
_GRES = late(rf"(?:.{{0,200}},)?(?:gres/)?gpu:{_TYPE}(?:[:=]\d{{1,4}})?(?:\(.{{0,40}}\))?(?:,.*)?")
_GPUS = late(rf"{_TYPE}:\d{{1,6}}")
_WORD = late(_TYPE)
_OWN = "slurm_"
"""What the names of `#SBATCH` lines begin with where no srun takes them over."""


def card_asked_for(launch: RawLaunch) -> tuple[str, Origin] | None:
    """Give the name of the card as Slurm is told it, and where; None where no type is named.

    A constraint comes last: its words name other things of a node as well.
    """
    asked: dict[str, tuple[str, Origin]] = {}
    for item in (*launch.container, *launch.launcher):
        if item.values:
            asked.setdefault(item.name.removeprefix(_OWN), (item.values[-1].strip(), item.origin))
    for name in ("gres", *_COUNTED, "constraint"):
        text, origin = asked.get(name, ("", launch.origin))
        match = _pattern(name).fullmatch(text) if text else None
        if match is not None:
            return match["card"], origin
    return None


def _pattern(name: str) -> re.Pattern[str]:
    if name == "gres":
        return _GRES
    return _WORD if name == "constraint" else _GPUS

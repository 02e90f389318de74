"""Batches by identities: what a launch divides by a number nobody knows, it multiplies by it again.

`--gradient_accumulation_steps $((256 / 4 / NGPUS))` with `--nproc_per_node $NGPUS` and a
micro-batch of 4 are 256 samples per step, however many GPUs there are.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from trainrx.frameworks import framework_of
from trainrx.model.facts import Fact, fact
from trainrx.model.job import RawArg, RawLaunch, Setting
from trainrx.model.pattern import late

_FORMULA = late(r"[0-9@*/()]{1,200}")
_PARTS = {"train.grad_accum": "train.micro_batch", "train.micro_batch": "train.grad_accum"}
"""What may be worked out from the number of processes, and the other factor beside these."""
_SHARING = ("parallel.tensor", "parallel.pipeline", "parallel.sequence", "parallel.context")


class Monomial(NamedTuple):
    """A number times powers of unknowns."""

    factor: Fraction
    powers: Mapping[str, int]

    def times(self, other: Monomial, sign: int = 1) -> Monomial:
        """Multiply, or divide where `sign` is -1."""
        powers = Counter(dict(self.powers))
        for name, power in other.powers.items():
            powers[name] += sign * power
        left = {name: power for name, power in powers.items() if power}
        return Monomial(self.factor * other.factor**sign, left)


def batch_by_identity(launch: RawLaunch, settings: Mapping[str, Setting]) -> Iterator[Fact]:
    """Give the samples of a step where the number of processes falls out of them.

    Whole divisions only: `$((10 / 4 / NGPUS))` leaves something behind, and says nothing.
    """
    own = framework_of(launch.framework)
    if not own.training_arguments or launch.command.startswith("megatron"):
        return
    if any(name in settings and settings[name].value != 1 for name in _SHARING):
        return
    world = _processes(launch, settings)
    for name, beside in _PARTS.items():
        worked, other = settings.get(name), settings.get(beside)
        if world is None or worked is None or worked.value is not None or other is None:
            continue
        part = _monomial(_formula(launch.args, worked.spelled_as))
        if part is None or part.factor.denominator != 1 or not isinstance(other.value, int):
            continue
        whole = part.times(world).times(Monomial(Fraction(other.value), {}))
        if not whole.powers and whole.factor.denominator == 1 and whole.factor > 0:
            yield fact("batch.effective", int(whole.factor), *worked.origins, how="derived")


def _processes(launch: RawLaunch, settings: Mapping[str, Setting]) -> Monomial | None:
    """Give the processes of the whole job."""
    total = next((arg for arg in launch.launcher if arg.name == "num_processes"), None)
    if total is not None:
        return _monomial(total.formula or "".join(total.values or ()))
    found = Monomial(Fraction(1), {})
    for kind, name in (
        ("parallel.processes_per_node", "nproc_per_node"),
        ("parallel.nodes", "nnodes"),
    ):
        setting = settings.get(kind)
        if setting is None and name == "nnodes":
            continue
        written = _formula(launch.launcher, name)
        if setting is not None and setting.value is not None:
            written = str(setting.value)
        count = _monomial(written)
        if count is None:
            return None
        found = found.times(count)
    return found


def _formula(args: Sequence[RawArg], name: str) -> str:
    return next((arg.formula for arg in reversed(args) if arg.name == name), "")


def _monomial(formula: str) -> Monomial | None:
    if not _FORMULA.fullmatch(formula):
        return None
    try:
        return _read(ast.parse(formula.replace("@", "u"), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, ZeroDivisionError):
        return None


def _read(node: ast.expr) -> Monomial:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Monomial(Fraction(node.value), {})
    if isinstance(node, ast.Name):
        return Monomial(Fraction(1), {node.id: 1})
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        sign = 1 if isinstance(node.op, ast.Mult) else -1
        return _read(node.left).times(_read(node.right), sign)
    raise ValueError(ast.dump(node))

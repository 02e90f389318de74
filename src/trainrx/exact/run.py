"""Start a trial in a process of its own, read what it found, and set it beside the closed form.

Model classes, and torch below them, can abort, hang or need more memory than there is; in a process
of their own all of that is an answer.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from trainrx.exact.config import shape_config
from trainrx.exact.plan import plan
from trainrx.exact.record import PARTS, ExactResult, Failure, Outcome, Part, Recipe
from trainrx.model.estimate import Compared, ExactCount
from trainrx.model.memory import PhaseUse, Prediction, Refusal, Term, Workload

SECONDS = 120.0
"""A trial of 32 layers takes about ten seconds; one that takes longer than this is given up."""

QUIET = {
    "CUDA_VISIBLE_DEVICES": "",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_OFFLINE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "OMP_NUM_THREADS": "1",
}
"""A trial looks for no card and asks no network."""


def run_exact(
    workload: Workload,
    config: Mapping[str, Any] | None = None,
    *,
    seconds: float = SECONDS,
    python: str = sys.executable,
) -> ExactResult | Refusal:
    """Count the memory of one training step of the real model class, without weights or a GPU.

    Args:
        workload: the job.
        config: the model's config.json as a mapping; without it one is made of the shape.
        seconds: how long a trial may take before it is given up.
        python: an interpreter that has torch, transformers, peft (for adapters) and this package.

    Returns:
        Figures in GiB per GPU, or a refusal: packages are missing, no class of the installed
        transformers reads the configuration, the class cannot run without values, or time is up.
    """
    recipe = plan(workload, config)
    if isinstance(recipe, Refusal):
        return recipe
    outcome = run_trial(recipe, seconds=seconds, python=python)
    failure = outcome.failure
    if config is not None and failure is not None and failure.kind == "unknown-class":
        again = _of_shape(recipe, workload, failure)
        if again is not None:
            outcome = run_trial(again, seconds=seconds, python=python)
    if outcome.result is not None:
        return outcome.result
    return _refusal(outcome.failure or Failure(kind="failed", reason="the trial said nothing"))


def run_trial(recipe: Recipe, *, seconds: float, python: str = sys.executable) -> Outcome:
    """Run one recipe in its own process; never raises for what happens in there."""
    try:
        with tempfile.TemporaryDirectory() as empty:
            done = subprocess.run(  # noqa: S603 - our own module, by this interpreter
                [python, "-m", "trainrx.exact.trial"],
                input=msgspec.json.encode(recipe),
                capture_output=True,
                timeout=seconds,
                check=False,
                # modules that lie where the user stands must not stand in for the library's
                cwd=empty,
                env=_environment(),
            )
    except subprocess.TimeoutExpired:
        return _failed(f"not done after {seconds:g} seconds; allow more, or count a shorter sample")
    except OSError as error:
        return _failed(f"{python}: {error.strerror or error}")
    return _read(done)


def _read(done: subprocess.CompletedProcess[bytes]) -> Outcome:
    try:
        return msgspec.json.decode(done.stdout, type=Outcome)
    except msgspec.DecodeError:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit {done.returncode}"
        return _failed(f"the process ended ({how}): {said[-1][:300] if said else 'nothing said'}")


def _failed(reason: str) -> Outcome:
    return Outcome(failure=Failure(kind="failed", reason=reason))


def _environment() -> dict[str, str]:
    paths = [str(Path(one).resolve()) for one in _split(os.environ.get("PYTHONPATH", ""))]
    root = Path(__file__).resolve().parents[2]
    if root.name != "site-packages":
        paths.insert(0, str(root))
    return {**os.environ, **QUIET, "PYTHONPATH": os.pathsep.join(paths)}


def _split(paths: str) -> list[str]:
    return [one for one in paths.split(os.pathsep) if one]


def _of_shape(recipe: Recipe, workload: Workload, failure: Failure) -> Recipe | None:
    """Where a class is not in transformers, the nearest one that is, of the same shape."""
    found = shape_config(workload.shape, recipe.length)
    if isinstance(found, Refusal):
        return None
    said = f"{failure.reason}: counted as a {found.model_type} model of the same shape"
    return msgspec.structs.replace(
        recipe,
        model_type=found.model_type,
        config=found.values,
        assumptions=(said, *recipe.assumptions),
    )


def _refusal(failure: Failure) -> Refusal:
    if failure.kind == "missing":
        return Refusal(
            kind="unknown",
            id="exact-packages-missing",
            reason=f"{failure.reason}; install them with: pip install 'trainrx[exact]'",
            asks=("pip install 'trainrx[exact]'",),
        )
    kind = {"unknown-class": "exact-unknown-class", "unsupported": "exact-unsupported"}
    return Refusal(
        kind="unmodelled",
        id=kind.get(failure.kind, "exact-failed"),
        reason=f"the model class could not be run without values: {failure.reason}"
        if failure.kind == "failed"
        else failure.reason,
    )


WORDS: tuple[tuple[Part, tuple[str, ...]], ...] = (
    ("gathered", ("gather", "bucket", "unsharded")),
    ("logits", ("logit", "loss", "head-output", "cross-entropy")),
    ("gradients", ("gradient", "grads")),
    ("optimizer", ("optimizer-states", "optimizer_states", "optimizer states", "moment", "master")),
    ("working", ("temporary", "step", "foreach", "live", "working", "recomput", "workspace")),
    ("optimizer", ("optimizer", "adam", "states")),
    ("activations", ("activation", "checkpoint", "hidden", "saved")),
    ("parameters", ("weight", "param", "adapter", "embedding", "lora", "tower", "buffer")),
)
"""Which part a closed term belongs to, by a word of its name; the first that fits."""


def compare(prediction: Prediction, exact: ExactResult) -> ExactCount:
    """Set both beside each other: totals, phases, and parts at the phase of the count's peak.

    A part no closed term speaks of has `closed` None; closed terms of no known part are under
    "other", with `counted` None.
    """
    closed = {one.phase: one for one in prediction.phases}
    counted = {one.phase: one for one in exact.phases}
    at, beside = counted[exact.peak], closed.get(exact.peak)
    return ExactCount(
        allocated=Compared(
            name="allocated", closed=round(prediction.allocated.gib, 3), counted=exact.allocated
        ),
        peak=exact.peak,
        phases=tuple(
            Compared(name=phase, closed=round(closed[phase].gib, 3), counted=counted[phase].gib)
            for phase in counted
            if phase in closed
        ),
        parts=_parts(beside, {one.name: one.gib for one in at.parts}),
        model_class=exact.model_class,
        torch=exact.torch,
        transformers=exact.transformers,
        seconds=exact.seconds,
        assumptions=exact.assumptions,
        left_out=exact.left_out,
    )


def part_of(term: Term) -> Part | None:
    """Say which part a closed term is; None when its name does not tell."""
    low = term.name.lower()
    return next((part for part, words in WORDS if any(word in low for word in words)), None)


def _parts(beside: PhaseUse | None, counted: dict[Part, float]) -> tuple[Compared, ...]:
    sums = _sums(() if beside is None else beside.terms)
    names = [name for name in (*PARTS, None) if name in sums or counted.get(name or "working", 0)]
    return tuple(
        Compared(
            name=name or "other",
            closed=None if name not in sums else round(sums[name], 3),
            counted=None if name is None else round(counted.get(name, 0.0), 3),
        )
        for name in names
        if name is not None or None in sums
    )


def _sums(terms: Iterable[Term]) -> dict[Part | None, float]:
    sums: dict[Part | None, float] = {}
    for term in terms:
        part = part_of(term)
        sums[part] = sums.get(part, 0.0) + term.gib
    return sums

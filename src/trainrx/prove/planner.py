"""One plan: candidates of a search worked out in full until one proves itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from trainrx.facts.batch import generation_batch
from trainrx.fix.changes import Target, can_spell
from trainrx.memory.model import Model
from trainrx.model.constants import Constants
from trainrx.model.facts import Facts, Scalar, fact
from trainrx.model.levers import Lever
from trainrx.model.memory import Figure, Refusal, Workload
from trainrx.model.planning import Aim, Move, Planned, Price, ProofCheck
from trainrx.model.progress import advance
from trainrx.model.result import Change
from trainrx.model.text import Text
from trainrx.prove.checks import engine_room
from trainrx.prove.levers import moves_of
from trainrx.prove.mending import standing_of
from trainrx.prove.search import Space, price_of
from trainrx.prove.space import BatchSplit, Pull, is_void, keeps_batch, pull_of
from trainrx.prove.worst_case import tower_attention


def divisible(facts: Facts) -> Callable[[Workload], bool]:
    """Give the test whether num_generations divides the generation batch of a candidate."""
    if "batch.divisible_by_generations" not in facts:
        return lambda _: True
    kinds = (
        "launch.framework",
        "launch.command",
        "launch.framework_version",
        "rlhf.generation_batch",
        "rlhf.steps_per_generation",
        "train.global_batch",
        "parallel.sequence",
        "launch.given",
        "launch.env_complete",
    )
    own = [found for kind in kinds if (found := facts.get(kind)) is not None]

    def test(work: Workload) -> bool:
        changed = (
            fact("train.micro_batch", int(work.micro_batch)),
            fact("parallel.world_size", work.world),
            fact("train.grad_accum", work.accumulation),
        )
        batch = generation_batch(Facts((*changed, *own)))
        return batch is None or batch % max(1, work.generations) == 0

    return test


FILL = 0.92
"""Share of the card a plan may take: the rest is the margin for what the model does not know."""
MOST_PROOFS = 12
"""How many candidates of one aim are worked out in full before the search gives up."""
ACCUMULATION = "train.grad_accum"
GUARDS = "guards"
KEEPS = Text(
    en="Keeps the effective batch with the other micro-batch or number of replicas.",
    zh="在单卡 batch 或副本数改变后，保持等效 batch不变。",
)
NEAREST = Text(
    en="The nearest effective batch: no whole number of accumulation steps keeps it.",
    zh="最接近的等效 batch：没有整数的累积步数能保持原值。",
)


class Proved(NamedTuple):
    """A plan worked out the slow way: the changed launch read, derived and predicted again.

    `work` is the workload at its worst, `after` the prediction `diagnose estimate` would give.
    `refused` are the checks of the framework that refuse it, `worse` tells whether one is new.
    """

    work: Workload
    after: Figure
    changes: tuple[Change, ...]
    checks: tuple[ProofCheck, ...]
    batch: int | None
    refused: tuple[str, ...] = ()
    worse: bool = False

    @property
    def holds(self) -> bool:
        """Tell whether every check holds, but for what refused the launch before."""
        return not self.worse and all(check.holds or check.name == GUARDS for check in self.checks)


class PlannedJob(NamedTuple):
    """One job on its hardware, as the planner sees it.

    `work` gives the workload (at its worst) with canonical values applied, `prove` the proof of
    them, `mend` what must change besides or the framework refuses them. `started` are moves that
    every plan makes: what other hardware asks for.
    """

    job: Target
    base: Workload
    model: Model
    constants: Constants
    levers: Mapping[str, Lever]
    work: Callable[[Mapping[str, Scalar]], Workload | Refusal]
    prove: Callable[[Mapping[str, Scalar]], Proved | None]
    limit: float
    before: Figure | None
    batch: int | None
    scale: float = 1.0
    keep: AbstractSet[str] = frozenset()
    started: tuple[Move, ...] = ()
    mend: Callable[[Mapping[str, Scalar]], tuple[Move, ...]] | None = None


class PlanOutcome(NamedTuple):
    """The plans, and how many candidates were looked at and proved."""

    plans: tuple[Planned, ...]
    looked_at: int
    proved: int


def _pulls(trial: PlannedJob) -> tuple[tuple[Pull, ...], ...]:
    """Measure what each move does to the workload; what does nothing is left out."""
    levers: list[tuple[Pull, ...]] = []
    start = values_of(trial.started)
    for lever in trial.levers.values():
        row: list[Pull] = []
        for move in moves_of(lever, trial.job, trial.keep):
            work = trial.work(start | dict(move.values))
            if isinstance(work, Refusal):
                continue
            pull = pull_of(move, trial.base, work, lever.excludes)
            if not is_void(pull):
                row.append(pull)
        if row:
            levers.append(tuple(row))
    return tuple(levers)


def space_of(trial: PlannedJob) -> Space:
    """Give what a job leaves open, with what a candidate must keep to."""
    batch = BatchSplit(_to_keep(trial))
    grouped = divisible(trial.job.facts)
    weights = trial.job.facts.number("memory.weights_gib") or 0.0
    request = trial.job.facts.number("vllm.request_gib") or 0.0
    roomy_before = engine_room(trial.base, weights, request)

    def allowed(work: Workload) -> bool:
        if roomy_before and not engine_room(work, weights, request):
            return False
        return grouped(work)

    return Space(
        base=trial.base,
        model=trial.model,
        constants=trial.constants,
        levers=_pulls(trial),
        batch=batch,
        limit=trial.limit,
        fill=FILL,
        scale=trial.scale,
        beside=tower_attention,
        allowed=allowed,
    )


def _to_keep(trial: PlannedJob) -> int | None:
    """Give the effective batch that accumulation has to keep; None where it is set as a whole.

    Where replicas are not known, those of the workload are kept as they are taken to be.
    """
    facts = trial.job.facts
    if "train.micro_batch" not in facts or "train.global_batch" in facts:
        return None
    if ACCUMULATION in trial.keep or not can_spell(ACCUMULATION, trial.job):
        return None
    base = trial.base
    return trial.batch or int(base.micro_batch * base.accumulation * base.data)


def values_of(moves: Iterable[Move]) -> dict[str, Scalar]:
    """Give the canonical values of some moves together."""
    return {name: value for move in moves for name, value in move.values}


def first(
    trial: PlannedJob, aim: Aim, candidates: Iterator[tuple[Pull, ...]], space: Space
) -> tuple[Planned | None, int]:
    """Give the first candidate that proves itself."""
    tries = 0
    for pulls in candidates:
        tries += 1
        advance(0)
        made = planned(trial, aim, pulls, space)
        if made is not None:
            return made, tries
        if tries >= MOST_PROOFS:
            break
    return None, tries


def planned(
    trial: PlannedJob, aim: Aim, pulls: Sequence[Pull], space: Space, *, enough: bool = True
) -> Planned | None:
    """Prove a candidate; with `enough` it has to fit."""
    moves = (*trial.started, *(pull.move for pull in pulls), *_accumulated(trial, pulls, space))
    proof = trial.prove(values_of(moves))
    refused = proof is not None and (proof.worse or (proof.holds and bool(proof.refused)))
    if refused and trial.mend is not None:
        moves = (*moves, *trial.mend(values_of(moves)))
        proof = trial.prove(values_of(moves))
    if proof is None or not proof.holds:
        return None
    found = space.peak(proof.work)
    room = ProofCheck(
        name="memory",
        holds=space.fits(proof.work),
        detail=f"{found.card:.1f} of {trial.limit:.1f} GiB, margin {1 - space.fill:.0%}",
    )
    if enough and not room.holds:
        return None
    price = price_of(moves)
    kept = None in (trial.batch, proof.batch) or trial.batch == proof.batch
    sources = (move.source for move in moves)
    return Planned(
        aim=aim,
        moves=moves,
        changes=proof.changes,
        safety="safe" if price.quality == 0 and kept else "changes-results",
        before=trial.before,
        after=proof.after,
        limit_gib=trial.limit,
        batch_before=trial.batch,
        batch_after=proof.batch,
        slowdown=price.slowdown,
        quality=price.quality,
        checks=(*proof.checks, room),
        sources=tuple(dict.fromkeys(source for source in sources if source)),
        refused=tuple(
            standing_of(ident, trial.job.knowledge, trial.job.lang) for ident in proof.refused
        ),
    )


def _accumulated(trial: PlannedJob, pulls: Sequence[Pull], space: Space) -> tuple[Move, ...]:
    """Give the accumulation that goes with another micro-batch or layout."""
    work = space.work(pulls)
    present = trial.job.facts.number(ACCUMULATION) or trial.base.accumulation
    if space.batch.total is None or work.accumulation == present:
        return ()
    exact = keeps_batch(work, space.batch)
    return (
        Move(
            lever="accumulation",
            values=((ACCUMULATION, work.accumulation),),
            price=Price(quality=0 if exact else 1),
            why=KEEPS if exact else NEAREST,
        ),
    )

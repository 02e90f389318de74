"""Other estimators of training memory on the same measured rows.

Each adapter beside this file calls one installed package in a process of its own (`run.py`), since
their requirements exclude each other. What they answered is kept in `results.jsonl`, so that the
table can be printed without any of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memory_scores import Point, Row, family_of, figures_of, mean_error, share_within

from trainrx.model.memory import Workload

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.jsonl"
PEERS = {
    "deepspeed": "deepspeed_zero.py",
    "accelerate": "accelerate_estimate.py",
    "llm-analysis": "llm_analysis_training.py",
    "fitcheck-llm": "fitcheck_training.py",
    "unsloth": "unsloth_studio.py",
}
NAMES = {
    "q": ("q_proj",),
    "k": ("k_proj",),
    "v": ("v_proj",),
    "o": ("o_proj",),
    "qkv": ("q_proj", "k_proj", "v_proj"),
    "gate": ("gate_proj",),
    "up": ("up_proj",),
    "down": ("down_proj",),
}


class PeerError(Exception):
    """A peer that cannot be asked; the message says why."""


class Answer(NamedTuple):
    """What a peer said of one row: GiB per GPU by figure, or under `any` when it has but one."""

    peer: str
    version: str
    row: str
    gib: Mapping[str, float]

    def of(self, figure: str, measured: Mapping[str, float]) -> float | None:
        """Give its number for a measured figure.

        A single number stands for what is allocated, where that was measured.
        """
        if "any" not in self.gib:
            return self.gib.get(figure)
        first = next(name for name in ("allocated", "reserved", "card") if name in measured)
        return self.gib["any"] if figure == first else None


def job_of(row: str, work: Workload) -> dict[str, Any] | None:
    """Describe a workload in plain words for the adapters; None for what no peer has a notion of.

    These are language models without a tower, a rollout engine or a second model, trained as a
    whole or with adapters.
    """
    shape = work.shape
    odd = work.images or work.copies or work.rollout.mode != "none" or shape.vision or shape.audio
    sized = (shape.params_b, shape.layers, shape.hidden, shape.heads, shape.inter, shape.vocab)
    if odd or work.tuner not in ("full", "lora") or any(value is None for value in sized):
        return None
    targets = [name for role in work.targets for name in NAMES.get(role, ())]
    return {
        "row": row,
        "params": round((shape.params_b or 0) * 1e9),
        **{key: getattr(shape, key) for key in ("layers", "hidden", "heads", "inter", "vocab")},
        "kv_heads": shape.kv_heads or shape.heads,
        "head_dim": shape.head_dim or (shape.hidden or 0) // (shape.heads or 1),
        "tie": bool(shape.tie),
        "experts": shape.experts or 0,
        "gated": shape.gated is not False,
        "tuner": work.tuner,
        "rank": work.rank,
        "targets": sorted(set(targets)),
        "quant_bits": work.quant_bits,
        "weight_bytes": work.weight_bytes,
        "precision": work.precision,
        "optimizer": work.optimizer,
        "loss": work.loss,
        "batch": max(1, round(work.micro_batch)),
        "tokens": round(work.length.typical),
        "checkpointing": work.checkpointing,
        "flash": work.attention != "eager",
        "world": work.world,
        "nodes": max(1, work.world // max(1, work.ranks_per_node)),
        "tensor": work.tensor,
        "pipeline": work.pipeline,
        "other_parallel": work.context > 1 or work.expert > 1 or work.device_map > 1,
        "zero_stage": work.zero_stage,
        "offload": work.offload_optimizer or work.offload_params,
        "card_gib": work.card_gib,
    }


def ask(peer: str, python: str, jobs: Sequence[Mapping[str, Any]], *said: str) -> list[Any]:
    """Run the adapter of a peer over jobs and read what it prints.

    Raises:
        PeerError: it cannot be run; the message is the last line of what it said.
    """
    try:
        done = subprocess.run(
            [python, HERE / PEERS[peer], *said],
            input="".join(f"{json.dumps(job)}\n" for job in jobs),
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise PeerError(f"{peer}: cannot be run: {error}") from error
    if done.returncode:
        raise PeerError(f"{peer}: cannot be run: {(done.stderr.splitlines() or ['?'])[-1]}")
    for line in done.stderr.splitlines():
        if line.startswith(f"{peer}: "):
            print(line, file=sys.stderr)
    # some packages print what they find when they are imported
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def pythons_of(said: Sequence[str]) -> dict[str, str]:
    """Read `NAME=PYTHON` and a bare `PYTHON`, which is for all peers without one of their own.

    Raises:
        PeerError: there is no such peer.
    """
    named = dict(item.split("=", 1) for item in said if "=" in item)
    unknown = named.keys() - PEERS.keys()
    if unknown:
        raise PeerError(f"no peer {', '.join(sorted(unknown))}; known: {', '.join(PEERS)}")
    others = next((item for item in said if "=" not in item), None)
    return {peer: found for peer in PEERS if (found := named.get(peer, others)) is not None}


def read_answers(path: Path = RESULTS) -> list[Answer]:
    """Read the kept answers."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Answer(**json.loads(line)) for line in lines]


def points_of(rows: Sequence[Row], answers: Sequence[Answer]) -> list[Point]:
    """Pair the measured figures of strict rows with the answers of one peer."""
    by_row = {answer.row: answer for answer in answers}
    points = []
    for row in rows:
        answer = by_row.get(row["id"])
        if row["tier"] != "strict" or answer is None:
            continue
        measured = figures_of(row)
        for figure, gib in measured.items():
            said = answer.of(figure, measured)
            if said is not None:
                points.append(
                    Point(row["id"], row["tier"], family_of(row), figure, gib, said, said, said)
                )
    return points


def table(rows: Sequence[Row], ours: Sequence[Point], answers: Sequence[Answer]) -> Iterator[str]:
    """Print each peer on the strict rows it covers, with our figures on the same ones."""
    yield (
        f"{'peer, strict rows it covers':30s}{'rows':>6s}{'error':>9s}{'<= 15 %':>9s}"
        f"{'ours':>9s}{'<= 15 %':>9s}   (macro averages)"
    )
    known = {(point.row, point.figure): point for point in ours}
    for peer in PEERS:
        members = [answer for answer in answers if answer.peer == peer]
        theirs = [point for point in points_of(rows, members) if (point.row, point.figure) in known]
        same = [known[point.row, point.figure] for point in theirs]
        cells = (mean_error(theirs), share_within(theirs, 0.15))
        mine = (mean_error(same), share_within(same, 0.15))
        title = f"{peer} {members[0].version}" if members else peer
        numbers = [f"{cell.macro:9.1%}" if cell else f"{'-':>9s}" for cell in (*cells, *mine)]
        yield f"{title:30s}{len({point.row for point in theirs}):6d}{''.join(numbers)}"

"""Count the memory of measured jobs with the real model classes, beside the closed form.

    python benchmarks/exact_against_closed_form.py [--python PYTHON] [--only WORD] [--seconds N]

PYTHON has torch, transformers and peft (the extra `exact`). Each job is a published measurement of
`torch.cuda.max_memory_allocated`, GiB per GPU; its source stands beside it. What transformers
allocates differs by version (its loss above all), so the version a job was measured with is printed
beside the one that was counted.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, NamedTuple

from trainrx.exact import ExactResult, compare, run_exact
from trainrx.memory.predict import predict
from trainrx.model.hardware import ModelShape
from trainrx.model.memory import Length, Refusal, Workload

FMS = "fms-acceleration scripts/benchmarks/refs, A100 80GB; transformers 4.45-4.48"
LITGPT = "litgpt tutorials/resource-tables.md; its own model code"


def _shape(name: str, *sizes: int, vocab: int, tie: bool = False) -> ModelShape:
    layers, hidden, heads, kv_heads, inter = sizes
    return ModelShape(
        id=name,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        inter=inter,
        vocab=vocab,
        tie=tie,
    )


MISTRAL = _shape("mistralai/Mistral-7B-v0.1", 32, 4096, 32, 8, 14336, vocab=32000)
LLAMA3 = _shape("meta-llama/Meta-Llama-3-8B", 32, 4096, 32, 8, 14336, vocab=128256)
LLAMA2 = _shape("meta-llama/Llama-2-7b-hf", 32, 4096, 32, 32, 11008, vocab=32000)
LLAMA2_70 = _shape("NousResearch/Llama-2-70b-hf", 80, 8192, 64, 8, 28672, vocab=32000)
POWER = _shape("ibm/PowerLM-3b", 40, 2304, 36, 36, 9216, vocab=49152, tie=True)
AMP = {"precision": "autocast"}
FSDP = {"precision": "upcast", "zero_stage": 3, "fsdp": 1, "data": 4, "world": 4}
ATTENTION = ("q", "k", "v", "o")


class Cell(NamedTuple):
    """One job and what was measured, GiB allocated."""

    name: str
    workload: Workload
    measured: float
    source: str


def _load(shape: ModelShape, batch: int, length: int, **more: Any) -> Workload:  # noqa: ANN401
    tokens = Length(low=length, typical=length, high=length, how="exact")
    settings = {"precision": "pure", **more}
    return Workload(shape=shape, micro_batch=batch, length=tokens, **settings)


def _lora(shape: ModelShape, batch: int, **more: Any) -> Workload:  # noqa: ANN401
    return _load(shape, batch, 4096, tuner="lora", rank=16, targets=ATTENTION, **more)


def _litgpt(batch: int, **more: Any) -> Workload:  # noqa: ANN401
    return _load(
        LLAMA2,
        batch,
        1304,
        framework="litgpt",
        tuner="lora",
        rank=8,
        targets=("q", "v"),
        checkpointing=False,
        attention="sdpa",
        **more,
    )


CELLS = (
    Cell("Mistral-7B full 4x4096", _load(MISTRAL, 4, 4096), 67.46, FMS),
    Cell("Mistral-7B full 8x4096", _load(MISTRAL, 8, 4096), 67.461, FMS),
    Cell(
        "Mistral-7B full 16x4096 Liger", _load(MISTRAL, 16, 4096, loss="linear", **AMP), 71.847, FMS
    ),
    Cell("Mistral-7B full 4x4096 FSDP x4", _load(MISTRAL, 4, 4096, **FSDP), 33.74, FMS),
    Cell("Mistral-7B LoRA 4x4096", _lora(MISTRAL, 4), 24.87, FMS),
    Cell("Mistral-7B QLoRA 8x4096", _lora(MISTRAL, 8, quant_bits=4), 26.461, FMS),
    Cell("Llama-2-70B QLoRA 4x4096", _lora(LLAMA2_70, 4, quant_bits=4), 63.448, FMS),
    Cell("Llama-3-8B full 4x4096 Liger", _load(LLAMA3, 4, 4096, loss="linear", **AMP), 74.802, FMS),
    Cell("Llama-3-8B LoRA 4x4096 fused loss", _lora(LLAMA3, 4, loss="fused", **AMP), 35.06, FMS),
    Cell("Llama-3-8B LoRA 4x4096 Liger", _lora(LLAMA3, 4, loss="linear", **AMP), 23.20, FMS),
    Cell("PowerLM-3b full 8x4096", _load(POWER, 8, 4096), 43.827, FMS),
    Cell("PowerLM-3b QLoRA 4x4096", _lora(POWER, 4, quant_bits=4), 14.111, FMS),
    Cell("PowerLM-3b QLoRA 8x4096", _lora(POWER, 8, quant_bits=4), 26.202, FMS),
    Cell("Llama-2-7B LoRA 1x1304, no checkpointing", _litgpt(1), 19.837, LITGPT),
    Cell("Llama-2-7B LoRA 2x1304, no checkpointing", _litgpt(2), 27.074, LITGPT),
    Cell("Llama-2-7B QLoRA 1x1304, no checkpointing", _litgpt(1, quant_bits=4), 12.89, LITGPT),
)


def main() -> int:
    """Print one line for each cell; 1 when none could be counted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=300.0)
    options = parser.parse_args()
    print(f"{'job':44} measured   exact          closed         peak      s   GiB")
    errors = []
    for cell in CELLS:
        if options.only.lower() not in cell.name.lower():
            continue
        exact = run_exact(cell.workload, seconds=options.seconds, python=options.python)
        if isinstance(exact, Refusal):
            print(f"{cell.name:44} {cell.measured:8.2f}   {exact.reason}")
            continue
        errors.append(abs(exact.allocated / cell.measured - 1))
        print(_line(cell, exact))
    if not errors:
        return 1
    within = sum(one <= 0.05 for one in errors)
    print(f"{len(errors)} counted: mean error {sum(errors) / len(errors):.2%}, ", end="")
    print(f"{within} within 5 %")
    return 0


def _line(cell: Cell, exact: ExactResult) -> str:
    closed = predict(cell.workload)
    said = "      -       "
    if not isinstance(closed, Refusal):
        total = compare(closed, exact).total.closed or 0.0
        said = f"{total:6.2f} {total / cell.measured - 1:+7.1%}"
    return (
        f"{cell.name:44} {cell.measured:8.2f} {exact.allocated:7.2f} "
        f"{exact.allocated / cell.measured - 1:+7.1%}  {said}  {exact.peak:8} "
        f"{exact.seconds:4.0f} {exact.process_gib:5.2f}  transformers {exact.transformers}"
    )


if __name__ == "__main__":
    sys.exit(main())

"""Shapes of models that several tests count with, as their config.json has them."""

from __future__ import annotations

from trainrx.model.hardware import ModelShape

LLAMA_7B = ModelShape(
    id="meta-llama/Llama-2-7b-hf",
    params_b=6.74,
    layers=32,
    hidden=4096,
    heads=32,
    kv_heads=32,
    inter=11008,
    vocab=32000,
    tie=False,
)
QWEN_7B = ModelShape(
    id="Qwen/Qwen2.5-7B",
    params_b=7.62,
    layers=28,
    hidden=3584,
    heads=28,
    kv_heads=4,
    inter=18944,
    vocab=152064,
    tie=False,
)

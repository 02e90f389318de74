"""`transformers`: a model without values where the real one is not small, and short answers."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any

from .record import once

SMALL = 400 << 20
"""Bytes of weights that are loaded as they are."""
NEW_TOKENS = 8
WEIGHTS = frozenset({".safetensors", ".bin", ".pt"})
_GPU_ONLY = ("quantization_config", "load_in_4bit", "load_in_8bit", "device_map", "max_memory")


def change(modeling: ModuleType) -> None:
    """Change what loads weights."""
    kind = modeling.PreTrainedModel
    original = kind.from_pretrained.__func__

    @wraps(original)
    def from_pretrained(cls: Any, name: Any = None, *args: Any, **options: Any) -> Any:
        for option in _GPU_ONLY:
            if options.get(option) is not None:
                once("left-out", option)
                options.pop(option)
        if str(options.get("attn_implementation") or "").startswith(("flash", "kernels")):
            once("left-out", "attn_implementation " + str(options.pop("attn_implementation")))
        if _is_small(name):
            return original(cls, name, *args, **options)
        return _empty(cls, name, options)

    kind.from_pretrained = classmethod(from_pretrained)


def _is_small(name: Any) -> bool:
    folder = Path(str(name or ""))
    if not folder.is_dir():
        return False
    files = [one for one in folder.iterdir() if one.suffix in WEIGHTS]
    return sum(one.stat().st_size for one in files) <= SMALL


def _empty(cls: Any, name: Any, options: Any) -> Any:
    """Make the model of a configuration, without memory for its values."""
    import torch

    config = options.get("config") or cls.config_class.from_pretrained(name)
    for key in ("_attn_implementation", "_attn_implementation_internal"):
        if str(getattr(config, key, None) or "").startswith(("flash", "kernels")):
            setattr(config, key, "eager")
    once("left-out", "weights")
    _keep_in_place(torch.nn.Module)
    with torch.device("meta"):
        model = cls(config)
    # trainers look beside the model for its tokenizer
    config._name_or_path = model.name_or_path = str(name)
    return model


def _keep_in_place(kind: Any) -> None:
    """Let what has no values be moved to a device without effect."""
    moved = kind.to
    if hasattr(moved, "__wrapped__"):
        return

    @wraps(moved)
    def to(self: Any, *args: Any, **options: Any) -> Any:
        if any(item.is_meta for item in self.parameters()):
            return self
        return moved(self, *args, **options)

    kind.to = to


def change_generation(generation: ModuleType) -> None:
    """Let answers be short."""
    kind = generation.GenerationMixin
    original = kind.generate

    @wraps(original)
    def generate(self: Any, *args: Any, **options: Any) -> Any:
        config = options.get("generation_config")
        if config is not None and (getattr(config, "max_new_tokens", None) or 0) > NEW_TOKENS:
            config.max_new_tokens = NEW_TOKENS
        elif config is None:
            options["max_new_tokens"] = min(options.get("max_new_tokens") or 8, NEW_TOKENS)
        return original(self, *args, **options)

    kind.generate = generate

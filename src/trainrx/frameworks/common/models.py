"""What the model's config.json tells the frameworks: precision, length, modality."""

from __future__ import annotations

from collections.abc import Mapping

from trainrx.frameworks.common.view import UNKNOWN, Held, Truth
from trainrx.model.catalog import Value
from trainrx.model.pattern import needled

_SEES = ("vision_config", "visual", "audio_config", "vision_tower", "mm_vision_tower")
_LENGTHS = (
    "model_max_length",
    "seq_length",
    "max_position_embeddings",
    "n_positions",
    "seq_len",
    "n_ctx",
    "max_seq_len",
)
_SEEING_NAME = needled(
    r"(?:^|[^a-z])(?:vl\d?|vision|llava|internvl|qvq|omni|audio|ovis|minicpm-v|glm-?4v|mllama)"
    r"(?:$|[^a-z])",
    *("vl", "vision", "llava", "qvq", "omni", "audio", "ovis", "minicpm", "glm", "mllama"),
)
DTYPES = ("float16", "bfloat16", "float32")


def torch_dtype(config: Mapping[str, Value] | None) -> Held:
    """Give the precision the weights are stored in, by name."""
    value = _find(config, ("torch_dtype", "dtype"))
    text = value.removeprefix("torch.") if isinstance(value, str) else None
    return text if text in DTYPES else UNKNOWN


def max_length(config: Mapping[str, Value] | None) -> Held:
    """Give the longest sequence the model is made for, in tokens."""
    value = _find(config, _LENGTHS)
    return value if isinstance(value, int) and not isinstance(value, bool) else UNKNOWN


def is_multimodal(config: Mapping[str, Value] | None, name: Held) -> Truth:
    """Tell whether the model takes images, video or sound.

    A config tells; without one a name may say yes (`Qwen2-VL`), never no.
    """
    if config is not None:
        return any(isinstance(config.get(key), dict | str) for key in _SEES)
    return True if isinstance(name, str) and _SEEING_NAME.search(name.lower()) else None


def _find(config: Mapping[str, Value] | None, names: tuple[str, ...]) -> Value:
    if config is None:
        return None
    inner = [config.get(key) for key in ("text_config", "llm_config", "language_config")]
    for part in (config, *(item for item in inner if isinstance(item, dict))):
        for name in names:
            value: Value = part.get(name)
            if value is not None:
                return value
    return None

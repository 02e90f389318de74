"""What the Trainer of transformers prints of its arguments."""

from __future__ import annotations

from collections.abc import Mapping

from trainrx.frameworks.common.dumps import Read, Value
from trainrx.model.pattern import late

_BANNER: Mapping[str, str] = {
    "Instantaneous batch size per device": "per_device_train_batch_size",
    "Gradient Accumulation steps": "gradient_accumulation_steps",
    "Total train batch size (w. parallel, distributed & accumulation)": "total_train_batch_size",
    "Total optimization steps": "total_optimization_steps",
    "Number of trainable parameters": "trainable_parameters",
}
_BANNER_LINE = late(r"  ([A-Z][\w ().,&]{3,80}?) = ([\d,.]{1,24})\s*$")


def read_banner(text: str) -> Read | None:
    """Read the figures of the transformers Trainer; a file name in front of each is passed over."""
    values: list[Value] = []
    for number, line in enumerate(text.split("\n")[:24]):
        match = _BANNER_LINE.search(line)
        if match is not None and match[1] in _BANNER:
            values.append((_BANNER[match[1]], (match[2].replace(",", ""),), number))
        elif number and "= " not in line and values:
            break
    return Read("transformers", "", "banner", values) if values else None

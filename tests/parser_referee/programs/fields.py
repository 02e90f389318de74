"""A parser of dataclasses of the program's own."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from transformers import HfArgumentParser
from trl import SFTConfig, SFTTrainer


class Packing(Enum):
    """How samples are put together."""

    NONE = "none"
    FULL = "full"


@dataclass
class ModelArguments:
    """The model."""

    model_path: str = field(metadata={"help": "where it lies"})
    lora_rank: int = 8
    lora_dropout: float | None = None
    targets: list[str] = field(default_factory=lambda: ["all-linear"])
    freeze_vision: bool = True
    quantize: bool | None = None


@dataclass
class DataArguments:
    """The data."""

    max_length: int | None = field(default=1024, metadata={"help": "tokens"})
    mode: Literal["chat", "text"] = "chat"
    packing: Packing = field(default=Packing.NONE)
    format: str = field(default="json", metadata={"choices": ["json", "csv"]})
    stream: bool = False


parser = HfArgumentParser((ModelArguments, DataArguments))
model, data = parser.parse_args_into_dataclasses()
SFTTrainer(model=model.model_path, args=SFTConfig(max_length=data.max_length)).train()

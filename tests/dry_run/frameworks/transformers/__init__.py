"""A stand-in of `transformers`: as much of it as a job touches before it trains."""

from .modeling_utils import PreTrainedModel
from .trainer import Trainer
from .training_args import TrainingArguments

__all__ = ["PreTrainedModel", "Trainer", "TrainingArguments"]

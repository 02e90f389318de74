"""A parser of a class of its own and of the library's."""

from dataclasses import dataclass, field

from transformers import HfArgumentParser, Trainer, TrainingArguments


@dataclass
class OwnArguments:
    """What the library does not have."""

    data_path: str | None = None
    window: int = field(default=512)


parser = HfArgumentParser((OwnArguments, TrainingArguments))
own, training = parser.parse_args_into_dataclasses()
Trainer(args=training).train()

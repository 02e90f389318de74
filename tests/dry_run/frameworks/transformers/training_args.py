from dataclasses import dataclass
from pathlib import Path


@dataclass
class TrainingArguments:
    output_dir: str = "output"
    per_device_train_batch_size: int = 2
    gradient_accumulation_steps: int = 1
    max_steps: int = 100
    bf16: bool = False
    deepspeed: str | None = None
    report_to: str = "all"
    save_strategy: str = "steps"

    def __post_init__(self):
        if self.bf16:
            raise ValueError("Your setup doesn't support bf16/gpu.")
        if self.deepspeed:
            raise ImportError("--deepspeed requires Deepspeed to be installed")
        Path(self.output_dir).mkdir(exist_ok=True)
        assert self.report_to == "none"

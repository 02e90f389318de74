import re

from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer


PATTERN = re.compile(r"<answer>(.*?)</answer>")


def correct(completions, answer, **kwargs):
    found = [PATTERN.search(c) for c in completions]
    return [1.0 if m and m.group(1) == a else 0.0 for m, a in zip(found, answer)]


dataset = load_dataset("json", data_files="data/train.jsonl", split="train")
args = GRPOConfig(
    output_dir="output",
    max_steps=4,
    per_device_train_batch_size=4,
    num_generations=4,
    max_completion_length=16,
    learning_rate=1e-6,
    logging_steps=1,
    bf16=False,
    report_to="none",
)
trainer = GRPOTrainer(
    model="/data/models/tiny-qwen2.5",
    reward_funcs=correct,
    args=args,
    train_dataset=dataset,
)
trainer.train()

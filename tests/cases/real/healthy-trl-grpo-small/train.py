import re

from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer


def correct(completions, answer, **kwargs):
    return [1.0 if a in c else 0.01 * len(set(c)) for c, a in zip(completions, answer)]


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
